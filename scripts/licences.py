#!/usr/bin/env python3
"""Prints the licences of what a packaged Fathom holds beside its own code: crates, the viewer's modules, SQLite, the C library.

    scripts/licences.py TARGET        e.g. x86_64-unknown-linux-musl
"""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAMES = ("LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE")
# Linked in without being a crate or a module of their own.
OTHERS = """SQLite: public domain (https://www.sqlite.org/copyright.html).
The Rust standard library: MIT OR Apache-2.0, copyright The Rust Project contributors.
musl, where linked statically: MIT, copyright (c) 2005-2020 Rich Felker, et al.
"""


def texts(folder: Path) -> list[str]:
    """The licence texts that a package brings."""
    files = sorted(f for f in folder.iterdir() if f.is_file() and f.name.upper().startswith(NAMES))
    return [f.read_text(encoding="utf-8", errors="replace").strip() for f in files]


def crates(target: str) -> list[tuple[str, str, Path]]:
    """Name with version, licence and folder of each crate that is linked into the program."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", target]
    made = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    data = json.loads(made.stdout)
    packages = {package["id"]: package for package in data["packages"]}
    nodes = {node["id"]: node for node in data["resolve"]["nodes"]}
    todo = [package["id"] for package in packages.values() if package["name"] == "fathom" and not package["source"]]
    seen = set(todo)
    while todo:
        for dep in nodes[todo.pop()]["deps"]:
            if any(kind["kind"] is None for kind in dep["dep_kinds"]) and dep["pkg"] not in seen:
                seen.add(dep["pkg"])
                todo.append(dep["pkg"])
    others = [packages[one] for one in seen if packages[one]["source"]]
    return sorted((f"{p['name']} {p['version']}", p["license"] or "see below", Path(p["manifest_path"]).parent) for p in others)


def modules() -> list[tuple[str, str, Path]]:
    """The same for the modules that the viewer is built with."""
    lock = json.loads((ROOT / "web" / "package-lock.json").read_text(encoding="utf-8"))
    shipped = [(path, entry) for path, entry in lock["packages"].items() if path and not entry.get("dev")]
    return sorted((f"{Path(path).name} {entry['version']}", entry["license"], ROOT / "web" / path) for path, entry in shipped)


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    parts = [*crates(sys.argv[1]), *modules()]
    print("Fathom is Apache-2.0. It is linked with:\n")
    print("\n".join(f"{name}: {licence}" for name, licence, _ in parts))
    print(OTHERS)
    whose: dict[str, list[str]] = {}
    for name, _, folder in parts:
        for text in texts(folder):
            whose.setdefault(text, []).append(name)
    for text, names in whose.items():
        print("-" * 100, ", ".join(names), "", text, "", sep="\n")


if __name__ == "__main__":
    main()
