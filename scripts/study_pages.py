#!/usr/bin/env python3
"""Runs what the pages of the studies show, and puts its output in place of theirs.

    scripts/study_pages.py [--binary target/release/fathom] [--work DIR] [NAME...]

Names: quick, predict, baseline, pinning, qos, enterprise, scaling, engines, snia, tune, commit, surface, raid; all without a name, which takes
about 22 minutes on a machine that does nothing else. The files are made in DIR, on the disk that the pages tell of; `tune`
needs root for its loop device. Nothing is printed into a page of a run that failed.
"""

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs" / "studies"
LOOP_BYTES = 512 << 20
# Rows at each end of a long part of a table that are kept.
ENDS = 3

# Arguments of `fathom run`; `{loop}` and `{name}` are a loop device made for it.
COMMANDS = {
    "quick": "quick",
    "predict": "quick --predict --details",
    "baseline": "baseline --target data.bin --time-budget 1m",
    "pinning": "pinning --target data.bin --time-budget 2m",
    "qos": "qos --target data.bin --time-budget 2m --set 'latency_goal=p99<=1ms'",
    "enterprise": "enterprise --group left=a.bin,b.bin --group right=c.bin,d.bin --set size=512m --time-budget 2m",
    "scaling": "scaling --target a.bin --target b.bin --time-budget 1m",
    "engines": "engines --target data.bin --time-budget 45s",
    "snia": "snia-iops --target data.bin --set size=512m --time-budget 90s",
    "surface": "surface --target data.bin --time-budget 3m",
    "raid": "raid --target a.bin --target b.bin --target c.bin --target d.bin --set size=512m --time-budget 6m",
    "commit": "commit --target . --size 512m --time-budget 3m",
    "tune": "tune --target {loop} --destroy {name}:data --versus scheduler=mq-deadline --time-budget 2m",
}
# Their pages mark what is left out of the table.
SHORTENED = {"baseline", "pinning", "enterprise", "snia", "surface", "raid"}
# Some steps of these are refused on a small machine, as their pages say.
SOME_REFUSED = {"scaling", "engines"}


@contextmanager
def loop_device(work: Path) -> Iterator[str]:
    """A block device of random bytes, which carries no signature."""
    image = work / "loop.img"
    with image.open("wb") as file:
        for _ in range(LOOP_BYTES >> 20):
            file.write(os.urandom(1 << 20))
    made = subprocess.run(["losetup", "-f", "--show", str(image)], check=True, capture_output=True, text=True)
    device = made.stdout.strip()
    try:
        yield device
    finally:
        subprocess.run(["losetup", "-d", device], check=True)
        image.unlink()


def run(binary: Path, work: Path, name: str) -> tuple[str, str]:
    """Standard output and standard error of the command."""
    if name == "tune":
        with loop_device(work) as device:
            words = COMMANDS[name].format(loop=device, name=device.removeprefix("/dev/"))
            return run_words(binary, work, name, words)
    return run_words(binary, work, name, COMMANDS[name])


def run_words(binary: Path, work: Path, name: str, words: str) -> tuple[str, str]:
    env = {**os.environ, "NO_COLOR": "1", "FATHOM_LAB": str(work / "lab.db"), "FATHOM_JOURNAL": str(work / "journal")}
    command = [str(binary), "run", *shlex.split(words)]
    print(shlex.join(command), flush=True)
    ended = subprocess.run(command, cwd=work, env=env, check=False, capture_output=True, text=True)
    if ended.returncode not in ({0, 1} if name in SOME_REFUSED else {0}):
        sys.exit(f"{name} ended with {ended.returncode}:\n{ended.stderr}")
    return ended.stdout.rstrip("\n"), ended.stderr.rstrip("\n")


def shortened(text: str) -> str:
    """Of each long part of the table only its ends."""
    out: list[str] = []
    rows: list[str] = []
    for line in [*text.split("\n"), ""]:
        if line.startswith(" ") and not line.startswith(" step"):
            rows.append(line)
            continue
        out += rows if len(rows) <= 2 * ENDS + 1 else [*rows[:ENDS], " ...", *rows[-ENDS:]]
        rows = []
        out.append(line)
    return "\n".join(out[:-1])


def put(page: Path, heading: str, text: str) -> None:
    """Replaces what stands in the first block below `heading`."""
    whole = page.read_text(encoding="utf-8")
    start = whole.index("```\n", whole.index(heading)) + len("```\n")
    # An empty block ends where it begins.
    end = whole.index("\n```", start - 1)
    page.write_text(whole[:start] + text + whole[end:], encoding="utf-8")


def predictions(out: str) -> str:
    start = out.index("Predicted at")
    return out[start : out.index("\n", out.index("Median error", start))]


def show(name: str, out: str, err: str) -> None:
    if name == "predict":
        put(PAGES / "quick.md", "## Predicted first", predictions(out))
        return
    page = PAGES / f"{name}.md"
    put(page, "While it runs (standard error):", shortened(err) if name in SHORTENED else err)
    put(page, "At the end (standard output):", out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, default=ROOT / "target" / "release" / "fathom")
    parser.add_argument("--work", type=Path, default=ROOT, help="where the files are made (default: this repository)")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(COMMANDS))
    given = parser.parse_args()
    if unknown := set(given.names) - set(COMMANDS):
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    with tempfile.TemporaryDirectory(dir=given.work) as work:
        for name in given.names or COMMANDS:
            show(name, *run(given.binary.resolve(), Path(work), name))


if __name__ == "__main__":
    main()
