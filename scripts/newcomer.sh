#!/usr/bin/env bash
# A newcomer's way, in a Debian as it comes from its mirror: install the package, three commands, compare, remove. As root.
#
#   scripts/newcomer.sh PACKAGE.deb
#   scripts/newcomer.sh --fetch       fetches the system alone
set -euo pipefail
cd "$(dirname "$0")/.."

place=$(pwd)/target/tmp/newcomer # On the disk, unlike /tmp: Fathom measures a file in it.
name=newcomer
# shellcheck source=scripts/debian.sh
. scripts/debian.sh

outside() {
    local package
    package=$(realpath "${1:?usage: newcomer.sh PACKAGE.deb}")
    mkdir -p "$place"
    cp "$package" "$place/fathom.deb"
    in_a_fresh_debian --inside
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
    local page
    mounts
    cp "$place/fathom.deb" "$root/fathom.deb"
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
    --fetch) fetched ;;
    *) outside "$@" ;;
esac
