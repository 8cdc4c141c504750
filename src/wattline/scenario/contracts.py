"""A regulation contract from Python: the bid as given or chosen, simulated, judged and billed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from wattline.grid.bidding import Decision
from wattline.grid.curtailment import compliance
from wattline.grid.market import Bid, saved_share
from wattline.model.errors import InputError, warn
from wattline.model.progress import silent
from wattline.model.shown import Shown
from wattline.model.signal import FloatArray
from wattline.policies.regulation.rebid import LEAST
from wattline.scenario.choosing import choose, choose_day, plan_day
from wattline.scenario.contract_remarks import remarks
from wattline.scenario.held import check_hours
from wattline.scenario.money import assumed_prices
from wattline.scenario.regulated import Case, ContractRun, run_contract, uncontrolled_cost
from wattline.scenario.regulation import (
    RegulationScenario,
    bid_fields,
    case_of,
    event_of,
    planning_of,
    read_scenario,
)


@dataclass(frozen=True, eq=False, repr=False)
class ContractResult(Shown):
    """A contract that was simulated, and what came of it."""

    scenario: RegulationScenario
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

    def to_dict(self) -> dict[str, Any]:
        return dict(self.figures)


def regulate(
    scenario: str | Path | RegulationScenario | None = None, *,
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
    case = case_of(made, choose_nodes=choose_nodes)
    offered, decision = _offer(made, case, progress)
    planned = _day(case, decision) if made.bidding == "dayahead" and decision else None
    run = run_contract(case, offered if planned is None else planned)
    figures = _result(made, run, decision)
    if planned is None:
        figures["other_hours"] = check_hours(made, case, offered, chosen=decision is not None,
                                             progress=progress)
    else:
        figures["bids"] = _bids(run)
        figures["reason"] = _day_reason(planned[int(case.warmup_s / 3600.0):], decision)
    found = ContractResult(made, run, decision, figures,
                           (*remarks(made), *figures["assumed"]))
    warn(found.remarks)
    return found


def contract_scenario(
    given: str | Path | RegulationScenario | None, fields: dict[str, Any],
    bid: str | Sequence[float] | None = None,
) -> RegulationScenario:
    """The contract of a file and of fields on top of it."""
    if isinstance(given, RegulationScenario):
        if fields or bid is not None:
            raise InputError("the scenario is complete; give its file, or fields, to change it")
        return given
    if isinstance(bid, str):
        fields = fields | bid_fields(bid)
    elif bid is not None:
        fields = fields | {"bid": tuple(bid)}
    return read_scenario(None if given is None else Path(given), fields)


def _offer(
    scenario: RegulationScenario, case: Case, progress: Callable[[float], None]
) -> tuple[Bid | None, Decision | None]:
    """The bid to simulate: as given, chosen, or none where the run bids itself or a limit rules."""
    given = tuple(scenario.weights)
    if scenario.bid is not None:
        bid = Bid(*scenario.bid, given)
        case.workload.range.check(bid, job_types=len(case.workload.types))
        return bid, None
    if case.adaptive or case.limit_w is not None:
        return None, None
    by_hours = scenario.bidding == "dayahead"
    search = choose_day if by_hours else choose
    decision = search(case, scenario.bidding, rounds=scenario.rounds, progress=progress,
                      whole=by_hours, **planning_of(scenario))
    if decision.bid is not None and given:
        return replace(decision.bid, weights=given), decision
    return decision.bid, decision


def _day(case: Case, decision: Decision) -> list[Bid | None]:
    """The bid of every hour by its prices; warm-up hours take that of the first."""
    before = case.warmup_s / 3600.0
    if before != int(before):
        raise InputError("day-ahead bids are by the hour: warmup must be whole hours")
    plan = [hour.bid for hour in plan_day(case, decision)]
    return [plan[0]] * int(before) + plan


def _day_reason(plan: list[Bid | None], decision: Decision | None) -> str:
    taken = sum(bid is not None for bid in plan)
    if taken:
        return (f"bids for {taken} of {len(plan)} hours: each with the cheapest bid tried that "
                "meets all constraints and brings a gain at its prices")
    if decision is not None and not any(t.feasible for t in decision.trials):
        return decision.reason
    return "do not participate: at the prices of no hour a bid that meets all constraints gains"


def _bids(found: ContractRun) -> list[dict[str, Any]]:
    """The bids of the judged hours, which count from the start of the contract."""
    contract, first_s = found.contract, found.case.judged_s
    starts = contract.average_w.time_s
    rows = zip(starts, np.append(starts[1:], found.case.end_s), contract.average_w.value,
               contract.reserve_w.value, strict=True)  # fmt: skip
    judged = [(start_s, a, r) for start_s, end_s, a, r in rows if end_s > first_s]
    return [{"hour": h, "start_s": max(0.0, float(start_s - first_s)), "average_power_w": float(a),
             "reserve_w": float(r)} for h, (start_s, a, r) in enumerate(judged)]


def _result(
    scenario: RegulationScenario, found: ContractRun, decision: Decision | None
) -> dict[str, Any]:
    case, bill = found.case, found.settlement
    names = [t.name for t in case.workload.types]
    uncontrolled = uncontrolled_cost(case)
    averages, reserves = _offered(found)
    kept = _curtailment(scenario, found) if scenario.curtailment is not None else None
    violations = [*found.outcome.violations, *(kept["violations"] if kept else ())]
    held = reserves.size > 0 or kept is not None
    result: dict[str, Any] = {
        "average_power_w": float(averages.mean()) if reserves.size else None,
        "reserve_w": float(reserves.mean()) if reserves.size else None,
        "weights": dict(zip(names, found.weights, strict=True)),
        "cost": bill.cost,
        "currency": scenario.prices.currency or None,
        "assumed": assumed_prices(scenario),
        "saving": bill.saving,
        "tracking": asdict(bill.tracking),
        "qos": {q.name: {"violation_share": q.violation_share, "threshold": q.threshold,
                         "mean": q.mean, "jobs": q.jobs, "unfinished": q.unfinished}
                for q in found.quality},
        # Where nothing was promised there is nothing to keep.
        "constraints_met": not violations if held else None,
        "violations": violations,
        "participates": reserves.size > 0,
        "reason": decision.reason if decision else _run_reason(found),
        "cost_uncontrolled": uncontrolled,
        "saving_against_uncontrolled": saved_share(bill.cost, uncontrolled),
        "standby_energy_share": found.standby_share,
        "policy": case.policy,
        "workload": case.workload.name,
        "servers": case.workload.servers,
        "engine_s": found.run.engine_s,
    }  # fmt: skip
    if decision is not None and decision.bid is None and decision.nearest is not None:
        result["nearest"] = _nearest(names, decision)
    if case.adaptive:
        result["bids"] = _bids(found)
    if kept is not None:
        result["curtailment"] = kept
    return result


def _run_reason(found: ContractRun) -> str:
    """Where bids are found in the run: for how many hours, and why not for the others."""
    if not found.case.adaptive:
        return ""
    offers = _bids(found)
    hours, taken = len(offers), sum(offer["reserve_w"] > 0 for offer in offers)
    if taken == hours:
        return ""
    word = f"bids for {taken} of {hours} hours" if taken else "do not participate"
    return (f"{word}: at the start of {'the others' if taken else 'each hour'}, caps can move the "
            f"jobs that run or wait by less than {LEAST:.0%} of the average power")


def _offered(found: ContractRun) -> tuple[FloatArray, FloatArray]:
    """Average and reserve of the judged hours that were bid for."""
    contract = found.contract
    last = np.append(contract.average_w.time_s[1:], found.case.end_s)
    taken = (contract.reserve_w.value > 0) & (last > found.case.judged_s)
    return contract.average_w.value[taken], contract.reserve_w.value[taken]


def _nearest(names: list[str], decision: Decision) -> dict[str, Any]:
    """The bid that fails least, and by how much, where none meets all constraints."""
    bid, outcome = decision.nearest, decision.outcome
    assert bid is not None
    found: dict[str, Any] = {
        "average_power_w": bid.average_w, "reserve_w": bid.reserve_w,
        "weights": dict(zip(names, bid.weights, strict=False)),
    }  # fmt: skip
    if outcome is not None:
        found |= {
            "cost": outcome.cost, "saving": outcome.saving,
            "tracking": asdict(outcome.tracking),
            "violations": list(outcome.violations),
        }  # fmt: skip
    return found


def _curtailment(scenario: RegulationScenario, found: ContractRun) -> dict[str, Any]:
    load = found.case.workload
    kept = compliance(found.actual_w, event_of(scenario), load.power_w_mean)
    return asdict(kept) | {
        "met": kept.met, "violations": kept.violations(load.range.power_w_min),
        "baseline_w": load.power_w_mean, "idle_w": load.range.power_w_min,
        "unfinished": sum(q.unfinished for q in found.quality),
    }  # fmt: skip
