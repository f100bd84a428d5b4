#!/usr/bin/env python3
"""Fathom beside fio on this machine: interleaved ABBA runs, ratios with 95 % intervals.

Writes bench/results/<time>.md and .json with kernel, CPU, versions and every command. Needs fio on PATH; FIO names one
more fio binary to compare with. Root is needed for the zram rows only; what is left out is said in the table.
"""

import argparse
import json
import math
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Two-sided 95 % points of Student's t for 1..15 degrees of freedom.
T95 = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131]
COMMANDS: list[str] = []


def run(command: list[str]) -> tuple[str, float, float, float]:
    """Runs a command to its end: stdout, user s, system s, wall s. Ends the bench when the command fails."""
    COMMANDS.append(" ".join(command))
    start = time.monotonic()
    # Standard output goes to a file: a full pipe would stop the child while wait4 waits for it.
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        child = subprocess.Popen(command, stdout=out, stderr=err)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        wall = time.monotonic() - start
        out.seek(0)
        err.seek(0)
        text, talk = out.read(), err.read()
    if child.returncode != 0:
        sys.exit(f"bench: this command ended with {child.returncode}:\n  {' '.join(command)}\n{talk}{text[-2000:]}")
    run.maxrss_kib = usage.ru_maxrss
    return text, usage.ru_utime, usage.ru_stime, wall


def fathom(args: list[str], cpu: int | None = None) -> dict:
    """One `fathom io`: its figures, with user and system time of the whole process."""
    with tempfile.TemporaryDirectory() as lab:
        command = [FATHOM, "io", "--quiet", "--json", "--lab", f"{lab}/bench.db", *args]
        if cpu is not None:
            command = ["taskset", "-c", str(cpu), *command]
        text, user, system, _ = run(command)
    step = json.loads(text)["steps"][0]
    lat = step["lat_ns"] or {}
    return {
        "iops": step["iops"],
        "ios": step["ios"],
        "p50": lat.get("p50"),
        "p99": lat.get("p99"),
        "user_ns_per_io": user * 1e9 / step["ios"],
        "kernel_ns_per_io": system * 1e9 / step["ios"],
        "cpu_ns_per_io": (user + system) * 1e9 / step["ios"],
        "iops_per_core": step["ios"] / max(user + system, 1e-9),
        "setup_ms": step["setup_ms"],
    }


def fio(binary: str, args: list[str], cpu: int | None = None) -> dict:
    """One fio job: the same figures. Percentiles are of total latency, as Fathom's are."""
    command = [binary, "--name=bench", "--output-format=json", "--lat_percentiles=1", *args]
    if cpu is not None:
        command = ["taskset", "-c", str(cpu), *command]
    text, user, system, _ = run(command)
    job = json.loads(text[text.index("{"):])["jobs"][0]
    side = max((job["read"], job["write"]), key=lambda d: d["total_ios"])
    percentile = side["lat_ns"].get("percentile", {})
    return {
        "iops": side["iops"],
        "ios": side["total_ios"],
        "p50": percentile.get("50.000000"),
        "p99": percentile.get("99.000000"),
        "user_ns_per_io": user * 1e9 / side["total_ios"],
        "kernel_ns_per_io": system * 1e9 / side["total_ios"],
        "cpu_ns_per_io": (user + system) * 1e9 / side["total_ios"],
        "iops_per_core": side["total_ios"] / max(user + system, 1e-9),
    }


def ratio(pairs: list[tuple[float, float]]) -> tuple[float, float, float]:
    """Geometric mean of a/b with its 95 % interval, from the logarithms of the pairs' ratios."""
    logs = [math.log(a / b) for a, b in pairs]
    mean = statistics.fmean(logs)
    if len(logs) < 2:
        return math.exp(mean), float("nan"), float("nan")
    half = T95[len(logs) - 2] * statistics.stdev(logs) / math.sqrt(len(logs))
    return math.exp(mean), math.exp(mean - half), math.exp(mean + half)


def in_turn(runs: list, rounds: int) -> list[list[dict]]:
    """Runs A B C, C B A, A B C...: slow drift of the machine cancels. Figures of each, round by round."""
    figures: list[list[dict]] = [[] for _ in runs]
    for i in range(rounds):
        order = list(range(len(runs)))
        for which in order if i % 2 == 0 else reversed(order):
            figures[which].append(runs[which]())
    return figures


def bare_reads(device: str, engine: str, depth: str, seconds: float) -> dict:
    """Random 4k reads by the same calls in a bare loop: no latencies, no statistics."""
    text, *_ = run(["taskset", "-c", str(CPU), LOOPS, "bench-bare", "--target", device, "--engine", engine,
                    "--iodepth", depth, "--seconds", f"{seconds:g}"])
    return json.loads(text)


def is_met(low: float, high: float, goal: tuple[float | None, float | None]) -> bool | None:
    """Whether the whole interval keeps the goal (True) or misses it (False); None where it holds the goal's bound."""
    least, most = goal
    if (least is None or low >= least) and (most is None or high <= most):
        return True
    if (least is not None and high < least) or (most is not None and low > most):
        return False
    return None


class Table:
    """Rows of ratios; goal is (smallest, largest) allowed ratio, None where there is no bound."""

    def __init__(self) -> None:
        self.rows: list[dict] = []

    def add(self, name, figure, left, right, key, goal, invert=False):
        pairs = [(l[key], r[key]) for l, r in zip(left, right) if l[key] and r[key]]
        if not pairs:
            self.left_out(f"{name}: {figure}", "too few samples for this quantile")
            return
        mid, low, high = ratio([(b, a) for a, b in pairs] if invert else pairs)
        row = {
            "work": name, "figure": figure, "ratio": mid, "ci95": [low, high], "goal": goal, "met": is_met(low, high, goal),
            "fathom": statistics.median(p[0] for p in pairs), "other": statistics.median(p[1] for p in pairs),
            "pairs": len(pairs),
        }
        self.rows.append(row)
        print(line(row), flush=True)

    def value(self, name, figure, value, goal_max):
        row = {"work": name, "figure": figure, "value": value, "goal": [None, goal_max], "met": value <= goal_max}
        self.rows.append(row)
        print(line(row), flush=True)

    def least(self, name, figure, value, goal_min):
        row = {"work": name, "figure": figure, "value": value, "goal": [goal_min, None], "met": value >= goal_min}
        self.rows.append(row)
        print(line(row), flush=True)

    def left_out(self, name, why):
        row = {"work": name, "figure": "left out", "why": why}
        self.rows.append(row)
        print(line(row), flush=True)


def line(row: dict) -> str:
    if "why" in row:
        return f"| {row['work']} | left out: {row['why']} | | | |"
    low, high = row["goal"]
    met = {True: "yes", False: "**no**", None: "inconclusive"}[row["met"]]
    if low is None and high is None:
        goal, met = "-", "-"
    elif high is None:
        goal = f">= {low:g}"
    elif low is None:
        goal = f"<= {high:g}"
    else:
        goal = f"{low:.3g} to {high:.3g}"
    if "value" in row:
        return f"| {row['work']} | {row['figure']} | {row['value']:.3g} | {goal} | {met} |"
    ci = f"{row['ratio']:.3g} ({row['ci95'][0]:.3g} to {row['ci95'][1]:.3g})"
    return f"| {row['work']} | {row['figure']} ({row['fathom']:.4g} / {row['other']:.4g}) | {ci} | {goal} | {met} |"


def bench_null(table: Table, label: str, binary: str, rounds: int, seconds: float) -> None:
    ours = ["--target", "null", "--engine", "null", "--rw", "randread", "--bs", "4k", "--iodepth", "32",
            "--size", "1g", "--runtime", f"{seconds}s"]
    theirs = ["--ioengine=null", "--rw=randread", "--bs=4k", "--iodepth=32", "--size=1g", "--time_based",
              f"--runtime={seconds}"]
    left, right = in_turn([lambda: fathom(ours, CPU), lambda: fio(binary, theirs, CPU)], rounds)
    table.add("null engine, 4k random, QD32", f"I/O per core second, fathom / {label}", left, right, "iops_per_core",
              (10, None))
    table.value("null engine, 4k random, QD32", "fathom, user ns per I/O",
                statistics.median(l["user_ns_per_io"] for l in left), 60)


def bench_zram(table: Table, label: str, binary: str, device: str, rounds: int, seconds: float) -> None:
    common = ["--target", device, "--rw", "randread", "--bs", "4k", "--runtime", f"{seconds}s"]
    fio_common = [f"--filename={device}", "--rw=randread", "--bs=4k", "--direct=1", "--time_based",
                  f"--runtime={seconds}", "--readonly"]
    cases = [
        ("psync", ["--engine", "psync"], ["--ioengine=psync"], 1.4),
        ("libaio QD32", ["--engine", "libaio", "--iodepth", "32"], ["--ioengine=libaio", "--iodepth=32"], 1.9),
        # fio waits for one completion or for sixteen; the second suits it better, so both are shown.
        ("io_uring QD32 (fio reaps 1 to 16)", ["--engine", "io_uring", "--iodepth", "32"],
         ["--ioengine=io_uring", "--iodepth=32", "--fixedbufs=1", "--registerfiles=1", "--iodepth_batch_submit=16",
          "--iodepth_batch_complete_min=1", "--iodepth_batch_complete_max=16"], 1.8),
        ("io_uring QD32 (fio reaps 16)", ["--engine", "io_uring", "--iodepth", "32"],
         ["--ioengine=io_uring", "--iodepth=32", "--fixedbufs=1", "--registerfiles=1", "--iodepth_batch=16",
          "--iodepth_batch_complete=16"], 1.8),
    ]
    for name, ours, theirs, goal in cases:
        engine, depth = ours[1], ours[3] if len(ours) > 2 else "1"
        left, right, bare = in_turn(
            [lambda: fathom(common + ours, CPU), lambda: fio(binary, fio_common + theirs, CPU),
             lambda: bare_reads(device, engine, depth, seconds)], rounds)
        work = f"zram, 4k random read, 1 thread on 1 CPU: {name}"
        table.add(work, f"IOPS, fathom / {label}", left, right, "iops", (goal, None))
        # How much of what this kernel gives at all is left after measuring, and what could be won over fio at most.
        table.add(work, "IOPS, fathom / bare loop", left, bare, "iops", (None, None))
        table.add(work, f"IOPS, bare loop / {label}", bare, right, "iops", (None, None))
        if name.startswith("io_uring"):
            table.add(work, f"user time per I/O, {label} / fathom", left, right, "user_ns_per_io", (8, None), invert=True)
        # On one CPU I/O per second is one over the CPU time of an I/O. The kernel's part is not ours to save: a program
        # without any user time would reach the second ratio.
        table.add(work, f"kernel time per I/O, {label} / fathom", left, right, "kernel_ns_per_io", (None, None), invert=True)
        ceiling = [{"cpu_ns_per_io": l["kernel_ns_per_io"]} for l in left]
        table.add(work, f"all CPU time of {label} / fathom's kernel time: the most to be had", ceiling, right,
                  "cpu_ns_per_io", (None, None), invert=True)


def bench_nop(table: Table, rounds: int, seconds: float) -> None:
    pairs = []
    for _ in range(rounds):
        text, *_ = run(["taskset", "-c", str(CPU), LOOPS, "bench-nop", "--iodepth", "128", "--batch", "32",
                        "--seconds", f"{seconds / 2:g}"])
        legs = json.loads(text)
        pairs.append(({"iops": legs["recorded_iops"]}, {"iops": legs["bare_iops"]}))
    table.add("io_uring NOP, QD128, batch 32", "I/O per core second, all latencies recorded / bare loop",
              [p[0] for p in pairs], [p[1] for p in pairs], "iops", (0.85, None))


def bench_driver(table: Table, seconds: float) -> None:
    text, *_ = run(["taskset", "-c", str(CPU), LOOPS, "bench-nvme", "--iodepth", "32", "--seconds", f"{seconds:g}"])
    table.value("NVMe in user space, a controller in memory, QD32", "ns per I/O in the driver", json.loads(text)["ns_per_io"], 120)


def bench_targets(table: Table, rounds: int, seconds: float) -> None:
    load = ["--engine", "null", "--rw", "randread", "--bs", "4k", "--iodepth", "32", "--size", "1g", "--numjobs", "1",
            "--runtime", f"{seconds}s"]
    many = [word for number in range(16) for word in ("--target", f"null:{number}")] + ["--spread", "targets"]
    one, all_of_them = in_turn([lambda: fathom(["--target", "null", *load], CPU), lambda: fathom(many + load, CPU)], rounds)
    table.add("null engine, 4k random, QD32, one thread", "I/O per core second, 16 targets / 1", all_of_them, one,
              "iops_per_core", (0.95, None))


def bench_disk(table: Table, label: str, binary: str, path: str, rounds: int, seconds: float) -> None:
    agree = (0.9, 1 / 0.9)
    for rw in ("randread", "randwrite"):
        for depth in (1, 32):
            ours = ["--target", path, "--rw", rw, "--bs", "4k", "--engine", "io_uring", "--iodepth", str(depth),
                    "--runtime", f"{seconds}s"]
            if rw == "randwrite":
                ours.append("--overwrite")
            # As `fathom report` prints it for the same job: what is ready is reaped, not one I/O a pass, which would
            # count the waiting of the others as latency.
            theirs = [f"--filename={path}", f"--rw={rw}", "--bs=4k", "--direct=1", "--ioengine=io_uring", "--fixedbufs=1",
                      "--registerfiles=1", f"--iodepth={depth}", "--iodepth_batch_submit=1",
                      "--iodepth_batch_complete_min=1", f"--iodepth_batch_complete_max={depth}", "--time_based",
                      f"--runtime={seconds}", "--randrepeat=0"]
            left, right = in_turn([lambda: fathom(ours), lambda: fio(binary, theirs)], rounds)
            for key in ("iops", "p50", "p99"):
                table.add(f"file on the disk, 4k {rw} QD{depth}", f"{key}, fathom / {label}", left, right, key, agree)


def bench_footprint(table: Table, work: Path) -> None:
    threads, depth, block = 64, 128, 4096
    with tempfile.TemporaryDirectory() as lab:
        # Real I/O, so that every buffer is in memory when the peak is taken.
        run([FATHOM, "io", "--quiet", "--json", "--lab", f"{lab}/bench.db", "--target", str(work), "--iodepth", str(depth),
             "--threads", str(threads), "--size", "256m", "--runtime", "3s"])
    buffers_mib = threads * depth * block / 2**20
    table.value("64 threads x QD 128", "peak memory beside the I/O buffers, MiB", run.maxrss_kib / 1024 - buffers_mib, 96)


def bench_start(table: Table, work: Path, rounds: int) -> None:
    path = str(work / "start.dat")
    Path(path).write_bytes(os.urandom(16 << 20))
    setups = [fathom(["--target", path, "--size", "16m", "--iodepth", "32", "--runtime", "200ms"])["setup_ms"]
              for _ in range(rounds)]
    table.value("start of a step to its first I/O", "ms, worst of the runs", max(setups), 100)


def bench_sampler(table: Table, work: Path) -> None:
    """The cost of looking at a large machine, replayed from a tree of files that a test of the inventory crate builds."""
    name, tree = "256 CPUs, 24 drives, 128 threads, replayed", work / "machine"
    built = subprocess.run(
        ["cargo", "test", "--release", "--quiet", "--package", "fathom-inspect", "--lib", "large_machine"], cwd=ROOT,
        env=os.environ | {"FATHOM_KEEP_MACHINE": str(tree.resolve())}, capture_output=True, text=True, check=False)
    if built.returncode != 0 or not tree.is_dir():
        table.left_out(name, f"its tree could not be built: {built.stderr.strip()[-200:]}")
        return
    text, *_ = run([LOOPS, "bench-sampler", "--root", str(tree), "--seconds", "5"])
    table.value(name, "sampler once a second, % of one core", json.loads(text)["share_of_core_pct"], 1)
    walls = [run([FATHOM, "inspect", "--root", str(tree), "--json"])[3] for _ in range(5)]
    table.value(name, "inspect, s, worst of 5", max(walls), 1)


def bench_simulator(table: Table, rounds: int) -> None:
    """The simulator alone: see simulator.py. A second of the large case, scaled up."""
    sys.dont_write_bytecode = True  # It would leave a folder in the sources.
    import simulator
    plain, large = simulator.rows(FATHOM, min(rounds, 3), 1.0)
    table.least("simulated drive, T1 QD32", "simulated I/Os per CPU s", plain[1], simulator.SPEED_MIN)
    table.value("24 simulated drives", "CPU s for 30 s at full load, 30 times that of 1 s", large[1], simulator.LARGE_MAX_S)


def bench_report(table: Table, work: Path) -> None:
    plan = work / "thousand.toml"
    plan.write_text(
        '[study]\nname = "thousand"\nquestion = "Does a report of 1,000 steps stay quick?"\n\n'
        '[defaults]\nengine = "null"\nruntime = "30ms"\nsize = "1g"\n\n'
        "[[ladder]]\n"
        f'rw = ["randread", "read"]\niodepth = {list(range(1, 51))}\nnumjobs = [1, 2]\nbs = ["4k", "8k", "16k", "32k", "64k"]\n')
    lab = str(work / "thousand.db")
    run([FATHOM, "run", str(plan), "--quiet", "--json", "--target", "null", "--lab", lab])
    report = work / "thousand.html"
    *_, wall = run([FATHOM, "report", "last", "--lab", lab, "--output", str(report)])
    table.value("report of 1,000 steps", "built, s", wall, 2)
    if not (ROOT / "web" / "node_modules").is_dir():
        table.left_out("report of 1,000 steps: opened", "web/node_modules is missing (make viewer)")
        return
    text, *_ = run(["node", str(ROOT / "web" / "e2e" / "open-time.mjs"), str(report)])
    table.value("report of 1,000 steps", "opened in Chromium, s", json.loads(text)["open_s"], 2)


def make_zram(gib: int) -> tuple[str | None, str]:
    """A fresh zram device of its own; (None, why) when there can be none."""
    control = Path("/sys/class/zram-control/hot_add")
    try:
        number = control.read_text().strip()
        Path(f"/sys/block/zram{number}/disksize").write_text(f"{gib}G")
    except OSError as error:
        return None, f"no zram device could be made here ({error})"
    device = f"/dev/zram{number}"
    for _ in range(50):
        if Path(device).exists():
            return device, ""
        time.sleep(0.1)
    return None, f"{device} did not appear"


def drop_zram(device: str) -> None:
    """Removes it. The kernel says busy for a moment while a last process, or one that looks at new devices, has it open."""
    name = Path(device).name
    for attempt in range(100):
        try:
            Path(f"/sys/block/{name}/reset").write_text("1")
            break
        except OSError as error:
            if attempt == 99:
                print(f"bench: {device} stays: {error}", file=sys.stderr)
                return
            time.sleep(0.1)
    Path("/sys/class/zram-control/hot_remove").write_text(name.removeprefix("zram"))


def conditions(binaries: list[tuple[str, str]]) -> dict:
    cpu = next((l.split(":")[1].strip() for l in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in l), "?")
    return {
        "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        "kernel": platform.release(),
        "cpu": f"{cpu}, {os.cpu_count()} CPUs",
        "fathom": subprocess.check_output([FATHOM, "--version"], text=True).strip(),
        **{label: subprocess.check_output([b, "--version"], text=True).strip() for label, b in binaries},
    }


def write_results(table: Table, facts: dict) -> Path:
    results = ROOT / "bench" / "results"
    results.mkdir(exist_ok=True)
    stem = results / time.strftime("%Y-%m-%d-%H%M", time.gmtime())
    text = ["# Fathom beside fio", ""]
    text += [f"- {k}: {v}" for k, v in facts.items()]
    text += ["- order: ABBA, ratios pair by pair, geometric mean with a 95 % interval (Student's t on logarithms)",
             "- a goal is met or missed where the whole interval is; `inconclusive` where the interval holds its bound",
             "- both programs pinned to one CPU by `taskset` in the null, zram and NOP rows; unpinned on the disk", "",
             "| work | figure (medians) | ratio or value (95 %) | goal | met |", "| --- | --- | --- | --- | --- |"]
    text += [line(r) for r in table.rows]
    seen = list(dict.fromkeys(COMMANDS))
    text += ["", "## Commands", "", "```", *[scrub(c) for c in seen], "```", ""]
    stem.with_suffix(".md").write_text("\n".join(text))
    stem.with_suffix(".json").write_text(json.dumps({"conditions": facts, "rows": table.rows}, indent=1) + "\n")
    return stem.with_suffix(".md")


def scrub(command: str) -> str:
    """Names of this checkout and of temporary files mean nothing elsewhere."""
    words = []
    for word in command.split():
        word = word.replace(str(WORK), "WORK").replace(str(ROOT) + "/", "").replace("target/release/fathom", "fathom")
        word = word.replace("target/release/examples/bench", "bench")
        words.append("LAB" if word.startswith(tempfile.gettempdir()) else word)
    return " ".join(words)


def main() -> None:
    global FATHOM, LOOPS, CPU, WORK
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fathom", default=str(ROOT / "target" / "release" / "fathom"))
    parser.add_argument("--loops", default=str(ROOT / "target" / "release" / "examples" / "bench"),
                        help="the engine's example `bench`")
    parser.add_argument("--rounds", type=int, default=6, help="pairs per row, 2 to 16")
    parser.add_argument("--seconds", type=float, default=3.0, help="measured time of each run")
    parser.add_argument("--only", default="", help="comma list of null,zram,nop,nvme,targets,disk,footprint,sampler,report,simulator")
    parser.add_argument("--dir", default=str(ROOT / "bench" / "work"), help="directory on the disk to measure")
    options = parser.parse_args()
    if not 2 <= options.rounds <= len(T95) + 1:
        parser.error(f"--rounds {options.rounds}: an interval takes 2 to {len(T95) + 1} pairs")
    FATHOM, LOOPS = options.fathom, options.loops
    CPU, WORK = (os.cpu_count() or 1) - 1, Path(options.dir)
    only = [w for w in options.only.split(",") if w]
    wanted = lambda name: not only or name in only
    binaries = [("fio", b) for b in [shutil.which("fio")] if b]
    if os.environ.get("FIO"):
        binaries.append(("FIO", os.environ["FIO"]))
    if not binaries:
        sys.exit("bench: fio is not on PATH (apt-get install fio)")
    WORK.mkdir(parents=True, exist_ok=True)
    table, facts = Table(), conditions(binaries)
    device, why = make_zram(8) if wanted("zram") else (None, "not asked")
    disk_file = WORK / "disk.dat"
    try:
        if wanted("disk"):
            # Made by fio, read and written by both; 2 GiB, beyond what a small drive cache holds.
            run([binaries[0][1], "--name=lay", f"--filename={disk_file}", "--rw=write", "--bs=1m", "--size=2g",
                 "--direct=1", "--ioengine=psync", "--output-format=json"])
        for label, binary in binaries:
            if wanted("null"):
                bench_null(table, label, binary, options.rounds, options.seconds)
            if device:
                bench_zram(table, label, binary, device, options.rounds, options.seconds)
            elif wanted("zram"):
                table.left_out("zram rows", why)
            if wanted("disk"):
                bench_disk(table, label, binary, str(disk_file), options.rounds, options.seconds)
        if wanted("nop"):
            bench_nop(table, options.rounds, options.seconds)
        if wanted("nvme"):
            bench_driver(table, options.seconds)
        if wanted("targets"):
            bench_targets(table, options.rounds, options.seconds)
        if wanted("footprint"):
            bench_footprint(table, WORK)
            bench_start(table, WORK, options.rounds)
        if wanted("sampler"):
            bench_sampler(table, WORK)
        if wanted("simulator"):
            bench_simulator(table, options.rounds)
        if wanted("report"):
            bench_report(table, WORK)
    finally:
        if device:
            drop_zram(device)
        shutil.rmtree(WORK, ignore_errors=True)
    print(f"\nwritten to {write_results(table, facts).relative_to(ROOT)}")
    missed, unclear = ([r for r in table.rows if r.get("met", True) is verdict] for verdict in (False, None))
    if missed:
        print(f"{len(missed)} of {len(table.rows)} rows missed their goal")
    if unclear:
        print(f"{len(unclear)} rows are inconclusive: their interval holds the bound of the goal (more --rounds narrow it)")


if __name__ == "__main__":
    main()
