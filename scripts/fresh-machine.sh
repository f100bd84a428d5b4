#!/usr/bin/env bash
# The set-up of the tests on a machine that has nothing: in a fresh Debian with Rust and Node.js, scripts/setup.sh installs the
# packages, and every program that the tests name must then be there. Lints and builds the package there. As root.
#
# Rust, its downloaded crates and Node.js are taken from this machine: set-up asks for them first.
set -euo pipefail
cd "$(dirname "$0")/.."

place=$(pwd)/target/tmp/fresh-machine
name=fresh-machine
# shellcheck source=scripts/debian.sh
. scripts/debian.sh

# Certificates that this machine trusts: its way to the registries may be a proxy. Installing packages replaces the system's
# own file.
authorities=/opt/authorities.crt

system() { # words, as root in the project
    chroot "$root" /usr/bin/env -i PATH=/opt/cargo/bin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 CI=true \
        CARGO_HOME=/opt/cargo RUSTUP_HOME=/opt/rustup CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0 \
        PIP_CERT="$authorities" NODE_EXTRA_CA_CERTS="$authorities" CARGO_HTTP_CAINFO="$authorities" sh -c 'cd /project && exec "$@"' sh "$@"
}

# Programs that tests and scripts start, by the words of the source. Some words name no program.
named() {
    {
        grep -rohE '(Command::new|tool)\("[a-z][a-z0-9_.+-]*"' crates --include='*.rs' | sed -E 's/.*\("//; s/"//'
        grep -rohE '\["[a-z][a-z0-9._-]+",' testbed truth --include='*.py' | tr -d '[",'
        grep -ohE 'command -v [a-z][a-z0-9._-]+|system [a-z][a-z0-9._-]+' scripts/*.sh | sed 's/.* //'
    } | sort -u
}

# The part of Debian that a program of this machine comes from is not asked for: the fresh system has the program or not.
absent() {
    local word
    for word in $(named); do
        [[ $(command -v "$word" || true) == /*bin/* ]] || continue
        [[ $(command -v "$word") != /usr/local/* ]] || continue
        system sh -c 'command -v "$1" >/dev/null' sh "$word" || echo "$word"
    done
}

outside() {
    local tool
    for tool in cargo rustup node npm; do
        command -v "$tool" >/dev/null || no "$tool is missing: install Rust (rustup) and Node.js first"
    done
    git ls-files -z --cached --others --exclude-standard >/dev/null 2>&1 || no "the project is no clone"
    in_a_fresh_debian --inside
}

inside() {
    local cargo rustup node missing
    mounts
    cargo=${CARGO_HOME:-$HOME/.cargo} rustup=${RUSTUP_HOME:-$HOME/.rustup}
    node=$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")") # …/npm/bin/npm-cli.js
    mkdir -p "$root"/project "$root"/opt/{cargo,rustup} "$root"/usr/local/lib/node_modules/npm
    # With what is not committed; the commit gives packages their time.
    git ls-files -z --cached --others --exclude-standard | tar --null -T - --ignore-failed-read -cf - | tar -C "$root/project" -xf -
    cp -r "$(git rev-parse --absolute-git-dir)" "$root/project/.git"
    chown -R root: "$root/project"
    # Crates that this machine has need no download; what set-up adds there stays for later runs.
    mount --bind "$cargo" "$root/opt/cargo"
    mount --bind "$rustup" "$root/opt/rustup"
    mount --bind "$node" "$root/usr/local/lib/node_modules/npm"
    cp "$(command -v node)" "$root/usr/local/bin/node"
    ln -s ../lib/node_modules/npm/bin/npm-cli.js "$root/usr/local/bin/npm"
    ln -s ../lib/node_modules/npm/bin/npx-cli.js "$root/usr/local/bin/npx"
    cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
    cp -L /etc/ssl/certs/ca-certificates.crt "$root$authorities"
    apt-config dump Acquire >"$root/etc/apt/apt.conf.d/90machine"

    echo "$name: scripts/setup.sh test" >&2
    system scripts/setup.sh test || no "the set-up fails on a fresh machine"
    missing=$(absent)
    [ -z "$missing" ] || no "tests use these programs, and scripts/setup.sh does not install them:"$'\n'"$missing"
    echo "$name: make viewer lint package web-test" >&2
    system make viewer lint package web-test || no "a stage fails on a fresh machine, see above"
    echo "$name: set up, linted and packaged" >&2
}

case "${1:-}" in
    --inside) inside ;;
    *) outside ;;
esac
