"""Runs tests on several guests at the same time: queues, workers, retries and time limits."""

import os
import resource
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from . import notes, outcomes, paths
from .errors import GuestLost, NoTestbed, Skipped
from .guest import Guest, end_all
from .outcomes import Outcome
from .suite import Test

# Set: a test may be skipped only if QEMU or its packages are not available.
NO_SKIPS = "FATHOM_NO_SKIPS"
# Ordinary guests at a time. The emulation of one guest uses about one core.
WORKERS = 2
# Time for which Fathom measures the idle host before a load. A test of host noise unsets the variable.
ENVIRONMENT = {"FATHOM_IDLE_BASELINE": "100ms"}
# Time for workers to end their tests after Ctrl-C has ended all guests.
JOIN_S = 20.0
# A time limit grows with the load of a host that has other work, up to this factor. Our own guests are a load of 2 per CPU.
SLOWER_MAX = 3.0
OWN_LOAD = 2.0
JOIN_POLL_S = 0.5


def run(tests: list[Test], prepare: Callable[[], None], workers: int = WORKERS, every: bool = False) -> int:
    """Runs the tests after `prepare` has made the files of the guests; returns the exit status.

    Without QEMU or its packages all tests are skipped, and the run does not fail. Any other skip is a failure if
    FATHOM_NO_SKIPS is set.
    """
    start, cpu_start = time.monotonic(), cpu_seconds()
    pool = Pool(workers, every)
    interrupted = False
    previous = _interrupt_on_signals()
    try:
        prepare()
        pool.run(tests)
    except NoTestbed as reason:
        pool.none_of(tests, "skipped", str(reason))
    except Skipped as reason:
        pool.none_of(tests, "failed" if no_skips() else "skipped", str(reason))
    except KeyboardInterrupt:
        interrupted = True
        pool.stop()
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
        outcomes.write(pool.outcomes)
    print(outcomes.summary(pool.outcomes, time.monotonic() - start, cpu_seconds() - cpu_start))
    if interrupted:
        print(f"testbed: interrupted after {len(pool.outcomes)} of {len(tests)} tests")
        return 130
    return outcomes.status(pool.outcomes)


def no_skips() -> bool:
    return bool(os.environ.get(NO_SKIPS))


def cpu_seconds() -> float:
    """CPU time of this process and of the children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def slower() -> float:
    """Factor by which work of others makes this host slower, from the load of the last minute."""
    load = os.getloadavg()[0] / (os.cpu_count() or 1)
    return min(SLOWER_MAX, max(1.0, load / OWN_LOAD))


def _interrupt_on_signals() -> dict:
    """Makes SIGTERM and SIGHUP end a run as Ctrl-C does; returns the handlers from before."""
    if threading.current_thread() is not threading.main_thread():
        return {}
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    return {number: signal.signal(number, signal.default_int_handler) for number in numbers}


class Queue:
    """Tests that wait for a worker. Tests that share a guest go to one worker, one after the other."""

    def __init__(self, tests: Iterable[Test]) -> None:
        self._lock = threading.Lock()
        shared: dict[str, list[Test]] = {}
        self._own: list[Test] = []
        for test in tests:
            if test.restored is None:
                shared.setdefault(test.machine.name, []).append(test)
            else:
                self._own.append(test)
        # Long work first, so that all workers end at about the same time. Both sorts are stable.
        self._groups = sorted(shared.values(), key=len, reverse=True)
        self._own.sort(key=lambda test: test.limit_s, reverse=True)

    def next(self, group: list[Test]) -> Test | None:
        """Returns the next test. `group`: shared tests of the calling worker, filled and shortened here."""
        with self._lock:
            if not group and self._groups:
                group.extend(self._groups.pop(0))
            if group:
                return group.pop(0)
            return self._own.pop(0) if self._own else None


class Pool:
    """The workers of a run and the outcomes of their tests."""

    def __init__(self, workers: int = WORKERS, every: bool = False) -> None:
        self.every = every
        self.outcomes: list[Outcome] = []
        self.stopped = False
        self._workers = workers
        self._lock = threading.Lock()
        # One for each worker. Not `Thread.join`: Python 3.11 takes a thread for ended if Ctrl-C interrupts its `join`.
        self._ended: list[threading.Event] = []
        self._errors: list[BaseException] = []

    def run(self, tests: list[Test]) -> None:
        """Runs each test once: first those that bear other guests, then timed ones with nothing else running."""
        if self._workers == 1:
            self._together([Queue(tests)])
            return
        light = [t for t in tests if t.machine.is_light and not t.is_timed]
        others = [t for t in tests if not t.machine.is_light and not t.is_timed]
        self._together([Queue(light), *[Queue(others)] * self._workers])
        if not self.stopped:
            self._together([Queue(t for t in tests if t.is_timed)])

    def stop(self) -> None:
        """Ends all guests, waits for the workers, and starts nothing more."""
        self.stopped = True
        end_all()
        end = time.monotonic() + JOIN_S
        for ended in self._ended:
            ended.wait(max(0.0, end - time.monotonic()))

    def none_of(self, tests: list[Test], state: str, reason: str) -> None:
        """Records that no test could be started."""
        self.outcomes = [Outcome(t.name, t.machine.name, state, 0.0, reason, place=t.place) for t in tests]
        print(f"testbed: no test was started: {reason}", flush=True)

    def keep(self, outcome: Outcome, lines: list[str]) -> None:
        """Records the outcome of a test and prints it with its lines."""
        with self._lock:
            self.outcomes.append(outcome)
            outcomes.show(outcome, lines)

    def _together(self, queues: list[Queue]) -> None:
        """Runs a worker for each entry until all have ended. The same queue several times: its workers share it."""
        self._ended = [threading.Event() for _ in queues]
        for queue, ended in zip(queues, self._ended, strict=True):
            threading.Thread(target=self._work, args=(Worker(self), queue, ended), daemon=True).start()
        for ended in self._ended:
            # With a time-out, because another thread may receive the signal of Ctrl-C.
            while not ended.wait(JOIN_POLL_S):
                pass
        if self._errors:
            raise self._errors[0]

    def _work(self, worker: "Worker", queue: Queue, ended: threading.Event) -> None:
        try:
            worker.run(queue)
        except BaseException as error:  # An error of the testbed itself: the main thread raises it.
            self._errors.append(error)
        finally:
            ended.set()


@dataclass(frozen=True)
class Attempt:
    """Result of one attempt at a test: the state of an outcome, `lost` for a lost guest, or `late` for the time limit."""

    state: str
    reason: str = ""


class Worker:
    """Runs tests one at a time and keeps the shared guest between them."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._shared: Guest | None = None

    def run(self, queue: Queue) -> None:
        """Runs tests until the queue is empty or the pool stops."""
        group: list[Test] = []
        try:
            while not self._pool.stopped and (test := queue.next(group)) is not None:
                lines = notes.collect()
                outcome = self._one(test)
                if outcome is not None and not self._pool.stopped:
                    self._pool.keep(outcome, lines)
        finally:
            self._end_shared()

    def _one(self, test: Test) -> Outcome | None:
        """Runs a test, with one retry after a lost guest, the time limit, or a failure of a timed test.

        A lost guest says nothing about Fathom the first time: on a busy host QEMU's emulation now and then loses the timer
        of a CPU for good. None: the run was stopped.
        """
        start = time.monotonic()
        first = last = self._attempt(test)
        if first.state in ("lost", "late") or (first.state == "failed" and test.is_timed):
            if self._pool.stopped:
                return None
            notes.note(f"first attempt {first.state}, once more: {first.reason}")
            last = self._attempt(test)
            last = replace(last, reason=f"{last.reason}\nthe first attempt {first.state}: {first.reason}".strip())
        return self._outcome(test, last, start, is_flaky=first.state in ("failed", "late") and last.state == "passed")

    def _outcome(self, test: Test, attempt: Attempt, start: float, is_flaky: bool = False) -> Outcome:
        state = "failed" if attempt.state in ("lost", "late") else attempt.state
        seconds = time.monotonic() - start
        return Outcome(test.name, test.machine.name, state, seconds, attempt.reason, is_flaky, test.place)

    def _attempt(self, test: Test) -> Attempt:
        own: Guest | None = None
        passed_limit = threading.Event()
        limit_s = test.limit_s
        try:
            if test.restored is None:
                guest = self._shared_guest(test)
            else:
                self._end_shared()
                guest = own = Guest.restore(test.machine, test.restored)
            guest.environment, guest.every = ENVIRONMENT, self._pool.every

            def end_late() -> None:
                passed_limit.set()
                guest.kill()

            limit_s = test.limit_s * slower()
            timer = threading.Timer(limit_s, end_late)
            timer.daemon = True
            timer.start()
            try:
                test.body(guest)
            finally:
                timer.cancel()
            return Attempt("passed")
        except Skipped as skipped:
            return Attempt("failed" if no_skips() else "skipped", str(skipped))
        except Exception as error:  # A test may fail in any way; the next one must still run.
            if passed_limit.is_set():
                self._end_shared()
                return Attempt("late", f"no end within {limit_s:.0f} s: {_where(error)}")
            if isinstance(error, GuestLost):
                self._end_shared()
                return Attempt("lost", str(error))
            return Attempt("failed", _where(error))
        finally:
            if own is not None:
                own.down()

    def _shared_guest(self, test: Test) -> Guest:
        if self._shared is None or self._shared.machine is not test.machine:
            self._end_shared()
            start = time.monotonic()
            self._shared = Guest.boot(test.machine)
            notes.note(f"{test.machine.name} started in {time.monotonic() - start:.1f} s")
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
