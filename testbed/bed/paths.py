"""Where things are. Everything that is made lies in testbed/work, which git ignores."""

from pathlib import Path

TESTBED = Path(__file__).resolve().parent.parent
PROJECT = TESTBED.parent
GUEST = TESTBED / "guest"
TESTS = TESTBED / "tests"

WORK = TESTBED / "work"
PACKAGES = WORK / "packages"
IMAGES = WORK / "images"
RUNS = WORK / "runs"
