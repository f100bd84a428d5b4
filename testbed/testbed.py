#!/usr/bin/env python3
"""The testbed: fetches and builds QEMU guests, drives them by hand, and runs the tests in them. See docs/TESTBED.md."""

import argparse
import json
import os
import sys
from pathlib import Path

from bed import images, packages, paths, runner, suite, trees
from bed.errors import NoTestbed, Skipped
from bed.guest import Guest, save
from bed.machines import MACHINES

CURRENT = paths.RUNS / "current.json"


def main() -> int:
    args = arguments()
    try:
        return args.verb(args)
    except (NoTestbed, Skipped) as reason:
        print(f"testbed: {reason}", file=sys.stderr)
        return 1


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="testbed.py", description=__doc__)
    verbs = parser.add_subparsers(required=True, metavar="VERB")

    def verb(name: str, body, help_text: str) -> argparse.ArgumentParser:
        sub = verbs.add_parser(name, help=help_text, description=help_text)
        sub.set_defaults(verb=body)
        return sub

    def with_machine(sub: argparse.ArgumentParser) -> None:
        sub.add_argument("machine", nargs="?", choices=MACHINES, default="two-sockets")

    def with_binary(sub: argparse.ArgumentParser) -> None:
        default = os.environ.get("FATHOM_BINARY", paths.PROJECT / "target/release/fathom")
        sub.add_argument("--binary", type=Path, default=default, help="Fathom to put into the guest")

    sub = verb("fetch", do_fetch, "bring QEMU, a kernel and tools from Debian")
    sub.add_argument("--fresh", action="store_true", help="ask for newer versions")
    with_binary(verb("build", do_build, "make the guest's disks"))
    sub = verb("up", do_up, "start a guest that stays")
    with_machine(sub)
    with_binary(sub)
    sub = verb("sh", do_sh, "run a command in the guest that is up")
    sub.add_argument("command", nargs="+")
    sub = verb("qmp", do_qmp, "send a command of QEMU's monitor: a line for people, or JSON")
    sub.add_argument("command", nargs="+")
    sub = verb("save", do_save, "boot a machine without drives and keep its state")
    with_machine(sub)
    with_binary(sub)
    sub = verb("restore", do_restore, "start a guest that stays from the saved state")
    with_machine(sub)
    with_binary(sub)
    sub.add_argument("--drive", action="append", default=[], help="serial of a drive to plug in; may be repeated")
    verb("down", do_down, "end the guest that is up")
    sub = verb("test", do_test, "run the safety tier: the tests that protect users' data, and one of each other kind")
    sub.add_argument("words", nargs="*", help="run the tests of any tier whose name or machine contains a word")
    sub.add_argument("--words", action="extend", nargs="+", default=[], dest="more", metavar="WORD", help="same as WORD")
    sub.add_argument("--all", action="store_true", help="run every test")
    sub.add_argument("--workers", type=at_least_one, default=runner.WORKERS, metavar="N",
                     help="guests at a time, one more for six-slow unless N is 1 (default: %(default)s)")  # fmt: skip
    with_binary(sub)
    verb("list", do_list, "list the tests with their tiers")
    sub = verb("trees", do_trees, "write the fixtures of `fathom inspect` that show these machines again")
    with_binary(sub)
    return parser.parse_args()


def prepare(binary: Path) -> None:
    """Makes everything a guest starts from."""
    with paths.locked("images"):
        packages.fetch()
        images.build()
    if not binary.exists():
        raise SystemExit(f"testbed: there is no {binary}: build it first, or name another with --binary")
    images.build_fathom(binary)


def do_fetch(args: argparse.Namespace) -> int:
    packages.fetch(args.fresh)
    for name, version in sorted(packages.versions().items()):
        if name.startswith(("qemu-system-x86", "linux-image-6")):
            print(f"{name} {version}")
    return 0


def do_build(args: argparse.Namespace) -> int:
    prepare(args.binary)
    return 0


def do_up(args: argparse.Namespace) -> int:
    prepare(args.binary)
    remember(Guest.boot(MACHINES[args.machine], stays=True))
    return 0


def do_restore(args: argparse.Namespace) -> int:
    prepare(args.binary)
    machine = MACHINES[args.machine]
    drives = tuple(drive for drive in machine.drives if drive.serial in args.drive)
    remember(Guest.restore(machine, drives, stays=True))
    return 0


def do_save(args: argparse.Namespace) -> int:
    prepare(args.binary)
    print(save(MACHINES[args.machine]))
    return 0


def do_sh(args: argparse.Namespace) -> int:
    guest = current()
    guest.attach()
    answer = guest.run(" ".join(args.command), timeout_s=3600)
    sys.stdout.write(answer.out)
    sys.stderr.write(answer.err)
    return answer.status


def do_qmp(args: argparse.Namespace) -> int:
    qmp = current().qmp()
    words = " ".join(args.command)
    if words.startswith("{"):
        print(json.dumps(qmp.raw(json.loads(words)), indent=1))
    else:
        sys.stdout.write(qmp.human(words))
    return 0


def do_down(_args: argparse.Namespace) -> int:
    current().down()
    CURRENT.unlink()
    return 0


def do_list(_args: argparse.Namespace) -> int:
    for test in suite.find():
        reason = f" ({test.full_reason})" if test.full_reason else ""
        print(f"{test.tier:<6}  {test.machine.name}: {test.name}{reason}")
    return 0


def do_trees(args: argparse.Namespace) -> int:
    prepare(args.binary)
    for machine in MACHINES.values():
        guest = Guest.boot(machine)
        try:
            guest.fathom("inspect --capture /run/capture.tar")
            text = trees.manifest(guest.fetch("/run/capture.tar"), f"An emulated machine: {machine.description}.")
        finally:
            guest.down()
        target = paths.FIXTURES / f"qemu-{machine.name}.tree"
        target.write_text(text)
        print(f"{target.relative_to(paths.PROJECT)}: {len(text) >> 10} KiB")
    return 0


def do_test(args: argparse.Namespace) -> int:
    words = [*args.words, *args.more]
    tests = suite.find(words, every=args.all)
    if not tests:
        raise SystemExit(f"testbed: no test contains {' or '.join(words)}")
    return runner.run(tests, lambda: prepare(args.binary), args.workers, args.all)


def at_least_one(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def remember(guest: Guest) -> None:
    """Writes down the guest that is up, for the next call."""
    facts = {
        "machine": guest.machine.name,
        "pid": guest.pid,
        "folder": str(guest.folder),
        "sockets": str(guest.sockets),
        "drives": [drive.serial for drive in guest.drives],
    }
    CURRENT.write_text(json.dumps(facts))
    print(f"up: {guest.machine.name}, pid {guest.pid}; now: testbed.py sh COMMAND, testbed.py down")


def current() -> Guest:
    """The guest that is up."""
    if not CURRENT.exists():
        raise SystemExit("testbed: no guest is up: start one with testbed.py up")
    facts = json.loads(CURRENT.read_text())
    machine = MACHINES[facts["machine"]]
    drives = [drive for drive in machine.drives if drive.serial in facts["drives"]]
    return Guest(machine, facts["pid"], Path(facts["folder"]), Path(facts["sockets"]), drives=drives)


if __name__ == "__main__":
    sys.exit(main())
