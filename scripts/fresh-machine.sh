#!/usr/bin/env bash
# Tests scripts/setup.sh on a new machine. In a fresh Debian, it runs `setup.sh test`, checks that every program that the tests
# start is installed, lints the workspace and builds the package. Needs root.
#
# Rust, its crate downloads and Node.js come from this machine, because setup.sh expects the user to install Rust and Node.js.
set -euo pipefail
cd "$(dirname "$0")/.."

place=$(pwd)/target/tmp/fresh-machine
name=fresh-machine
# shellcheck source=scripts/debian.sh
. scripts/debian.sh

# Certificates that this machine trusts: it may reach the registries through a proxy. A path of its own, because apt-get
# overwrites /etc/ssl/certs.
authorities=/opt/authorities.crt

system() { # words, as root in the project
    chroot "$root" /usr/bin/env -i PATH=/opt/cargo/bin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 CI=true \
        CARGO_HOME=/opt/cargo RUSTUP_HOME=/opt/rustup CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0 \
        PIP_CERT="$authorities" NODE_EXTRA_CA_CERTS="$authorities" CARGO_HTTP_CAINFO="$authorities" sh -c 'cd /project && exec "$@"' sh "$@"
}

# Candidates for names of programs, from the source of tests and of the scripts of `make test`. Some are not programs.
candidates() {
    {
        grep -rohE '(Command::new|tool)\("[a-z][a-z0-9_.+-]*"' crates --include='*.rs' | sed -E 's/.*\("//; s/"//'
        grep -rohE '\["[a-z][a-z0-9._-]+",' testbed truth --include='*.py' | tr -d '[",'
        grep -ohE 'command -v [a-z][a-z0-9._-]+|system [a-z][a-z0-9._-]+' scripts/{browser,debian,install,newcomer,packages}.sh | sed 's/.* //'
    } | sort -u
}

# Candidates that are programs on this machine and missing in the fresh Debian.
missing_programs() {
    local word
    for word in $(candidates); do
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
    git ls-files -z --cached --others --exclude-standard >/dev/null 2>&1 || no "the project is not a Git clone"
    in_a_fresh_debian --inside
}

inside() {
    local cargo rustup node missing
    mounts
    cargo=${CARGO_HOME:-$HOME/.cargo} rustup=${RUSTUP_HOME:-$HOME/.rustup}
    node=$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")") # …/npm/bin/npm-cli.js
    mkdir -p "$root"/project "$root"/opt/{cargo,rustup} "$root"/usr/local/lib/node_modules/npm
    # Includes uncommitted changes. The package script reads the date of the last commit from Git.
    git ls-files -z --cached --others --exclude-standard | tar --null -T - --ignore-failed-read -cf - | tar -C "$root/project" -xf -
    cp -r "$(git rev-parse --absolute-git-dir)" "$root/project/.git"
    chown -R root: "$root/project"
    # Writable: crates that are downloaded here are there for later runs.
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
    missing=$(missing_programs)
    [ -z "$missing" ] || no "scripts/setup.sh does not install these programs, which tests start:"$'\n'"$missing"
    echo "$name: make viewer lint package web-test" >&2
    system make viewer lint package web-test || no "a stage fails on a fresh machine, see above"
    echo "$name: set up, linted and packaged" >&2
}

case "${1:-}" in
    --inside) inside ;;
    *) outside ;;
esac
