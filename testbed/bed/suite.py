"""Finds the tests, runs them on as few guests as they allow, and says what came of each."""

import importlib.util
import json
import os
import time
import traceback
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass

from . import paths
from .errors import GuestLost, NoTestbed, Skipped
from .guest import Guest
from .machines import Drive, Machine

# Where a test may be skipped for nothing but a testbed that cannot be had.
NO_SKIPS = "FATHOM_NO_SKIPS"

Body = Callable[[Guest], None]


@dataclass(frozen=True)
class Test:
    """A test: what it says, and the guest it needs. `restored`: a guest of its own with these drives."""

    name: str
    machine: Machine
    restored: tuple[Drive, ...] | None
    body: Body

    @property
    def is_timed(self) -> bool:
        """Whether it holds times or rates of an emulated machine against something: see `timed`."""
        return getattr(self.body, "is_timed", False)


@dataclass(frozen=True)
class Outcome:
    """What came of a test: `passed`, `failed` or `skipped`, with the reason."""

    name: str
    machine: str
    state: str
    seconds: float
    reason: str = ""
    # A timed test that failed the first time.
    again: bool = False


_found: list[Test] = []


def on(*machines: Machine) -> Callable[[Body], Body]:
    """The test runs on a guest that it shares with others and leaves as it was; once per machine."""

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
    """The test holds a rate, a delay or a latency against a setting or another. An emulated machine on a host whose CPUs
    others take now and then keeps none of these: where such a test fails it is run once more, on the guest it would have
    had anyway, and what happened is said in the last lines."""
    body.is_timed = True  # type: ignore[attr-defined]
    return body


def _sentence(body: Body) -> str:
    return body.__name__.replace("_", " ")


def find(words: Iterable[str] = ()) -> list[Test]:
    """All tests of testbed/tests whose name or machine holds one of `words`; ordered so that guests are shared."""
    _found.clear()
    for file in sorted(paths.TESTS.glob("*.py")):
        spec = importlib.util.spec_from_file_location(f"testbed_tests.{file.stem}", file)
        assert spec is not None and spec.loader is not None, file
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
    wanted = list(words)
    chosen = [t for t in _found if not wanted or any(_is_said(w, f"{t.name} on {t.machine.name}") for w in wanted)]
    order = {machine: index for index, machine in enumerate(dict.fromkeys(t.machine.name for t in chosen))}
    return sorted(chosen, key=lambda t: (t.restored is not None, order[t.machine.name]))


def _is_said(word: str, sentence: str) -> bool:
    """Names of functions have no hyphens, so that `user-space` is also `user space`."""
    return word in sentence or word.replace("-", " ") in sentence


def run(tests: list[Test], prepare: Callable[[], None]) -> int:
    """Runs the tests once `prepare` has made everything guests start from; returns the exit status.

    Where QEMU or its packages cannot be had all tests are skipped, which is no failure anywhere. A skip for any other
    reason is one where FATHOM_NO_SKIPS is set.
    """
    start = time.monotonic()
    runner = Runner()
    try:
        prepare()
        runner.run(tests)
    except NoTestbed as reason:
        runner.none_of(tests, "skipped", str(reason))
    except Skipped as reason:
        runner.none_of(tests, "failed" if no_skips() else "skipped", str(reason))
    finally:
        write(runner.outcomes)
    print(summary(runner.outcomes, time.monotonic() - start))
    return 1 if any(o.state == "failed" for o in runner.outcomes) else 0


def no_skips() -> bool:
    return bool(os.environ.get(NO_SKIPS))


class Runner:
    """Runs tests in order and keeps the shared guest between them."""

    def __init__(self) -> None:
        self.outcomes: list[Outcome] = []
        self._shared: Guest | None = None

    def run(self, tests: list[Test]) -> None:
        try:
            for test in tests:
                outcome = self._one(test)
                self.outcomes.append(outcome)
                show(outcome)
        finally:
            self._end_shared()

    def none_of(self, tests: list[Test], state: str, reason: str) -> None:
        """No test could be started."""
        self.outcomes = [Outcome(test.name, test.machine.name, state, 0.0, reason) for test in tests]
        print(f"testbed: no test was started: {reason}", flush=True)

    def _one(self, test: Test) -> Outcome:
        """A guest that stops answering says nothing of Fathom the first time: on a busy host QEMU's emulation now and
        then loses the timer of a CPU for good. Its test is run once more on a new guest, and the loss is shown."""
        start = time.monotonic()
        state, reason = self._attempt(test)
        if state == "lost":
            first = reason
            print(f"        the guest was lost in: {test.name}; once more on a new one", flush=True)
            state, reason = self._attempt(test)
            reason = f"{reason}\nbefore that another guest was lost: {first}".strip()
        again = state == "failed" and test.is_timed
        if again:
            first = reason
            print(f"        failed where times count, once more: {test.name}: {first}", flush=True)
            state, reason = self._attempt(test)
            reason = f"{reason}\nbefore that it failed with: {first}".strip()
        state = "failed" if state == "lost" else state
        return Outcome(test.name, test.machine.name, state, time.monotonic() - start, reason, again)

    def _attempt(self, test: Test) -> tuple[str, str]:
        """State and reason; `lost` where the guest stopped answering."""
        own: Guest | None = None
        try:
            if test.restored is None:
                guest = self._shared_guest(test.machine)
            else:
                self._end_shared()
                guest = own = Guest.restore(test.machine, test.restored)
            test.body(guest)
            return "passed", ""
        except Skipped as skipped:
            return "failed" if no_skips() else "skipped", str(skipped)
        except GuestLost as lost:
            self._end_shared()
            return "lost", str(lost)
        except Exception as error:  # A test may fail in any way; the next one must still run.
            return "failed", _where(error)
        finally:
            if own is not None:
                own.down()

    def _shared_guest(self, machine: Machine) -> Guest:
        if self._shared is None or self._shared.machine is not machine:
            self._end_shared()
            start = time.monotonic()
            self._shared = Guest.boot(machine)
            print(f"        {machine.name} started in {time.monotonic() - start:.1f} s", flush=True)
        return self._shared

    def _end_shared(self) -> None:
        if self._shared is not None:
            self._shared.down()
            self._shared = None


def _where(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    place = next((f for f in reversed(frames) if str(paths.TESTS) in f.filename), frames[-1])
    kind = "" if isinstance(error, AssertionError) else f"{type(error).__name__}: "
    return f"{place.filename.rpartition('/')[2]}:{place.lineno}: {kind}{error or place.line}"


def show(outcome: Outcome) -> None:
    """One line per test, and what is wrong below it."""
    print(f"{outcome.state:>7} {outcome.seconds:5.1f} s  {outcome.machine}: {outcome.name}", flush=True)
    for line in outcome.reason.splitlines():
        print(f"        | {line}", flush=True)


def summary(outcomes: list[Outcome], seconds: float) -> str:
    counts = {state: sum(o.state == state for o in outcomes) for state in ("passed", "failed", "skipped")}
    counted = ", ".join(f"{count} {state}" for state, count in counts.items())
    # Named once more at the end: whoever has but the end of a long log still learns which.
    failed = [f"testbed: failed: {o.machine}: {o.name}\n" for o in outcomes if o.state == "failed"]
    twice = [f"testbed: run twice: {o.machine}: {o.name}\n" for o in outcomes if o.again and o.state != "failed"]
    return f"{''.join(twice)}{''.join(failed)}testbed: {counted} of {len(outcomes)} tests in {seconds:.0f} s"


def write(outcomes: list[Outcome]) -> None:
    """The outcomes as JSON, for other programs."""
    paths.WORK.mkdir(parents=True, exist_ok=True)
    (paths.WORK / "results.json").write_text(json.dumps([asdict(o) for o in outcomes], indent=1))
