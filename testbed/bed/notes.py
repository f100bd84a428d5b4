"""Lines that belong to one test. Workers run tests at the same time, so each test collects its lines."""

from contextvars import ContextVar

# A thread has a context of its own, and so each worker has its own list.
_lines: ContextVar[list[str] | None] = ContextVar("lines", default=None)


def collect() -> list[str]:
    """Starts a new list for the test of this worker and returns the list."""
    lines: list[str] = []
    _lines.set(lines)
    return lines


def note(text: str) -> None:
    """Adds a line to the test of this worker; outside of a test, prints the line."""
    lines = _lines.get()
    if lines is None:
        print(f"        {text}", flush=True)
    else:
        lines.append(text)
