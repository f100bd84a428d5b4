#!/usr/bin/env python3
"""Speed of the simulator: simulated I/Os per CPU second, and the CPU time of 24 drives for 30 s at full load.

CPU time is that of the whole process, so that the figures are those of one core however busy the machine is. The speed is
the difference of a long and a short run: start-up does not count.

With --studies: wall time and peak memory of every shipped study on every shipped machine instead, held against the goals.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Goals of the design: I/Os per CPU second, and seconds for the large case.
SPEED_MIN, LARGE_MAX_S = 3e6, 300
# Goals for whole studies: wall seconds, those of the study that takes longest, and memory.
STUDY_MAX_S, STUDY_MAX_S_OF, STUDY_MAX_MB = 10, {"snia": 60}, 500


def simulate(binary: str, part: str, load: list[str], seconds: float) -> tuple[int, float]:
    """I/Os and CPU seconds of one `fathom io` on the machine `speed`."""
    with tempfile.TemporaryDirectory() as lab, tempfile.TemporaryFile("w+") as out:
        command = [binary, "io", "--quiet", "--json", "--lab", f"{lab}/bench.db", "--target", f"sim:speed/{part}", *load,
                   "--runtime", f"{round(seconds * 1000)}ms"]
        child = subprocess.Popen(command, stdout=out)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            sys.exit(f"simulator: this command ended with {child.returncode}:\n  {' '.join(command)}")
        out.seek(0)
        return json.load(out)["steps"][0]["ios"], usage.ru_utime + usage.ru_stime


def speed(binary: str, load: list[str], rounds: int) -> float:
    """I/Os per CPU second on one drive, best of the rounds."""
    best = 0.0
    for _ in range(rounds):
        (few, short_s), (many, long_s) = (simulate(binary, "nvme-0", load, seconds) for seconds in (1.0, 11.0))
        best = max(best, (many - few) / max(long_s - short_s, 1e-9))
    return best


def rows(binary: str, rounds: int, large_seconds: float) -> list[tuple[str, float, str, bool]]:
    """Work, figure, goal, and whether it is met."""
    plain = speed(binary, ["--iodepth", "32", "--threads", "1"], rounds)
    ios, cpu_s = simulate(binary, "nvme", ["--iodepth", "32", "--threads", "8"], large_seconds)
    whole_s = cpu_s * 30 / large_seconds
    large = f"24 drives at full load for 30 s, CPU s (from {large_seconds:g} s: {ios} I/Os)"
    return [("one drive, T1 QD32, simulated I/Os per CPU s", plain, f">= {SPEED_MIN:.3g}", plain >= SPEED_MIN),
            (large, whole_s, f"<= {LARGE_MAX_S}", whole_s <= LARGE_MAX_S)]


def listed(binary: str, command: str) -> list[str]:
    """Names that `fathom studies` or `fathom machines` lists."""
    out = subprocess.run([binary, command, "--json"], check=True, capture_output=True, text=True).stdout
    return [entry["name"] for entry in json.loads(out)[command]]


def study(binary: str, name: str, machine: str) -> tuple[float, float, int]:
    """Wall seconds, peak MB and exit code of one study: 1 where steps of it cannot be had on the machine."""
    with tempfile.TemporaryDirectory() as lab:
        command = [binary, "run", name, "--quiet", "--lab", f"{lab}/bench.db", "--target", f"sim:{machine}"]
        begun = time.monotonic()
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        told = child.stderr.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode not in (0, 1):
            sys.exit(f"simulator: this command ended with {child.returncode}:\n  {' '.join(command)}\n{told}")
        return time.monotonic() - begun, usage.ru_maxrss / 1024, child.returncode


def studies(binary: str, names: list[str], machines: list[str]) -> bool:
    """Prints the wall times of `names` on `machines`, a row each; whether all goals are met."""
    names, machines = names or listed(binary, "studies"), machines or listed(binary, "machines")
    print(f"Wall seconds on {len(os.sched_getaffinity(0))} CPUs, and the most memory of any.\n")
    print(f"| study | {' | '.join(machines)} | most MB | goals met |\n|---|{'---|' * (len(machines) + 2)}")
    met = True
    for name in names:
        found = [study(binary, name, machine) for machine in machines]
        most_s, most_mb = max(seconds for seconds, *_ in found), max(mb for _, mb, _ in found)
        is_met = most_s <= STUDY_MAX_S_OF.get(name, STUDY_MAX_S) and most_mb <= STUDY_MAX_MB
        cells = " | ".join(f"{seconds:.1f}{'*' if code else ''}" for seconds, _, code in found)
        print(f"| {name} | {cells} | {most_mb:.0f} | {'yes' if is_met else '**no**'} |", flush=True)
        met &= is_met
    print("\n\\* steps of it are refused on this machine: too few drives, no SMT, or what a simulation does not have.")
    return met


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fathom", default=str(ROOT / "target" / "release" / "fathom"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--large-seconds", type=float, default=30.0, help="virtual time of the large case; less is scaled up")
    parser.add_argument("--studies", nargs="*", metavar="STUDY", help="time these studies instead; all without a name")
    parser.add_argument("--machines", nargs="*", metavar="MACHINE", help="on these machines; all without a name")
    options = parser.parse_args()
    if options.studies is not None:
        sys.exit(not studies(options.fathom, options.studies, options.machines or []))
    print("| work | figure | goal | met |\n|---|---|---|---|")
    found = rows(options.fathom, options.rounds, options.large_seconds)
    for work, figure, goal, met in found:
        print(f"| {work} | {figure:.4g} | {goal} | {'yes' if met else '**no**'} |")
    if not all(met for *_, met in found):
        sys.exit(1)


if __name__ == "__main__":
    main()
