"""A set-up whose limit is known because it was built: how it is built, the load, the right answers and why."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

# Words of the JSON contract: `steps[].limit.name`.
QUEUE_DEPTH = "queue_depth"
DEVICE = "device"
CORE = "core"
ALL_CORES = "all_cores"
CPU_TAKEN = "cpu_taken"
KERNEL_THREAD = "kernel_thread"
FILE_SYSTEM = "file_system"
FLUSH = "flush"
RAID = "raid"
MEMORY = "memory"
PAGE_CACHE = "page_cache"
RATE = "rate"

Right = frozenset[str]
# A step between two known ends: it is measured, because a ladder needs it, and not scored.
BETWEEN: Right = frozenset()


def of(*names: str) -> Right:
    """The names that are all right: where one part has two honest names, or where the set-up leaves two parts open."""
    return frozenset(names)


class NotBuilt(Exception):
    """The set-up cannot be had here, or its truth does not hold here; says why. Its steps are not scored."""


class Undo(Protocol):
    """What a set-up registers before it changes anything."""

    def script(self, script: str) -> None:
        """A shell script that takes a change back."""

    def call(self, body: Callable[[], None]) -> None:
        """The same as a function."""


class Place(Protocol):
    """Where a set-up is built and measured: this host, or an emulated machine."""

    folder: str

    def ok(self, script: str) -> str:
        """Runs a shell script that must succeed; returns what it printed."""

    def take_back(self, script: str) -> None:
        """Runs a shell script that takes back what another one did."""

    def fathom(self, study: str, words: str, prefix: str) -> dict:
        """Runs Fathom on a study of this text; returns its document."""


@dataclass(frozen=True)
class Built:
    """What a set-up gives to the measurement. `prefix`: shell words before Fathom's; `words`: more options for it."""

    target: str
    prefix: str = ""
    words: str = ""


@dataclass(frozen=True)
class Case:
    """`steps`: the ladder in order, `threads x queue depth` each, with the right answers of each step."""

    name: str
    why: str
    build: Callable[[Place, Undo], Built]
    steps: dict[str, Right]
    # Knobs of the study beside those of every study.
    knobs: dict[str, object] = field(default_factory=dict)
    # Part of the quick check: short, and true on a host that has other work.
    quick: bool = False
    # Name of the emulated machine; None: this host.
    machine: str | None = None

    @property
    def where(self) -> str:
        return self.machine or "host"
