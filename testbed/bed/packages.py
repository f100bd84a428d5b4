"""Debian packages, fetched by apt into a folder of our own and unpacked there. Nothing is installed.

apt works on a state of its own with no package installed, so that the result does not depend on what the host has, and
no rights of root are needed.
"""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

from . import paths
from .errors import NoTestbed

# Seen to work together; later QEMU or kernels are not stable under emulation of several CPUs by several threads.
RELEASE = "bookworm"
MIRROR = "http://deb.debian.org"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"

# Two trees: what runs on this host, and what runs in the guest.
TREES = {
    "host": ["qemu-system-x86"],
    "guest": ["busybox-static", "mdadm", "dmsetup", "lvm2", "nvme-cli", "e2fsprogs", "kmod"],
    "kernel": ["linux-image-cloud-amd64"],
}
# Asked for by dependencies, used by nothing here.
UNUSED = re.compile(r"^(perl.*|libperl.*|iso-codes|adduser|passwd|udev|dpkg|tar|cpio|initramfs-tools.*|klibc-utils|libklibc|linux-base)$")


def fetch(fresh: bool = False) -> None:
    """Brings and unpacks all packages that are missing; `fresh` asks for newer versions."""
    listing = paths.PACKAGES / "packages.json"
    if listing.exists() and not fresh:
        return
    if not shutil.which("apt-get") or not shutil.which("dpkg"):
        raise NoTestbed("apt-get and dpkg are not here: the testbed takes QEMU and its kernel from Debian")
    shutil.rmtree(paths.PACKAGES / "apt", ignore_errors=True)
    # apt goes on with what it has when a list cannot be had, and then knows no package.
    unreachable = re.findall(r"^(?:Err:|[WE]: ).*", _apt("update", "-q"), re.MULTILINE)
    try:
        chosen = {tree: _resolve(names) for tree, names in TREES.items()}
    except NoTestbed:
        if unreachable:
            raise NoTestbed(f"apt-get update failed: {unreachable[-1]}") from None
        # The mirror answers, so the names above are wrong: nothing to skip tests for.
        raise RuntimeError(f"Debian {RELEASE} lacks one of the packages {TREES}") from None
    for tree, packages in chosen.items():
        _download(packages)
        _unpack(tree, packages)
    listing.write_text(json.dumps(chosen, indent=1))


def tree(name: str) -> Path:
    """The folder that the packages of `name` were unpacked into."""
    return paths.PACKAGES / name


def versions() -> dict[str, str]:
    """Versions by package, of everything that was fetched."""
    chosen = json.loads((paths.PACKAGES / "packages.json").read_text())
    return {name: version for packages in chosen.values() for name, version in packages.items()}


def _apt(*words: str, cwd: Path | None = None) -> str:
    home = paths.PACKAGES / "apt"
    for folder in ("state/lists/partial", "cache/archives/partial"):
        (home / folder).mkdir(parents=True, exist_ok=True)
    (home / "status").touch()
    options = {
        "Dir::State": home / "state",
        "Dir::State::status": home / "status",
        "Dir::Cache": home / "cache",
        "APT::Architecture": "amd64",
        "APT::Install-Recommends": "false",
        "APT::Sandbox::User": "",
        "Acquire::Retries": "3",
        "Acquire::Languages": "none",
    }
    if _host_release() != RELEASE:
        options["Dir::Etc::sourcelist"] = _own_sources(home)
        options["Dir::Etc::sourceparts"] = "/dev/null"
    command = ["apt-get", *(f"-o{key}={value}" for key, value in options.items()), *words]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = (done.stderr.strip() or done.stdout.strip()).splitlines()[-3:]
        raise NoTestbed(f"apt-get {words[0]} failed: {' '.join(last)}")
    return done.stdout + done.stderr


def _host_release() -> str:
    try:
        text = Path("/etc/os-release").read_text()
    except OSError:
        return ""
    found = re.search(r"^VERSION_CODENAME=(\w+)", text, re.MULTILINE)
    return found[1] if found and "ID=debian" in text else ""


def _own_sources(home: Path) -> Path:
    signed = f"[signed-by={KEYRING}] " if os.path.exists(KEYRING) else ""
    sources = home / "sources.list"
    sources.write_text(
        f"deb {signed}{MIRROR}/debian {RELEASE} main\n"
        f"deb {signed}{MIRROR}/debian-security {RELEASE}-security main\n"
    )
    return sources


def _resolve(names: list[str]) -> dict[str, str]:
    """Names with all they depend on, and their versions."""
    simulated = _apt("install", "--simulate", *names)
    found = dict(re.findall(r"^Inst (\S+) \((\S+) ", simulated, re.MULTILINE))
    return {name: version for name, version in found.items() if not UNUSED.match(name)}


def _download(packages: dict[str, str]) -> None:
    folder = paths.PACKAGES / "archives"
    folder.mkdir(parents=True, exist_ok=True)
    missing = [f"{name}={version}" for name, version in packages.items() if not _archive(name, version)]
    if missing:
        _apt("download", *missing, cwd=folder)


def _archive(name: str, version: str) -> Path | None:
    # Debian writes the colon of an epoch as %3a in names of files.
    escaped = version.replace(":", "%3a")
    return next((paths.PACKAGES / "archives").glob(f"{name}_{escaped}_*.deb"), None)


def _unpack(tree_name: str, packages: dict[str, str]) -> None:
    folder = tree(tree_name)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, version in packages.items():
        archive = _archive(name, version)
        if archive is None:
            raise NoTestbed(f"apt-get download left no archive of {name} {version}")
        subprocess.run(["dpkg", "-x", archive, folder], check=True)
