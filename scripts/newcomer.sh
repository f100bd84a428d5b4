#!/usr/bin/env bash
# A newcomer's way, in a Debian as it comes from its mirror: install the package, three commands, compare, remove. As root.
#
#   scripts/newcomer.sh PACKAGE.deb
#   scripts/newcomer.sh --fetch       fetches the system alone
#
# The system is fetched once, from the mirror that this machine's apt uses, and kept below target/tmp. Mounts and processes
# are in namespaces of their own: they end with this script, however it ends.
set -euo pipefail
cd "$(dirname "$0")/.."

place=$(pwd)/target/tmp/newcomer # On the disk, unlike /tmp: Fathom measures a file in it.
root=$place/root
child=

no() { # why
    echo "newcomer: $1" >&2
    exit 1
}

skip() { # why
    [ -z "${FATHOM_NO_SKIPS:-}" ] || no "not run: $1"
    echo "newcomer: skipped: $1" >&2
    exit 0
}

# The mirror of Debian's release $1 that apt has on this machine.
mirror() {
    local found
    found=$(apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(ORIGIN) $(COMPONENT)' 'Created-By: Packages' |
        awk -v suite="$1" '$2 == suite && $3 == "Debian" && $4 == "main" { print $1; exit }')
    # A file with a mirror a line, as images for clouds have it.
    [[ $found != mirror+file:* ]] || found=$(awk '/^http/ { print $1; exit }' "${found#mirror+file:}")
    echo "$found"
}

fetch() { # release, file
    local from log=$place/debootstrap.log
    from=$(mirror "$1")
    [ -n "$from" ] || skip "apt on this machine knows no mirror of Debian's $1 (is it a Debian, and was apt-get update run?)"
    echo "newcomer: fetching Debian $1" >&2
    eval "$(apt-config shell http_proxy Acquire::http::Proxy https_proxy Acquire::https::Proxy)"
    export http_proxy https_proxy
    rm -rf "$root"
    # It mounts /proc in what it makes: that ends with the namespace.
    unshare --mount --propagation private debootstrap --variant=minbase "$1" "$root" "$from" >"$log" 2>&1 ||
        { tail -5 "$log" >&2; skip "Debian $1 cannot be fetched"; }
    tar -C "$root" --exclude='./var/cache/apt/archives/*.deb' --exclude='./var/lib/apt/lists/*_*' -cf "$2.part" .
    mv "$2.part" "$2"
    rm -rf "$root"
}

# The fresh system as a tar file, fetched where it is missing; its name is left in `base`.
system_of_its_own() {
    [ "$(id -u)" = 0 ] || skip "a system of its own needs root"
    local tool
    for tool in apt-get debootstrap mandoc unshare; do
        command -v "$tool" >/dev/null || skip "$tool is missing: scripts/setup.sh test"
    done
    unshare --mount --pid --fork true 2>/dev/null || skip "no mounts may be made here"
    mkdir -p "$place"
    trap 'rm -rf "$root"' EXIT
    local release
    # shellcheck source=/dev/null
    release=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
    base=$place/${release:-unknown}.tar
    [ -f "$base" ] || fetch "${release:-unknown}" "$base"
}

outside() {
    local package base
    package=$(realpath "${1:?usage: newcomer.sh PACKAGE.deb}")
    system_of_its_own
    rm -rf "$root"
    mkdir "$root"
    tar -C "$root" -xpf "$base"
    cp "$package" "$root/fathom.deb"
    # In the background, where a signal to this script is heard at once; with it everything inside ends.
    unshare --mount --propagation private --pid --fork --kill-child "$0" --inside &
    child=$!
    trap 'kill -KILL $child 2>/dev/null; wait $child || true; exit 130' INT TERM
    wait "$child"
}

# Names of everything in the system, except what the kernel shows and what is the user's own.
names() {
    (cd "$root" && find . -xdev \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./home/newcomer \) -prune -o -print) | sort
}

system() { # words, as root
    chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C "$@"
}

user() { # words, as an ordinary user at home
    chroot --userspec=1000:1000 "$root" /usr/bin/env -i PATH=/usr/bin:/bin HOME=/home/newcomer LC_ALL=C.UTF-8 NO_COLOR=1 \
        sh -c 'cd && exec "$@"' sh "$@"
}

# Runs words as the user: their exit code must be one of those given, and a word must be in what they print.
expect() { # codes, word, words
    local codes=$1 word=$2 code=0 said
    shift 2
    said=$(user "$@" 2>&1) || code=$?
    [[ " $codes " == *" $code "* ]] || no "\`$*\` ended with $code:"$'\n'"$said"
    [[ $said == *"$word"* ]] || no "\`$*\` does not say \`$word\`:"$'\n'"$said"
    echo "newcomer: $*: as it should be" >&2
}

inside() {
    local device page
    mount --bind "$root" "$root" # So that the system has a root of its own among the mounts it sees.
    mount -t proc proc "$root/proc"
    mount --rbind /sys "$root/sys"
    mount -o remount,bind,ro "$root/sys"
    for device in null zero full random urandom; do
        [ -e "$root/dev/$device" ] || touch "$root/dev/$device"
        mount --bind "/dev/$device" "$root/dev/$device"
    done
    system useradd --create-home --uid 1000 --shell /bin/bash newcomer
    names >"$place/before"
    user find . | sort >"$place/home-before"

    system dpkg --install /fathom.deb >"$place/dpkg.log" 2>&1 || no "dpkg cannot install it: $(cat "$place/dpkg.log")"
    [ -z "$(system dpkg --verify fathom)" ] || no "dpkg finds other files than it installed"
    expect "0 2" "fathom run quick" fathom
    expect 0 "quick" fathom studies
    expect 0 "limit" fathom run quick --time-budget 8s --output r.html
    expect 0 "limit" fathom run quick --time-budget 8s --output r.html
    expect 0 "of 16 steps" fathom compare 1 last
    expect 0 "-F _fathom fathom" bash -c 'source /usr/share/bash-completion/completions/fathom && complete -p fathom'
    grep -q 'id="fathom-document"' "$root/home/newcomer/r.html" || no "r.html is no report"
    for page in "$root"/usr/share/man/man1/fathom*.1.gz; do
        mandoc -Tlint -Werror "$page" || no "a page of the manual does not parse: $page"
    done
    grep -q 'fathom-run(1)' <(mandoc -Tascii "$root/usr/share/man/man1/fathom.1.gz") || no "fathom(1) does not name fathom-run(1)"

    system dpkg --purge fathom >"$place/dpkg.log" 2>&1 || no "dpkg cannot remove it: $(cat "$place/dpkg.log")"
    names | diff "$place/before" - >&2 || no "these names differ from before the installation"
    # The user's own stays, and is not more than this: the report and the lab.
    user find . | sort | comm -13 "$place/home-before" - | grep -v '/fathom\.db-[a-z]*$' >"$place/home-after"
    diff "$place/home-after" - <<'END' >&2 || no "other files than these are left to the user"
./.local
./.local/share
./.local/share/fathom
./.local/share/fathom/fathom.db
./r.html
END
    echo "newcomer: installed, used, removed without a trace" >&2
}

case "${1:-}" in
    --inside) inside ;;
    --fetch) system_of_its_own ;;
    *) outside "$@" ;;
esac
