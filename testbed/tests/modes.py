"""What a mode claims, against the kernel's counts."""

from bed import expect
from bed.guest import Guest
from bed.loads import checks_hold, io, is_proved, polling_spares_interrupts
from bed.machines import ONE_SOCKET, THREE_NODES, TWO_SOCKETS
from bed.suite import full, on


@on(TWO_SOCKETS, THREE_NODES)
@full("the same on another machine", THREE_NODES)
def polled_reads_raise_no_interrupt_and_others_do(guest: Guest) -> None:
    polling_spares_interrupts(guest, guest.device("TB2"), "--engine io_uring")


@on(ONE_SOCKET)
def polling_is_refused_where_the_drive_has_no_poll_queues(guest: Guest) -> None:
    step = io(guest, guest.device("TB0"), "--mode iopoll", status=1)
    expect.equal(step["state"], "refused", "state")
    expect.contains(step["reason"], "no poll queues", "reason")
    expect.contains(step["help"], "nvme.poll_queues", "remedy")


@on(TWO_SOCKETS)
def a_polling_kernel_thread_is_seen_and_charged(guest: Guest) -> None:
    step = io(guest, guest.device("TB0"), "--mode sqpoll --iodepth 4")
    pollers = [t for t in step["host_delta"]["threads"] if t["name"].startswith("iou-sqp") and t["kernel"]]
    assert pollers, step["host_delta"]["threads"]
    # It never sleeps while there is work: it ran for most of the window.
    busiest_ns = max(t["user_ns"] + t["system_ns"] for t in pollers)
    assert busiest_ns > step["host_delta"]["window_ns"] / 2, pollers
    checks_hold(step)
    is_proved(step, "submitted_by_poller")


@on(TWO_SOCKETS)
def every_engine_reads_the_same_drive_and_agrees_with_the_kernels_count(guest: Guest) -> None:
    device = guest.device("TB1")
    for engine in ("psync", "libaio", "io_uring"):
        step = io(guest, device, f"--engine {engine} --iodepth {1 if engine == 'psync' else 8}")
        expect.equal((step["engine"], step["errors"]), (engine, 0), "engine and errors")
        names = [check["name"] for check in step["checks"]]
        assert "diskstats" in names and "littles_law" in names, names
        checks_hold(step)


@on(ONE_SOCKET)
def a_drive_under_the_kernels_multipath_is_read_and_counted(guest: Guest) -> None:
    step = io(guest, guest.device("TB0"), "--iodepth 4")
    expect.equal(step["errors"], 0, "errors")
    checks_hold(step)
