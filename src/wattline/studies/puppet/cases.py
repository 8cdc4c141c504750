"""What the claims share: which ratios they look at, and how a case is called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from wattline.studies.puppet.runs import ORDERS, CappedCase, Ratio
from wattline.studies.puppet.verdicts import FAILS, Judgement, mean

Ratios = Mapping[CappedCase, Ratio]
MODERATE = (0.8, 0.7, 0.6)


def busy_parts(ratios: Ratios, parts: int) -> tuple[int, ...]:
    """The half of the parts with the higher utilisation without a cap."""
    use = [ratios[CappedCase(part, "fcfs", "dvfs")].baseline.utilisation for part in range(parts)]
    return tuple(sorted(np.argsort(use)[parts // 2 :].tolist()))


def split(busy: tuple[int, ...], parts: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The busy parts and the quiet ones."""
    return busy, tuple(part for part in range(parts) if part not in busy)


def each(ratios: Ratios, parts: Iterable[int], method: str, **change: float) -> list[Ratio]:
    chosen = list(parts)
    return [ratios[CappedCase(part, order, method, **change)]  # type: ignore[arg-type]
            for order in ORDERS for part in chosen]


def label(case: CappedCase) -> str:
    """A case in few words."""
    return f"part {case.part + 1}, {case.order.upper()}, {case.method.upper()} at {case.cap:.0%}"


def means(row: Iterable[Ratio]) -> dict[str, float]:
    rows = list(row)
    return {"utilisation": mean(r.utilisation for r in rows), "wait": mean(r.wait for r in rows),
            "edp": mean(r.edp for r in rows)}


def times_wait(mine: Ratio, other: Ratio) -> float:
    """How many times as long jobs wait as in another case of the same part."""
    if other.figures.wait_s > 0:
        return mine.figures.wait_s / other.figures.wait_s
    return 1.0 if mine.figures.wait_s == 0 else float("inf")


def added_min(ratio: Ratio) -> float:
    """Minutes that a job waits more than without a cap, on average."""
    return (ratio.figures.wait_s - ratio.baseline.wait_s) / 60.0


def chaos(judgement: Judgement) -> str:
    """Where the means say one thing and single cases another."""
    if judgement.verdict == FAILS:
        return f"on this log the means go the other way; worst: {judgement.worst}"
    return ("a schedule that differs early differs everywhere after, so that single cases miss "
            f"while the means hold; worst: {judgement.worst}")
