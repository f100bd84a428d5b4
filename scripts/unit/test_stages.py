"""scripts/stages.py with a `make` that fails at chosen stages."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

STAGES = Path(__file__).resolve().parent.parent / "stages.py"


def run(failing: str, *stages: str) -> subprocess.CompletedProcess:
    with tempfile.TemporaryDirectory() as folder:
        make = Path(folder) / "make"
        make.write_text(f'#!/bin/sh\n[ "$2" != {failing} ]\n')
        make.chmod(0o755)
        environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
        return subprocess.run([STAGES, "test", *stages], env=environment, capture_output=True, text=True, check=False)


class Stages(unittest.TestCase):
    def test_a_failed_stage_does_not_stop_the_others(self) -> None:
        ended = run("lint", "setup-test", "lint", "unit")
        self.assertEqual(ended.returncode, 1, ended.stderr)
        self.assertIn("stages: 2 passed, 1 failed", ended.stdout)

    def test_no_stage_runs_without_the_set_up_and_each_is_named(self) -> None:
        ended = run("setup-test", "setup-test", "lint", "unit")
        self.assertEqual(ended.returncode, 1, ended.stderr)
        self.assertIn("lint: not run:", ended.stdout)
        self.assertIn("unit: not run:", ended.stdout)
        self.assertIn("stages: 0 passed, 3 failed", ended.stdout)

    def test_all_stages_pass(self) -> None:
        ended = run("none", "setup-test", "lint")
        self.assertEqual(ended.returncode, 0, ended.stderr)


if __name__ == "__main__":
    unittest.main()
