"""Three verdicts on a claim: it holds in every case, on average only, or it fails.

A claim is about many cases (parts of the log, orders, caps) and one or more aspects (waiting,
utilisation, EDP). Every case has a margin: how far it is on the right side, negative on the wrong
one. A yes or no alone would call a claim wrong for one case of eight that misses by a per cent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

HOLDS, ON_AVERAGE, FAILS = "holds", "holds on average", "fails"
SLACK = 1e-9
"""Margins of no more than this, to either side, are ties: equal but for rounding."""


@dataclass(frozen=True)
class Margin:
    """By how much a case is on the right side, as a part of what it is compared with."""

    case: str
    by: float


Margins = Mapping[str, list[Margin]]
"""By aspect."""


@dataclass(frozen=True)
class Judgement:
    """The verdict, the case that is worst, and how many cases there are on the right side."""

    verdict: str
    worst: str
    right: int
    cases: int


def judge(margins: Margins, *, ties_hold: bool = False) -> Judgement:
    """It holds if every case does; on average, if the mean of every aspect does.

    `ties_hold`: the claim is that something is not worse, so that a tie speaks for it. A tie speaks
    for no claim that something is more or less.
    """
    every = [(aspect, margin) for aspect, listed in margins.items() for margin in listed
             if not np.isnan(margin.by)]  # no ratio, where nothing waits without a cap
    if not every:
        return Judgement(FAILS, "no case can be compared: nothing waits without a cap", 0, 0)
    least = -SLACK if ties_hold else SLACK
    right = sum(margin.by > least for _, margin in every)
    aspect, worst = min(every, key=lambda pair: pair[1].by)
    means = [mean(margin.by for known, margin in every if known == aspect_)
             for aspect_ in {known for known, _ in every}]
    if right == len(every):
        return Judgement(HOLDS, "", right, len(every))
    how = "equal" if abs(worst.by) <= SLACK else f"by {100 * -worst.by:.1f} % on the wrong side"
    verdict = ON_AVERAGE if min(means) > least else FAILS
    return Judgement(verdict, f"{aspect}, {worst.case}: {how}", right, len(every))


@dataclass(frozen=True)
class StudyFinding:
    """A claim of the published study, and what our figures say of it."""

    id: str
    claim: str
    source: str
    """Where the publication says it."""
    judgement: Judgement
    figures: dict[str, object]
    why: str
    """The mechanism, from the figures; empty where the claim holds."""

    @property
    def verdict(self) -> str:
        return self.judgement.verdict

    @property
    def holds(self) -> bool:
        return self.verdict == HOLDS

    def to_dict(self) -> dict[str, object]:
        return {"id": self.id, "claim": self.claim, "source": self.source, "holds": self.holds,
                "verdict": self.verdict, "worst": self.judgement.worst,
                "cases": self.judgement.cases, "cases_right": self.judgement.right,
                "figures": self.figures, "why": self.why}


def finding(
    name: tuple[str, str], claim: str, margins: Margins, figures: dict[str, object],
    why: Callable[[Judgement], str], *, ties_hold: bool = False,
) -> StudyFinding:
    """A claim by its name and source; `why` is asked only where it does not hold."""
    judgement = judge(margins, ties_hold=ties_hold)
    reason = "" if judgement.verdict == HOLDS else why(judgement)
    return StudyFinding(name[0], claim, name[1], judgement, figures, reason)


def mean(values: Iterable[float]) -> float:
    """The mean of those that are numbers: a ratio of waits is none where nothing waits."""
    known = [float(value) for value in values if not np.isnan(value)]
    return float(np.mean(known)) if known else float("nan")
