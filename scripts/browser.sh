#!/usr/bin/env bash
# Measures a real file for a few seconds, writes the report, and opens it in headless Chromium.
set -euo pipefail
cd "$(dirname "$0")/.."

target=$(cargo metadata --format-version 1 --no-deps | sed -n 's/.*"target_directory":"\([^"]*\)".*/\1/p')
mkdir -p "$target"
# In the build folder: /tmp may be memory, where O_DIRECT means nothing.
work=$(mktemp -d "$target/browser.XXXXXX")
trap 'rm -rf "$work"' EXIT
"$target/debug/fathom" run quick --quiet --lab "$work/lab.db" --target "$work" \
    --set size=256m --time-budget 15s --output "$work/report.html" >"$work/summary.txt"
cat "$work/summary.txt"
# Runs that were measured on a busy machine, as they were kept.
gzip -dc crates/front/fathom/tests/labs/recorded.db.gz >"$work/recorded.db"
recorded=(quick qos io commit)
for i in "${!recorded[@]}"; do
    "$target/debug/fathom" report $((i + 1)) --lab "$work/recorded.db" --output "$work/${recorded[i]}-recorded.html" >/dev/null
done
# Studies on simulated machines, in virtual time: quick to make, and their pages have everything but this machine.
simulated() {
    "$target/debug/fathom" run "$1" --quiet --lab "$work/lab.db" --output "$work/$1-sim.html" "${@:2}" >/dev/null
}
drives=(--target sim:r740xd/pm1725-0 --target sim:r740xd/pm1725-1 --target sim:r740xd/pm1725-2 --target sim:r740xd/pm1725-3)
simulated scaling --time-budget 20s --set 'devices=[1, 2, 4]' "${drives[@]}"
simulated tune --time-budget 20s --versus engine=libaio --target sim:r740xd/pm1725-0 --lang zh
one=(--target sim:r740xd/pm1725-0)
simulated qos --time-budget 15s --set 'latency_goal=p99<=300us' "${one[@]}"
simulated baseline --time-budget 20s "${one[@]}"
simulated engines --time-budget 15s "${one[@]}"
simulated pinning --time-budget 75s "${one[@]}"
simulated enterprise --time-budget 30s --group left=sim:r740xd/pm1725-0 --group right=sim:r740xd/pm1725-1
simulated snia --time-budget 4m "${one[@]}"
"$target/debug/fathom" io --quiet --lab "$work/lab.db" "${one[@]}" --rw randread --bs 4k --iodepth 8 --runtime 5s --output "$work/io-sim.html" >/dev/null
# One plan on two drives, each a run of its own.
for drive in pm1725-0 pm1725-1; do
    "$target/debug/fathom" run baseline --quiet --lab "$work/pair.db" --time-budget 20s --target "sim:r740xd/$drive" >/dev/null
done
"$target/debug/fathom" compare --lab "$work/pair.db" 1 2 --output "$work/compare-sim.html" >/dev/null
cargo build -p fathom-report --example report_from_json
reports=("$work/report.html")
for study in "${recorded[@]}"; do reports+=("$work/$study-recorded.html"); done
for study in scaling tune qos baseline engines pinning enterprise snia io compare; do reports+=("$work/$study-sim.html"); done
FATHOM_REPORT=$(IFS=:; echo "${reports[*]}")
export FATHOM_REPORT
export FATHOM_RENDER="$target/debug/examples/report_from_json"
cd web
npm run e2e
