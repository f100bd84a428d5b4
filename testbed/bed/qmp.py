"""QEMU's machine protocol: JSON lines over a socket."""

import json
from pathlib import Path

from .errors import GuestLost
from .sockets import connected


class QmpError(Exception):
    """QEMU refused a command; the text is QEMU's own."""


class Qmp:
    """A connection to QEMU's monitor."""

    def __init__(self, path: Path, timeout_s: float = 60) -> None:
        self._socket = connected(path, timeout_s)
        self._lines = self._socket.makefile("rb")
        self._read()
        self.command("qmp_capabilities")

    def command(self, name: str, **arguments: object) -> object:
        """Runs a command and returns what it returns. Names of arguments take `_` for `-`."""
        return self.raw({"execute": name, "arguments": {k.replace("_", "-"): v for k, v in arguments.items()}})

    def raw(self, message: dict) -> object:
        """Sends a message as it is. Events that come before the answer are dropped."""
        try:
            self._socket.sendall(json.dumps(message).encode() + b"\n")
            while True:
                answer = self._read()
                if "return" in answer:
                    return answer["return"]
                if "error" in answer:
                    raise QmpError(answer["error"]["desc"])
        except OSError as error:
            raise GuestLost(f"QEMU does not answer: {error}") from error

    def human(self, line: str) -> str:
        """Runs a command of the monitor for people."""
        return str(self.command("human-monitor-command", command_line=line))

    def close(self) -> None:
        self._lines.close()
        self._socket.close()

    def _read(self) -> dict:
        line = self._lines.readline()
        if not line:
            raise GuestLost("QEMU has closed its monitor")
        return json.loads(line)
