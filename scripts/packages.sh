#!/usr/bin/env bash
# Makes of a static binary what people install: a tarball to unpack over a prefix, and a package for Debian and its kin.
#
#   scripts/packages.sh BINARY TARGET DIRECTORY        e.g. target/x86_64-unknown-linux-musl/release/fathom ...
#
# The same commit and compiler give the same bytes: all times are those of the commit, or SOURCE_DATE_EPOCH.
set -euo pipefail
cd "$(dirname "$0")/.."
umask 022

binary=${1:?usage: packages.sh BINARY TARGET DIRECTORY}
target=${2:?usage: packages.sh BINARY TARGET DIRECTORY}
out=${3:?usage: packages.sh BINARY TARGET DIRECTORY}
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH

if ldd "$binary" >/dev/null 2>&1 && ! ldd "$binary" 2>&1 | grep -q 'statically linked'; then
    echo "packages: $binary needs libraries of this machine; build it for $target" >&2
    exit 1
fi

mkdir -p "$out"
rm -f "$out"/fathom-*.tar.gz "$out"/fathom_*.deb # Of other versions.
work=$(mktemp -d -p "$out")
trap 'rm -rf "$work"' EXIT
strip -o "$work/fathom" "$binary"
scripts/licences.py "$target" >"$work/third-party"

reproducible_tar() { # file, folder, name in it
    tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -C "$2" -c "$3" | gzip -9n >"$1"
}

tarball() {
    local name=fathom-$version-$target
    DESTDIR=$work PREFIX=/$name scripts/install.sh install "$work/fathom" >/dev/null
    # It is unpacked and removed by hand: what `make uninstall` reads has no place in it.
    rm "$work/$name/share/doc/fathom/installed"
    cp "$work/third-party" "$work/$name/share/doc/fathom/"
    reproducible_tar "$out/$name.tar.gz" "$work" "$name"
    echo "$out/$name.tar.gz"
}

debian() {
    local root=$work/deb doc=$work/deb/usr/share/doc/fathom architecture
    architecture=$(dpkg --print-architecture)
    local maintainer=${FATHOM_MAINTAINER:-Fathom maintainers <maintainers@fathom.invalid>}
    DESTDIR=$root PREFIX=/usr scripts/install.sh install "$work/fathom" >/dev/null
    # Debian's own places and names.
    rm "$doc/installed" "$doc/LICENSE"
    mv "$root/usr/share/zsh/site-functions" "$root/usr/share/zsh/vendor-completions"
    mv "$doc/CHANGELOG.md" "$doc/changelog"
    cp "$work/third-party" "$doc/"
    cat >"$doc/copyright" <<END
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: fathom
Comment: What is linked into the program has licences of its own: third-party.gz.

Files: *
Copyright: $(date -u -d "@$SOURCE_DATE_EPOCH" +%Y) The Fathom contributors
License: Apache-2.0
 On Debian systems the text of the licence is in /usr/share/common-licenses/Apache-2.0.
END
    cat >"$doc/changelog.Debian" <<END
fathom ($version-1) unstable; urgency=medium

  * Built from the sources of version $version: see changelog.gz.

 -- $maintainer  $(LC_ALL=C date -u -R -d "@$SOURCE_DATE_EPOCH")
END
    gzip -9n "$root"/usr/share/man/man1/*.1 "$doc"/changelog "$doc"/changelog.Debian "$doc"/third-party
    mkdir -p "$root/usr/share/lintian/overrides" "$root/DEBIAN"
    # Meant: it runs on every Linux of the architecture, whatever its C library.
    printf 'fathom: %s [usr/bin/fathom]\n' statically-linked-binary shared-library-lacks-prerequisites \
        >"$root/usr/share/lintian/overrides/fathom"
    (cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
    cat >"$root/DEBIAN/control" <<END
Package: fathom
Version: $version-1
Architecture: $architecture
Maintainer: $maintainer
Installed-Size: $(du -k -s --apparent-size "$root/usr" | cut -f1)
Section: utils
Priority: optional
Description: storage performance laboratory
 Measures files, drives and groups of drives, names what limits them with the
 evidence, and writes one offline report from which the work can be repeated.
 It speaks the language of fio: job files, options, and results in and out.
END
    dpkg-deb --root-owner-group -Zxz --build "$root" "$out/fathom_$version-1_$architecture.deb" >/dev/null
    echo "$out/fathom_$version-1_$architecture.deb"
}

tarball
debian
