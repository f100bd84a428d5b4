"""What can go wrong, told apart by what the caller does about it."""


class NoTestbed(Exception):
    """QEMU or its packages cannot be had here: the tests are counted as skipped."""


class Skipped(Exception):
    """A test cannot run for any other reason, or none can; says why. A failure where FATHOM_NO_SKIPS is set."""


class GuestLost(Exception):
    """The guest ended, hung or does not answer: it must be started again."""
