"""Captures of `fathom inspect` as text: the format of crates/system/fathom-inspect/fixtures/README.md."""

import io
import re
import tarfile
from itertools import groupby

# Fewer lines than this are easier to read one by one.
RUN_MIN = 3
Value = str | bytes


def manifest(archive: bytes, comment: str) -> str:
    """The capture in `archive` (a tar file) as a manifest; `comment` says what machine it is."""
    files: dict[str, Value] = {}
    links: dict[str, str] = {}
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        for member in tar:
            if member.issym():
                links[member.name] = member.linkname
            elif member.isreg():
                file = tar.extractfile(member)
                assert file is not None, member.name
                files[member.name] = _value(_first_cpu(member.name, file.read()))
    lines = [f"{path} -> {target}" for path, target in links.items()]
    for path, value in _gathered(files).items():
        lines.append(_line(path, value))
    return "".join(f"# {line}\n" for line in comment.splitlines()) + "\n".join(sorted(lines)) + "\n"


def _first_cpu(name: str, content: bytes) -> bytes:
    """Of the processors only the first: the others say the same of themselves, and it is much."""
    return content.partition(b"\n\n")[0] + b"\n" if name == "proc/cpuinfo" else content


def _value(content: bytes) -> Value:
    """Text without the last line's end, or bytes."""
    try:
        text = content.decode("ascii")
    except UnicodeDecodeError:
        return content
    is_plain = text.endswith("\n") and all(c == "\n" or c.isprintable() for c in text.expandtabs())
    return text.removesuffix("\n") if is_plain else content


def _line(path: str, value: Value) -> str:
    if isinstance(value, bytes):
        return f"{path} = {_sparse(value)}"
    if "\n" in value or not value or " -> " in value:
        return f"{path} <<\n{value}\n>>"
    return f"{path} = {value}"


def _sparse(content: bytes) -> str:
    """`bytes:LENGTH` and the parts that are not zero, as `OFFSET:HEX`."""
    parts = [f"{m.start()}:{m[0].hex()}" for m in re.finditer(rb"[^\0](?:\0{0,3}[^\0])*", content)]
    return " ".join([f"bytes:{len(content)}", *parts])


def _gathered(files: dict[str, Value]) -> dict[str, Value]:
    """Files whose paths differ by one number, and that hold the same or that number, become one line."""
    out: dict[str, Value] = {}
    left = dict(files)
    places = range(max(len(_numbers(path)) for path in files))
    for place, is_counting in [(place, is_counting) for place in places for is_counting in (False, True)]:
        families: dict[tuple[str, str, str], list[int]] = {}
        for path, value in left.items():
            numbers = _numbers(path)
            if place < len(numbers) and isinstance(value, str) and "\n" not in value and value:
                number = numbers[place]
                if is_counting and value != number[0]:
                    continue
                key = (path[: number.start()], path[number.end() :], "{}" if is_counting else value)
                families.setdefault(key, []).append(int(number[0]))
        for (head, tail, value), members in families.items():
            for first, last in _runs(members):
                if last - first + 1 >= RUN_MIN:
                    out[f"{head}{{{first}..{last}}}{tail}"] = value
                    for number in range(first, last + 1):
                        del left[f"{head}{number}{tail}"]
    return {**out, **left}


def _numbers(path: str) -> list[re.Match[str]]:
    """Numbers without leading zeros; parts of hexadecimal ones may be among them."""
    return [m for m in re.finditer(r"\d+", path) if m[0] == str(int(m[0]))]


def _runs(numbers: list[int]) -> list[tuple[int, int]]:
    """First and last of each run of numbers in a row."""
    runs = []
    for _, group in groupby(enumerate(sorted(numbers)), key=lambda pair: pair[1] - pair[0]):
        run = [number for _, number in group]
        runs.append((run[0], run[-1]))
    return runs
