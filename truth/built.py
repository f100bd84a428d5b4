#!/usr/bin/env python3
"""Builds set-ups whose limit is then known, has Fathom measure each, and scores what it names. See docs/TRUTH-BUILT.md.

Host set-ups need root; what cannot be built here is listed with the reason. Everything built is taken back at the end, also
after an error or Ctrl-C.
"""

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True  # It would leave folders in the sources.

from setups import emulated, host, load, page, score, study  # noqa: E402
from setups.case import Case, NotBuilt, Place  # noqa: E402
from setups.places import ROOT, WORK, Emulated, Host  # noqa: E402
from setups.score import Outcome, Row  # noqa: E402
from setups.undo import Stopped, Undos, catch_signals, held  # noqa: E402

from bed import images, packages  # noqa: E402
from bed.errors import GuestLost, NoTestbed, Skipped  # noqa: E402
from bed.guest import Guest  # noqa: E402
from bed.machines import MACHINES  # noqa: E402

PAGE = ROOT / "docs" / "TRUTH-BUILT.md"
STEP_S, QUICK_STEP_S = 2.0, 1.0
# As a shell says it of a program that Ctrl-C ended.
STOPPED = 130


def main() -> int:
    args = arguments()
    catch_signals()
    cases = chosen(args)
    if not cases:
        sys.exit(f"truth: no set-up holds `{args.only}`")
    if args.list:
        for case in cases:
            print(f"{case.where}: {case.name}{' (quick)' if case.quick else ''}")
        return 0
    if not args.binary.exists():
        sys.exit(f"truth: there is no {args.binary}: build it first, or name another with --binary")
    session = Session(args.binary, QUICK_STEP_S if args.quick else STEP_S)
    try:
        for number in range(args.rounds):
            session.measure(cases, number)
    except Stopped:
        print("truth: stopped; what was built is taken back, no page is written", file=sys.stderr)
        return STOPPED
    rows = [row for outcome in session.outcomes for row in outcome.rows]
    print(page.counts("truth", score.summary(rows)))
    if not args.quick and not args.only:
        page.write(PAGE, session.outcomes, session.conditions(args.rounds))
        print(f"truth: written to {PAGE.relative_to(ROOT)}")
    for outcome in session.failed:
        print(f"truth: failed: {outcome.case.where}: {outcome.case.name}: {outcome.not_built}")
    if not rows:
        print("truth: nothing could be built: " + "; ".join(dict.fromkeys(o.not_built for o in session.outcomes)))
    # As in all other stages: what is skipped is a failure where nothing may be.
    is_skipped = not rows and bool(os.environ.get("FATHOM_NO_SKIPS"))
    return 1 if session.failed or is_skipped or any(row.is_sure_and_wrong for row in rows) else 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--host", action="store_true", help="the set-ups on this host alone")
    where.add_argument("--testbed", action="store_true", help="the set-ups in emulated machines alone")
    where.add_argument("--quick", action="store_true", help="a minute of host set-ups; fails for a wrong answer of 90 %% or more")
    parser.add_argument("--only", metavar="WORD", default="", help="set-ups whose name holds this; writes no page")
    parser.add_argument("--rounds", type=int, default=1, metavar="N", help="so many times over")
    parser.add_argument("--list", action="store_true", help="name the set-ups and measure nothing")
    default = os.environ.get("FATHOM_BINARY", ROOT / "target/release/fathom")
    parser.add_argument("--binary", type=Path, default=default, help="Fathom to measure with")
    return parser.parse_args()


def chosen(args: argparse.Namespace) -> list[Case]:
    cases = [*([] if args.testbed else host.CASES), *([] if args.host or args.quick else emulated.CASES)]
    return [case for case in cases if args.only in case.name and (case.quick or not args.quick)]


class Session:
    """One invocation: the outcomes so far, and the places that are kept from case to case."""

    def __init__(self, binary: Path, seconds: float) -> None:
        self.outcomes: list[Outcome] = []
        self.failed: list[Outcome] = []
        self.looks: list[load.Look] = []
        self._binary = binary.resolve()
        self._seconds = seconds

    def measure(self, cases: list[Case], number: int) -> None:
        self._on_host([case for case in cases if case.machine is None], number)
        for machine in dict.fromkeys(case.machine for case in cases if case.machine):
            self._on_machine(machine, [case for case in cases if case.machine == machine], number)

    def _on_host(self, cases: list[Case], number: int) -> None:
        if cases and os.geteuid() != 0:
            self._none(cases, "building takes the rights of root")
            return
        place = Host(self._binary)
        with place.undo:
            for case in cases:
                self._keep(self._one(case, place, number))

    def _on_machine(self, name: str, cases: list[Case], number: int) -> None:
        guest: Guest | None = None
        try:
            packages.fetch()
            images.build()
            images.build_fathom(self._binary)
            for case in cases:
                for is_last in (False, True):
                    guest = guest or Guest.boot(MACHINES[name])
                    try:
                        self._keep(self._one(case, Emulated(guest), number))
                        break
                    except GuestLost as lost:
                        # On a busy host emulation now and then loses a CPU's timer for good: once more on a new guest.
                        guest.down()
                        guest = None
                        if is_last:
                            self._keep(Outcome(case, not_built=f"the machine was lost twice: {lost}"))
        except (NoTestbed, Skipped) as reason:
            self._none(cases, str(reason))
        finally:
            if guest is not None:
                guest.down()

    def _one(self, case: Case, place: Place, number: int) -> Outcome:
        self.looks.append(load.look())
        try:
            with Undos(place.take_back) as undo:
                with held():
                    built = case.build(place, undo)
                document = place.fathom(study.text(case, self._seconds), f"--target {built.target} {built.words}", built.prefix)
            keep(case, number, document)
            return Outcome(case, score.rows_of(case, document))
        except NotBuilt as reason:
            return Outcome(case, not_built=str(reason))
        except (RuntimeError, AssertionError, OSError, subprocess.SubprocessError, LookupError) as error:
            outcome = Outcome(case, not_built=f"failed: {error}")
            self.failed.append(outcome)
            return outcome

    def _keep(self, outcome: Outcome) -> None:
        self.outcomes.append(outcome)
        for row in outcome.rows:
            show(row)
        if outcome.not_built:
            print(f"     -  {outcome.case.where:11}  {outcome.case.name}: not built: {outcome.not_built}", flush=True)

    def _none(self, cases: list[Case], reason: str) -> None:
        for case in cases:
            self._keep(Outcome(case, not_built=reason))

    def conditions(self, rounds: int) -> page.Conditions:
        model = re.search(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text())
        return page.Conditions(
            date=time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
            version=subprocess.check_output([self._binary, "--version"], text=True).strip(),
            command=" ".join(["truth/built.py", *_without_binary(sys.argv[1:])]),
            host=f"{model[1] if model else 'CPU'}, {os.cpu_count()} CPUs, Linux {platform.release()}",
            rounds=rounds,
            seconds=self._seconds,
            looks=self.looks,
        )


def _without_binary(words: list[str]) -> list[str]:
    """Where a binary lay means nothing elsewhere."""
    return re.sub(r"--binary[= ]\S+ ?", "", " ".join(words)).split()


def show(row: Row) -> None:
    print(page.line(row), flush=True)
    if row.is_sure_and_wrong:
        print(f"        | {row.sentence}", flush=True)


def keep(case: Case, number: int, document: dict) -> None:
    """The whole document, for whoever asks why."""
    WORK.mkdir(parents=True, exist_ok=True)
    name = re.sub(r"[^a-z0-9]+", "-", case.name.lower()).strip("-")
    (WORK / f"{case.where}-{name}-{number + 1}.json").write_text(json.dumps(document, indent=1))


if __name__ == "__main__":
    sys.exit(main())
