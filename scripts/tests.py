#!/usr/bin/env python3
"""Prints the slowest tests of the last run of the test runner, names the flaky ones, and fails where there are too many.

    scripts/tests.py JUNIT.xml

A flaky test failed first and passed on its retry. Exit status: 0, or 1 with more than FLAKY_MAX flaky tests.
"""

import sys
import xml.etree.ElementTree as ElementTree

SHOWN = 15
FLAKY_MAX = 3


def main() -> int:
    cases = list(ElementTree.parse(sys.argv[1]).iter("testcase"))
    seconds = sorted(((float(case.get("time", 0)), name(case)) for case in cases), reverse=True)
    print(f"slowest of {len(cases)} tests, {sum(s for s, _ in seconds):.0f} s in all:")
    for taken, test in seconds[:SHOWN]:
        print(f"{taken:8.1f} s  {test}")
    flaky = [name(case) for case in cases if case.find("flakyFailure") is not None or case.find("flakyError") is not None]
    for test in flaky:
        print(f"flaky: {test}")
    if len(flaky) > FLAKY_MAX:
        print(f"{len(flaky)} tests were flaky; {FLAKY_MAX} are allowed")
        return 1
    return 0


def name(case: ElementTree.Element) -> str:
    return f"{case.get('classname')} {case.get('name')}"


if __name__ == "__main__":
    sys.exit(main())
