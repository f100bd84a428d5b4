"""What Fathom named, held against what was built."""

from dataclasses import dataclass, field

from .case import BETWEEN, Case

# Below this an answer is a guess that says so: neither right nor wrong.
UNSURE_BELOW = 0.6
# From here on Fathom calls a limit confirmed: a wrong one here is what must not be.
SURE_FROM = 0.9

RIGHT, WRONG, UNSURE, NOT_SCORED = "right", "wrong", "unsure", "-"
HEADLINE = "headline"


@dataclass(frozen=True)
class Row:
    """One answer: of a step, or of the headline."""

    case: str
    where: str
    step: str
    named: str
    probability: float | None
    right: tuple[str, ...]
    state: str
    iops: float
    sentence: str

    @property
    def is_headline(self) -> bool:
        return self.step.startswith(HEADLINE)

    @property
    def is_sure(self) -> bool:
        return self.probability is not None and self.probability >= SURE_FROM

    @property
    def is_sure_and_wrong(self) -> bool:
        return self.is_sure and self.state == WRONG


@dataclass(frozen=True)
class Outcome:
    """What came of building and measuring a case once. `not_built`: why there are no rows."""

    case: Case
    rows: list[Row] = field(default_factory=list)
    not_built: str = ""


def rows_of(case: Case, document: dict) -> list[Row]:
    """A row for each step of the plan, and one for the headline: the limit of the step that its first figure is of."""
    measured = {step["index"]: step for step in document["steps"] if step["phase"] == "measure"}
    bad = [step for step in measured.values() if step["reason"]]
    if bad or len(measured) != len(case.steps):
        reasons = "; ".join(f"{step['label']}: {step['reason']}" for step in bad)
        raise RuntimeError(f"{len(measured)} of {len(case.steps)} steps were measured. {reasons}")
    out = [_row(case, step, load_of(step)) for step in measured.values()]
    figures = document["verdict"][0]["figures"]
    best = measured[figures[0]["step"]]
    return [*out, _row(case, best, f"{HEADLINE} ({load_of(best)})")]


def load_of(step: dict) -> str:
    """`4x32`, as the ladder of a study writes it. An engine without a queue has one I/O in flight a thread."""
    return f"{step['threads']}x{step['queue_depth']}"


def _row(case: Case, step: dict, name: str) -> Row:
    limit = step["limit"]
    right = case.steps[load_of(step)]
    return Row(
        case=case.name,
        where=case.where,
        step=name,
        named=limit["name"],
        probability=limit["probability"],
        right=tuple(sorted(right)),
        state=state(limit["name"], limit["probability"], right),
        iops=step["iops"],
        sentence=str(limit["sentence"]),
    )


def state(named: str, probability: float | None, right: frozenset[str]) -> str:
    """Right, wrong or unsure; `-` for a step whose truth is not known."""
    if right == BETWEEN:
        return NOT_SCORED
    if probability is None or probability < UNSURE_BELOW:
        return UNSURE
    return RIGHT if named in right else WRONG


@dataclass(frozen=True)
class Summary:
    """Counts over the scored answers."""

    scored: int
    right: int
    unsure: int
    wrong: int
    sure: int
    sure_and_wrong: int

    @property
    def right_or_unsure_pct(self) -> float:
        return 100.0 * (self.right + self.unsure) / self.scored if self.scored else float("nan")


def summary(rows: list[Row]) -> Summary:
    scored = [row for row in rows if row.state != NOT_SCORED]
    count = lambda state: sum(row.state == state for row in scored)
    return Summary(
        scored=len(scored),
        right=count(RIGHT),
        unsure=count(UNSURE),
        wrong=count(WRONG),
        sure=sum(row.is_sure for row in scored),
        sure_and_wrong=sum(row.is_sure_and_wrong for row in scored),
    )
