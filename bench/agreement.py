#!/usr/bin/env python3
"""Whether Fathom and fio give the same load when they are given the same job file: `fio JOB` and `fathom fio JOB` in turns.

    bench/agreement.py [--folder DIR] [--pairs N] [--seconds S]

Each pair runs in ABBA order, and what is compared are ratios within a pair, because the disk and its neighbours change
meanwhile. The files lie in DIR: a folder on the disk, or on a RAM block device (zram), whose figures wobble less. 1 is
agreement; the interval is that of the mean of the pairs' ratios. Prints a table in Markdown.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Two-sided 95 % quantiles of Student's t, by degrees of freedom.
T95 = [12.7, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14, 2.13]

FILES = ":".join(f"many.{i}" for i in range(16))
COMMON = (
    "[global]\ndirect=1\nruntime={seconds}\nthread\ngroup_reporting=0\n"
    "slat_percentiles=1\nclat_percentiles=1\nlat_percentiles=1\n"
)
# Over and over on files that are there, after a ramp. Otherwise each run makes its files and writes them once.
OVER = "time_based\nramp_time=1\nsize=256m\n"
ONE = "filename=one\nrw=randread\n"
JOBS = {
    "libaio at QD 32": f"{OVER}[libaio]\n{ONE}ioengine=libaio\niodepth=32\n",
    "io_uring at QD 32": f"{OVER}[io_uring]\n{ONE}ioengine=io_uring\niodepth=32\n",
    "psync": f"{OVER}[psync]\n{ONE}ioengine=psync\n",
    "random writes, libaio at QD 32": f"{OVER}[writes]\nfilename=one\nrw=randwrite\nioengine=libaio\niodepth=32\n",
    "fdatasync after every write of a fresh file": "size=64m\n[fresh]\nfilename=fresh\nrw=write\nbs=2300\ndirect=0\n"
    "ioengine=psync\nfdatasync=1\n",
    "random read beside sequential write": f"{OVER}[reads]\nfilename=reads\nrw=randread\nioengine=libaio\niodepth=16\n"
    "[writes]\nfilename=writes\nrw=write\nbs=64k\nioengine=libaio\niodepth=4\n",
    "fdatasync after every write": f"{OVER}[log]\nfilename=log\nrw=write\nbs=4k\nioengine=psync\nfdatasync=1\n",
    "70/30 at a rate of 4,000 a second": f"{OVER}[mix]\nfilename=mix\nrw=randrw\nrwmixread=70\nrate_iops=2800,1200\nioengine=libaio\niodepth=32\n",
    "16 files in one thread": f"{OVER}[many]\nfilename={FILES}\nrw=randread\nioengine=libaio\niodepth=32\n",
}
P50, P99 = "50.000000", "99.000000"


def figures(document: dict) -> dict[str, float]:
    """What is compared of the output in fio's form: rates and latencies of each job and direction, and its CPU time."""
    out: dict[str, float] = {}
    for job in document["jobs"]:
        name = job["jobname"]
        for direction in ("read", "write"):
            of = job[direction]
            if of["total_ios"]:
                out[f"{name}: {direction}s, IOPS"] = of["iops"]
                for kind in ("slat", "clat", "lat"):
                    out |= latencies(f"{name}: {direction}s, {kind}", of[f"{kind}_ns"])
        # Older fio counts its syncs in the latencies alone.
        out |= latencies(f"{name}: syncs, lat", job.get("sync", {}).get("lat_ns", {}))
        # Below this share both are rounding.
        out |= {f"{name}: {cpu}": job[f"{cpu}_cpu"] for cpu in ("usr", "sys") if job[f"{cpu}_cpu"] >= 0.5}
    return out


def latencies(name: str, of: dict) -> dict[str, float]:
    if not of.get("N", 0) or not of.get("mean"):
        return {}
    percentiles = of.get("percentile", {})
    shown = {f"{name} p{p[:2]}": percentiles[p] for p in (P50, P99) if percentiles.get(p)}
    return {f"{name} mean": of["mean"], **shown}


def run(command: list[str], folder: Path) -> dict[str, float]:
    for made in folder.glob("fresh*"):
        made.unlink()
    env = {**os.environ, "FATHOM_LAB": str(folder / "lab.db")}
    ended = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    if ended.returncode:
        sys.exit(f"{' '.join(command)}: {ended.stderr}")
    return figures(json.loads(ended.stdout[ended.stdout.index("{"):]))


def compared(name: str, text: str, given: argparse.Namespace, folder: Path) -> None:
    job = folder / "job.fio"
    job.write_text(COMMON.format(seconds=given.seconds) + text, encoding="utf-8")
    fio = ["fio", "--output-format=json", str(job)]
    ours = [str(given.binary), "fio", "--overwrite", "--output-format=json", str(job)]
    # Lays the files out, so that neither finds holes.
    run(fio, folder)
    ratios: dict[str, list[float]] = {}
    for _ in range(given.pairs):
        a, b, c, d = (run(command, folder) for command in (fio, ours, ours, fio))
        for key in set(a) & set(b) & set(c) & set(d):
            ratios.setdefault(key, []).append(math.log((b[key] * c[key]) / (a[key] * d[key])) / 2)
    for key, logs in sorted(ratios.items()):
        mean, half = statistics.mean(logs), 0.0
        if len(logs) > 1:
            half = T95[min(len(logs) - 2, len(T95) - 1)] * statistics.stdev(logs) / math.sqrt(len(logs))
        low, high = math.exp(mean - half), math.exp(mean + half)
        print(f"| {name} | {key} | {math.exp(mean):.3f} ({low:.3f} to {high:.3f}) |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, default=ROOT / "target" / "release" / "fathom")
    parser.add_argument("--folder", type=Path, default=ROOT)
    parser.add_argument("--pairs", type=int, default=6)
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--only", default="", help="a part of a load's name")
    given = parser.parse_args()
    given.binary = given.binary.resolve()
    print("| load | figure | Fathom / fio (95 % interval) |\n| --- | --- | --- |")
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        for name, text in JOBS.items():
            if given.only in name:
                compared(name, text, given, Path(folder))


if __name__ == "__main__":
    main()
