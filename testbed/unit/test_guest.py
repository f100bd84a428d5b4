"""The clock of a guest is checked before anything is measured by it."""

import tempfile
import unittest
from pathlib import Path
from unittest import mock

from bed import guest
from bed.errors import GuestLost
from bed.machines import TWO_SOCKETS


class Clock(unittest.TestCase):
    def booted(self, *rates: tuple[float, float]) -> int:
        """Boots of guests with these rates of their clocks, one after the other; how many were started."""
        started = []

        def start(machine, extra, drives, stays, folder):
            made = mock.create_autospec(guest.Guest, instance=True)
            made.clock_rates.return_value = rates[len(started)]
            made.agent = mock.Mock()
            started.append(made)
            return made

        with mock.patch.object(guest, "_start", start), mock.patch("builtins.print"):
            last = guest._booted(TWO_SOCKETS, (), stays=False)
        self.assertIs(last, started[-1])
        for earlier in started[:-1]:
            earlier.down.assert_called_once_with()
        return len(started)

    def test_a_right_clock_is_taken_however_coarsely_it_was_seen(self) -> None:
        self.assertEqual(self.booted((0.99, 1.01)), 1)
        self.assertEqual(self.booted((0.60, 1.30)), 1)

    def test_a_guest_with_a_wrong_clock_is_booted_again(self) -> None:
        self.assertEqual(self.booted((3.0, 3.4), (0.90, 0.95), (0.98, 1.02)), 3)

    def test_a_host_that_cannot_boot_a_right_clock_is_reported(self) -> None:
        with self.assertRaisesRegex(GuestLost, "too much else to do"):
            self.booted(*[(2.0, 2.1)] * guest.BOOTS_MAX)

    def test_a_guest_that_is_lost_before_anyone_has_it_is_ended(self) -> None:
        made = mock.create_autospec(guest.Guest, instance=True)
        lost = GuestLost("the guest did not answer")
        boot, restore = (lambda: guest.Guest.boot(TWO_SOCKETS)), (lambda: guest.Guest.restore(TWO_SOCKETS, ()))
        with (
            mock.patch.object(guest, "_start", return_value=made),
            mock.patch.object(guest, "saved_state", return_value=Path("state")),
        ):
            made.clock_rates.return_value = (0.99, 1.01)
            for start, step in ((boot, "connect"), (boot, "attach"), (restore, "go_on"), (restore, "attach")):
                with self.subTest(step=step), mock.patch.object(made, step, side_effect=lost):
                    made.down.reset_mock()
                    self.assertRaises(GuestLost, start)
                    made.down.assert_called_once_with()

    def test_the_rate_is_bounded_by_what_the_answers_took(self) -> None:
        # Of three answers each time the second is the quickest.
        times = iter([9.0, 9.5, 10.0, 10.2, 10.3, 10.6, 10.7, 11.1, 11.2, 11.4, 11.5, 12.0])
        uptimes = iter(f"{seconds} 1\n" for seconds in (4.0, 5.0, 5.3, 6.0, 6.2, 6.5))
        with tempfile.TemporaryDirectory() as folder:
            made = guest.Guest(TWO_SOCKETS, 0, Path(folder), Path(folder))
            with (
                mock.patch.object(guest.Guest, "ok", lambda self, script: next(uptimes)),
                mock.patch.object(guest.time, "monotonic", lambda: next(times)),
                mock.patch.object(guest.time, "sleep"),
            ):
                least, most = made.clock_rates()
        # 1.2 s of the guest in between 1.0 and 1.4 s of the host.
        self.assertAlmostEqual(least, 1.19 / 1.4)
        self.assertAlmostEqual(most, 1.21 / 1.0)


if __name__ == "__main__":
    unittest.main()
