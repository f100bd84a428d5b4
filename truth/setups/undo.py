"""Takes back what a set-up changed, in the reverse order, also after an error, Ctrl-C or a polite kill."""

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

# A signal that arrives while something is built or taken back waits until that is done.
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stopped(BaseException):
    """The user asked to stop. No `Exception`: nothing that handles errors of a case may swallow it."""


class _Signals:
    held = 0
    asked = False


def catch_signals() -> None:
    """Turns the signals that end a program into `Stopped`."""
    for number in SIGNALS:
        signal.signal(number, _on_signal)


def _on_signal(_number: int, _frame: object) -> None:
    _Signals.asked = True
    if not _Signals.held:
        raise Stopped


@contextmanager
def held() -> Iterator[None]:
    """What is inside is not interrupted; `Stopped` is raised after it, unless an error is on its way already."""
    _Signals.held += 1
    try:
        yield
    finally:
        _Signals.held -= 1
    if _Signals.asked and not _Signals.held:
        raise Stopped


class Undos:
    """A stack of what takes changes back. `run`: runs a shell script where the set-up is."""

    def __init__(self, run: Callable[[str], object]) -> None:
        self._run = run
        self._stack: list[Callable[[], object]] = []

    def script(self, script: str) -> None:
        self._stack.append(lambda: self._run(script))

    def call(self, body: Callable[[], None]) -> None:
        self._stack.append(body)

    def __enter__(self) -> "Undos":
        return self

    def __exit__(self, *_error: object) -> None:
        with held():
            while self._stack:
                body = self._stack.pop()
                try:
                    body()
                except Exception as error:  # The rest must be taken back all the same.
                    print(f"truth: this could not be taken back: {error}", file=sys.stderr, flush=True)
