"""Contracts from Python: simulate one, or choose its bid."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wattline.demand_response.bid_figures import bid_figures, planned_hours
from wattline.demand_response.bound import bound_figures
from wattline.demand_response.building import case_of
from wattline.demand_response.case import Case
from wattline.demand_response.choosing import plan_day
from wattline.demand_response.figures import bids_of, contract_figures, day_reason
from wattline.demand_response.held import check_hours
from wattline.demand_response.hours import planned_on_forecasts, planned_words
from wattline.demand_response.offer import Offer, make_offer, withdrawn
from wattline.demand_response.reading import contract_of, read_contract
from wattline.demand_response.remarks import remarks
from wattline.demand_response.run import ContractRun, run_contract
from wattline.grid.bidding import Decision
from wattline.grid.market import Bid
from wattline.model.errors import InputError, warn
from wattline.model.progress import Stages, silent
from wattline.model.shown import Shown
from wattline.model.units import counted, format_power
from wattline.scenario.contract_section import ContractSection
from wattline.scenario.model import Scenario

if TYPE_CHECKING:
    import pandas as pd

    from wattline.analysis.result import Result


OFFER = 0.95
"""Of the work is the search for a bid; the rest tries it on other hours."""


@dataclass(frozen=True, eq=False, repr=False)
class ContractResult(Shown):
    """A contract that was simulated, and what came of it."""

    scenario: Scenario
    run: ContractRun
    decision: Decision | None
    """How the bid was chosen, where it was not given."""
    figures: dict[str, Any]
    """Cost, tracking error and quality of service, as `wattline regulate --json` prints them."""
    remarks: tuple[str, ...]
    """Settings without effect and prices that are assumed, a sentence each."""

    @property
    def assumed(self) -> tuple[str, ...]:
        """Prices that nobody gave."""
        return tuple(self.figures["assumed"])

    @property
    def result(self) -> Result:
        """The run as `simulate` gives one: its metrics, tables, pictures, report and checker."""
        from wattline.demand_response.folder import result_of

        return result_of(self.scenario, self.run, self.remarks, self.assumed)

    def save(self, folder: str | Path | None = None) -> Path:
        """Write the run folder, with the figures of the contract in `contract.json`."""
        from wattline.demand_response.folder import write_folder

        return write_folder(self.result, self.run, self.figures, folder)

    def to_dict(self) -> dict[str, Any]:
        return dict(self.figures)

    def to_pandas(self) -> pd.DataFrame:
        """A row per type of job: its quality of service."""
        import pandas as pd

        return pd.DataFrame.from_dict(self.figures["qos"], orient="index").rename_axis("job_type")

    def _told(self) -> str:
        found = self.figures
        offered = "no reserve" if found["reserve_w"] is None else (
            f"{format_power(found['average_power_w'])} with a reserve of "
            f"{format_power(found['reserve_w'])}")
        cost = f"cost {found['cost']:.4g} {found['currency'] or ''}".rstrip()
        met = {True: "; all constraints are met", False: "; not all constraints are met"}
        return (f"{found['workload']!r} on {counted(found['servers'], 'server')}: {offered}, "
                f"{cost}{met.get(found['constraints_met'], '')}")


def regulate(
    scenario: str | Path | Scenario | None = None, *,
    bid: str | Sequence[float] | None = None, choose_nodes: bool = False,
    progress: Callable[[float], None] = silent, **fields: Any,
) -> ContractResult:
    """Simulate a contract that follows the grid's regulation signal.

    `scenario` is a file, or fields alone describe the contract: `workload="W4"`, `servers=100`,
    `policy="aqa"`, `duration="1h"` and the others of docs/demand-response.md. `bid` is average and
    reserve in watts, or how they are chosen (`auto`, a method). With `choose_nodes` it is known
    afterwards which nodes each job held.

    >>> import wattline as wl
    >>> found = wl.regulate(workload="W4", servers=20, duration="2min", warmup="0s", check=0,
    ...                     bid=(4500, 500), seed=1)
    >>> found.figures["reserve_w"]
    500.0
    """
    made = contract_scenario(scenario, fields, bid)
    stages = Stages(progress)
    offer = make_offer(made, case_of(made, choose_nodes=choose_nodes), stages.stage(OFFER))
    case, offered, decision = offer.case, offer.bid, offer.decision
    planned = _day(case, decision) if contract_of(made).bidding == "dayahead" and decision else None
    run = run_contract(case, offered if planned is None else planned)
    figures = contract_figures(made, run, decision)
    fails = figures["violations"] if decision is not None and figures["participates"] else []
    if decision is not None and fails:
        decision = withdrawn(decision, run, fails, by_hour=planned is not None)
        offered = None
        run = run_contract(case, None)
        figures = contract_figures(made, run, decision)
    figures["planned_on"] = None if decision is None else planned_words(made)
    figures["bound"] = None if planned is not None else bound_figures(
        case, offered, figures["participates"] and not figures["violations"])
    figures["start_share"] = case.start_share if offered is None else offered.start_share
    figures["reason"] = offer.reason or figures["reason"]
    figures["remedy"] = _remedy(made, offer, stages.stage(0.5))
    if planned is None:
        figures["other_hours"] = check_hours(made, case, offered, chosen=decision is not None,
                                             progress=stages.stage(1.0))
    else:
        figures["bids"] = bids_of(run)
        if not fails:
            figures["reason"] = day_reason(planned[case.warmup_hours:], decision)
    found = ContractResult(made, run, decision, figures,
                           (*remarks(made), *figures["assumed"]))
    warn(found.remarks)
    return found


def contract_scenario(
    given: str | Path | Scenario | None, fields: dict[str, Any],
    bid: str | Sequence[float] | None = None,
) -> Scenario:
    """The contract of a file and of fields on top of it."""
    if isinstance(given, Scenario):
        if fields or bid is not None:
            raise InputError("the scenario is complete; give its file, or fields, to change it")
        contract_of(given)
        return given
    if bid is not None:
        fields = fields | {"bid": bid if isinstance(bid, str) else tuple(bid)}
    return read_contract(given, fields)


def _remedy(
    scenario: Scenario, offer: Offer, progress: Callable[[float], None]
) -> dict[str, Any] | None:
    """The offer that could be made once something else is allowed, tried on other hours too."""
    found = offer.remedy
    if found is None:
        return None
    hours = check_hours(scenario, found.case, found.decision.bid, chosen=True, progress=progress)
    return found.figures() | {"other_hours": hours}


def _day(case: Case, decision: Decision) -> list[Bid | None]:
    """The bid of every hour by its prices; warm-up hours take that of the first."""
    plan = [hour.bid for hour in plan_day(case, decision)]
    return [plan[0]] * case.warmup_hours + plan


@dataclass(frozen=True, eq=False, repr=False)
class BidResult(Shown):
    """The bid that was chosen, the costs that were seen on the way, and why it stops there."""

    scenario: Scenario
    decision: Decision
    figures: dict[str, Any]
    """As `wattline bid --json` prints them."""
    remarks: tuple[str, ...]

    @property
    def assumed(self) -> tuple[str, ...]:
        """Prices that nobody gave."""
        return tuple(self.figures["assumed"])

    def to_dict(self) -> dict[str, Any]:
        return dict(self.figures)


def bid(
    scenario: str | Path | Scenario | None = None, *, method: str | None = None,
    hours: int | None = None, hours_most: int | None = None,
    progress: Callable[[float], None] = silent, **fields: Any,
) -> BidResult:
    """Choose average power, reserve and weights of a contract.

    `scenario` and fields are those of `regulate`; `method` is how the bid is chosen. With `hours`
    so many hours are planned by the prices, of which at most `hours_most` are bid for. It tries a
    hundred bids and more, which takes a minute:
    `wl.bid(workload="W4", servers=100, method="closed_form").figures["reserve_w"]`.

    >>> import wattline as wl
    >>> try:
    ...     wl.bid(workload="W4", servers=100, bid=(8400, 3400))
    ... except wl.InputError as error:
    ...     print(str(error)[:31])
    `wattline bid` chooses the bid:
    """
    made = contract_scenario(scenario, fields, method)
    refuse_unused(contract_of(made), hours=hours, hours_most=hours_most)
    made = planned_on_forecasts(made)
    stages = Stages(progress)
    offer = make_offer(made, case_of(made), stages.stage(OFFER), hours=hours, whole=True,
                       verify=True)
    case, decision = offer.case, offer.decision
    if decision is None:
        raise InputError(no_bid_beside("the caps of events"))
    figures = bid_figures(made, case, decision)
    figures["bound"] = None if hours is not None else bound_figures(
        case, None, decision.bid is not None)
    figures["remedy"] = _remedy(made, offer, stages.stage(0.5))
    figures["other_hours"] = check_hours(made, case, decision.bid, chosen=True,
                                         progress=stages.stage(1.0))
    if hours is not None:
        figures["hours"] = planned_hours(case, decision, hours, hours_most)
    found = BidResult(made, decision, figures,
                      (*remarks(made, choosing=True), *figures["assumed"]))
    warn(found.remarks)
    return found


def refuse_unused(
    contract: ContractSection, *, hours: int | None, hours_most: int | None
) -> None:
    """Refuse what would be left unused, rather than leave it unused in silence."""
    if contract.curtailment is not None:
        raise InputError(no_bid_beside("a curtailment"))
    if contract.bidding == "given":
        raise InputError("`wattline bid` chooses the bid: `wattline regulate` simulates a given "
                         "one; with --bid auto the scenario's own is put aside")
    if contract.bidding == "adaptive":
        raise InputError("adaptive bids are found in the run: use `wattline regulate`")
    if contract.bidding == "dayahead" and hours is None:
        raise InputError("day-ahead bids need --hours N: how many hours to plan")
    if hours_most is not None and hours is None:
        raise InputError("--hours-most needs --hours N: the hours it chooses from")


def no_bid_beside(limit: str) -> str:
    """What to do where a limit leaves no bid to choose."""
    return (f"beside {limit} no bid is chosen: leave that out to choose one; `wattline regulate` "
            "with the same options simulates it, and with --bid P,R a bid of yours beside it")
