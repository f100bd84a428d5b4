"""Tests of connections to QEMU's sockets."""

import socket
import tempfile
import threading
import time
import unittest
from pathlib import Path

from bed.errors import GuestLost
from bed.sockets import connected


class Connected(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "qmp"
        self.server = socket.socket(socket.AF_UNIX)
        self.addCleanup(self.server.close)

    def test_a_socket_that_listens_late_is_reached(self) -> None:
        self.server.bind(str(self.path))
        late = threading.Timer(0.2, self.server.listen)
        late.start()
        self.addCleanup(late.join)
        began = time.monotonic()
        connected(self.path).close()
        self.assertGreater(time.monotonic() - began, 0.1)

    def test_a_missing_socket_is_a_lost_guest(self) -> None:
        with self.assertRaises(GuestLost):
            connected(self.path)


if __name__ == "__main__":
    unittest.main()
