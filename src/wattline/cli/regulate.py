"""`wattline regulate`: simulate a regulation contract."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from wattline.analysis.folders import run_folder
from wattline.cli.contract_options import contract_options, say_unused, scenario_from
from wattline.cli.other_hours import check_hours, print_other_hours
from wattline.cli.output import json_option, print_json, print_table, progress, share_text
from wattline.model.units import plain_number

if TYPE_CHECKING:
    from wattline.grid.bidding import Decision
    from wattline.grid.market import Bid
    from wattline.model.signal import FloatArray
    from wattline.scenario.regulated import Case, ContractRun
    from wattline.scenario.regulation import RegulationScenario


@click.command("regulate")
@contract_options
@click.option("--bid", metavar="auto|METHOD|P,R",
              help="Average and reserve in watts, or how to choose them: auto, descent, "
                   "closed_form, empirical, exhaustive, heuristic, range, adaptive (anew every "
                   "hour), dayahead (by the prices of the hours).")
@click.option("--weights", metavar="W,W,...", help="Weights of the types, in their order.")
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR",
              help="Write the pictures and tables of the contract into this folder.")
@json_option
def command(scenario_file: Path | None, bid: str | None, weights: str | None, out: Path | None,
            as_json: bool, **flags: Any) -> None:
    """Simulate a contract: cost, tracking error and QoS of every job type."""
    from wattline.scenario.regulated import run_contract
    from wattline.scenario.regulation import case_of

    if out is not None:
        run_folder("", str(out))
    if weights is not None:
        flags["weights"] = _numbers(weights)
    scenario = scenario_from(scenario_file, flags | {"bid": bid})
    say_unused(scenario)
    case = case_of(scenario, choose_nodes=out is not None)
    offered, decision = _offer(scenario, case)
    planned = _day(case, decision) if scenario.bidding == "dayahead" and decision else None
    found = run_contract(case, offered if planned is None else planned)
    result = _result(scenario, found, decision)
    if planned is None:
        result["other_hours"] = check_hours(scenario, case, offered, chosen=decision is not None)
    if planned is not None:
        result["bids"] = _bids(found)
        result["reason"] = _day_reason(planned[int(case.warmup_s / 3600.0):], decision)
    if out is not None:
        from wattline.studies.regulation.plots import write_pictures
        from wattline.studies.regulation.tables import write_tables

        result["pictures"] = [str(p) for p in write_pictures(found, out)]
        result["tables"] = [str(p) for p in write_tables(found, out)]
    if as_json:
        print_json(result)
    else:
        _print(result, found)


def _numbers(text: str) -> list[float]:
    try:
        return [plain_number(part) for part in text.split(",")]
    except ValueError:
        raise click.BadParameter(f"'{text}' are not numbers with commas between",
                                 param_hint="--weights") from None


def _offer(
    scenario: RegulationScenario, case: Case
) -> tuple[Bid | None, Decision | None]:
    """The bid to simulate: as given, chosen, or none where the run bids itself or a limit rules."""
    from wattline.grid.market import Bid
    from wattline.scenario.choosing import choose, choose_day
    from wattline.scenario.regulation import planning_of

    given = tuple(scenario.weights)
    if scenario.bid is not None:
        bid = Bid(*scenario.bid, given)
        case.workload.range.check(bid, job_types=len(case.workload.types))
        return bid, None
    if case.adaptive or case.limit_w is not None:
        return None, None
    with progress("choosing the bid") as tell:
        by_hours = scenario.bidding == "dayahead"
        search = choose_day if by_hours else choose
        decision = search(case, scenario.bidding, rounds=scenario.rounds, progress=tell,
                          whole=by_hours, **planning_of(scenario))
    if decision.bid is not None and given:
        return replace(decision.bid, weights=given), decision
    return decision.bid, decision


def _day(case: Case, decision: Decision) -> list[Bid | None]:
    """The bid of every hour by its prices; warm-up hours take that of the first."""
    from wattline.model.errors import InputError
    from wattline.scenario.choosing import plan_day

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
    from wattline.grid.market import saved_share
    from wattline.scenario.money import assumed_prices
    from wattline.scenario.regulated import uncontrolled_cost

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
    from wattline.policies.regulation.rebid import LEAST

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
    from wattline.grid.curtailment import compliance
    from wattline.scenario.regulation import event_of

    load = found.case.workload
    kept = compliance(found.actual_w, event_of(scenario), load.power_w_mean)
    return asdict(kept) | {
        "met": kept.met, "violations": kept.violations(load.range.power_w_min),
        "baseline_w": load.power_w_mean, "idle_w": load.range.power_w_min,
        "unfinished": sum(q.unfinished for q in found.quality),
    }  # fmt: skip


def _print(result: dict[str, Any], found: ContractRun) -> None:
    from wattline.scenario.money import NO_CURRENCY

    case = found.case
    click.echo(f"{case.workload.name} on {case.workload.servers} servers under "
               f"{case.policy}, {(case.end_s - case.judged_s) / 3600:g} h")
    if result["reason"]:
        click.echo(result["reason"])
    if result["average_power_w"] is not None:
        click.echo(f"average {result['average_power_w']:,.0f} W, reserve "
                   f"{result['reserve_w']:,.0f} W")
    saving = f"{share_text(result['saving_against_uncontrolled'])} of the uncontrolled run"
    if result["participates"]:
        saving = f"{share_text(result['saving'])} of the energy bid for, {saving}"
    click.echo(f"cost {result['cost']:.4g} {result['currency'] or NO_CURRENCY}, saving {saving}")
    if result["participates"]:
        click.echo(f"tracking error {result['tracking']['mean']:.1%} in the mean, large for "
                   f"{result['tracking']['exceed_share']:.1%} of the time (limit 10 %)")
    if "curtailment" in result:
        kept = result["curtailment"]
        click.echo(f"curtailment from {kept['baseline_w']:,.0f} W, the mean of the workload, to "
                   f"{kept['limit_w']:,.0f} W, of which the idle machine draws "
                   f"{kept['idle_w']:,.0f} W: mean {kept['power_w_mean']:,.0f} W, above the limit "
                   f"for {kept['exceed_share']:.2%} of the event")
        click.echo(f"the saving contains work that was put off: {kept['unfinished']} jobs are "
                   "unfinished at the end")
    rows = [(q.name, q.jobs, q.unfinished, q.mean, q.threshold, f"{q.violation_share:.1%}",
             "yes" if q.met else "NO") for q in found.quality]  # fmt: skip
    if len(rows) > 40:
        rows = sorted(rows, key=lambda row: -float(row[3]) / float(row[4]))[:40]
        click.echo(f"the 40 of {len(found.quality)} types with the largest mean degradation:")
    print_table(("type", "jobs", "unfinished", "mean Q", "threshold", "violations", "met"), rows)
    if result["constraints_met"] is not None:
        click.echo("all constraints met" if result["constraints_met"]
                   else "not met: " + "; ".join(result["violations"]))
    print_other_hours(result.get("other_hours"))
    for line in result["assumed"]:
        click.echo(f"note: {line}")
    for path in (*result.get("pictures", []), *result.get("tables", [])):
        click.echo(path)
