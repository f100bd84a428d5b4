"""Outcomes of tests: the lines about one test, the summary of a run, and the file of results."""

import json
import os
from dataclasses import asdict, dataclass

from . import paths

# A run with more flaky tests fails.
FLAKY_MAX = 3
SLOWEST = 5


@dataclass(frozen=True)
class Outcome:
    """Outcome of a test: `passed`, `failed` or `skipped`, with the reason. `place`: file and line of the test."""

    name: str
    machine: str
    state: str
    seconds: float
    reason: str = ""
    # The first attempt failed on time and the second passed.
    flaky: bool = False
    place: str = ""


def status(outcomes: list[Outcome]) -> int:
    """Exit status of a run."""
    return 1 if any(o.state == "failed" for o in outcomes) or sum(o.flaky for o in outcomes) > FLAKY_MAX else 0


def show(outcome: Outcome, lines: list[str]) -> None:
    """Prints a line per test and its details in one piece, because workers print at the same time."""
    head = f"{outcome.state:>7} {outcome.seconds:5.1f} s  {outcome.machine}: {outcome.name}"
    details = [f"        {line}" for text in lines for line in text.splitlines()]
    details += [f"        | {line}" for line in outcome.reason.splitlines()]
    print("\n".join([head, *details]), flush=True)


def summary(outcomes: list[Outcome], seconds: float, cpu_seconds: float) -> str:
    """Last lines of a run. A reader who has only the end of a long log sees each failure."""
    lines = []
    for o in sorted(outcomes, key=lambda o: o.seconds, reverse=True)[:SLOWEST]:
        lines.append(f"slowest: {o.seconds:5.1f} s  {o.place}  {o.machine}: {o.name}")
    lines.append(f"CPU time: {cpu_seconds:.0f} s, QEMU included")
    flaky = [o for o in outcomes if o.flaky]
    lines += [f"flaky: {o.machine}: {o.name}" for o in flaky]
    if len(flaky) > FLAKY_MAX:
        lines.append(f"failed: {len(flaky)} tests were flaky, at most {FLAKY_MAX} may be")
    lines += [f"failed: {o.machine}: {o.name}" for o in outcomes if o.state == "failed"]
    counts = {state: sum(o.state == state for o in outcomes) for state in ("passed", "failed", "skipped")}
    counted = ", ".join(f"{count} {state}" for state, count in counts.items())
    lines.append(f"{counted} of {len(outcomes)} tests in {seconds:.0f} s")
    return "\n".join(f"testbed: {line}" for line in lines)


def write(outcomes: list[Outcome]) -> None:
    """Writes the outcomes as JSON, for other programs. The file is replaced whole."""
    paths.WORK.mkdir(parents=True, exist_ok=True)
    part = paths.WORK / f"results.{os.getpid()}.part"
    part.write_text(json.dumps([asdict(o) for o in outcomes], indent=1))
    part.replace(paths.WORK / "results.json")
