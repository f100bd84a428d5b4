"""The host's end of the agent that runs commands in the guest."""

import base64
import time
from dataclasses import dataclass
from pathlib import Path

from .errors import GuestLost
from .sockets import connected


@dataclass(frozen=True)
class Answer:
    """What a command in the guest did."""

    status: int
    out: str
    err: str


class Agent:
    """A connection to the agent. One request at a time."""

    def __init__(self, path: Path) -> None:
        self._socket = connected(path)
        self._pending = b""
        # Numbers of an earlier connection to the same guest must not come again.
        self._number = int(time.time() * 1000)

    def wait_until_ready(self, timeout_s: float) -> None:
        """Asks until the guest has started far enough to answer."""
        end = time.monotonic() + timeout_s
        while time.monotonic() < end:
            try:
                self.run("true", 1.0)
                return
            except TimeoutError:
                continue
        raise GuestLost(f"the guest did not answer within {timeout_s:.0f} s")

    def run(self, script: str, timeout_s: float) -> Answer:
        """Runs a script; `TimeoutError` when it has not ended in time (it goes on, and so the guest is busy)."""
        self._number += 1
        self._socket.settimeout(timeout_s)
        end = time.monotonic() + timeout_s
        try:
            packed = base64.b64encode(script.encode()).decode()
            self._socket.sendall(f"{self._number} {packed}\n".encode())
            while True:
                fields = self._line(end).split()
                if len(fields) == 4 and fields[0] == str(self._number):
                    return Answer(int(fields[1]), _unpacked(fields[2]), _unpacked(fields[3]))
        except (ConnectionError, BrokenPipeError) as error:
            raise GuestLost(f"the guest's agent is gone: {error}") from error

    def close(self) -> None:
        self._socket.close()

    def _line(self, end: float) -> str:
        while b"\n" not in self._pending:
            left_s = end - time.monotonic()
            if left_s <= 0:
                raise TimeoutError
            self._socket.settimeout(left_s)
            part = self._socket.recv(1 << 16)
            if not part:
                raise GuestLost("the guest has ended")
            self._pending += part
        line, _, self._pending = self._pending.partition(b"\n")
        return line.decode(errors="replace")


def _unpacked(field: str) -> str:
    return "" if field == "-" else base64.b64decode(field).decode(errors="replace")
