#!/usr/bin/env python3
"""A cable that is slow and loses frames, for kernels without netem: two TAP devices, and what goes between them.

relay.py NEAR FAR DELAY_MS LOSS_PCT. What leaves by NEAR comes out of FAR that much later, or not at all, as netem on
NEAR would have it; the other way nothing is held. Says that the devices are there, and ends with its standard input."""

import collections
import fcntl
import os
import random
import select
import struct
import sys
import time

TUNSETIFF = 0x400454CA
IFF_TAP, IFF_NO_PI = 0x0002, 0x1000
FRAME_BYTES = 65536


def tap(name: str) -> int:
    descriptor = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(descriptor, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TAP | IFF_NO_PI))
    return descriptor


def frames(descriptor: int):
    """What there is to read."""
    while True:
        try:
            yield os.read(descriptor, FRAME_BYTES)
        except (BlockingIOError, OSError):
            return


def put(descriptor: int, frame: bytes) -> None:
    try:
        os.write(descriptor, frame)
    except OSError:
        pass  # A device that is down takes nothing, as a cable that is out.


def main() -> None:
    near, far = tap(sys.argv[1]), tap(sys.argv[2])
    delay_s, loss = float(sys.argv[3]) / 1000, float(sys.argv[4]) / 100
    dice = random.Random(18)
    held: collections.deque[tuple[float, bytes]] = collections.deque()
    print("ready", flush=True)
    while True:
        wait_s = max(0.0, held[0][0] - time.monotonic()) if held else None
        ready = select.select([near, far, sys.stdin], [], [], wait_s)[0]
        if sys.stdin in ready and not os.read(sys.stdin.fileno(), 1):
            return
        for frame in frames(near):
            if dice.random() >= loss:
                held.append((time.monotonic() + delay_s, frame))
        for frame in frames(far):
            put(near, frame)
        while held and held[0][0] <= time.monotonic():
            put(far, held.popleft()[1])


if __name__ == "__main__":
    main()
