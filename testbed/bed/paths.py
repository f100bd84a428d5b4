"""Where things are. Everything that is made lies in testbed/work, which git ignores."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
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


@contextmanager
def locked(name: str) -> Iterator[None]:
    """Keeps other threads and other programs of the testbed away from what `name` stands for."""
    folder = WORK / "locks"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / name).open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
