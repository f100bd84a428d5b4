#!/usr/bin/env bash
# fathom.exe from end to end under Wine: what measures nothing, a run on a file, its report, killed and gone on with, refusals.
# usage: windows-smoke.sh fathom.exe FOLDER
set -euo pipefail
exe=$(realpath "$1")
work=$(realpath "$2")
here=$(cd "$(dirname "$0")" && pwd)
cd "$work"
fathom() { "$here/wine-run.sh" "$exe" "$@"; }
fail() { echo "windows: $*"; exit 1; }
has() { # text, file
    grep -qF -- "$1" "$2" || { tail -20 "$2"; fail "'$1' is missing"; }
}
refused() { # exit code, text, arguments
    local code=0
    fathom "${@:3}" >out.txt 2>&1 || code=$?
    [ "$code" = "$1" ] || { tail -20 out.txt; fail "exit $code instead of $1: ${*:3}"; }
    has "$2" out.txt
}

fathom --version >out.txt; has fathom out.txt
fathom --help >out.txt; has Usage out.txt
fathom plan quick --target f.dat --set size=64m >out.txt
fathom run quick --quiet --lab sim.db --target sim:r740xd/pm1725-0 --time-budget 15s --output sim.html >out.txt
has '<html' sim.html
fathom predict --help >out.txt
fathom inspect >out.txt

# A file of this run's own, by the queue of the system.
fathom run quick --quiet --lab lab.db --target . --set size=64m --time-budget 6s --output report.html --lang en >out.txt 2>&1 || { cat out.txt; fail "run"; }
has 'not a measurement' out.txt
has Wine out.txt
fathom show 1 --lab lab.db --json >run.json
has '"iocp"' run.json
has '"stand_in": "Wine' run.json
for engine in null psync iocp; do
    target=(--target f.dat --set size=16m)
    [ "$engine" = null ] && target=(--target null)
    fathom io --quiet --lab lab.db "${target[@]}" --engine "$engine" --rw randread --bs 4k --iodepth 4 --runtime 1s >out.txt 2>&1 || { cat out.txt; fail "engine $engine"; }
done

# No figure of Wine is taken for a measurement.
refused 3 'no measurements' compare --lab lab.db 1 2
refused 3 'no measurements' fit --lab lab.db 1

# Drives, names that are devices, engines and files of others are refused by name.
refused 3 'drive or a volume' io --lab lab.db --target '\\.\PhysicalDrive0' --rw randwrite --bs 4k --runtime 1s --destroy x
refused 3 'drive or a volume' io --lab lab.db --target 'Z:' --rw randread --bs 4k --runtime 1s
refused 3 'device in every folder' io --lab lab.db --target 'con.dat' --rw randread --bs 4k --runtime 1s
head -c 1048576 /dev/urandom >theirs.dat
before=$(sha256sum theirs.dat)
refused 3 'theirs.dat' io --lab lab.db --target theirs.dat --rw randwrite --bs 4k --runtime 1s
[ "$before" = "$(sha256sum theirs.dat)" ] || fail "another's file was written"
refused 3 'order entry' oltp --target .

# Killed after a step is committed, a run goes on and measures nothing twice.
committed() {
    fathom show 1 --lab killed.db --json >killed.json 2>/dev/null || return 1
    python3 -c 'import json; print(len(json.load(open("killed.json"))["steps"]))'
}
FATHOM_WINE_TIMEOUT_S=600 FATHOM_WINE_TRIES=1 fathom run quick --quiet --lab killed.db --target . --set size=32m --time-budget 20s >killed.txt 2>&1 &
for _ in $(seq 120); do
    sleep 0.5
    [ "$(committed || echo 0)" = 0 ] || break
done
# All programs of this prefix end at once, as by kill -9.
WINEPREFIX=$FATHOM_WINE_PREFIX wineserver -k || true
wait || true
before=$(committed) || fail "the lab of a killed run cannot be read"
[ "$before" -gt 0 ] || { cat killed.txt; fail "no step was committed before the kill"; }
fathom run --resume 1 --quiet --lab killed.db >out.txt 2>&1 || { cat out.txt; fail "the run did not go on"; }
after=$(committed)
[ "$after" -gt "$before" ] || fail "nothing was measured after the kill ($before, $after)"
[ -z "$(ls | grep -i '^fathom-.*data' || true)" ] || fail "a test file was left"
echo "windows: killed after $before steps, went on to $after"
echo "windows: PASS"
