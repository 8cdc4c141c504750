"""A joint bid on other hours than the one it was chosen on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from wattline.demand_response.checking import can_check
from wattline.demand_response.choosing import CHECKING, first_block, forecast_cases
from wattline.demand_response.hours import CHECK_HOURS, other_signals
from wattline.demand_response.jointly import Together, joint_bill
from wattline.demand_response.reading import contract_of
from wattline.demand_response.run import run_contract
from wattline.grid.market import saved_share
from wattline.grid.qos import mean_interval, share_interval
from wattline.model.progress import silent
from wattline.model.signal import Signal
from wattline.scenario.model import Scenario

NEXT_SITE = 104_729
"""Between the seeds of two sites: their jobs do not arrive at the same moments."""


@dataclass(frozen=True)
class JointHours:
    """What became of an unchanged joint bid on other hours."""

    hours: int
    met: int
    """Hours in which the sum is followed and the jobs of all sites get their due."""
    met_share: tuple[float, float]
    """95 % interval of their share."""
    saving_against_uncontrolled: tuple[float, float, float]
    """By which share the bill of the sites is lower than without a contract: mean and 95 %
    interval."""
    saving: tuple[float, float, float]
    """The same of the published figure, against the energy bid for."""
    fails: dict[str, int]
    """Constraints that failed, and in how many hours."""


def check_together(
    first: Scenario, found: Together, progress: Callable[[float], None] = silent
) -> dict[str, Any] | None:
    """The joint bid on other hours; None where there is none, or nothing to draw them from."""
    count = contract_of(first).check
    count = CHECK_HOURS if count is None else count
    taking_part = [run.case for name, run in found.runs.items() if found.joint.parts[name].bid]
    if not taking_part or count == 0 or not all(map(can_check, taking_part)):
        return None
    signals = other_signals(first, count, stream=CHECKING)
    return asdict(joint_other_hours(found, count, seed=first.trace.seed, signals=signals,
                                    progress=progress))


def joint_other_hours(
    found: Together, count: int, *, seed: int, signals: Sequence[Signal],
    progress: Callable[[float], None] = silent,
) -> JointHours:
    """Simulate the parts of the joint bid on so many hours with other arrivals and signals."""
    taking_part = [name for name, part in found.joint.parts.items() if part.bid is not None]
    drawn = {}
    for number, name in enumerate(taking_part):
        case = replace(first_block(found.runs[name].case), choose_nodes=False)
        drawn[name] = forecast_cases(case, count, seed + NEXT_SITE * number, stream=CHECKING,
                                     signals=signals)
    on_bill: list[float] = []
    savings: list[float] = []
    fails: Counter[str] = Counter()
    met = 0
    for hour in range(count):
        runs = {name: run_contract(drawn[name][hour], found.joint.parts[name].bid)
                for name in taking_part}
        bill = joint_bill(drawn[taking_part[0]][hour], found.joint, runs)
        assert bill is not None
        failed = replace(found, runs=runs, bill=bill).fails
        met += not failed
        fails.update(failed)
        alone = sum(run.outcome.cost_uncontrolled for run in runs.values())
        on_bill.append(saved_share(bill.cost, alone))
        savings.append(bill.saving)
        progress((hour + 1) / count)
    return JointHours(count, met, share_interval(met, count), mean_interval(on_bill),
                      mean_interval(savings), dict(fails.most_common()))
