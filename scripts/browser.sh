#!/usr/bin/env bash
# Makes report pages with the program and checks them in headless Chromium.
# FATHOM_BINARY: the program. FATHOM_RENDER: the example report_from_json. `make browser` sets both.
set -euo pipefail
cd "$(dirname "$0")/.."

for name in FATHOM_BINARY FATHOM_RENDER; do
    if [ ! -x "${!name:-}" ]; then
        echo "browser.sh: $name must name a program, but is \"${!name:-}\". Use make browser." >&2
        exit 1
    fi
done
fathom=$(realpath "$FATHOM_BINARY")
FATHOM_RENDER=$(realpath "$FATHOM_RENDER")
export FATHOM_RENDER

target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
mkdir -p "$target"
# In the build folder: /tmp may be in memory, where O_DIRECT has no effect.
work=$(mktemp -d "$target/browser.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir "$work/tmp" "$work/measured"

# A real run comes first and alone.
FATHOM_IDLE_BASELINE=100ms "$fathom" run quick --quiet --lab "$work/measured.db" --target "$work/measured" \
    --set size=256m --time-budget 6s --output "$work/report.html"

# Recorded runs from a busy machine.
recorded=(quick qos io commit)
recorded_pages() {
    gzip -dc crates/front/fathom/tests/labs/recorded.db.gz >"$work/recorded.db"
    local i
    for i in "${!recorded[@]}"; do
        "$fathom" report $((i + 1)) --lab "$work/recorded.db" --output "$work/${recorded[i]}-recorded.html" >/dev/null
    done
}

# Studies on simulated machines, in virtual time. Each job has its own lab.
simulated() {
    "$fathom" run "$1" --quiet --lab "$work/$1.db" --output "$work/$1-sim.html" "${@:2}" >/dev/null
}
machine=sim:r740xd
one=(--target $machine/pm1725-0)
two=(--group left=$machine/pm1725-0 --group right=$machine/pm1725-1)
four=("${one[@]}" --target $machine/pm1725-1 --target $machine/pm1725-2 --target $machine/pm1725-3)
long_pages() {
    simulated snia --time-budget 2m "${one[@]}"
    simulated engines --time-budget 15s "${one[@]}"
    simulated qos --time-budget 15s --set 'latency_goal=p99<=300us' "${one[@]}"
    recorded_pages
}
short_pages() {
    simulated pinning --time-budget 75s "${one[@]}"
    simulated enterprise --time-budget 26s "${two[@]}"
    simulated scaling --time-budget 20s --set 'devices=[1, 2, 4]' "${four[@]}"
    simulated tune --time-budget 20s --versus engine=libaio "${one[@]}" --lang zh
    simulated baseline --time-budget 20s "${one[@]}"
    "$fathom" io --quiet --lab "$work/io.db" "${one[@]}" --rw randread --bs 4k --iodepth 8 --runtime 5s --output "$work/io-sim.html" >/dev/null
    # One plan on two drives, one run per drive.
    "$fathom" run baseline --quiet --lab "$work/baseline.db" --time-budget 20s --target $machine/pm1725-1 >/dev/null
    "$fathom" compare --lab "$work/baseline.db" 1 2 --output "$work/compare-sim.html" >/dev/null
}
# Two jobs at a time, each in its own shell: `set -e` has no effect in a function that an `if` or `||` calls.
(long_pages) &
long=$!
(short_pages) &
short=$!
failed=0
wait "$long" || failed=1
wait "$short" || failed=1
[ $failed = 0 ] || { echo "browser.sh: a page was not made" >&2; exit 1; }

reports=("$work/report.html")
for study in "${recorded[@]}"; do reports+=("$work/$study-recorded.html"); done
for study in scaling tune qos baseline engines pinning enterprise snia io compare; do reports+=("$work/$study-sim.html"); done
FATHOM_REPORT=$(IFS=:; echo "${reports[*]}")
export FATHOM_REPORT
cd web
TMPDIR="$work/tmp" npm run e2e
