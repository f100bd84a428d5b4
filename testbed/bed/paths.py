"""Where things are. Everything that is made lies in testbed/work, which git ignores."""

from pathlib import Path

TESTBED = Path(__file__).resolve().parent.parent
PROJECT = TESTBED.parent
GUEST = TESTBED / "guest"
TESTS = TESTBED / "tests"
# Captured machines as text, for the tests of the crate that reads them.
FIXTURES = PROJECT / "crates/system/fathom-inspect/fixtures"

WORK = TESTBED / "work"
PACKAGES = WORK / "packages"
IMAGES = WORK / "images"
RUNS = WORK / "runs"
