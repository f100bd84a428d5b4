"""What counts as right, and what a page and a study say."""

import tomllib
import unittest

from setups import load, page, score, study
from setups.case import ALL_CORES, BETWEEN, CORE, DEVICE, QUEUE_DEPTH, RATE, Built, Case, of
from setups.score import Outcome


def case(steps: dict[str, frozenset[str]], **more: object) -> Case:
    return Case("a disk", "because", lambda _place, _undo: Built("/dev/x"), steps, **more)


def step(index: int, threads: int, depth: int, name: str, probability: float | None) -> dict:
    limit = {"name": name, "probability": probability, "sentence": f"The {name} it is."}
    return {
        "index": index, "threads": threads, "queue_depth": depth, "limit": limit, "phase": "measure", "iops": 1000.0 * depth,
        "reason": None, "label": f"T{threads} QD{depth}",
    }  # fmt: skip


def document(*steps: dict, best: int) -> dict:
    return {"steps": list(steps), "verdict": [{"figures": [{"step": best}]}]}


LADDER = {"1x1": of(QUEUE_DEPTH), "1x8": BETWEEN, "1x64": of(DEVICE, RATE)}


class Scores(unittest.TestCase):
    def test_a_name_is_right_wrong_or_unsure_by_its_probability(self) -> None:
        right = of(CORE, ALL_CORES)
        self.assertEqual(score.state("core", 0.6, right), score.RIGHT)
        self.assertEqual(score.state("device", 0.6, right), score.WRONG)
        self.assertEqual(score.state("device", 0.59, right), score.UNSURE)
        self.assertEqual(score.state("unknown", None, right), score.UNSURE)
        self.assertEqual(score.state("device", 0.99, BETWEEN), score.NOT_SCORED)

    def test_each_step_and_the_headline_is_scored_and_probes_are_not(self) -> None:
        probe = step(3, 1, 128, "core", 0.95) | {"phase": "probe"}
        steps = [step(0, 1, 1, "queue_depth", 0.99), step(1, 1, 8, "device", 0.7), step(2, 1, 64, "core", 0.9)]
        rows = score.rows_of(case(LADDER), document(*steps, probe, best=2))
        self.assertEqual([row.state for row in rows], ["right", "-", "wrong", "wrong"])
        self.assertEqual(rows[-1].step, "headline (1x64)")
        found = score.summary(rows)
        self.assertEqual((found.scored, found.right, found.wrong, found.sure, found.sure_and_wrong), (3, 1, 2, 3, 2))
        self.assertAlmostEqual(found.right_or_unsure_pct, 100 / 3)

    def test_a_ladder_that_was_not_measured_in_full_is_an_error_with_its_reason(self) -> None:
        steps = [step(0, 1, 1, "unknown", None) | {"reason": "no poll queues"}, step(1, 1, 8, "device", 0.7)]
        with self.assertRaisesRegex(RuntimeError, "no poll queues"):
            score.rows_of(case(LADDER), document(*steps, best=0))


class Texts(unittest.TestCase):
    def test_the_study_is_toml_with_the_ladder_in_order(self) -> None:
        plan = tomllib.loads(study.text(case(LADDER, knobs={"engine": "psync", "direct": 0}), 1.5))
        self.assertEqual(plan["ladder"], [{"load": ["1x1", "1x8", "1x64"]}])
        self.assertEqual((plan["defaults"]["engine"], plan["defaults"]["direct"]), ("psync", 0))
        self.assertEqual((plan["defaults"]["runtime"], plan["defaults"]["rw"]), ("1.5s", "randread"))

    def test_the_page_shows_sure_errors_first_and_every_round(self) -> None:
        steps = [step(0, 1, 1, "queue_depth", 0.99), step(1, 1, 8, "device", 0.7)]
        wrong = [*steps, step(2, 1, 64, "core", 0.95)]
        good = [*steps, step(2, 1, 64, "rate", 0.75)]
        disk, other = case(LADDER), case(LADDER, machine="two-sockets")
        outcomes = [Outcome(disk, score.rows_of(disk, document(*found, best=2))) for found in (wrong, good)]
        outcomes.append(Outcome(other, not_built="no QEMU"))
        conditions = page.Conditions("today", "fathom 1", "truth/built.py", "2 CPUs", 2, 2.0, [load.Look(10.0, 0.0, 0.5)])
        text = page.text(outcomes, conditions)
        self.assertIn("6 answers, 4 right, 0 unsure, 2 wrong: 66.7 % right or below 60 %. Said with 90 % or more: 4, 2 of", text)
        self.assertIn("- headlines alone: 2 answers, 1 right, 0 unsure, 1 wrong", text)
        self.assertIn('- a disk, 1x64 (built: device or rate): "The core it is."', text)
        self.assertIn("| host: a disk | 1x64 | device or rate | core 95%, rate 75% | 64000 64000 | **wrong**, right |", text)
        self.assertIn("- two-sockets, a disk: no QEMU", text)


if __name__ == "__main__":
    unittest.main()
