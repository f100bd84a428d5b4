#!/usr/bin/env python3
"""Fathom over MPI beside IOR and mdtest: the same folder, ranks, transfer size and number of files, in turns.

Needs fathom-mpi (`make mpi`) and IOR's programs, which Debian has no package of: IOR and MDTEST name them, or they are on
PATH. Without them it says so and ends well. All ranks are on this host."""

import argparse
import json
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FATHOM = os.environ.get("FATHOM_MPI", str(ROOT / "target/release/fathom-mpi"))
MIB = 1 << 20
# Two-sided 95 % points of Student's t for 1..15 degrees of freedom.
T95 = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131]


def run(ranks: int, words: list[str], lab: str | None = None) -> str:
    command = ["mpirun", "--oversubscribe", "-n", str(ranks)]
    if os.geteuid() == 0:
        command.append("--allow-run-as-root")
    environment = dict(os.environ, **({"FATHOM_LAB": f"{lab}/lab.db", "XDG_STATE_HOME": lab} if lab else {}))
    done = subprocess.run(command + words, capture_output=True, text=True, env=environment, check=False)
    if done.returncode != 0:
        sys.exit(f"bench: {' '.join(command + words)}\n{done.stderr}{done.stdout[-2000:]}")
    return done.stdout


def fathom(args: argparse.Namespace, words: list[str]) -> dict:
    """The step of one `fathom-mpi io`."""
    with tempfile.TemporaryDirectory() as lab:
        text = run(args.ranks, [FATHOM, "io", "--quiet", "--json", *words], lab)
    return json.loads(text)["steps"][0]


def over_all(step: dict, of: str) -> float:
    """Per second, from the first start to the last end: as IOR and mdtest count."""
    ranks = step["ranks"]["ranks"]
    end_ns = max(rank["start_ns"] + rank["runtime_ns"] for rank in ranks)
    return sum(rank[of] for rank in ranks) * 1e9 / end_ns


def fathom_bytes(args: argparse.Namespace, rw: str) -> float:
    words = ["--target", str(args.dir), "--rw", rw, "--bs", "1m", "--size", f"{args.mib}m", "--iodepth", "1"]
    return over_all(fathom(args, [*words, "--engine", "psync", "--set", "loops=1", "--runtime", "10m"]), "bytes") / MIB


def ior_bytes(args: argparse.Namespace, rw: str) -> float:
    flag = "-w" if rw == "write" else "-r"
    words = [args.ior, "-a", "POSIX", "-F", "-k", "-E", flag, "-t", "1m", "-b", f"{args.mib}m"]
    text = run(args.ranks, [*words, "--posix.odirect", "-o", str(args.dir / "ior")])
    return float(re.search(rf"^{rw} +([\d.]+)", text, re.MULTILINE)[1])


def fathom_files(args: argparse.Namespace, rw: str) -> float:
    return over_all(fathom(args, ["--target", str(args.dir), "--rw", rw, "--nrfiles", str(args.files)]), "ios")


def mdtest_files(args: argparse.Namespace) -> dict[str, float]:
    text = run(args.ranks, [args.mdtest, "-F", "-u", "-n", str(args.files), "-d", str(args.dir / "mdtest")])
    names = {"filecreate": "File creation", "filestat": "File stat", "filedelete": "File removal"}
    return {rw: float(re.search(rf"{name}\s+([\d.]+)", text)[1]) for rw, name in names.items()}


def ratio(pairs: list[tuple[float, float]]) -> tuple[float, float]:
    """Geometric mean of a/b and the half width of its 95 % interval, as a share."""
    logs = [math.log(a / b) for a, b in pairs]
    half = T95[len(logs) - 2] * statistics.stdev(logs) / math.sqrt(len(logs)) if len(logs) > 1 else float("nan")
    return math.exp(statistics.fmean(logs)), half


def row(name: str, unit: str, pairs: list[tuple[float, float]], within: float) -> None:
    mean, half = ratio(pairs)
    own, other = (statistics.median(side) for side in zip(*pairs, strict=True))
    kept = "yes" if abs(mean - 1) <= within else "no"
    print(f"| {name} | {own:.0f} {unit} | {other:.0f} {unit} | {mean:.3f} ±{half:.3f} | {within:.0%} | {kept} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--mib", type=int, default=256, help="of each rank's file")
    parser.add_argument("--files", type=int, default=2000, help="of each rank")
    parser.add_argument("--dir", type=Path, help="a new folder in it is used; else a temporary one")
    args = parser.parse_args()
    args.ior = os.environ.get("IOR") or shutil.which("ior")
    args.mdtest = os.environ.get("MDTEST") or shutil.which("mdtest")
    if not (args.ior and args.mdtest and Path(FATHOM).exists()):
        print("IOR, mdtest or fathom-mpi is not here: IOR=... MDTEST=... name the first two, `make mpi` makes the third")
        return
    with tempfile.TemporaryDirectory(dir=args.dir, prefix="fathom-cluster-") as folder:
        args.dir = Path(folder)
        print(f"{args.ranks} ranks, {args.rounds} rounds in turns: files of {args.mib} MiB in transfers of 1 MiB, O_DIRECT; {args.files} empty files")
        print("| load | Fathom | the other | ratio | within | kept |\n| --- | --- | --- | --- | --- | --- |", flush=True)
        # What is measured is written over and read, by both: the first pass makes the file.
        run(args.ranks, [args.ior, "-a", "POSIX", "-F", "-k", "-w", "-t", "1m", "-b", f"{args.mib}m", "-o", str(args.dir / "ior")])
        for rw in ("write", "read"):
            pairs = []
            for i in range(args.rounds):
                first, second = (fathom_bytes, ior_bytes) if i % 2 == 0 else (ior_bytes, fathom_bytes)
                figures = {first: first(args, rw), second: second(args, rw)}
                pairs.append((figures[fathom_bytes], figures[ior_bytes]))
            row(f"IOR: {rw}", "MiB/s", pairs, 0.10)
        rates: dict[str, list[tuple[float, float]]] = {"filecreate": [], "filestat": [], "filedelete": []}
        for i in range(args.rounds):
            others = mdtest_files(args) if i % 2 else None
            own = {rw: fathom_files(args, rw) for rw in rates}
            others = others or mdtest_files(args)
            for rw in rates:
                rates[rw].append((own[rw], others[rw]))
        for rw, pairs in rates.items():
            row(f"mdtest: {rw}", "/s", pairs, 0.15)


if __name__ == "__main__":
    main()
