"""What else this host did while the cases ran: truth is measured under the load that there is."""

import os
import time
from dataclasses import dataclass
from pathlib import Path

LOOK_S = 0.5


@dataclass(frozen=True)
class Look:
    """The host with nothing of ours running, for half a second. Shares of all CPUs' time, in percent."""

    busy_pct: float
    stolen_pct: float
    load_average: float


def look() -> Look:
    before = _times()
    time.sleep(LOOK_S)
    spent = [after - first for after, first in zip(_times(), before, strict=True)]
    # user nice system idle iowait irq softirq steal
    total, idle, stolen = max(sum(spent), 1), spent[3] + spent[4], spent[7]
    return Look(100 * (total - idle - stolen) / total, 100 * stolen / total, os.getloadavg()[0])


def _times() -> list[int]:
    return [int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]


def sentence(looks: list[Look]) -> str:
    busy = sorted(look.busy_pct for look in looks)
    stolen = sorted(look.stolen_pct for look in looks)
    averages = sorted(look.load_average for look in looks)
    middle = len(busy) // 2
    return (
        f"before each case other programs kept the CPUs {busy[0]:.0f} to {busy[-1]:.0f} % busy (median {busy[middle]:.0f} %), "
        f"the hypervisor took {stolen[0]:.0f} to {stolen[-1]:.0f} % (median {stolen[middle]:.0f} %), and the load average was "
        f"{averages[0]:.1f} to {averages[-1]:.1f}"
    )
