# Functions for scripts that test in a fresh Debian. Source it in the project's root, with `place` set to a folder for the
# system and `name` to the prefix of messages. Needs root.
#
# debootstrap fetches the system once, from the mirror that apt uses on this machine; target/tmp keeps it. Mounts and processes
# run in separate namespaces, so they end with the script.

debian=$(pwd)/target/tmp/debian
root=$place/root

no() { # why
    echo "$name: $1" >&2
    exit 1
}

skip() { # why
    [ -z "${FATHOM_NO_SKIPS:-}" ] || no "not run: $1"
    echo "$name: skipped: $1" >&2
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
    local from log=$debian/debootstrap.log
    from=$(mirror "$1")
    [ -n "$from" ] || skip "apt on this machine knows no mirror of Debian's $1 (is it a Debian, and was apt-get update run?)"
    echo "$name: fetching Debian $1" >&2
    eval "$(apt-config shell http_proxy Acquire::http::Proxy https_proxy Acquire::https::Proxy)"
    export http_proxy https_proxy
    rm -rf "$debian/root"
    # debootstrap mounts /proc in the new system; the mount ends with the namespace.
    unshare --mount --propagation private debootstrap --variant=minbase "$1" "$debian/root" "$from" >"$log" 2>&1 ||
        { tail -5 "$log" >&2; skip "Debian $1 cannot be fetched"; }
    tar -C "$debian/root" --exclude='./var/cache/apt/archives/*.deb' --exclude='./var/lib/apt/lists/*_*' -cf "$2.part" .
    mv "$2.part" "$2"
    rm -rf "$debian/root"
}

# Fetches the system if it is missing, and sets `base` to its tar file.
fetched() {
    [ "$(id -u)" = 0 ] || skip "a system of its own needs root"
    local tool
    for tool in apt-get debootstrap mandoc unshare; do
        command -v "$tool" >/dev/null || skip "$tool is missing: scripts/setup.sh test"
    done
    unshare --mount --pid --fork true 2>/dev/null || skip "no mounts may be made here"
    mkdir -p "$debian"
    local release
    # shellcheck source=/dev/null
    release=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
    base=$debian/${release:-unknown}.tar
    [ -f "$base" ] || fetch "${release:-unknown}" "$base"
}

# Unpacks a fresh system to `root` and runs the calling script with these arguments in new namespaces.
# shellcheck disable=SC2154 # child: set here
in_a_fresh_debian() { # words
    local base child
    fetched
    rm -rf "$root"
    mkdir -p "$root"
    trap 'rm -rf "$root"' EXIT
    tar -C "$root" -xpf "$base"
    # In the background, so that this script can handle a signal at once.
    unshare --mount --propagation private --pid --fork --kill-child "$0" "$@" &
    child=$!
    trap 'kill -KILL $child 2>/dev/null; wait $child || true; exit 130' INT TERM
    wait "$child"
}

# Mounts /proc, /sys and the usual devices. Run it in the new namespaces.
mounts() {
    local device
    mount --bind "$root" "$root" # Gives the system a root mount.
    mount -t proc proc "$root/proc"
    mount --rbind /sys "$root/sys"
    mount -o remount,bind,ro "$root/sys"
    for device in null zero full random urandom; do
        [ -e "$root/dev/$device" ] || touch "$root/dev/$device"
        mount --bind "/dev/$device" "$root/dev/$device"
    done
}
