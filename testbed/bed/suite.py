"""Tests: their markers, and the search for them in testbed/tests."""

import importlib.util
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from . import paths
from .guest import Guest
from .machines import Drive, Machine

# Time limits of one attempt at a test, without the start of its guest.
LIMIT_S = 60.0
FULL_LIMIT_S = 240.0

Body = Callable[[Guest], None]


@dataclass(frozen=True)
class Test:
    """A test: its sentence, and the guest it needs. `restored`: a guest of its own with these drives."""

    name: str
    machine: Machine
    restored: tuple[Drive, ...] | None
    body: Body

    @property
    def is_timed(self) -> bool:
        """True if the test depends on time: see `timed`."""
        return getattr(self.body, "is_timed", False)

    @property
    def full_reason(self) -> str | None:
        """Reason why only `test --all` runs the test; None for a test of the safety tier."""
        reasons = getattr(self.body, "full_reasons", {})
        return reasons.get(self.machine.name, reasons.get(""))

    @property
    def tier(self) -> str:
        return "safety" if self.full_reason is None else "all"

    @property
    def limit_s(self) -> float:
        """Time limit of one attempt."""
        return getattr(self.body, "limit_s", LIMIT_S if self.full_reason is None else FULL_LIMIT_S)

    @property
    def place(self) -> str:
        """File and line of the test."""
        code = self.body.__code__
        try:
            lines, first = inspect.getsourcelines(self.body)
        except OSError:
            lines, first = [], code.co_firstlineno
        # The source begins with the markers.
        number = next((i for i, line in enumerate(lines) if line.startswith("def ")), 0)
        file = Path(code.co_filename)
        shown = file.relative_to(paths.PROJECT) if file.is_relative_to(paths.PROJECT) else file
        return f"{shown}:{first + number}"


_found: list[Test] = []


def on(*machines: Machine) -> Callable[[Body], Body]:
    """The test shares a guest with other tests and leaves the guest as it was; once per machine."""

    def register(body: Body) -> Body:
        for machine in machines:
            _found.append(Test(_sentence(body), machine, None, body))
        return body

    return register


def restored(machine: Machine, *serials: str) -> Callable[[Body], Body]:
    """The test breaks things: it gets a guest of its own, restored from a saved one, with the drives named."""

    def register(body: Body) -> Body:
        drives = tuple(drive for drive in machine.drives if drive.serial in serials)
        assert len(drives) == len(serials), f"{machine.name} has no drives {serials}"
        _found.append(Test(_sentence(body), machine, drives, body))
        return body

    return register


def timed(body: Body) -> Body:
    """The test compares a rate, a delay or a latency with a setting or with another figure.

    Work of this host disturbs all of these in an emulated machine. So the test runs at the end, while no other guest runs. A
    failure gets one retry. A test that passes only then is flaky.
    """
    body.is_timed = True  # type: ignore[attr-defined]
    return body


def full(reason: str, *machines: Machine) -> Callable[[Body], Body]:
    """Only `test --all` runs the test, for this reason. `machines`: only on these; no machine: on all of them."""
    assert reason and isinstance(reason, str), "a test outside the safety tier needs a reason"

    def mark(body: Body) -> Body:
        reasons = dict(getattr(body, "full_reasons", {}))
        reasons.update({machine.name: reason for machine in machines} if machines else {"": reason})
        body.full_reasons = reasons  # type: ignore[attr-defined]
        return body

    return mark


def limit(seconds: float, reason: str) -> Callable[[Body], Body]:
    """The test has a longer time limit, for this reason."""
    assert reason and isinstance(reason, str), "a longer time limit needs a reason"

    def mark(body: Body) -> Body:
        body.limit_s = seconds  # type: ignore[attr-defined]
        return body

    return mark


def _sentence(body: Body) -> str:
    return body.__name__.replace("_", " ")


def find(words: Iterable[str] = (), every: bool = True) -> list[Test]:
    """Tests of testbed/tests, ordered so that guests are shared.

    `words`: only tests whose name or machine contains a word, of any tier. `every`: both tiers; else the safety tier only.
    """
    _found.clear()
    for file in sorted(paths.TESTS.glob("*.py")):
        spec = importlib.util.spec_from_file_location(f"testbed_tests.{file.stem}", file)
        assert spec is not None and spec.loader is not None, file
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
    wanted = list(words)
    if wanted:
        chosen = [t for t in _found if any(_is_said(w, f"{t.name} on {t.machine.name}") for w in wanted)]
    else:
        chosen = [t for t in _found if every or t.tier == "safety"]
    order = {machine: index for index, machine in enumerate(dict.fromkeys(t.machine.name for t in chosen))}
    return sorted(chosen, key=lambda t: (t.restored is not None, order[t.machine.name]))


def _is_said(word: str, sentence: str) -> bool:
    """Names of functions have no hyphens, so that `user-space` is also `user space`."""
    return word in sentence or word.replace("-", " ") in sentence
