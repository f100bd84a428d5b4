#!/usr/bin/env bash
# Measures a real file for a few seconds, writes the report, and opens it in headless Chromium.
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
target/debug/fathom run quick --quiet --lab "$work/lab.db" --target "$work" \
    --set size=256m --time-budget 15s --output "$work/report.html" >"$work/summary.txt"
cat "$work/summary.txt"
cd web
FATHOM_REPORT="$work/report.html" npm run e2e
