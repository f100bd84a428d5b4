#!/usr/bin/env python3
"""An SFTP server on a port of its own, for `sshfs -o directport`: no ssh, no keys, no daemon of the host.

sftp.py PROGRAM PORT. Says that it listens, serves each connection by PROGRAM, and ends with its standard input."""

import select
import socket
import subprocess
import sys


def main() -> None:
    with socket.create_server(("", int(sys.argv[2]))) as server:
        print("ready", flush=True)
        while True:
            ready = select.select([server, sys.stdin], [], [])[0]
            if sys.stdin in ready and not sys.stdin.read(1):
                return
            if server in ready:
                connection, _ = server.accept()
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                # It ends with its connection.
                subprocess.Popen([sys.argv[1]], stdin=connection, stdout=connection)
                connection.close()


if __name__ == "__main__":
    main()
