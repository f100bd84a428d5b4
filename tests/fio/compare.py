"""Runs a case with fio and with Fathom, each in a folder of its own, and says in what they differ."""

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from cases import GIVEN, Case

FORMATS = "normal,terse,json+"
TIMEOUT_S = 30
SECTOR = 512
DIRECTIONS = ("read", "write", "trim")
# Keys of its own that Fathom adds, and percentiles of latencies that fio prints on demand alone.
OWN_KEYS = re.compile(r"fathom_note|\.s?lat_ns\.percentile|\.bins|\.percentile\.")
JOB_HEAD = re.compile(r"^(\S.*): \(groupid=(\d+), jobs=(\d+)\): err= *(\d+)", re.M)


@dataclass
class Outcome:
    """One run."""

    status: int
    said: str
    jobs: list[dict] = field(default_factory=list)
    heads: list[tuple] = field(default_factory=list)
    terse: list[list[str]] = field(default_factory=list)
    # Name of each file: size, and a letter for each sector: as before, zero, other.
    files: dict[str, tuple[int, str]] = field(default_factory=dict)
    logs: dict[str, list[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Programs:
    fio: str
    fathom: str


def given(name: str, size: int) -> bytes:
    """Content of a file that is there before: no sector of it is zero."""
    return (name.encode() + b"#") * (size // (len(name) + 1) + 1)


def run(command: list[str], case: Case, folder: Path) -> Outcome:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, kib in GIVEN.items():
        (folder / name).write_bytes(given(name, kib << 10)[: kib << 10])
    for name, text in case.texts().items():
        (folder / name).write_text(text)
    words = [*command, "--output=out", f"--output-format={FORMATS}", *case.words()]
    environment = {**os.environ, "FATHOM_LAB": str(folder.with_suffix(".lab"))}
    try:
        done = subprocess.run(
            words, cwd=folder, capture_output=True, text=True, timeout=TIMEOUT_S, env=environment, stdin=subprocess.DEVNULL, check=False
        )
    except subprocess.TimeoutExpired:
        return Outcome(-1, "timeout")
    out = folder / "out"
    text = out.read_text() if out.exists() else ""
    outcome = Outcome(done.returncode, done.stderr + done.stdout + (text if done.returncode else ""))
    # fio writes warnings into the same file, and an entry without a name where groups and single jobs are mixed.
    begin = text.find("\n{\n")
    if begin >= 0:
        outcome.jobs = [job for job in json.JSONDecoder().raw_decode(text[begin + 1 :])[0]["jobs"] if "jobname" in job]
    outcome.heads = [(name, group, jobs, error) for name, group, jobs, error in JOB_HEAD.findall(text)]
    outcome.terse = [line.split(";") for line in text.splitlines() if re.match(r"3;fio-[^;]*;[^;]", line)]
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if not path.is_file() or name == "out" or name in case.texts() or name.endswith("-verify.state"):
            continue
        if re.fullmatch(r"log\d+", name):
            outcome.logs[name] = log_lines(path.read_text(), folder)
            continue
        data = path.read_bytes()
        before = given(name, len(data)) if name in GIVEN else b""
        outcome.files[name] = (len(data), sectors(data, before))
    return outcome


def log_lines(text: str, folder: Path) -> list[str]:
    """Lines of an iolog without times: file, action, offset, length."""
    lines = [line.split()[1:] for line in text.splitlines()[1:]]
    # When files are opened and closed is each program's affair.
    lines = [words for words in lines if words and words[1] not in ("add", "open", "close")]
    # fio gives a sync the place of the I/O before.
    lines = [words[:2] if words[1] in ("sync", "datasync") else words for words in lines]
    return [" ".join([Path(words[0]).name if words[0].startswith(str(folder)) else words[0], *words[1:]]) for words in lines]


def sectors(data: bytes, before: bytes) -> str:
    letters = []
    for at in range(0, len(data), SECTOR):
        sector = data[at : at + SECTOR]
        if sector == before[at : at + SECTOR]:
            letters.append(".")
        else:
            letters.append("0" if not any(sector) else "x")
    return "".join(letters)


def key_set(job: dict, before: str = "") -> set[str]:
    keys = set()
    for key, value in job.items():
        keys.add(f"{before}{key}")
        if isinstance(value, dict):
            keys |= key_set(value, f"{before}{key}.")
    return keys


def counts(job: dict) -> dict[str, int]:
    of = {f"{name} {what}": job[name][key] for name in DIRECTIONS for what, key in (("I/Os", "total_ios"), ("bytes", "io_bytes"))}
    # fio counts the calls of fdatasync by their latencies alone.
    return {**of, "syncs": job["sync"]["lat_ns"]["N"]}


def is_mixed(case: Case) -> bool:
    return any(value.split(":")[0] in ("rw", "randrw", "readwrite") for s in case.sections() for value in s.values("rw"))


def has_drawn_length(case: Case) -> bool:
    """Where a mix with a stride goes round depends on its draws, and so does whether a run of a random job leaves its region."""
    return any(re.match(r"(rw|readwrite|rand\w+):", value) for s in case.sections() for value in s.values("rw"))


def has_several_files(case: Case) -> bool:
    names = [name for s in case.sections() for value in s.values("filename") for name in value.split(":")]
    return len(names) > 1 or "nrfiles" in case.keys()


def has_stride(case: Case) -> bool:
    return any(":" in value for s in case.sections() for value in s.values("rw"))


def is_random(case: Case) -> bool:
    return any("rand" in value for s in case.sections() for value in s.values("rw")) or any(
        s.values("file_service_type") for s in case.sections()
    )


def difference(case: Case, fio: Outcome, fathom: Outcome) -> str | None:
    """The first difference of substance; `None`: there is none."""
    if [(j["jobname"], j["groupid"], j["error"] != 0) for j in fio.jobs] != [
        (j["jobname"], j["groupid"], j["error"] != 0) for j in fathom.jobs
    ]:
        names = [[(j["jobname"], j["groupid"], j["error"]) for j in outcome.jobs] for outcome in (fio, fathom)]
        return f"jobs: fio {names[0]}, Fathom {names[1]}"
    for ours, theirs in zip(fathom.jobs, fio.jobs, strict=True):
        a, b = counts(theirs), counts(ours)
        if has_drawn_length(case):
            continue
        if is_mixed(case):
            # Shares are drawn: what they add up to is not, where all sizes are equal.
            sums = [sum(value for key, value in of.items() if key.endswith(" bytes")) for of in (a, b)]
            a, b = {"bytes": sums[0]}, {"bytes": sums[1]}
            if any("," in value for s in case.sections() for value in s.values("bs")):
                continue
        wrong = [f"{key}: fio {a[key]}, Fathom {b[key]}" for key in a if a[key] != b[key]]
        if wrong:
            return f"{theirs['jobname']}: {'; '.join(wrong)}"
        # Of a mix of few I/Os, one direction may have none.
        drawn = "percentile" if is_mixed(case) else "no such key"
        missing = sorted(k for k in key_set(theirs) - key_set(ours) if not OWN_KEYS.search(k) and drawn not in k)
        extra = sorted(key for key in key_set(ours) - key_set(theirs) if not OWN_KEYS.search(key) and "job options" not in key and drawn not in key)
        if missing or extra:
            return f"{theirs['jobname']}: keys of JSON missing {missing}, extra {extra}"
    if fio.heads != fathom.heads:
        return f"normal text: fio {fio.heads}, Fathom {fathom.heads}"
    shape = [[[len(line), line[2:4]] for line in outcome.terse] for outcome in (fio, fathom)]
    # The number of disks at the end of a line may differ.
    if [[line[1] for line in of] for of in shape][0] != [[line[1] for line in of] for of in shape][1]:
        return f"terse: fio {shape[0]}, Fathom {shape[1]}"
    sizes = [{name: size for name, (size, _) in outcome.files.items()} for outcome in (fio, fathom)]
    if sizes[0] != sizes[1]:
        return f"files: fio {sizes[0]}, Fathom {sizes[1]}"
    if not is_random(case) and not is_mixed(case):
        for name, (_, letters) in fio.files.items():
            # Gaps of a stride are holes in fio, where no job reads the file.
            if letters != fathom.files[name][1] and not has_stride(case):
                return f"content of {name}: fio {letters}, Fathom {fathom.files[name][1]}"
        for name, lines in fio.logs.items():
            # With several files and a queue the order of files is each program's own.
            if lines != fathom.logs.get(name) and not (case.keys() & {"iodepth"} and has_several_files(case)):
                return f"{name}: {first_difference(lines, fathom.logs.get(name, []))}"
    return None


def first_difference(a: list[str], b: list[str]) -> str:
    for at, (left, right) in enumerate(zip(a, b, strict=False)):
        if left != right:
            return f"line {at + 1}: fio {left!r}, Fathom {right!r}"
    return f"fio has {len(a)} lines, Fathom {len(b)}; then {(a[len(b):] or b[len(a):])[:2]}"


@dataclass
class Verdict:
    """`kind`: same, refused (by Fathom, naming a key of the case), fio-refused, different."""

    kind: str
    text: str = ""


def verdict(case: Case, programs: Programs, folder: Path) -> Verdict:
    fio = run([programs.fio], case, folder / "fio")
    if fio.status != 0 or not fio.jobs:
        return Verdict("fio-refused", fio.said.strip().splitlines()[0] if fio.said.strip() else "")
    fathom = run([programs.fathom, "fio", "--overwrite"], case, folder / "fathom")
    if fathom.status != 0 or not fathom.jobs:
        first = fathom.said.strip().splitlines()[0] if fathom.said.strip() else ""
        names_key = any(re.search(rf"(?<![\w-]){re.escape(key)}(?![\w-])", fathom.said) for key in case.keys())
        is_refusal = fathom.status in (2, 3) and names_key and "fault of Fathom" not in fathom.said
        return Verdict("refused" if is_refusal else "different", f"exit {fathom.status}: {first}")
    found = difference(case, fio, fathom)
    return Verdict("different", found) if found else Verdict("same")
