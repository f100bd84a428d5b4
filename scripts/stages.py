#!/usr/bin/env python3
"""Runs the stages of `make test` or `make test-all` in order, prints what each cost, and checks the sum against the budget.

    scripts/stages.py TIER STAGE...        TIER: a table of tests/budget.toml

Each stage is a target of the Makefile. A stage that fails does not keep the later ones from running. The budget is CPU time,
not wall time, so that a busy host does not fail the run. Exit status: 0 all passed and within the budget, 1 otherwise.
"""

import math
import os
import resource
import subprocess
import sys
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUDGET = ROOT / "tests" / "budget.toml"
# Tiers that CI runs: it ends a run after 90 minutes and then shows no table. After this long no further stage starts.
LAST_START_S = {"test": 75 * 60}
# Stages without which no other can run.
NEEDED = ("setup-test", "viewer")


@dataclass(frozen=True)
class Stage:
    """One finished stage. `cpu_s`: user and system time of all its processes."""

    name: str
    status: int
    wall_s: float
    cpu_s: float


def main() -> int:
    tier, *names = sys.argv[1:]
    budget = tomllib.loads(BUDGET.read_text())[tier]
    began = time.monotonic()
    # Downloads wait for the network while the first stages compile.
    downloads = None
    done: list[Stage] = []
    skipped: list[str] = []
    for name in names:
        if time.monotonic() - began > LAST_START_S.get(tier, math.inf) or any(s.status and s.name in NEEDED for s in done):
            skipped.append(name)
            continue
        if name == "newcomer" and downloads is not None:
            downloads.wait()
        done.append(run(name))
        if name == "setup-test":
            downloads = subprocess.Popen(["make", "--no-print-directory", "downloads"], cwd=ROOT)
    if downloads is not None:
        downloads.wait()
    return report(done, skipped, budget, time.monotonic() - began)


def run(name: str) -> Stage:
    print(f"=== {name}", flush=True)
    before, start = cpu_of_children(), time.monotonic()
    status = subprocess.run(["make", "--no-print-directory", name], cwd=ROOT, check=False).returncode
    stage = Stage(name, status, time.monotonic() - start, cpu_of_children() - before)
    print(f"=== {name}: {'passed' if status == 0 else 'FAILED'}, {stage.wall_s:.0f} s, {stage.cpu_s:.0f} s of CPU", flush=True)
    return stage


def cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def report(done: list[Stage], skipped: list[str], budget: dict, wall_s: float) -> int:
    cpu_s = cpu_of_children()
    print(f"\n{'stage':<14}{'wall s':>8}{'CPU s':>8}{'budget':>8}")
    for stage in done:
        failed = "  FAILED" if stage.status else ""
        print(f"{stage.name:<14}{stage.wall_s:8.0f}{stage.cpu_s:8.0f}{budget['stages'].get(stage.name, 0):8}{failed}")
    print(f"{'sum':<14}{wall_s:8.0f}{cpu_s:8.0f}{budget['cpu_s']:8}")
    busy = os.getloadavg()[1]
    print(f"{os.cpu_count()} CPUs, load average of the last 5 minutes {busy:.1f}")
    for name in skipped:
        print(f"{name}: not run: setup-test or viewer failed, or the time limit for starting a stage had passed")
    over = cpu_s > budget["cpu_s"]
    if over:
        print(f"CPU time is over the budget: {cpu_s:.0f} s of {budget['cpu_s']} s. Shorten tests, or raise {BUDGET.relative_to(ROOT)} with the reason in the same commit.")
    failed = sum(stage.status != 0 for stage in done) + len(skipped) + over
    print(f"stages: {len(done) - sum(stage.status != 0 for stage in done)} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
