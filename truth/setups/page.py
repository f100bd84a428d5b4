"""docs/TRUTH-BUILT.md: what was answered, and how often that was right."""

from dataclasses import dataclass
from pathlib import Path

from . import load, score
from .case import BETWEEN
from .score import Outcome, Row, Summary

SEEN_IN = "`truth/setups/`"


@dataclass(frozen=True)
class Conditions:
    """Where, when and how it was measured."""

    date: str
    version: str
    command: str
    host: str
    rounds: int
    seconds: float
    looks: list[load.Look]


def line(row: Row) -> str:
    """A row for the terminal."""
    said = "-" if row.probability is None else f"{row.probability:.0%}"
    right = " or ".join(row.right) or "between"
    return f"{row.state:>6}  {row.where:11}  {row.case}: {row.step}: {row.named} {said} ({right})"


def counts(title: str, found: Summary) -> str:
    """One sentence of figures."""
    if not found.scored:
        return f"{title}: no answer was scored."
    return (
        f"{title}: {found.scored} answers, {found.right} right, {found.unsure} unsure, {found.wrong} wrong: "
        f"{found.right_or_unsure_pct:.1f} % right or below 60 %. Said with 90 % or more: {found.sure}, "
        f"{found.sure_and_wrong} of them wrong."
    )


def write(path: Path, outcomes: list[Outcome], conditions: Conditions) -> None:
    path.write_text(text(outcomes, conditions))


def text(outcomes: list[Outcome], conditions: Conditions) -> str:
    rows = [row for outcome in outcomes for row in outcome.rows]
    lines = ["# Limits that were built: how often they are found", "", *_preface(conditions), ""]
    lines += [f"**{counts('All', score.summary(rows))}**", ""]
    for where in dict.fromkeys(row.where for row in rows):
        lines += [f"- {counts(where, score.summary([row for row in rows if row.where == where]))}"]
    lines += [f"- {counts('headlines alone', score.summary([row for row in rows if row.is_headline]))}"]
    lines += ["", *_wrong(rows), *_not_built(outcomes), *_table(outcomes), *_whys(outcomes)]
    return "\n".join(lines).rstrip() + "\n"


def _preface(conditions: Conditions) -> list[str]:
    return [
        f"Made by `make truth-built`; not edited. Each set-up of {SEEN_IN} is built, measured by `fathom run` with a short ladder,",
        "and taken back; the limit of each step and of the headline is read from the JSON and held against what was built.",
        "*unsure*: said with less than 60 %, or unknown. A step between two known ends is measured and not scored.",
        "",
        f"- {conditions.date}, {conditions.version}, `{conditions.command}`: {conditions.rounds} rounds, steps of "
        f"{conditions.seconds:g} s",
        f"- {conditions.host}",
        f"- {load.sentence(conditions.looks)}",
        "- `two-sockets` is a machine of the [testbed](TESTBED.md), emulated on the same CPUs",
    ]


def _wrong(rows: list[Row]) -> list[str]:
    found = [row for row in rows if row.is_sure_and_wrong]
    if not found:
        return []
    lines = ["## Wrong, and said with 90 % or more", ""]
    lines += [f"- {row.case}, {row.step} (built: {' or '.join(row.right)}): \"{row.sentence}\"" for row in found]
    return [*lines, ""]


def _not_built(outcomes: list[Outcome]) -> list[str]:
    found = [outcome for outcome in outcomes if outcome.not_built]
    if not found:
        return []
    lines = ["## Not built", ""]
    lines += [f"- {outcome.case.where}, {outcome.case.name}: {outcome.not_built}" for outcome in found]
    return [*lines, ""]


def _table(outcomes: list[Outcome]) -> list[str]:
    """A line for each step of each case; the answers of the rounds beside each other."""
    lines = ["## All answers", ""]
    lines += ["| set-up | step | built | named, in each round | IOPS | |", "| --- | --- | --- | --- | --- | --- |"]
    for case in dict.fromkeys(outcome.case.name for outcome in outcomes):
        rounds = [outcome for outcome in outcomes if outcome.case.name == case and outcome.rows]
        steps = dict.fromkeys(row.step for outcome in rounds for row in outcome.rows)
        # Headlines of rounds may stand on different steps; they come last.
        for step in sorted(steps, key=lambda name: name.startswith(score.HEADLINE)):
            lines.append(_line_of(case, [row for o in rounds for row in o.rows if row.step == step]))
    return [*lines, ""]


def _line_of(case: str, rows: list[Row]) -> str:
    said = ", ".join(f"{r.named}{'' if r.probability is None else f' {r.probability:.0%}'}" for r in rows)
    iops = " ".join(f"{row.iops:.0f}" for row in rows)
    states = ", ".join(dict.fromkeys(_loud(row) for row in rows))
    right = " or ".join(rows[0].right) if frozenset(rows[0].right) != BETWEEN else "between"
    return f"| {rows[0].where}: {case} | {rows[0].step} | {right} | {said} | {iops} | {states} |"


def _loud(row: Row) -> str:
    return f"**{row.state}**" if row.is_sure_and_wrong else row.state


def _whys(outcomes: list[Outcome]) -> list[str]:
    cases = {outcome.case.name: outcome.case for outcome in outcomes}
    lines = ["## Why that is the truth", ""]
    return lines + [f"- {case.where}, {case.name}: {case.why}" for case in cases.values()]
