"""What hangs on assumptions: the load, what the cap counts, the slowest frequency, beta.

The publication gives neither its load nor its levels, and its cap counts running jobs. Each table
shows the effect of one of them instead of one assumption for all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

from wattline.studies.puppet.figures import BETAS, CAPS
from wattline.studies.puppet.runs import ORDERS, CappedCase, Laboratory, Ratio
from wattline.studies.puppet.verdicts import mean
from wattline.studies.puppet.workloads import StudiedJobs

LOADS = (1.0, 0.75, 0.6)
LOWESTS = (0.5, 0.4, 0.3, 0.2)
COUNTS: tuple[Literal["machine", "jobs"], ...] = ("machine", "jobs")


@dataclass(frozen=True)
class RelativeMeans:
    """Means over parts and orders, relative to the same jobs without a cap."""

    of: dict[str, Any]
    """What was assumed."""
    utilisation: float
    wait: float
    edp: float
    left_out_share: float
    """Of the node-seconds: jobs that could never run under this cap."""


@dataclass(frozen=True)
class Tables:
    """Rows by what was varied."""

    load: tuple[RelativeMeans, ...]
    lowest: tuple[RelativeMeans, ...]
    beta: tuple[RelativeMeans, ...]


def tables(
    laboratory: Laboratory, advance: Callable[[float], None] = lambda share: None, *,
    caps: tuple[float, ...] = CAPS, loads: tuple[float, ...] = LOADS,
    lowests: tuple[float, ...] = LOWESTS, betas: tuple[float, ...] = BETAS,
) -> Tables:
    """WAIT by load and by what the cap counts; DVFS by its slowest level and by beta."""
    load: list[RelativeMeans] = []
    for number, factor in enumerate(loads):
        # Caps stay what they are in watts: the machine and its feed do not change with the load.
        thinner = laboratory if factor == 1.0 else Laboratory(
            thinned(laboratory.workload, factor), laboratory.reference_w)
        for counts in COUNTS:
            load += _rows(thinner, [
                ({"load": factor, "counts": counts, "cap": cap},
                 CappedCase(0, "fcfs", "wait", cap, counts=counts)) for cap in caps])
        advance(0.5 * (number + 1) / len(loads))
    lowest = _rows(laboratory, [
        ({"lowest": lowest, "cap": cap}, CappedCase(0, "fcfs", "dvfs", cap, lowest=lowest))
        for lowest in lowests for cap in caps])
    advance(0.9)
    beta = _rows(laboratory, [
        ({"beta": beta, "cap": cap}, CappedCase(0, "fcfs", "dvfs", cap, beta=beta))
        for beta in betas for cap in (0.7, 0.5)])
    advance(1.0)
    return Tables(tuple(load), tuple(lowest), tuple(beta))


def thinned(workload: StudiedJobs, factor: float) -> StudiedJobs:
    """The same jobs with longer gaps between them, so that the load is this part of what it was."""
    def later(jobs: Any) -> Any:
        return jobs.with_columns(submit_s=jobs.submit_s / factor)

    return replace(workload, source=f"{workload.source}, load x {factor:g}",
                   parts=tuple(later(part) for part in workload.parts), whole=later(workload.whole))


def _rows(
    laboratory: Laboratory, wanted: list[tuple[dict[str, Any], CappedCase]]
) -> list[RelativeMeans]:
    parts = range(len(laboratory.workload.parts))
    cases = {number: [replace(case, part=part, order=order) for order in ORDERS for part in parts]
             for number, (_, case) in enumerate(wanted)}
    found = laboratory.ratios(case for listed in cases.values() for case in listed)
    return [_row(of, [found[case] for case in cases[number]])
            for number, (of, _) in enumerate(wanted)]


def _row(of: dict[str, Any], ratios: Iterable[Ratio]) -> RelativeMeans:
    rows = list(ratios)
    return RelativeMeans(of, mean(r.utilisation for r in rows), mean(r.wait for r in rows),
                         mean(r.edp for r in rows), mean(r.left_out_share for r in rows))
