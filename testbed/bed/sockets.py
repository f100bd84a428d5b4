"""Connections to the sockets of QEMU."""

import socket
import time
from pathlib import Path

from .errors import GuestLost

# QEMU creates a socket a moment before it listens.
LISTENS_WITHIN_S = 10.0


def connected(path: Path, timeout_s: float | None = None) -> socket.socket:
    """Connects to a socket of QEMU; waits until QEMU listens."""
    end = time.monotonic() + LISTENS_WITHIN_S
    while True:
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(timeout_s)
        try:
            connection.connect(str(path))
            return connection
        except OSError as error:
            connection.close()
            if not isinstance(error, ConnectionRefusedError) or time.monotonic() > end:
                raise GuestLost(f"QEMU does not listen at {path.name}: {error}") from error
            time.sleep(0.02)
