"""The study that measures a case, as the text of a plan file that any user could write."""

import json

from .case import Case

# Every step: closed loop, random reads of 4 KiB past the page cache, unless the case says otherwise.
DEFAULTS: dict[str, object] = {"engine": "io_uring", "rw": "randread", "bs": "4k"}
RAMP = "300ms"


def text(case: Case, seconds: float) -> str:
    """The plan file."""
    knobs = {**DEFAULTS, "runtime": f"{seconds:g}s", "ramp_time": RAMP, **case.knobs}
    lines = ["[study]", 'name = "truth"', f"question = {_value(f'Is the limit found: {case.name}?')}", ""]
    lines += ["[defaults]", *(f"{key} = {_value(value)}" for key, value in knobs.items()), ""]
    lines += ["[[ladder]]", f"load = {_value(list(case.steps))}", ""]
    return "\n".join(lines)


def _value(value: object) -> str:
    """Strings, numbers and lists of them are written the same in TOML and JSON."""
    return json.dumps(value)
