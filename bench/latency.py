#!/usr/bin/env python3
"""Latency of Fathom beside fio's at the same queue depth: reads and writes, each engine, quiet and beside a busy neighbour.

Both run the same load in turns (ABBA). In a closed loop a latency that leaves nothing out times the rate is the depth
that was asked for (Little's law), however the disk changes between two runs: that share is shown for both. Where control
groups can hold both to one rate, the disk no longer changes between two runs, and the latencies themselves can be compared.

Needs fio on PATH; root for the section at a held rate. Writes docs/LATENCY.md with --page.
"""

import argparse
import contextlib
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

import side_by_side as bench

NEIGHBOUR_IOPS = 3000
NEIGHBOUR = f"half a core of other work and {NEIGHBOUR_IOPS} random reads/s"
DEPTHS = (1, 2, 4, 8, 16, 32, 64, 128)
# Synchronous calls have one I/O in flight for each thread.
ENGINES = {"io_uring": DEPTHS, "libaio": DEPTHS, "psync": (1,)}


@contextlib.contextmanager
def neighbour(binary: str, path: Path, is_busy: bool):
    """Half a core of other work and random reads on the same disk, for as long as the block runs."""
    if not is_busy:
        yield
        return
    spin = "import time\nwhile True:\n end = time.monotonic() + 0.01\n while time.monotonic() < end: pass\n time.sleep(0.01)"
    reader = [binary, "--name=neighbour", f"--filename={path}", "--rw=randread", "--bs=4k", "--direct=1", "--ioengine=libaio",
              "--iodepth=8", f"--rate_iops={NEIGHBOUR_IOPS}", "--thread", "--time_based", "--runtime=1d", "--output-format=json"]
    others = [subprocess.Popen(c, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
              for c in ([sys.executable, "-c", spin], reader)]
    try:
        time.sleep(0.5)
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


RAMP = "200ms"
# Far below what the disk gives at QD 1, so that nothing but the group sets the rate. fio has no ramp then: it counts the latency
# of the I/Os that are in flight as a ramp ends, but not the I/Os (4 ms become 4.3 ms). Fathom has one: the group has saved up
# for the reads with which Fathom looks at the file, and lets the first tenth of a second through at once.
HELD_IOPS = 2000


@contextlib.contextmanager
def held_rate(directory: Path):
    """Words that put a command into a control group that may read and write `HELD_IOPS` a second of the disk below it."""
    number = os.stat(directory).st_dev
    disk = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}")
    disk = disk.resolve().parent if (disk / "partition").exists() else disk.resolve()
    device = (disk / "dev").read_text().strip()
    name = f"fathom-latency-{os.getpid()}"
    first, second = Path("/sys/fs/cgroup/blkio") / name, Path("/sys/fs/cgroup") / name
    group = first if first.parent.is_dir() else second
    group.mkdir()
    try:
        if group == first:
            for way in ("read", "write"):
                (group / f"blkio.throttle.{way}_iops_device").write_text(f"{device} {HELD_IOPS}")
        else:
            (group / "io.max").write_text(f"{device} riops={HELD_IOPS} wiops={HELD_IOPS}")
        yield ["sh", "-c", f"echo $$ > {group}/cgroup.procs; exec \"$@\"", "sh"]
    finally:
        group.rmdir()


# A job of fio is a session of its own, which the kernel's autogroups give a share of the CPUs of its own; so is Fathom here.
SESSION = ["setsid", "--wait"]


def ours(path: Path, rw: str, engine: str, depth: int, options, batching: str = "adaptive") -> dict:
    args = ["--target", str(path), "--rw", rw, "--bs", "4k", "--engine", engine, "--iodepth", str(depth),
            "--runtime", f"{options.seconds}s", "--ramp-time", RAMP, "--batching", batching, *(["--overwrite"] if rw == "randwrite" else [])]
    lab = path.parent / "latency.db"
    command = [*options.prefix, *SESSION, bench.FATHOM, "io", "--quiet", "--json", "--lab", str(lab), *args]
    text, *_ = bench.run(command)
    step = json.loads(text)["steps"][0]
    return {"iops": step["iops"], "mean": step["lat_ns"]["mean"]}


def theirs(binary: str, path: Path, rw: str, engine: str, depth: int, options) -> dict:
    # fio's own batches: one I/O reaped and one submitted at a time. Told to reap more, it leaves out of its latency what the
    # others of a batch wait for their next submission, and at QD 32 shows a sixth less than it has in flight.
    args = [f"--filename={path}", f"--rw={rw}", "--bs=4k", "--direct=1", f"--ioengine={engine}", f"--iodepth={depth}",
            "--time_based", f"--runtime={options.seconds}", f"--ramp_time={options.fio_ramp}", "--randrepeat=0"]
    if engine == "io_uring":
        args += ["--fixedbufs=1", "--registerfiles=1"]
    text, *_ = bench.run([*options.prefix, *SESSION, binary, "--name=bench", "--output-format=json", *args])
    job = json.loads(text[text.index("{"):])["jobs"][0]
    side = max((job["read"], job["write"]), key=lambda d: d["total_ios"])
    return {"iops": side["iops"], "mean": side["lat_ns"]["mean"]}


def row(binary: str, path: Path, rw: str, engine: str, depth: int, options) -> dict:
    runs = [lambda: ours(path, rw, engine, depth, options), lambda: theirs(binary, path, rw, engine, depth, options)]
    left, right = bench.in_turn(runs, options.rounds)
    pairs = lambda key: [(a[key], b[key]) for a, b in zip(left, right)]
    held = lambda figures: statistics.median(f["iops"] * f["mean"] / 1e9 / depth for f in figures)
    # What is left once the device's own change between two runs is taken out: both loops see I/Os in flight / rate.
    of_depth = [(a["iops"] * a["mean"], b["iops"] * b["mean"]) for a, b in zip(left, right)]
    return {"rw": rw, "engine": engine, "depth": depth, "lat": bench.ratio(pairs("mean")), "iops": bench.ratio(pairs("iops")),
            "depth_ratio": bench.ratio(of_depth), "ours": held(left), "theirs": held(right),
            "mean_us": [statistics.median(f["mean"] for f in side) / 1e3 for side in (left, right)]}


def line(r: dict) -> str:
    with_interval = lambda v: f"{v[0]:.3f} ({v[1]:.3f} to {v[2]:.3f})"
    us = " / ".join(f"{v:.0f}" for v in r["mean_us"])
    return (f"| {r['engine']} | {r['rw']} | {r['depth']} | {us} | {with_interval(r['lat'])} | {with_interval(r['iops'])} | "
            f"{with_interval(r['depth_ratio'])} | {100 * r['ours']:.1f} | {100 * r['theirs']:.1f} |")


HEAD = ("| engine | load | QD | mean latency, us, Fathom / fio | latency ratio (95 %) | IOPS ratio (95 %) | "
        "latency x IOPS ratio (95 %) | Fathom % of QD | fio % of QD |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |")


BATCHINGS = ("adaptive", "single", "whole", "t/io_uring")
BATCHING_HEAD = ("| load | QD | way | IOPS over adaptive (95 %) | mean latency over adaptive (95 %) |\n"
                 "| --- | --- | --- | --- | --- |")


def batching_rows(path: Path, options) -> list[str]:
    """The ways in which I/Os go to the kernel, against the one that Fathom takes by itself."""
    lines = []
    for rw, depth in (("randread", 32), ("randread", 128), ("randwrite", 32)):
        runs = [lambda b=b: ours(path, rw, "io_uring", depth, options, b) for b in BATCHINGS]
        adaptive, *others = bench.in_turn(runs, options.rounds)
        for name, figures in zip(BATCHINGS[1:], others):
            of = lambda key: bench.ratio([(a[key], b[key]) for a, b in zip(figures, adaptive)])
            shown = " | ".join("{:.3f} ({:.3f} to {:.3f})".format(*of(key)) for key in ("iops", "mean"))
            lines.append(f"| {rw} | {depth} | {name} | {shown} |")
            print(lines[-1], flush=True)
    return lines


def summary(rows: list[dict]) -> str:
    within = sum(1 for r in rows if 0.95 <= r["lat"][0] <= 1.05)
    told_apart = [r for r in rows if r["lat"][1] > 1.05 or r["lat"][2] < 0.95]
    depth = sum(1 for r in rows if 0.95 <= r["depth_ratio"][0] <= 1.05)
    logs = [math.log(r["lat"][0]) for r in rows]
    middle, half = statistics.fmean(logs), 2 * statistics.stdev(logs) / math.sqrt(len(logs))
    all_of_them = [math.exp(v) for v in (middle, middle - half, middle + half)]
    return (f"Latency within 5 % of fio's in {within} of {len(rows)} rows; outside of it beyond the interval in "
            f"{len(told_apart)}; over all rows {all_of_them[0]:.3f} ({all_of_them[1]:.3f} to {all_of_them[2]:.3f}). Latency x IOPS "
            f"within 5 % in {depth} of {len(rows)}.")


READING = """**Reading.** The two mean the same by latency. Where both are held to one rate, the truth is known: QD / rate. On the disk as
it is a row's latency ratio shows the disk beside that, a share of a device whose rate changes by tens of percent between two
runs of a second; latency x IOPS takes that out.

fio told to reap all that is ready (`--iodepth_batch_complete_max=32`) shows only 84 to 88 % of QD 32: what is reaped together waits
for its next submission, one call each, and is not in its latency. Fathom counts that wait (`slat`), and keeps it small by
submitting one by one above 4 us per I/O, where a call costs little against the device; below 2 us it fills batches.

A job of fio is a session of its own, and the kernel's autogroups give each session its share of busy CPUs. Both programs run in
one here. Started from a shell beside two spinning processes of the same shell, Fathom gave 0.81 of fio's IOPS for this reason.
"""


def section(title: str, binary: str, path: Path, options) -> str:
    """All engines, directions and depths under one heading."""
    rows = []
    print(f"{title}\n{HEAD}", flush=True)
    for engine, depths in ENGINES.items():
        for rw in ("randread", "randwrite"):
            for depth in depths:
                rows.append(row(binary, path, rw, engine, depth, options))
                print(line(rows[-1]), flush=True)
    print(summary(rows))
    return f"## {title}\n\n{summary(rows)}\n\n{HEAD}\n" + "\n".join(line(r) for r in rows) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fathom", default=str(bench.ROOT / "target" / "release" / "fathom"))
    parser.add_argument("--rounds", type=int, default=4, help="pairs per row, 2 to 16")
    parser.add_argument("--seconds", type=float, default=1.5, help="measured time of each run")
    parser.add_argument("--dir", default=str(bench.ROOT / "bench" / "work"), help="directory on the disk to measure")
    parser.add_argument("--page", action="store_true", help="write docs/LATENCY.md")
    options = parser.parse_args()
    options.prefix, options.fio_ramp = [], RAMP
    bench.FATHOM = options.fathom
    binary = shutil.which("fio") or sys.exit("bench: fio is not on PATH (apt-get install fio)")
    work = Path(options.dir)
    work.mkdir(parents=True, exist_ok=True)
    path, other = work / "latency.dat", work / "neighbour.dat"
    parts = []
    try:
        for file in (path, other):
            bench.run([binary, "--name=lay", f"--filename={file}", "--rw=write", "--bs=1m", "--size=1g", "--direct=1",
                       "--ioengine=psync", "--output-format=json"])
        with contextlib.ExitStack() as held:
            try:
                options.prefix, options.fio_ramp = held.enter_context(held_rate(work)), "0s"
                parts.append(section(f"Both held to {HELD_IOPS} IOPS", binary, path, options))
                with neighbour(binary, other, True):
                    parts.append(section(f"Both held to {HELD_IOPS} IOPS, beside {NEIGHBOUR}", binary, path, options))
            except OSError as error:
                parts.append(f"## Both held to {HELD_IOPS} IOPS\n\nNot measured: no control group for block I/O ({error}).\n")
            options.prefix, options.fio_ramp = [], RAMP
        for is_busy in (False, True):
            title = f"The disk as it is, beside {NEIGHBOUR}" if is_busy else "The disk as it is, quiet"
            with neighbour(binary, other, is_busy):
                parts.append(section(title, binary, path, options))
        print(BATCHING_HEAD)
        parts.append("## How I/Os go to the kernel (`--batching`), quiet, io_uring\n\n" + BATCHING_HEAD + "\n"
                     + "\n".join(batching_rows(path, options)) + "\n")
    finally:
        shutil.rmtree(work, ignore_errors=True)
    if options.page:
        facts = bench.conditions([("fio", binary)])
        text = ["# Latency beside fio's", "", __doc__.split("\n\n")[1], "",
                f"Made by `make latency`, {options.rounds} pairs of {options.seconds} s for each row, order ABBA; 4k blocks on a file of "
                "1 GiB with O_DIRECT. fio has its own batches (one I/O at a time), Fathom its own.", "",
                *[f"- {k}: {v}" for k, v in facts.items()], "", READING, *parts]
        (bench.ROOT / "docs" / "LATENCY.md").write_text("\n".join(text))
        print("written to docs/LATENCY.md")


if __name__ == "__main__":
    main()
