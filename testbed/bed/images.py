"""The files a guest starts from: memory disk, disk with the tools, disk with the Fathom binary."""

import hashlib
import re
import shutil
import stat
import subprocess
from collections.abc import Iterable
from pathlib import Path

from . import packages, paths
from .errors import Skipped

# Needed to see the disk with the tools, in the order of insmod.
BOOT_MODULES = ["virtio_pci", "virtio_blk"]
# Loaded by the kernel or the tests on demand.
MODULES = [
    "virtio_console", "configfs", "null_blk", "loop", "brd", "zram",
    "md_mod", "linear", "raid0", "raid1", "raid10", "raid456",
    "dm_mod", "dm_delay", "dm_flakey", "dm_snapshot", "dm_log_writes", "dm_crypt", "xts", "ecb",
    "vfio_pci", "vfio_iommu_type1", "uio_pci_generic",
    "nfsd", "nfsv4",
    "crc32c_generic", "crc32c_intel", "nd_e820", "nd_pmem", "bfq", "kyber_iosched",
]  # fmt: skip
LEFT_OUT = re.compile(r"^usr/share/(doc|man|locale|lintian|bug|info|perl5|pixmaps)(/|$)|^usr/lib/.*/perl|^var/")
TOOLS_BYTES = 256 << 20
# The same for every build, because a saved guest must find the disk it was saved with.
FATHOM_BYTES = 768 << 20

INITRD = paths.IMAGES / "initrd"
TOOLS = paths.IMAGES / "tools.ext4"
# Disks of other binaries that stay for other runs.
FATHOM_KEPT = 3

_fathom: Path | None = None


def fathom() -> Path:
    """The disk with the binary that this program tests."""
    if _fathom is None:
        raise RuntimeError("build_fathom() comes first")
    return _fathom


def kernel() -> Path:
    return next((packages.tree("kernel") / "boot").glob("vmlinuz-*"))


def build() -> None:
    """Makes the memory disk and the disk with the tools, unless they are there and newer than what goes in."""
    paths.IMAGES.mkdir(parents=True, exist_ok=True)
    key = _key([paths.PACKAGES / "packages.json", *paths.GUEST.iterdir(), Path(__file__)])
    stamp = paths.IMAGES / "key"
    if stamp.exists() and stamp.read_text() == key:
        return
    modules, version = _modules()
    _make_initrd(modules)
    root = paths.IMAGES / "root"
    shutil.rmtree(root, ignore_errors=True)
    _copy_tools(root)
    _copy_modules(root, modules, version)
    make_ext4(TOOLS, TOOLS_BYTES, root)
    shutil.rmtree(root)
    stamp.write_text(key)


def build_fathom(binary: Path) -> None:
    """Makes the disk with `binary` and the libraries it asks for. Runs with different binaries have different disks."""
    global _fathom
    with paths.locked("fathom"):
        image = paths.IMAGES / f"fathom-{_key([binary, Path(__file__)])[:16]}.ext4"
        if image.exists():
            image.touch()
        else:
            _make_fathom(binary, image)
        others = sorted(paths.IMAGES.glob("fathom-*.ext4"), key=lambda file: file.stat().st_mtime)
        for old in others[:-FATHOM_KEPT]:
            old.unlink()
    _fathom = image


def _make_fathom(binary: Path, image: Path) -> None:
    folder = paths.IMAGES / "fathom"
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "lib").mkdir(parents=True)
    shutil.copy2(binary, folder / "fathom.bin")
    if shutil.which("strip"):
        subprocess.run(["strip", "--strip-debug", folder / "fathom.bin"], check=True)
    # A static binary has no libraries: `ldd` fails, or prints no path.
    listed = subprocess.run(["ldd", binary], capture_output=True, text=True, check=False).stdout
    for library in re.findall(r"(/\S+) \(0x", listed):
        shutil.copy2(library, folder / "lib" / Path(library).name)
    # The host's own loader and libraries: they may be newer than the guest's.
    loader = re.search(r"/(ld-linux\S+) \(0x", listed)
    start = f"/fathom/lib/{loader[1]} --library-path /fathom/lib /fathom/fathom.bin" if loader else "/fathom/fathom.bin"
    run = folder / "fathom"
    run.write_text(f'#!/bin/sh\nexec {start} "$@"\n')
    run.chmod(0o755)
    make_ext4(image, FATHOM_BYTES, folder)
    shutil.rmtree(folder)


def make_ext4(image: Path, size_bytes: int, folder: Path) -> None:
    """A file system with what is in `folder`, without mounting anything."""
    program = shutil.which("mke2fs") or shutil.which("mke2fs", path="/usr/sbin:/sbin")
    if program is None:
        raise Skipped("mke2fs is not here: install e2fsprogs")
    # A guest that runs keeps the image it has; a guest that starts never sees half an image.
    part = image.with_suffix(".part")
    part.unlink(missing_ok=True)
    command = [program, "-q", "-t", "ext4", "-O", "^has_journal", "-m", "0", "-d", folder, part, f"{size_bytes >> 10}k"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    part.rename(image)


def state_key() -> str:
    """What a saved guest depends on, beside its machine."""
    return (paths.IMAGES / "key").read_text()


def _key(files: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _busybox(*words: str | Path) -> None:
    subprocess.run([packages.tree("guest") / "bin/busybox", *words], check=True, stdout=subprocess.DEVNULL)


def _modules() -> tuple[dict[str, list[Path]], str]:
    """By name of a module: its file and the files it needs, as modules.dep has them; and the kernel's version."""
    tree = packages.tree("kernel")
    home = next((tree / "lib/modules").iterdir())
    if not (home / "modules.dep").exists():
        _busybox("depmod", "-b", tree, home.name)
    needs = {}
    for line in (home / "modules.dep").read_text().splitlines():
        own, _, others = line.partition(":")
        name = Path(own).name.removesuffix(".ko").replace("-", "_")
        needs[name] = [home / own, *(home / other for other in others.split())]
    return needs, home.name


def _make_initrd(modules: dict[str, list[Path]]) -> None:
    order: list[Path] = []
    for name in BOOT_MODULES:
        # modules.dep lists what must be loaded first at the end.
        order += [file for file in reversed(modules[name]) if file not in order]
    entries = [("bin", None), ("modules", None), ("dev", None)]
    entries.append(("bin/busybox", (packages.tree("guest") / "bin/busybox").read_bytes()))
    entries.append(("init", (paths.GUEST / "init").read_bytes()))
    entries.append(("modules/order", "".join(file.name + "\n" for file in order).encode()))
    entries += [(f"modules/{file.name}", file.read_bytes()) for file in order]
    INITRD.write_bytes(_cpio(entries))


def _cpio(entries: list[tuple[str, bytes | None]]) -> bytes:
    """An archive in the kernel's format `newc`; no content makes a folder."""
    out = bytearray()
    for number, (name, content) in enumerate([*entries, ("TRAILER!!!", b"")], start=1):
        mode = stat.S_IFDIR | 0o755 if content is None else stat.S_IFREG | 0o755
        data = content or b""
        fields = [number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0]
        out += b"070701" + b"".join(b"%08X" % field for field in fields) + name.encode() + b"\0"
        out += b"\0" * (-len(out) % 4) + data
        out += b"\0" * (-len(out) % 4)
    return bytes(out)


def _copy_tools(root: Path) -> None:
    tree = packages.tree("guest")

    def left_out(folder: str, names: list[str]) -> list[str]:
        below = Path(folder).relative_to(tree)
        return [name for name in names if LEFT_OUT.match(str(below / name))]

    shutil.copytree(tree, root, symlinks=True, ignore=left_out)
    for folder in ("proc", "sys", "dev", "run", "tmp", "var", "mnt", "fathom"):
        (root / folder).mkdir(exist_ok=True)
    shutil.copytree(paths.GUEST, root / "testbed")
    # Debian's own programs come first; busybox fills in the rest.
    listed = subprocess.run([root / "bin/busybox", "--list"], capture_output=True, text=True, check=True).stdout
    taken = {file.name for part in ("bin", "sbin", "usr/bin", "usr/sbin") for file in (root / part).iterdir()}
    for name in listed.split():
        if name not in taken:
            (root / "bin" / name).symlink_to("busybox")
    (root / "etc/passwd").write_text("root:x:0:0:root:/run:/bin/sh\n")
    (root / "etc/group").write_text("root:x:0:\ndisk:x:6:\n")
    (root / "etc/mtab").symlink_to("../proc/self/mounts")
    # There is no udev: device nodes come from the kernel and from device mapper itself.
    (root / "etc/lvm/lvm.conf").write_text(
        "activation { udev_sync = 0 udev_rules = 0 monitoring = 0 }\n"
        "backup { backup = 0 archive = 0 }\n"
        'devices { obtain_device_list_from_udev = 0 external_device_info_source = "none" use_devicesfile = 0 }\n'
        'global { system_id_source = "none" use_lvmpolld = 0 }\n'
    )


def _copy_modules(root: Path, modules: dict[str, list[Path]], version: str) -> None:
    home = packages.tree("kernel") / "lib/modules" / version
    missing = [name for name in MODULES if name not in modules and not _is_built_in(home, name)]
    if missing:
        raise RuntimeError(f"the kernel {version} has no modules {', '.join(missing)}")
    for name in [*BOOT_MODULES, *MODULES]:
        for file in modules.get(name, []):
            target = root / "lib/modules" / version / file.relative_to(home)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, target)
    for file in ("modules.builtin", "modules.order", "modules.builtin.modinfo"):
        shutil.copy2(home / file, root / "lib/modules" / version / file)
    _busybox("depmod", "-b", root, version)


def _is_built_in(home: Path, name: str) -> bool:
    listed = (home / "modules.builtin").read_text().replace("-", "_")
    return f"/{name}.ko" in listed
