#!/usr/bin/env bash
# Runs a program of Windows under Wine, in a folder of its own: FATHOM_WINE_PREFIX, else target/wine, made at the first call.
# Cargo calls it for `cargo test --target x86_64-pc-windows-gnu`. Nothing that runs here says how fast Windows is.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
export WINEPREFIX=${FATHOM_WINE_PREFIX:-$here/../target/wine}
export WINEARCH=win64 WINEDEBUG=-all WINEDLLOVERRIDES="mscoree,mshtml=;winedbg.exe=d"
unset DISPLAY
mkdir -p "$WINEPREFIX"
(
    flock 9
    if [ ! -e "$WINEPREFIX/fathom-ready" ]; then
        wineboot -i >/dev/null 2>&1
        wine winecfg -v win10 >/dev/null 2>&1
        # What newer versions of Wine bring themselves stays.
        if [ ! -e "$WINEPREFIX/drive_c/windows/system32/bcryptprimitives.dll" ]; then
            x86_64-w64-mingw32-gcc -O2 -shared -s -o "$WINEPREFIX/drive_c/windows/system32/bcryptprimitives.dll" \
                "$here/wine-bcryptprimitives.c" -ladvapi32
        fi
        touch "$WINEPREFIX/fathom-ready"
    fi
) 9>"$WINEPREFIX.lock"
# The server of Wine ends a moment after its last program. A program that starts in that moment loses its connection
# before it has run; it is started again. FATHOM_WINE_TRIES=1: for a program that is killed on purpose.
errors=$(mktemp)
trap 'rm -f "$errors"' EXIT
for try in $(seq "${FATHOM_WINE_TRIES:-3}"); do
    code=0
    timeout -k 5 "${FATHOM_WINE_TIMEOUT_S:-240}" wine "$@" 2>"$errors" || code=$?
    [ "$code" != 0 ] && head -1 "$errors" | grep -q '^wine client error' || break
    echo "Wine lost its server at the start (try $try): $(head -1 "$errors")" >&2
done
cat "$errors" >&2
exit "$code"
