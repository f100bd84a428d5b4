"""What is counted as skipped, and when that is a failure."""

import contextlib
import io
import json
import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from bed import packages, paths, runner, suite
from bed.errors import GuestLost, NoTestbed, Skipped
from bed.machines import ONE_SOCKET, TWO_SOCKETS


class FakeGuest:
    """A guest that only counts how often it was started."""

    started = 0

    def __init__(self, machine) -> None:
        FakeGuest.started += 1
        self.machine = machine

    @staticmethod
    def boot(machine):
        return FakeGuest(machine)

    @staticmethod
    def restore(machine, drives):
        return FakeGuest(machine)

    def down(self) -> None:
        pass


def fails(error: Exception):
    def body(_guest=None) -> None:
        raise error

    return body


def test_of(body, name: str = "a test", machine=TWO_SOCKETS) -> suite.Test:
    return suite.Test(name, machine, None, body)


class Ran:
    """What a run of the suite said, kept and returned."""

    def __init__(self, tests: list[suite.Test], prepare=lambda: None, no_skips: bool = False, workers: int = 1) -> None:
        FakeGuest.started = 0
        environment = {runner.NO_SKIPS: "1"} if no_skips else {}
        out = io.StringIO()
        with (
            tempfile.TemporaryDirectory() as folder,
            mock.patch.object(paths, "WORK", Path(folder)),
            mock.patch.object(runner, "Guest", FakeGuest),
            mock.patch.dict(os.environ, environment),
            contextlib.redirect_stdout(out),
        ):
            if not no_skips:
                os.environ.pop(runner.NO_SKIPS, None)
            self.status = runner.run(tests, prepare, workers, every=False)
            self.kept = json.loads((Path(folder) / "results.json").read_text())
        self.said = out.getvalue()
        self.states = [outcome["state"] for outcome in self.kept]


class Skips(unittest.TestCase):
    def test_without_qemu_all_tests_are_skipped_and_said_to_be_and_that_is_no_failure(self) -> None:
        tests = [test_of(lambda guest: None, "one"), test_of(lambda guest: None, "two")]
        for no_skips in (False, True):
            ran = Ran(tests, fails(NoTestbed("no network")), no_skips)
            self.assertEqual((ran.status, ran.states), (0, ["skipped"] * 2))
            self.assertIn("0 passed, 0 failed, 2 skipped of 2 tests", ran.said)
            self.assertIn("no network", ran.said)
            self.assertEqual(FakeGuest.started, 0)

    def test_a_tool_that_this_host_lacks_skips_all_tests_and_fails_where_nothing_may_be_skipped(self) -> None:
        tests = [test_of(lambda guest: None)]
        ran = Ran(tests, fails(Skipped("no mke2fs")))
        self.assertEqual((ran.status, ran.states), (0, ["skipped"]))
        ran = Ran(tests, fails(Skipped("no mke2fs")), no_skips=True)
        self.assertEqual((ran.status, ran.states), (1, ["failed"]))
        self.assertIn("no mke2fs", ran.said)

    def test_a_test_that_skips_itself_is_counted_and_fails_where_nothing_may_be_skipped(self) -> None:
        tests = [test_of(fails(Skipped("no such drive")), "one"), test_of(lambda guest: None, "two")]
        ran = Ran(tests)
        self.assertEqual((ran.status, ran.states), (0, ["skipped", "passed"]))
        self.assertIn("1 passed, 0 failed, 1 skipped of 2 tests", ran.said)
        ran = Ran(tests, no_skips=True)
        self.assertEqual((ran.status, ran.states), (1, ["failed", "passed"]))

    def test_an_error_while_preparing_is_never_a_skip(self) -> None:
        with self.assertRaises(RuntimeError):
            Ran([test_of(lambda guest: None)], fails(RuntimeError("the kernel has no modules")))


class Runs(unittest.TestCase):
    def test_a_test_that_fails_leaves_the_others_and_the_guest_alone(self) -> None:
        tests = [test_of(fails(AssertionError("7 instead of 8")), "one"), test_of(lambda guest: None, "two")]
        ran = Ran(tests)
        self.assertEqual((ran.status, ran.states), (1, ["failed", "passed"]))
        self.assertIn("7 instead of 8", ran.said)
        last = ran.said.splitlines()[-2:]
        self.assertEqual(last[0], f"testbed: failed: {TWO_SOCKETS.name}: one", "named again at the end of a long log")
        self.assertTrue(last[1].startswith("testbed: 1 passed, 1 failed"), last[1])
        self.assertEqual(FakeGuest.started, 1)

    def test_a_test_whose_guest_is_lost_gets_a_new_one_and_fails_when_that_is_lost_too(self) -> None:
        ran = Ran([test_of(fails(GuestLost("hung")), "one"), test_of(lambda guest: None, "two")])
        self.assertEqual((ran.status, ran.states), (1, ["failed", "passed"]))
        self.assertEqual(FakeGuest.started, 3)

    def test_a_guest_that_was_lost_once_is_reported_and_what_fails_on_the_next_one_fails(self) -> None:
        for second, states in ((None, ["passed"]), (AssertionError("7 instead of 8"), ["failed"])):
            endings = iter([GuestLost("hung"), second])

            def body(_guest: object, endings=endings) -> None:
                if (error := next(endings)) is not None:
                    raise error

            ran = Ran([test_of(body)])
            self.assertEqual((ran.states, FakeGuest.started), (states, 2))
            self.assertIn("first attempt lost: hung", ran.kept[0]["reason"])
            self.assertIn("first attempt lost, once more: hung", ran.said)

    def test_a_timed_test_that_fails_is_run_once_more_and_said_to_be_and_no_other_is(self) -> None:
        for is_timed, second, state in ((True, None, "passed"), (True, AssertionError("9 of 8"), "failed"), (False, None, "failed")):
            endings = iter([AssertionError("7 instead of 8"), second])

            def body(_guest: object, endings=endings) -> None:
                if (error := next(endings)) is not None:
                    raise error

            ran = Ran([test_of(suite.timed(body) if is_timed else body)])
            self.assertEqual((ran.states, FakeGuest.started), ([state], 1))
            self.assertIn("7 instead of 8", ran.kept[0]["reason"])
            is_flaky = f"testbed: flaky: {TWO_SOCKETS.name}: a test" in ran.said.splitlines()
            self.assertEqual((is_flaky, ran.kept[0]["flaky"]), (is_timed and state == "passed",) * 2)

    def test_a_machine_is_shared_by_its_tests(self) -> None:
        tests = [test_of(lambda guest: None, machine=machine) for machine in (TWO_SOCKETS, TWO_SOCKETS, ONE_SOCKET)]
        self.assertEqual(Ran(tests).status, 0)
        self.assertEqual(FakeGuest.started, 2)

    def test_the_tests_of_the_testbed_are_found_and_have_names_of_their_own(self) -> None:
        found = suite.find()
        self.assertGreater(len(found), 50)
        names = [(test.machine.name, test.name) for test in found]
        self.assertEqual(len(names), len(set(names)))


class Packages(unittest.TestCase):
    """apt-get as a script that answers as apt does."""

    def fetch(self, script: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("apt-get", script), ("dpkg", "exit 1")):
                program = Path(folder) / name
                program.write_text(f"#!/bin/sh\n{text}\n")
                program.chmod(0o755)
            where = {"PATH": f"{folder}:{os.environ['PATH']}"}
            with mock.patch.object(paths, "PACKAGES", Path(folder) / "packages"), mock.patch.dict(os.environ, where):
                packages.fetch()

    def test_a_mirror_that_does_not_answer_means_no_testbed(self) -> None:
        with self.assertRaisesRegex(NoTestbed, "Temporary failure resolving"):
            self.fetch("echo 'E: Temporary failure resolving the mirror' >&2; exit 100")

    def test_lists_that_could_not_be_had_mean_no_testbed_though_apt_goes_on(self) -> None:
        known = 'case "$*" in *update*) echo "W: Failed to fetch it" >&2;; *) echo "E: Unable to locate" >&2; exit 100;; esac'
        with self.assertRaisesRegex(NoTestbed, "Failed to fetch"):
            self.fetch(known)

    def test_a_package_that_debian_does_not_know_is_an_error(self) -> None:
        unknown = 'case "$*" in *update*) ;; *) echo "E: Unable to locate package" >&2; exit 100;; esac'
        with self.assertRaisesRegex(RuntimeError, "lacks one of the packages"):
            self.fetch(unknown)

    def test_without_apt_there_is_no_testbed(self) -> None:
        with (
            tempfile.TemporaryDirectory() as folder,
            mock.patch.object(paths, "PACKAGES", Path(folder)),
            mock.patch.dict(os.environ, {"PATH": folder}),
            self.assertRaisesRegex(NoTestbed, "apt-get and dpkg are not here"),
        ):
            packages.fetch()


if __name__ == "__main__":
    unittest.main()
