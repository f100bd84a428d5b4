"""Which driver has a drive of the guest, and how a test lets programs have it."""

from . import expect
from .guest import Guest

# Fathom loads vfio-pci. Debian's modprobe asks for an index of modules that busybox did not write; busybox's own needs none.
LOADER = "mountpoint -q /bin/kmod || mount --bind /bin/busybox /bin/kmod"


def address(guest: Guest, serial: str) -> str:
    """PCI address of a drive that the kernel's driver has."""
    script = f'for c in /sys/class/nvme/*; do [ "$(echo $(cat $c/serial))" = {serial} ] && cat $c/address; done; true'
    found = guest.ok(script)
    assert found, f"no drive {serial} in the guest"
    return found


def driver(guest: Guest, where: str) -> str:
    return guest.ok(f"basename $(readlink /sys/bus/pci/devices/{where}/driver || echo none)")


def is_as_it_was(guest: Guest, serial: str, where: str) -> None:
    """The kernel has the drive, nothing is set aside for it, and no journal knows of it."""
    expect.equal(address(guest, serial), where, f"address of {serial}")
    expect.equal(driver(guest, where), "nvme", f"driver of {serial}")
    expect.equal(guest.ok(f"cat /sys/bus/pci/devices/{where}/driver_override"), "(null)", "driver_override")
    guest.ok(f"dd if={guest.device(serial)} of=/dev/null bs=4k count=1 2>/dev/null")
    expect.equal(guest.fathom("restore --list").out, "Nothing to restore.\n", "changes in force")
