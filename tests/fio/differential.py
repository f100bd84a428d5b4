#!/usr/bin/env python3
"""Random jobs, run by fio and by Fathom: same I/Os, same files, same results.

    tests/fio/differential.py --fathom BINARY [--cases 300] [--seed N] [--fio fio] [--workers 8] [--first 0] [--keep-going]

Prints the seed. A difference is made smaller until no part can be left out, and printed with what differs. Exit status: 0 no
difference, 1 a difference, or more refusals than MOST_REFUSED.
"""

import argparse
import collections
import concurrent.futures
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path

from cases import Case, drawn, smaller
from compare import Programs, Verdict, verdict

# Share of the cases that Fathom may refuse: a grammar of keys that it does not run would test nothing.
MOST_REFUSED = 0.15
SHOWN_MAX = 10


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fathom", required=True)
    parser.add_argument("--fio", default="fio")
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--show", type=int, default=SHOWN_MAX, help="differences to make smaller and print")
    args = parser.parse_args()
    seed = args.seed if args.seed is not None else random.SystemRandom().randrange(1_000_000)
    programs = Programs(args.fio, str(Path(args.fathom).resolve()))
    print(f"seed {seed}, {args.cases} cases from {args.first}", flush=True)
    began = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="fio-differential-"))
    try:
        numbers = range(args.first, args.first + args.cases)
        found = judged(seed, numbers, programs, folder, args.workers)
        kinds = collections.Counter(one.kind for one in found.values())
        print(f"{dict(kinds)} in {time.monotonic() - began:.0f} s")
        refusals = collections.Counter(one.text for one in found.values() if one.kind == "refused")
        for text, times in refusals.most_common(SHOWN_MAX):
            print(f"  refused {times} times: {text}")
        different = [number for number, one in found.items() if one.kind == "different"]
        for number in different:
            print(f"  case {number}: {found[number].text}")
        for number in different[: args.show]:
            case, why = shrunk(drawn(seed, number), found[number], programs, folder / "shrink")
            print(f"\ncase {number} of seed {seed}: {why.text}\n{case}", flush=True)
        ran = len(found) - kinds["fio-refused"]
        if kinds["refused"] > MOST_REFUSED * ran:
            print(f"too many refusals: {kinds['refused']} of {ran}")
            return 1
        return 1 if different else 0
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def judged(seed: int, numbers: range, programs: Programs, folder: Path, workers: int) -> dict[int, Verdict]:
    """The verdict of each case. fio and Fathom mostly wait: several cases run at once."""
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        jobs = {number: pool.submit(one, seed, number, programs, folder) for number in numbers}
        return {number: job.result() for number, job in jobs.items()}


def one(seed: int, number: int, programs: Programs, folder: Path) -> Verdict:
    own = folder / str(number)
    try:
        return verdict(drawn(seed, number), programs, own)
    finally:
        shutil.rmtree(own, ignore_errors=True)


def shrunk(case: Case, found: Verdict, programs: Programs, folder: Path) -> tuple[Case, Verdict]:
    """The smallest case that can be reached by leaving parts out, one at a time, and still differs."""
    while True:
        for other in smaller(case):
            seen = verdict(other, programs, folder)
            if seen.kind == "different":
                case, found = other, seen
                break
        else:
            return case, found


if __name__ == "__main__":
    sys.exit(main())
