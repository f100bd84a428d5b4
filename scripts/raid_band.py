#!/usr/bin/env python3
"""How far the published figures of the article on RAID cards lie from `fathom predict --raid`, each left out in turn.

    scripts/raid_band.py target/debug/fathom

The drives and the cards are those of the machine files sim:r650-h755n and sim:r640-h730p. Two values of the first card were
fitted to figures of this list (its parity updates, the rate that it computes parity at); where one of those figures is
predicted, the value is fitted anew without it. The link's payload was fitted to five figures of reads, of which each four give
the same. The band of a figure is what covers all others: of 12 figures a 90 % band by ranks is the largest error.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

# Name, machine, level, load in the words of the command, figure, unit. A range stands with its middle.
READ, WRITE, MIX = "--rw randread", "--rw randwrite", "--rw randrw --rwmixread 70"
FIGURES = [
    ("h755n-r10-4k-randread", "r650-h755n", 10, f"{READ} --bs 4k", 3.55e6, "iops"),
    ("h755n-r56-4k-randread", "r650-h755n", 5, f"{READ} --bs 4k", 3.5e6, "iops"),
    ("h755n-r10-4k-randwrite", "r650-h755n", 10, f"{WRITE} --bs 4k", 917e3, "iops"),
    ("h755n-r5-4k-randwrite", "r650-h755n", 5, f"{WRITE} --bs 4k", 186e3, "iops"),
    ("h755n-r6-4k-randwrite", "r650-h755n", 6, f"{WRITE} --bs 4k", 198e3, "iops"),
    ("h755n-r10-8k-mixed", "r650-h755n", 10, f"{MIX} --bs 8k", 1.05e6, "iops"),
    ("h755n-r5-8k-mixed", "r650-h755n", 5, f"{MIX} --bs 8k", 500e3, "iops"),
    ("h755n-r6-8k-mixed", "r650-h755n", 6, f"{MIX} --bs 8k", 400e3, "iops"),
    ("h755n-8k-randread-bw-floor", "r650-h755n", 5, f"{READ} --bs 8k", 14e9, "bytes_per_s"),
    ("h755n-r10-seqwrite", "r650-h755n", 10, "--rw write --bs 64k", 5.908e9, "bytes_per_s"),
    ("h755n-r56-64k-seqread", "r650-h755n", 5, "--rw read --bs 64k", 14.8e9, "bytes_per_s"),
    ("h730p-r10-4k-randread", "r640-h730p", 10, f"{READ} --bs 4k", 500e3, "iops"),
]
MEMBERS = {"r650-h755n": 8, "r640-h730p": 10}
# The value without the figure, from the other one that it was fitted to: 1 / IOPS, and IOPS x share of writes x bytes.
ANEW = {
    "h755n-r5-4k-randwrite": ('parity = "5.20us"', f'parity = "{1e6 / 198e3:.2f}us"'),
    "h755n-r6-4k-randwrite": ('parity = "5.20us"', f'parity = "{1e6 / 186e3:.2f}us"'),
    "h755n-r5-8k-mixed": ('xor_rate = "3.80 GB/s"', f'xor_rate = "{400e3 * 0.3 * 4 * 8192 / 1e9:.2f} GB/s"'),
    "h755n-r6-8k-mixed": ('xor_rate = "3.80 GB/s"', f'xor_rate = "{500e3 * 0.3 * 3 * 8192 / 1e9:.2f} GB/s"'),
}


def main() -> None:
    fathom = sys.argv[1]
    ratios = []
    with tempfile.TemporaryDirectory() as work:
        for name, machine, level, load, figure, unit in FIGURES:
            text = subprocess.run([fathom, "machines", "dump", machine], capture_output=True, text=True, check=True).stdout
            before, after = ANEW.get(name, ("", ""))
            if before not in text:
                sys.exit(f"{machine} holds no {before}: fit the values of this script anew")
            file = Path(work) / f"{machine}.toml"
            file.write_text(text.replace(before, after) if before else text)
            words = ["predict", "--device", f"sim:{file}", "--raid", str(level), "--members", str(MEMBERS[machine])]
            words += [*load.split(), "--numjobs", "64", "--iodepth", "64", "--json"]
            step = json.loads(subprocess.run([fathom, *words], capture_output=True, text=True, check=True).stdout)["steps"][0]
            ratios.append((name, figure, step[unit], step["array"].get("part") or step["limit"], bool(before)))
    print(f"{'figure':<28} {'published':>10} {'predicted':>10} {'error':>8}  binds")
    for name, figure, predicted, part, is_left_out in ratios:
        mark = " (fitted without it)" if is_left_out else ""
        print(f"{name:<28} {figure:>10.4g} {predicted:>10.4g} {predicted / figure - 1:>+8.1%}  {part}{mark}")
    covered = 0
    for name, figure, predicted, *_ in ratios:
        others = [p / f for n, f, p, *_ in ratios if n != name]
        covered += 1 / max(others) <= figure / predicted <= 1 / min(others)
    errors = [p / f for _, f, p, *_ in ratios]
    print(f"\n{len(ratios)} figures: published / predicted from {1 / max(errors):.2f} to {1 / min(errors):.2f};", end=" ")
    print(f"{covered} of {len(ratios)} within what the others span")


main()
