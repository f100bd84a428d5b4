#!/usr/bin/env bash
# Puts a built Fathom where programs live, or takes it away again:
#
#   DESTDIR=... PREFIX=/usr/local scripts/install.sh install BINARY
#   DESTDIR=... PREFIX=/usr/local scripts/install.sh uninstall
#
# What was made is listed in share/doc/fathom/installed: the version that was installed is what is removed.
set -euo pipefail
cd "$(dirname "$0")/.."

action=${1:?usage: install.sh install BINARY | uninstall}
prefix=${PREFIX:-/usr/local}
root=${DESTDIR:-}$prefix
doc=share/doc/fathom
list=$root/$doc/installed

[[ $prefix == /* ]] || { echo "install: PREFIX is no absolute path: $prefix" >&2; exit 2; }

# Directories that are made here, the outer ones first; the list takes them over from the last installation.
made=()
make_directory() {
    [ -d "$1" ] && return
    make_directory "$(dirname "$1")"
    install -d -m 755 "$1"
    made+=("$1")
}

put() { # file, directory below the root, mode
    make_directory "$root/$2"
    install -m "${3:-644}" "$1" "$root/$2/"
    files+=("$2/$(basename "$1")")
}

install_all() {
    local binary=$1
    [ -x "$binary" ] || { echo "install: there is no $binary: make build" >&2; exit 1; }
    work=$(mktemp -d) # The trap reads it when this function has returned.
    trap 'rm -rf "$work"' EXIT
    mkdir "$work/man" "$work/bash" "$work/zsh" "$work/fish"
    "$binary" manual "$work/man" 2>/dev/null
    "$binary" completions bash >"$work/bash/fathom"
    "$binary" completions zsh >"$work/zsh/_fathom"
    "$binary" completions fish >"$work/fish/fathom.fish"
    cp "$binary" "$work/fathom"

    local before=()
    [ ! -f "$list" ] || { mapfile -t before < <(sed -n 's/^directory //p' "$list"); uninstall_files; }
    files=()
    put "$work/fathom" bin 755
    for page in "$work"/man/*; do put "$page" share/man/man1; done
    put "$work/bash/fathom" share/bash-completion/completions
    put "$work/zsh/_fathom" share/zsh/site-functions
    put "$work/fish/fathom.fish" share/fish/vendor_completions.d
    for page in README.md LICENSE CHANGELOG.md GLOSSARY.md; do put "$page" "$doc"; done
    # What the README links to lies beside it as in the repository.
    while read -r page; do put "$page" "$doc/$(dirname "$page")"; done < <(find docs -name '*.md' -o -name '*.png' | sort)
    {
        [ ${#before[@]} = 0 ] || printf 'directory %s\n' "${before[@]}"
        [ ${#made[@]} = 0 ] || printf 'directory %s\n' "${made[@]#"${DESTDIR:-}"}"
        printf 'file %s\n' "${files[@]}"
    } >"$work/installed"
    put "$work/installed" "$doc"
    echo "installed in $root: ${#files[@]} files"
}

uninstall_files() {
    local path
    while read -r path; do
        [[ /$path/ != */../* ]] || { echo "install: not removed: $path" >&2; exit 1; }
        rm -f "$root/$path"
    done < <(sed -n 's/^file //p' "$list")
}

uninstall_all() {
    [ -f "$list" ] || { echo "install: no $list: nothing was installed there by \`make install\`" >&2; exit 1; }
    local path directories
    mapfile -t directories < <(sed -n 's/^directory //p' "$list" | tac)
    uninstall_files
    rm -f "$list"
    # What others have put a file into stays.
    for path in "${directories[@]}"; do
        [ ! -d "${DESTDIR:-}$path" ] || rmdir --ignore-fail-on-non-empty "${DESTDIR:-}$path"
    done
    echo "removed from $root"
}

case $action in
install) install_all "${2:?usage: install.sh install BINARY}" ;;
uninstall) uninstall_all ;;
*) echo "usage: install.sh install BINARY | uninstall" >&2; exit 2 ;;
esac
