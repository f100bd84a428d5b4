"""Drives taken from the kernel's driver for programs of user space, and given back to it."""

from bed import expect
from bed.bindings import LOADER, address, driver, is_as_it_was
from bed.guest import Guest
from bed.machines import ONE_SOCKET, TWO_SOCKETS, Drive
from bed.notes import note
from bed.suite import on, restored

HUGEPAGES = "/sys/devices/system/node/node{}/hugepages/hugepages-2048kB/nr_hugepages"
# Both functions of one slot, which no IOMMU can tell apart.
SLOT = (Drive("TWIN0", "rp0"), Drive("TWIN1", "rp0"))


def status(guest: Guest, where: str) -> dict:
    """What Fathom says of the drive at that address."""
    return next(d for d in guest.fathom_json("nvme status --json")["drives"] if d["address"] == where)


@restored(TWO_SOCKETS, "TB0", "TB2")
def user_space_gets_a_drive_and_the_kernel_gets_it_back(guest: Guest) -> None:
    guest.ok(LOADER)
    where, device = address(guest, "TB2"), guest.device("TB2")
    before = status(guest, where)
    expect.equal((before["serial"], before["driver"], before["numa_node"]), ("TB2", "nvme", 1), "the drive")
    expect.equal((before["can_bind"], before["why"]), (True, None), "whether it can be bound")
    others = [other["driver"] for other in before["group"]["others"]]
    expect.equal(others, ["pcieport"], "its group holds the port above it")
    # What is on a drive does not keep the kernel from letting go of it.
    guest.ok(f"dd if=/dev/urandom of={device} bs=1M count=1 2>/dev/null; head -c 16777216 {device} | md5sum > /run/before")
    pages = HUGEPAGES.format(1)
    guest.ok(f"echo 4 > {pages}")
    bound = guest.fathom_json(f"nvme bind {device} --hugepages 8 --json")["bound"]
    expect.equal((bound["address"], bound["serial"], bound["was"]), (where, "TB2", [device.removeprefix("/dev/")]), "what is bound")
    changed = [(c["setting"], c["from"], c["to"]) for c in bound["changed"]]
    want = [("node1/hugepages-2048kB", "4", "8"), (f"{where}/driver", "nvme", "vfio-pci")]
    expect.equal(changed, want, "what was changed")
    expect.equal(driver(guest, where), "vfio-pci", "driver")
    guest.ok(f"test ! -e {device} && test -c {bound['group']['node']}")
    expect.equal(guest.ok(f"cat {pages}"), "8", "hugepages")

    now = status(guest, where)
    expect.equal((now["serial"], now["namespaces"], now["can_bind"]), ("TB2", [], False), "the drive that is bound")
    expect.equal((now["group_access"], now["group_open_in"]), ({"access": "allowed"}, None), "its group")
    expect.contains(guest.fathom(f"nvme bind {where}", 3).err, "taken from the kernel already", "a second time")
    expect.contains(guest.fathom("nvme bind TB2", 3).err, "fathom nvme unbind", "the remedy")
    # A start of another command brings back what killed runs left, and this is none.
    guest.fathom(f"io --target {guest.device('TB0')} --rw randread --runtime 500ms --quiet")
    expect.equal(driver(guest, where), "vfio-pci", "driver after a run")
    # While a program has the group open the kernel would wait for it, unkillable.
    holding = f"exec 7<>{bound['group']['node']}; fathom nvme unbind TB2; echo $? > /run/status"
    expect.contains(guest.ok(f"( {holding} ) 2>&1"), "is open in", "unbinding what is in use")
    expect.equal(guest.ok(f"cat /run/status {pages}"), "3\n8", "status, and pages that the program may use")
    expect.contains(guest.ok(f"( {holding.replace('nvme unbind TB2', 'restore')} ) 2>&1"), "has the drive open", "restoring it")
    expect.equal(driver(guest, where), "vfio-pci", "driver of what is in use")

    said = guest.fathom("nvme unbind TB2").out
    expect.contains(said, "again", "what unbinding says")
    guest.wait_for_drives()
    is_as_it_was(guest, "TB2", where)
    expect.equal(guest.ok(f"cat {pages}"), "4", "hugepages")
    guest.ok(f"head -c 16777216 {guest.device('TB2')} | md5sum | cmp - /run/before")
    expect.contains(guest.fathom("nvme unbind TB2", 3).err, "nothing to give back", "a second time")


@restored(TWO_SOCKETS, "TB0", "TB1")
def user_space_does_not_get_what_something_uses(guest: Guest) -> None:
    where, device = address(guest, "TB0"), guest.device("TB0")

    def refused(what: str) -> None:
        for name in (where, "TB0", device, device.replace("/dev/nvme", "/dev/ng")):
            said = guest.fathom(f"nvme bind {name}", 3).err
            expect.contains(said, what, f"bind {name}")
        drive = status(guest, where)
        expect.equal((drive["can_bind"], drive["driver"]), (False, "nvme"), "status")
        expect.contains(drive["why"], what, "status")

    guest.ok(f"/sbin/mke2fs -q -t ext4 {device} 2>&1 && mkdir -p /mnt/a && mount {device} /mnt/a")
    refused("mounted")
    guest.ok("umount /mnt/a")
    # The drives of the running system are told by what is mounted on them.
    said = guest.run(f"unshare -m sh -c 'mount {device} /usr && fathom nvme bind {where}; echo status $?'")
    assert "status 3" in said.out and "running system" in said.err, f"{said.out}{said.err}"
    guest.ok(f"mkswap {device} >/dev/null && swapon {device}")
    refused("swapping")
    guest.ok(f"modprobe dm_mod; swapoff {device}; dmsetup create held --table '0 2048 linear {device} 0'")
    refused("in use by dm-")
    guest.ok(f"dmsetup remove held; sleep 1000 < /dev/null 7<> {device} > /dev/null 2>&1 & echo $! > /run/pid; "
             "until [ -e /proc/$(cat /run/pid)/fd/7 ] && grep -q sleep /proc/$(cat /run/pid)/comm; do sleep 0.1; done")
    refused("open for writing by sleep")
    guest.ok("kill $(cat /run/pid); while [ -e /proc/$(cat /run/pid)/fd/7 ]; do sleep 0.1; done")
    is_as_it_was(guest, "TB0", where)
    expect.contains(guest.fathom("nvme bind TB9", 2).err, "no NVMe drive TB9", "no such drive")
    port = guest.ok(f"basename $(dirname $(readlink -f /sys/bus/pci/devices/{where}))")
    expect.contains(guest.fathom(f"nvme bind {port}", 2).err, "no NVMe controller", "a port")
    # Now nothing uses it. What cannot be had whole is not had by half.
    guest.ok(LOADER)
    expect.contains(guest.fathom("nvme bind TB0 --hugepages 1000000", 1).err, "too full", "pages beyond all memory")
    expect.equal(guest.ok(f"cat {HUGEPAGES.format(0)}"), "0", "hugepages")
    is_as_it_was(guest, "TB0", where)
    guest.fathom("nvme bind TB0")
    expect.equal(driver(guest, where), "vfio-pci", "driver")
    guest.fathom("nvme unbind TB0")
    is_as_it_was(guest, "TB0", where)


@restored(TWO_SOCKETS, "TB0")
def user_space_killed_at_any_moment_leaves_a_drive_that_restore_gives_back(guest: Guest) -> None:
    guest.ok(LOADER)
    where = address(guest, "TB0")
    guest.fathom("nvme bind TB0 --hugepages 2")
    restored_now = guest.fathom("restore").out
    expect.contains(restored_now, "vfio-pci -> nvme", "what restore says")
    is_as_it_was(guest, "TB0", where)
    # From the moment at which the change is written down.
    wait = "until grep -q pci_driver /var/lib/fathom/journal/*.jsonl 2>/dev/null; do :; done"
    drivers = set()
    for hundredths in (0, 5, 20, 40, 60, 80, 99) if guest.every else (0, 20, 60):
        guest.run(f"fathom nvme bind TB0 >/run/log 2>&1 & pid=$!; {wait}; sleep 0.{hundredths:02d}; kill -9 $pid; wait $pid")
        drivers.add(driver(guest, where))
        guest.fathom("restore")
        is_as_it_was(guest, "TB0", where)
    note(f"drivers at the moments of death: {', '.join(sorted(drivers))}")


@restored(ONE_SOCKET, "TB0")
def user_space_gets_a_drive_from_under_multipath(guest: Guest) -> None:
    where, device = address(guest, "TB0"), guest.device("TB0")
    guest.ok(f"/sbin/mke2fs -q -t ext4 {device} 2>&1 && mkdir -p /mnt/a && mount {device} /mnt/a")
    expect.contains(guest.fathom(f"nvme bind {where}", 3).err, "mounted", "the head is mounted")
    guest.ok(f"umount /mnt/a; {LOADER}")
    guest.fathom(f"nvme bind {device}")
    guest.ok(f"test ! -e {device}")
    guest.fathom("nvme unbind TB0")
    is_as_it_was(guest, "TB0", where)


@restored(TWO_SOCKETS)
def user_space_does_not_get_a_drive_that_the_iommu_cannot_tell_from_another(guest: Guest) -> None:
    qmp = guest.qmp()
    # Function 0 comes last: it makes the slot appear.
    for number, drive in ((1, SLOT[1]), (0, SLOT[0])):
        node = {"driver": "null-co", "size": 16 << 20, "read-zeroes": True, "node-name": f"null-{drive.serial}"}
        qmp.raw({"execute": "blockdev-add", "arguments": node})
        device = {"driver": "nvme", "id": drive.id, "serial": drive.serial, "bus": drive.port, "drive": node["node-name"]}
        qmp.raw({"execute": "device_add", "arguments": {**device, "addr": f"0.{number}", "multifunction": True}})
    qmp.close()
    guest.drives += SLOT
    guest.wait_for_drives()
    first, second = address(guest, "TWIN0"), address(guest, "TWIN1")
    said = guest.fathom("nvme bind TWIN0", 3).err
    expect.contains(said, f"{second} (nvme)", "who is in the way")
    why = status(guest, second)["why"]
    expect.contains(why, f"{first} (nvme)", "who is in the way of the other")
    expect.equal(driver(guest, first), "nvme", "driver")


@on(TWO_SOCKETS)
def user_space_is_told_of_every_drive_and_of_the_large_pages_of_each_node(guest: Guest) -> None:
    answer = guest.fathom_json("nvme status --json")
    expect.equal(answer["iommu"], True, "IOMMU")
    expect.equal(sorted(d["serial"] for d in answer["drives"]), sorted(d.serial for d in guest.machine.drives), "drives")
    for drive in answer["drives"]:
        port = next(d.port for d in guest.machine.drives if d.serial == drive["serial"])
        expect.equal(drive["numa_node"], guest.machine.node_of(port), f"node of {drive['serial']}")
        expect.equal((drive["can_bind"], len(drive["namespaces"])), (True, 1), drive["serial"])
    nodes = sorted({pages["node"] for pages in answer["hugepages"]})
    expect.equal(nodes, list(range(guest.machine.nodes)), "nodes with large pages")


@on(TWO_SOCKETS)
def interrupt_coalescing_is_refused_by_a_drive_that_cannot_change_it(guest: Guest) -> None:
    run = f"run engines --only latency --target {guest.device('TB0')} --versus interrupt_coalescing=8/300us --set runtime=300ms --set ramp_time=0 --quiet --json"
    document = guest.fathom_json(run, 1)
    said = [step["reason"] for step in document["steps"] if step["state"] == "refused"]
    assert said and all("cannot be changed" in reason for reason in said), said
    assert any(step["ios"] for step in document["steps"]), "nothing was measured as it was"
    wrong = guest.fathom(run.replace("8/300us", "8/150us"), 2).err
    expect.contains(wrong, "steps of 100us", "a wait that the feature cannot say")
