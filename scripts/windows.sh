#!/usr/bin/env bash
# Cross-builds fathom.exe (`windows.sh build`), or builds and tries it under Wine (`windows.sh test`). Under Wine depth and rates are
# Wine's own: nothing here looks at a figure.
set -euo pipefail
cd "$(dirname "$0")/.."
purpose=${1:?usage: windows.sh build|test}
triple=x86_64-pc-windows-gnu
export CARGO_INCREMENTAL=0
target=$(cargo metadata --format-version 1 --no-deps | sed -n 's/.*"target_directory":"\([^"]*\)".*/\1/p')

# rustup's library where it is; else Debian's own compiler, which builds it from source.
if [ -d "$(rustc --print target-libdir --target "$triple")" ]; then
    has_rustup=yes
    build() { cargo "$1" --target "$triple" "${@:2}"; }
else
    has_rustup=no
    build() {
        RUSTC_BOOTSTRAP=1 RUSTC=/usr/bin/rustc /usr/bin/cargo "$1" -Zbuild-std=std,panic_unwind --target "$triple" "${@:2}"
    }
fi

if [ "$purpose" = build ]; then
    build build --release -p fathom
    echo "built $target/$triple/release/fathom.exe"
    exit 0
fi

if [ "$has_rustup" = yes ]; then
    # Tests of what only Linux has are not built for Windows.
    cargo clippy --target "$triple" -p fathom-nvme -p fathom-host -p fathom-inspect -p fathom-fio -p fathom-store -p fathom-engine \
        -p fathom-lab -p fathom -- -D warnings
fi

work=$(mktemp -d "$target/windows.XXXXXX")
export FATHOM_WINE_PREFIX=$work/wine
finish() {
    WINEPREFIX=$FATHOM_WINE_PREFIX wineserver -k >/dev/null 2>&1 || true
    rm -rf "$work"
}
trap finish EXIT
run() { scripts/wine-run.sh "$@"; }

# A function that Wine lacks ends a program at its call, sometimes with exit code 0: only a test program's own last line counts.
tested() { # crate, tests
    local log=$work/tests.log
    build test -p "$1" --lib -- --test-threads 2 "${@:2}" >"$log" 2>&1 || { tail -40 "$log"; exit 1; }
    grep -q '^test result: ok' "$log" || { tail -40 "$log"; echo "windows: $1 ended without its result"; exit 1; }
    grep '^test result' "$log" | sed "s/^/windows: $1: /"
}
tested fathom-host system::
tested fathom-engine system::

build build -p fathom
exe=$target/$triple/debug/fathom.exe
# Nothing but what every Windows has.
known='ADVAPI32|KERNEL32|ntdll|bcrypt|bcryptprimitives|USERENV|WS2_32|msvcrt|SHELL32|ole32|api-ms-win-core-[a-z0-9-]*|api-ms-win-crt-[a-z0-9-]*'
strange=$(x86_64-w64-mingw32-objdump -p "$exe" | sed -n 's/.*DLL Name: //p' | grep -viE "^($known)(\.dll)?$" || true)
[ -z "$strange" ] || { echo "windows: fathom.exe needs $strange"; exit 1; }

scripts/windows-smoke.sh "$exe" "$work"
