#!/usr/bin/env python3
"""How many of fio's own example jobs Fathom takes, and whether it then does what fio does.

    fio_examples.py FOLDER [--fathom PATH] [--run] [--only NAME]

FOLDER holds fio's `examples/*.fio`. Without --run each job is only planned: a row says "planned", or the key and line at
which it is refused. With --run each job is also run by fio and by Fathom on small files of a temporary folder, with sizes,
runtimes and delays cut down, and the I/Os, bytes and syncs of both are compared where the job is finite. What Fathom's own
engines do not run is run a second time with --with-fio.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile

# Engines of fio that Fathom has, under all of fio's names for them.
ENGINES = {"libaio", "io_uring", "io_uring_cmd", "psync", "sync", "vsync", "pvsync", "pvsync2", "mmap", "null"}
SIZES = {"size", "filesize", "io_size", "offset", "offset_increment", "zonesize", "zoneskip", "zonerange"}
# For jobs that take words from the environment.
VARIABLES = {"FIO_BS": "4k", "FIO_RW": "randread", "FIO_IODEPTH": "2"}
UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def engines_of(text):
    return set(re.findall(r"^\s*ioengine\s*=\s*([^\s;#]+)", text, re.M))


def smaller(text):
    """A size that fits a small file."""
    match = re.fullmatch(r"(\d+)([kmgt]?)(?:i?b)?", text.strip().lower())
    if not match:
        return text
    size = int(match[1]) * UNITS[match[2]]
    if size >= 1 << 30:
        size //= 1024
    elif size >= 16 << 20:
        size //= 64
    return str(max(size, 4096) // 4096 * 4096 if size >= 4096 else size)


def small_job(text):
    """The job with its files in the current folder, small, and short."""
    io_size = re.search(r"^\s*io_size\s*=\s*([^\s;#]+)", text, re.M)
    # A job without a size goes over a drive: with less than its io_size, fio would end it by other rules.
    size = "size=" + (smaller(io_size[1]) if io_size else "8m")
    lines, has_size = [], bool(re.search(r"^\s*(size|filesize)\s*=", text, re.M))
    for line in text.splitlines():
        bare = re.split(r"[;#]", line)[0].strip()
        key, _, value = (part.strip() for part in bare.partition("="))
        if bare.startswith("[") and bare != "[global]" and not has_size and "[global]" not in text:
            lines += [bare, size]
            continue
        if bare == "[global]" and not has_size:
            lines += [bare, size]
            continue
        if not bare or key in ("directory", "fallocate"):
            continue
        if key == "filename" and value not in ("/dev/null", "/dev/zero"):
            value = os.path.basename(value.replace("\\:", "-"))
        elif key in SIZES:
            value = smaller(value)
        elif key in ("runtime", "timeout"):
            value = "2"
        elif key in ("ss_dur", "ss_ramp", "steadystate_duration", "steadystate_ramp_time", "steadystate_check_interval"):
            value = "1"
        elif key == "startdelay":
            value = f"{int(value) * 5}ms"
        elif key == "numjobs" and value.isdigit():
            value = str(min(int(value), 3))
        elif key == "nrfiles":
            value = str(min(int(value), 500))
        elif key == "loops":
            value = str(min(int(value), 20))
        elif key == "rate" and int(value.split(",")[0]) < 10_000:
            value = ",".join(str(int(part) * 1000) for part in value.split(","))
        elif key == "ratemin":
            value = "1"
        elif key == "rate_iops" and int(value) < 100:
            value = "500"
        lines.append(f"{key}={value}" if value else bare)
    return "\n".join(lines) + "\n"


def is_finite(text):
    """Whether sizes end the job, not a time or another job."""
    return not re.search(r"^(time_based|runtime|timeout|exitall|exit_what|flow)\b", text, re.M)


def run(command, folder, seconds=30):
    env = {**os.environ, **VARIABLES}
    pipe = subprocess.PIPE
    child = subprocess.Popen(command, cwd=folder, env=env, stdout=pipe, stderr=pipe, text=True, start_new_session=True)
    try:
        out, err = child.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        # With all that it started: fio's jobs have sessions of their own.
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                if os.readlink(f"/proc/{pid}/cwd") == os.path.realpath(folder):
                    os.kill(int(pid), signal.SIGKILL)
            except OSError:
                pass
        child.communicate()
        raise
    return child.returncode, out, err


def refusal(stderr):
    """Key and line of the first error."""
    lines = stderr.splitlines()
    what = next((line for line in lines if line.startswith("error")), "failed").removeprefix("error: ")
    place = next((m[1] for line in lines if (m := re.search(r"\.fio:(\d+):\d+", line))), "")
    return f"{what}" + (f" (line {place})" if place else "")


def counts(result, directions):
    """I/Os, bytes and syncs of all jobs together."""
    total = {"ios": 0, "bytes": 0, "syncs": 0}
    for job in result["jobs"]:
        for direction in directions:
            total["ios"] += job.get(direction, {}).get("total_ios", 0)
            total["bytes"] += job.get(direction, {}).get("io_bytes", 0)
        total["syncs"] += job.get("sync", {}).get("total_ios", 0)
    return total


def result_of(command, folder):
    try:
        code, out, err = run(command, folder)
    except subprocess.TimeoutExpired:
        return None, "took longer than 30 s"
    if "{" not in out:
        return None, refusal(err) if "error" in err else (err or out).strip().splitlines()[0] if err or out else f"exit {code}"
    result = json.loads(out[out.index("{") : out.rindex("}") + 1])
    failed = [job["jobname"] for job in result["jobs"] if job.get("error")]
    if failed:
        return result, f"jobs with errors: {', '.join(failed)}"
    if code and not any(job.get(d, {}).get("total_ios") for job in result["jobs"] for d in ("read", "write", "trim")):
        return None, (err.strip().splitlines() or [f"exit {code}"])[0]
    return result, ""


def both(fathom, text, own_words=()):
    """What fio and Fathom count, and a word on it. `own_words`: options of Fathom."""
    job = small_job(text)
    with tempfile.TemporaryDirectory(prefix="fio-examples-", ignore_cleanup_errors=True) as top:
        folders = [os.path.join(top, name) for name in ("fio", "fathom")]
        for folder in folders:
            os.mkdir(folder)
            with open(os.path.join(folder, "job.fio"), "w") as file:
                file.write(job)
        theirs, said = result_of(["fio", "--output-format=json", "job.fio"], folders[0])
        command = [fathom, "--lab", os.path.join(top, "lab.db"), "fio", "--overwrite", *own_words, "--output-format=json", "job.fio"]
        ours, why = result_of(command, folders[1])
    if ours is None:
        return "-", "-", f"Fathom: {why}" + (f"; fio: {said}" if said else "")
    # fio counts what it reads to verify among the reads; Fathom keeps it apart.
    directions = ("write", "trim") if re.search(r"^verify=", job, re.M) else ("read", "write", "trim")
    own = counts(ours, directions)
    if theirs is None:
        return "-", f"{own['ios']} / {own['bytes']} / {own['syncs']}", f"runs; fio {said}"
    fio = counts(theirs, directions)
    shown = [f"{c['ios']} / {c['bytes']} / {c['syncs']}" for c in (fio, own)]
    if why:
        return *shown, f"Fathom: {why}"
    if not fio["ios"] and not own["ios"]:
        return *shown, "neither runs on a file"
    if not is_finite(job):
        return *shown, "runs (ends by time)"
    same = own["ios"] == fio["ios"] and own["bytes"] == fio["bytes"] and abs(own["syncs"] - fio["syncs"]) <= 1
    if not same and re.search(r"^(bssplit|bsrange)=", job, re.M) and abs(own["bytes"] - fio["bytes"]) < 1 << 20:
        # How many I/Os a region takes depends on the sizes that are drawn, and the last one may pass the end of a job's size.
        return *shown, "same bytes, sizes are drawn" if abs(own["ios"] / fio["ios"] - 1) < 0.1 else "DIFFERS"
    return *shown, "same" if same else "DIFFERS"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--fathom", default="fathom")
    parser.add_argument("--run", action="store_true")
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    fathom = os.path.abspath(args.fathom) if os.path.sep in args.fathom else args.fathom
    rows = {True: [], False: []}
    for name in sorted(os.listdir(args.folder)):
        path = os.path.join(os.path.abspath(args.folder), name)
        if not name.endswith(".fio") or args.only not in name:
            continue
        with open(path) as file:
            text = file.read()
        has_engine = engines_of(text) <= ENGINES
        by_fio = run(["fio", "--parse-only", path], ".")
        code, _, err = run([fathom, "fio", "--parse-only", path], ".")
        row = [name.removesuffix(".fio"), "yes" if by_fio[0] == 0 else "no", "planned" if code == 0 else refusal(err)]
        if args.run:
            row += both(fathom, text) if code == 0 else ("", "", "")
            if not has_run(row):
                seen = both(fathom, text, ["--with-fio"])
                row[3:5] = seen[:2]
                row.append(seen[2])
            else:
                row.append("")
            print(*row, sep=" | ", file=sys.stderr, flush=True)
        rows[has_engine].append(row)
    head = ["example", "fio here takes it", "Fathom"]
    if args.run:
        head += ["fio: I/Os / bytes / syncs", "Fathom: I/Os / bytes / syncs", "run", "with `--with-fio`"]
    for has_engine, title in ((True, "With an engine that Fathom has, or none"), (False, "With other engines")):
        some = rows[has_engine]
        print(f"{title}:\n\n| " + " | ".join(head) + " |\n|" + " --- |" * len(head))
        for row in some:
            print("| " + " | ".join(row) + " |")
        known = [row for row in some if row[1] == "yes"]
        said = [f"{share([r for r in some if r[2] == 'planned'], some)} are planned"]
        if args.run:
            own, by_fio = [r for r in some if has_run(r)], [r for r in some if has_run(r, by_fio=True)]
            said += [f"{share(own, some)} run", f"{share(own + by_fio, some)} with the installed fio's help"]
            taken = [r for r in own + by_fio if r[1] == "yes"]
            said.append(f"of those that the fio here takes, {share(taken, known)}")
        print(f"\n{'; '.join(said)}.\n")


def has_run(row, by_fio=False):
    """Whether Fathom ran a row's job to its end; `by_fio`: with the help of fio."""
    at = 6 if by_fio else 5
    return len(row) > at and row[at].startswith(("same", "runs", "DIFFERS"))


def share(part, whole):
    return f"{len(part)} of {len(whole)} ({100 * len(part) // max(len(whole), 1)} %)"


if __name__ == "__main__":
    main()
