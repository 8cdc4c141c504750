"""A bid on other hours than the one it was planned for: other arrivals, other signals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from wattline.demand_response.case import Case
from wattline.demand_response.choosing import CHECKING, first_block, forecast_cases
from wattline.demand_response.pooling import pool
from wattline.demand_response.run import ContractRun, run_contract
from wattline.grid.market import Bid
from wattline.grid.qos import mean_interval, share_interval
from wattline.model.signal import Signal


@dataclass(frozen=True)
class OtherHours:
    """Outcome of an unchanged bid on other blocks of its market: hours, where it says none."""

    hours: int
    block_s: float
    """Length of each."""
    met: int
    """Hours that meet all constraints, each by itself."""
    unjudged: int
    """Those of them without a job, in which the tracking alone was judged."""
    met_share: tuple[float, float]
    """95 % interval of their share."""
    met_together: bool
    """Whether all hours together, as one long contract, meet all constraints."""
    saving_against_uncontrolled: tuple[float, float, float]
    """By which share the bill is lower than without a contract: mean and 95 % interval."""
    saving: tuple[float, float, float]
    """The same of the published figure, against the energy bid for."""
    exceed_share: float
    """Share of the time of all hours for which the error is large."""
    exceed_share_most: float
    """The largest such share of one hour."""
    fails: dict[str, int]
    """Constraints that failed, and in how many hours."""


def can_check(case: Case) -> bool:
    """Whether other hours like it can be drawn: not those of a log, nor wrong labels."""
    return not (case.own_times or case.adaptive) and case.limit_w is None and case.truth is None


def other_hours(
    case: Case,
    bid: Bid,
    count: int,
    *,
    seed: int = 0,
    signals: Sequence[Signal] = (),
    progress: Callable[[float], None] = lambda fraction: None,
) -> OtherHours:
    """Simulate the bid on so many hours that it was not planned on."""
    case = replace(first_block(case), choose_nodes=False)
    runs: list[ContractRun] = []
    for other in forecast_cases(case, count, seed, stream=CHECKING, signals=signals):
        runs.append(run_contract(other, bid))
        progress(len(runs) / count)
    return summary(runs)


def summary(runs: Sequence[ContractRun]) -> OtherHours:
    """What to say of the runs of one bid on several hours."""
    met = sum(run.constraints_met for run in runs)
    unjudged = sum(run.constraints_met and not any(q.jobs for q in run.quality) for run in runs)
    fails: Counter[str] = Counter()
    for run in runs:
        fails.update(["tracking"] if not run.tracking.met else [])
        fails.update(f"QoS of {q.name}" for q in run.quality if not q.met)
    together = pool(runs)
    return OtherHours(
        len(runs), runs[0].case.block_s, met, unjudged, share_interval(met, len(runs)),
        together.met,
        mean_interval([run.outcome.saving_against_uncontrolled for run in runs]),
        mean_interval([run.settlement.saving for run in runs]),
        together.tracking.exceed_share, max(run.tracking.exceed_share for run in runs),
        dict(fails.most_common()),
    )
