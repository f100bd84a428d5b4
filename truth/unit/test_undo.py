"""What was built is taken back, whatever happens."""

import contextlib
import io
import os
import signal
import unittest

from setups import undo
from setups.undo import Stopped, Undos, held


class Undoing(unittest.TestCase):
    def setUp(self) -> None:
        before = {number: signal.getsignal(number) for number in undo.SIGNALS}
        self.addCleanup(lambda: [signal.signal(number, handler) for number, handler in before.items()])
        self.addCleanup(lambda: setattr(undo._Signals, "asked", False))
        undo.catch_signals()

    def test_the_last_change_goes_first_and_an_error_keeps_none_of_the_others(self) -> None:
        done: list[str] = []

        def run(script: str) -> None:
            done.append(script)
            if script == "second":
                raise RuntimeError("busy")

        said = io.StringIO()
        with self.assertRaises(KeyError), contextlib.redirect_stderr(said), Undos(run) as stack:
            for script in ("first", "second", "third"):
                stack.script(script)
            raise KeyError
        self.assertEqual(done, ["third", "second", "first"])
        self.assertIn("busy", said.getvalue())

    def test_a_signal_waits_until_building_and_undoing_are_done(self) -> None:
        done: list[str] = []
        with self.assertRaises(Stopped), Undos(done.append) as stack:
            with held():
                os.kill(os.getpid(), signal.SIGINT)
                stack.script("what was built")
                done.append("built")
            done.append("measured")
        self.assertEqual(done, ["built", "what was built"])

    def test_a_signal_while_undoing_lets_it_end(self) -> None:
        done: list[str] = []
        with self.assertRaises(Stopped), Undos(done.append) as stack:
            stack.script("first")
            stack.call(lambda: os.kill(os.getpid(), signal.SIGTERM))
        self.assertEqual(done, ["first"])


if __name__ == "__main__":
    unittest.main()
