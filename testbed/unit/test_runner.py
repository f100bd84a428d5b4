"""The scheduler: workers, retries, time limits and tiers, with guests that only count."""

import contextlib
import io
import json
import tempfile
import threading
import time
import unittest
from collections import Counter
from pathlib import Path
from unittest import mock

from bed import notes, outcomes, paths, runner, suite
from bed.errors import GuestLost
from bed.machines import ONE_SOCKET, SIX_SLOW, THREE_NODES, TWO_SOCKETS


class FakeGuest:
    """A guest that records the guests that run at the same time."""

    lock = threading.Lock()
    up: list["FakeGuest"] = []
    started: list["FakeGuest"] = []

    def __init__(self, machine) -> None:
        self.machine = machine
        self.killed = threading.Event()
        with FakeGuest.lock:
            FakeGuest.up.append(self)
            FakeGuest.started.append(self)

    @staticmethod
    def boot(machine):
        return FakeGuest(machine)

    @staticmethod
    def restore(machine, drives):
        return FakeGuest(machine)

    def kill(self) -> None:
        self.killed.set()

    def down(self) -> None:
        with FakeGuest.lock:
            FakeGuest.up.remove(self)


def test_of(body, name: str, machine=TWO_SOCKETS, shared: bool = True) -> suite.Test:
    return suite.Test(name, machine, None if shared else (), body)


def ends_with(*endings: Exception | None):
    """A body that ends in these ways, one after the other."""
    left = iter(endings)

    def body(_guest) -> None:
        if (error := next(left)) is not None:
            raise error

    return body


class Runs(unittest.TestCase):
    def run_of(self, tests: list[suite.Test], workers: int = 2) -> tuple[int, list[dict], str]:
        """Exit status, results and output of a run."""
        FakeGuest.up, FakeGuest.started = [], []
        out = io.StringIO()
        with (
            tempfile.TemporaryDirectory() as folder,
            mock.patch.object(paths, "WORK", Path(folder)),
            mock.patch.object(runner, "Guest", FakeGuest),
            contextlib.redirect_stdout(out),
        ):
            status = runner.run(tests, lambda: None, workers)
            kept = json.loads((Path(folder) / "results.json").read_text())
        self.assertEqual(FakeGuest.up, [], "guests that stayed")
        return status, kept, out.getvalue()

    def test_parallel_workers_run_every_test_once_and_share_guests(self) -> None:
        ran: Counter[str] = Counter()
        together: list[int] = []
        lock = threading.Lock()

        def body_of(name: str):
            def body(_guest) -> None:
                with lock:
                    ran[name] += 1
                    together.append(len(FakeGuest.up))
                time.sleep(0.005)

            return body

        machines = (TWO_SOCKETS, ONE_SOCKET, THREE_NODES, SIX_SLOW)
        names = [(f"{m.name} {n} {shared}", m, shared) for m in machines for n in range(12) for shared in (True, False)]
        for workers, most in ((1, 1), (2, 3), (3, 4)):
            ran.clear()
            together.clear()
            status, kept, said = self.run_of([test_of(body_of(name), name, m, shared) for name, m, shared in names], workers)
            self.assertEqual((status, len(kept)), (0, len(names)))
            self.assertEqual(ran, Counter(name for name, _, _ in names))
            self.assertEqual(max(together), most, "guests at the same time")
            # One guest for the shared tests of each machine, and one for each other test.
            self.assertEqual(len(FakeGuest.started), len(machines) + len(names) // 2)
            self.assertIn(f"{len(names)} passed, 0 failed, 0 skipped of {len(names)} tests", said)

    def test_lines_of_a_test_follow_its_outcome(self) -> None:
        def body_of(name: str):
            def body(_guest) -> None:
                for number in range(3):
                    notes.note(f"{name} says {number}")
                    time.sleep(0.002)

            return body

        names = [f"test {n}" for n in range(10)]
        _, _, said = self.run_of([test_of(body_of(name), name, shared=False) for name in names])
        lines = said.splitlines()
        for name in names:
            at = next(i for i, line in enumerate(lines) if line.endswith(f": {name}"))
            self.assertEqual([line.strip() for line in lines[at + 1 : at + 4]], [f"{name} says {n}" for n in range(3)])

    def test_a_lost_guest_gets_one_retry_and_is_not_flaky(self) -> None:
        tests = [
            test_of(ends_with(GuestLost("hung"), None), "once"),
            test_of(ends_with(GuestLost("hung"), GuestLost("hung again")), "twice", shared=False),
        ]
        status, kept, said = self.run_of(tests)
        states = {o["name"]: (o["state"], o["flaky"]) for o in kept}
        self.assertEqual((status, states), (1, {"once": ("passed", False), "twice": ("failed", False)}))
        self.assertEqual(len(FakeGuest.started), 4)
        self.assertIn("testbed: failed: two-sockets: twice", said.splitlines())

    def test_flaky_tests_are_counted_and_the_fourth_fails_the_run(self) -> None:
        for count, status in ((3, 0), (4, 1)):
            wrong = AssertionError("9 instead of 8")
            tests = [test_of(suite.timed(ends_with(wrong, None)), f"timed {n}") for n in range(count)]
            found, kept, said = self.run_of(tests)
            self.assertEqual((found, [o["flaky"] for o in kept]), (status, [True] * count))
            self.assertEqual(said.count("testbed: flaky: "), count)
            self.assertEqual("4 tests were flaky, at most 3 may be" in said, status == 1)
            self.assertIn(f"{count} passed, 0 failed", said)

    def test_a_timed_test_runs_alone_after_the_others(self) -> None:
        order: list[tuple[str, int]] = []

        def body_of(name: str):
            return lambda _guest: order.append((name, len(FakeGuest.up)))

        tests = [test_of(suite.timed(body_of("timed")), "timed")]
        tests += [test_of(body_of("other"), f"other {n}", shared=False) for n in range(6)]
        self.assertEqual(self.run_of(tests)[0], 0)
        self.assertEqual(order[-1], ("timed", 1))

    def test_a_timed_test_of_a_throttled_machine_is_retried_alone_at_the_end(self) -> None:
        wrong = AssertionError("9 instead of 8")
        for second, state in ((None, "passed"), (wrong, "failed")):
            tests = [test_of(suite.timed(ends_with(wrong, second)), "slow", SIX_SLOW)]
            tests += [test_of(lambda _guest: time.sleep(0.01), f"other {n}") for n in range(4)]
            status, kept, _ = self.run_of(tests)
            self.assertEqual(len(kept), 5)
            self.assertEqual((kept[-1]["name"], kept[-1]["state"], kept[-1]["flaky"]), ("slow", state, state == "passed"))
            self.assertEqual(status, int(state == "failed"))

    def test_the_time_limit_ends_a_test_that_hangs(self) -> None:
        def hangs(guest) -> None:
            if not guest.killed.wait(10):
                raise AssertionError("nobody ended the guest")
            raise GuestLost("the guest has ended")

        body = suite.limit(0.05, "a test of the limit")(hangs)
        status, kept, _ = self.run_of([test_of(body, "hangs"), test_of(lambda _guest: None, "next")])
        self.assertEqual((status, [o["state"] for o in kept]), (1, ["failed", "passed"]))
        reason = next(o["reason"] for o in kept if o["name"] == "hangs")
        self.assertIn("no end within ", reason)
        self.assertNotIn("nobody ended", reason)

    def test_an_error_of_the_testbed_itself_ends_the_run(self) -> None:
        with mock.patch.object(outcomes, "show", side_effect=RuntimeError("no room on the disk")):
            with self.assertRaisesRegex(RuntimeError, "no room"):
                self.run_of([test_of(lambda _guest: None, "one")])

    def test_ctrl_c_ends_the_run_with_what_was_found(self) -> None:
        def hangs(guest) -> None:
            for _ in range(1000):
                if guest.killed.wait(0.01):
                    # The run waits for the worker, whose guest is up still.
                    time.sleep(0.2)
                    raise GuestLost("the guest has ended")

        def end_all() -> None:
            for guest in list(FakeGuest.up):
                guest.kill()

        together = runner.Pool._together

        def interrupted(pool, shares) -> None:
            timer = threading.Timer(0.2, lambda: runner.signal.raise_signal(runner.signal.SIGINT))
            timer.start()
            together(pool, shares)

        with mock.patch.object(runner, "end_all", end_all), mock.patch.object(runner.Pool, "_together", interrupted):
            status, kept, said = self.run_of([test_of(lambda _guest: None, "one"), test_of(hangs, "hangs")])
        self.assertEqual((status, [o["name"] for o in kept]), (130, ["one"]))
        self.assertIn("interrupted after 1 of 2 tests", said)


class Limits(unittest.TestCase):
    def test_a_limit_grows_with_the_load_of_others_but_not_with_our_own(self) -> None:
        for load, factor in ((0.0, 1.0), (4.0, 1.0), (8.0, 2.0), (100.0, 3.0)):
            with mock.patch.object(runner.os, "getloadavg", lambda load=load: (load, 0, 0)), mock.patch.object(runner.os, "cpu_count", lambda: 2):
                self.assertEqual(runner.slower(), factor)


class Tiers(unittest.TestCase):
    def test_a_marker_needs_a_reason_and_may_name_machines(self) -> None:
        with self.assertRaises(AssertionError):
            suite.full("")
        with self.assertRaises(AssertionError):
            suite.limit(90, "")
        body = suite.full("long", ONE_SOCKET)(lambda _guest: None)
        tests = [test_of(body, "a test", machine) for machine in (ONE_SOCKET, TWO_SOCKETS)]
        self.assertEqual([(t.tier, t.full_reason) for t in tests], [("all", "long"), ("safety", None)])
        self.assertEqual([t.limit_s for t in tests], [suite.FULL_LIMIT_S, suite.LIMIT_S])

    def test_the_safety_tier_is_the_same_each_time_and_words_choose_from_both_tiers(self) -> None:
        def names(found: list[suite.Test]) -> list[tuple[str, str]]:
            return [(t.machine.name, t.name) for t in found]

        safety, every = suite.find(every=False), suite.find()
        self.assertEqual(names(suite.find(every=False)), names(safety))
        self.assertTrue(set(names(safety)) < set(names(every)))
        self.assertEqual([t for t in safety if t.full_reason], [])
        outside = next(t for t in every if t.tier == "all")
        self.assertIn((outside.machine.name, outside.name), names(suite.find([outside.name], every=False)))

    def test_files_that_protect_users_are_in_the_safety_tier(self) -> None:
        files = ("faults.py", "user_space.py", "inventory.py")
        tests = [t for t in suite.find() if t.place.split(":")[0].endswith(files)]
        self.assertGreater(len(tests), 30)
        self.assertEqual([t.name for t in tests if t.tier != "safety"], [])

    def test_the_place_of_a_test_is_its_function(self) -> None:
        test = next(t for t in suite.find() if t.name.startswith("a media error"))
        file, line = test.place.split(":")
        source = (paths.PROJECT / file).read_text().splitlines()
        self.assertTrue(source[int(line) - 1].startswith("def a_media_error"), source[int(line) - 1])


if __name__ == "__main__":
    unittest.main()
