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
cargo build -p fathom-report --example report_from_json
export FATHOM_REPORT="$work/report.html" FATHOM_RENDER="$target/debug/examples/report_from_json"
cd web
npm run e2e
