"""Where set-ups are built: this host, or a machine of the testbed. Both are a shell and a Fathom."""

import ctypes
import json
import shlex
import signal
import subprocess
import sys
from pathlib import Path

from .undo import Undos

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "testbed"))

from bed.agent import Answer  # noqa: E402
from bed.errors import GuestLost  # noqa: E402
from bed.guest import Guest  # noqa: E402

WORK = ROOT / "truth" / "work"
PR_SET_PDEATHSIG = 1
# Fathom ends by itself; this is for a device that never answers.
FATHOM_TIMEOUT_S = 150.0
# Ended with some steps refused or failed: the document is there and says which.
NOT_ALL_MEASURED = 1


class Host:
    """This host, as root."""

    def __init__(self, binary: Path) -> None:
        self._binary = binary
        self.folder = str(WORK)
        # What several cases share, taken back at the end: a file that takes seconds to write.
        self.made: dict[str, object] = {}
        self.undo = Undos(self.take_back)
        WORK.mkdir(parents=True, exist_ok=True)

    def ok(self, script: str) -> str:
        # A session of its own: Ctrl-C must not end a script in the middle of building or undoing.
        done = subprocess.run(["sh", "-ec", script], capture_output=True, text=True, start_new_session=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"status {done.returncode} of: {script}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        return done.stdout.strip()

    def take_back(self, script: str) -> None:
        self.ok(script)

    def fathom(self, study: str, words: str, prefix: str) -> dict:
        plan, lab = WORK / "study.toml", WORK / "lab.db"
        plan.write_text(study)
        script = f"{prefix or 'exec'} {_words(str(self._binary), str(plan), str(lab), words)}"
        try:
            done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, timeout=FATHOM_TIMEOUT_S, check=False)
        finally:
            for file in WORK.glob("lab.db*"):
                file.unlink()
        return _document(done.returncode, done.stdout, done.stderr)

    def background(self, undo: Undos, command: list[str]) -> None:
        """A program of one process that runs beside the measurement, and ends with it or with this program, however that ends."""
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True, preexec_fn=_end_with_parent,
        )  # fmt: skip

        def end() -> None:
            process.kill()
            process.wait()

        undo.call(end)


class Emulated:
    """A machine of the testbed."""

    folder = "/run"

    def __init__(self, guest: Guest) -> None:
        self.guest = guest
        self._is_lost = False

    def ok(self, script: str) -> str:
        answer = self._run(f"set -e\n{script}")
        if answer.status != 0:
            raise RuntimeError(f"status {answer.status} of: {script}\n{answer.out[-2000:]}{answer.err[-2000:]}")
        return answer.out.strip()

    def fathom(self, study: str, words: str, prefix: str) -> dict:
        self.ok(f"cat > /run/study.toml <<'END_OF_STUDY'\n{study}\nEND_OF_STUDY")
        script = f"rm -f /run/truth.db*\n{prefix} {_words('fathom', '/run/study.toml', '/run/truth.db', words)}"
        answer = self._run(script)
        return _document(answer.status, answer.out, answer.err)

    def take_back(self, script: str) -> None:
        # A machine that is lost is thrown away, and would wait for every script.
        if not self._is_lost:
            self.ok(script)

    def _run(self, script: str) -> Answer:
        try:
            return self.guest.run(script, FATHOM_TIMEOUT_S)
        except GuestLost:
            self._is_lost = True
            raise


def _words(binary: str, plan: str, lab: str, words: str) -> str:
    return f"{shlex.quote(binary)} run {shlex.quote(plan)} --lab {shlex.quote(lab)} --quiet --json {words}"


def _document(status: int, out: str, err: str) -> dict:
    if status not in (0, NOT_ALL_MEASURED) or not out.startswith("{"):
        raise RuntimeError(f"fathom ended with {status}: {(err or out).strip()[-1500:]}")
    return json.loads(out)


def _end_with_parent() -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
