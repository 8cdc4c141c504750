"""What a planner that knows signal and arrivals could reach at best: a bound beside each result.

Jobs are a fluid in it: they run in any part, at any time after they were submitted, on any server,
and only the means of short blocks of time have to keep the target (`fluid`). What no rule can avoid
is left, as a linear program (`bound_program`): work runs once it is there and, but for the share
that may be late, in time; the machine has so many servers, each at the powers of its jobs; the
target is kept but for the share of time that may be missed; the market allows the bid.

So no bid costs less or saves more than the bound, and where it finds none there is none; a bid at
the bound need not be feasible.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from wattline.demand_response.bound_program import W_PER_KW, BoundProgram, Side, Tolerance
from wattline.demand_response.case import Case
from wattline.demand_response.fluid import Fluid, fluid_of, lowest_and_highest
from wattline.demand_response.linear_program import UnsolvedError
from wattline.grid.market import ERROR_LIMIT, EXCEED_LIMIT, Bid, Range
from wattline.model.signal import FloatArray

LEAST_RESERVE = 0.01
"""Of the machine's range of power: a bid below it is none, as an error relative to it means
nothing."""
SAME = 1e-6
"""A saving that rises by less is the largest."""
NO_POWER_KW = 1e-6
"""An average up to this is none, and a share of its price means nothing."""


@dataclass(frozen=True)
class Bound:
    """What no bid with any rule can better."""

    feasible: bool | None
    """Whether a bid could be kept; None where nothing can be said."""
    reason: str = ""
    """Why nothing can be said."""
    cost: float | None = None
    """The least."""
    saving: float | None = None
    """The largest, as a share of the price of the average power; None where that may be 0."""
    average_w: float | None = None
    reserve_w: float | None = None
    """Of the bid that would save so much, or cost so little; it is one that the market allows."""


def bound_figures(case: Case, bid: Bid | None, met: bool | None) -> dict[str, Any]:
    """The bound as `--json` has it, and who a failure is owed to.

    `failure` is "hour" where no rule can keep a bid that gains, "bid" where no rule can keep this
    one, and "rule" where the bound forbids neither: then another rule or search might do better.
    It is null where all constraints are met, or nothing can be said.
    """
    found = bound_of(case)
    return asdict(found) | {"failure": None if met else _failure(case, found, bid)}


def _failure(case: Case, found: Bound, bid: Bid | None) -> str | None:
    if found.feasible is None:
        return None
    if not found.feasible or (found.saving is not None and found.saving <= 0):
        return "hour"
    kept = True if bid is None else can_be_kept(case, bid)
    return None if kept is None else "rule" if kept else "bid"


def bound_of(case: Case) -> Bound:
    """The bound of one bid for the whole contract."""
    why = _says_nothing(case)
    if why:
        return Bound(None, why)
    try:
        return _solved(case)
    except UnsolvedError as error:  # what was simulated holds all the same
        return Bound(None, str(error))


def _solved(case: Case) -> Bound:
    fluid = fluid_of(case)
    program = BoundProgram(fluid, _allowed(case.workload.range), _tolerance(case))
    energy, cost = _money(case, fluid, program)
    cheapest = program.solve(cost)
    if cheapest is None:
        return Bound(False)
    least = float(cost @ cheapest)
    saving, best = _largest_saving(program, energy, cost, cheapest)
    bid = _inside(case.workload.range, best, program)
    return Bound(True, "", least, saving, bid.average_w, bid.reserve_w)


def can_be_kept(case: Case, bid: Bid) -> bool | None:
    """Whether the bound lets any rule keep this very bid; None where nothing can be said."""
    if _says_nothing(case):
        return None
    average_kw, reserve_kw = bid.average_w / W_PER_KW, bid.reserve_w / W_PER_KW
    exactly = (Side(1.0, 0.0, average_kw), Side(-1.0, 0.0, -average_kw),
               Side(0.0, 1.0, reserve_kw), Side(0.0, -1.0, -reserve_kw))
    program = BoundProgram(fluid_of(case), exactly, _tolerance(case), (average_kw, reserve_kw))
    try:
        return program.solve(np.zeros(program.columns)) is not None
    except UnsolvedError:
        return None


def _says_nothing(case: Case) -> str:
    """Why there is no bound; empty where there is one."""
    if case.limit_w is not None:
        return "a limit is kept, which the bound does not know"
    if case.adaptive:
        return "the bid changes by the hour"
    if case.meter_noise > 0:
        return "the meter that judges errs at random"
    if case.programme is not None and case.programme.judged.rule == "pjm":
        return "the programme's score is of correlations, and no share of time"
    if case.programme is not None:
        return "the programme judges samples of the power, between which nothing binds it"
    if case.truth is not None:
        return "some jobs carry a wrong label"
    if case.mean_quality or case.own_times:
        return "jobs of a log have times of their own, and their types are judged by the mean"
    return ""


def _tolerance(case: Case) -> Tolerance:
    return Tolerance(ERROR_LIMIT, EXCEED_LIMIT if case.judges_tracking else 1.0)


def _allowed(reach: Range) -> tuple[Side, ...]:
    """The bids that the market takes."""
    by_average, by_reserve, lowest_w = reach.floor_edge
    least_w = LEAST_RESERVE * (reach.power_w_max - reach.floor_w)
    return (Side(by_average, -by_reserve, lowest_w / W_PER_KW),
            Side(-1.0, -reach.called_w(1.0)[1], -reach.power_w_max / W_PER_KW),
            Side(0.0, 1.0, least_w / W_PER_KW))


def _money(
    case: Case, fluid: Fluid, program: BoundProgram
) -> tuple[FloatArray, FloatArray]:
    """What the average costs, and all with reserve and errors, as factors of the columns."""
    hours = (case.end_s - case.judged_s) / 3600.0
    energy_price, reserve_price, _ = case.prices.mean(case.judged_s, case.end_s)
    edges_s = np.linspace(case.judged_s, case.end_s, fluid.blocks + 1)
    error_price, _ = lowest_and_highest(case.prices.error, edges_s)
    energy = np.zeros(program.columns)
    energy[program.average] = energy_price * hours
    cost = energy.copy()
    cost[program.reserve] = -reserve_price * hours
    cost[program.error] = error_price * hours / fluid.blocks
    return energy, cost


def _largest_saving(
    program: BoundProgram, energy: FloatArray, cost: FloatArray, first: FloatArray
) -> tuple[float | None, FloatArray]:
    """The largest share of the energy's price that is saved, by Dinkelbach's method.

    A share is the largest where nothing is saved beyond it; each round takes that of the last.
    """
    best, saving = first, -np.inf
    while True:
        if float(energy @ best) <= energy[program.average] * NO_POWER_KW:
            return None, best
        higher = 1.0 - float(cost @ best) / float(energy @ best)
        if higher <= saving + SAME:
            return max(saving, higher), best
        saving = higher
        found = program.solve(cost - (1.0 - saving) * energy)
        assert found is not None  # the rows have not changed
        best = found


def _inside(reach: Range, columns: FloatArray, program: BoundProgram) -> Bid:
    """The bid of a solution; what lies outside the range by the solver's rounding is put back."""
    average_w, reserve_w = (W_PER_KW * float(columns[n]) for n in
                            (program.average, program.reserve))
    average_w = min(max(average_w, reach.floor_w), reach.power_w_max)
    return Bid(average_w, min(reserve_w, reach.largest_reserve_w(average_w)))
