"""`wattline regulate`: simulate a regulation contract."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wattline.analysis.folders import run_folder
from wattline.cli.contract_options import contract_options, say_unused, scenario_from
from wattline.cli.finite import FiniteRange
from wattline.cli.other_hours import (
    bill_saving_words,
    print_bound,
    print_facility,
    print_other_hours,
    print_remedy,
    saving_words,
    start_words,
)
from wattline.cli.output import json_option, print_json, print_table, progress
from wattline.model.units import format_duration, plain_number

if TYPE_CHECKING:
    from wattline.demand_response.api import ContractResult
    from wattline.demand_response.run import ContractRun
    from wattline.grid.qos import TypeQuality
    from wattline.scenario.model import Scenario

BROKEN, DECLINED = 1, 3
"""Exit status of a contract that fails, and of one without an offer."""


@click.command("regulate")
@contract_options
@click.option("--bid", metavar="auto|METHOD|P,R",
              help="Average and reserve in watts, or how to choose them: auto, descent, "
                   "closed_form, empirical, exhaustive, heuristic, range, adaptive (anew every "
                   "hour), dayahead (by the prices of the hours).")
@click.option("--weights", metavar="W,W,...", help="Weights of the types, in their order.")
@click.option("--start-share", type=FiniteRange(0, 1), metavar="SHARE",
              help="Of a given bid, or beside a limit: share of the jobs' power range at which "
                   "starts are planned (1).")
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR",
              help="Write the run folder with the contract and its pictures here.")
@json_option
def command(scenario_file: Path | None, bid: str | None, weights: str | None, out: Path | None,
            as_json: bool, **flags: Any) -> None:
    """Simulate a contract: cost, tracking error and QoS of every job type.

    Exit status 0 where the contract is kept, 1 where a given bid or a limit fails, 3 where no bid
    is offered ("do not participate").
    """
    if out is not None:
        run_folder("", str(out))
    if weights is not None:
        flags["weights"] = _numbers(weights)
    scenario = scenario_from(scenario_file, flags | {"bid": bid})
    contract = run_contract(scenario, chosen=out is not None)
    show_contract(contract, out, as_json=as_json)
    click.get_current_context().exit(exit_status(contract.figures))


def exit_status(figures: dict[str, Any]) -> int:
    """The exit status by what became of the contract: kept, broken, or none was entered."""
    if not figures["participates"]:
        return DECLINED
    return BROKEN if figures["violations"] else 0


def run_contract(scenario: Scenario, *, chosen: bool) -> ContractResult:
    """Simulate a contract with a progress bar; `chosen` where it matters which nodes jobs held."""
    from wattline.demand_response.api import regulate

    say_unused(scenario)
    with progress("choosing the bid", spoken=True) as advance:
        return regulate(scenario, choose_nodes=chosen, progress=advance)


def show_contract(contract: ContractResult, out: Path | None, *, as_json: bool) -> None:
    """Write the run folder where one is wanted, and print the figures."""
    result = contract.to_dict()
    if out is not None:
        from wattline.demand_response.plots import write_pictures

        result["run_dir"] = str(contract.save(out))
        result["pictures"] = [str(p) for p in write_pictures(contract.run, out / "pictures")]
    if as_json:
        print_json(result)
    else:
        _print(result, contract.run)


def _print_programme(result: dict[str, Any]) -> None:
    """The score, the credit and the least offer of the programme."""
    terms = result["programme"]
    if terms is None:
        return
    score = "-" if result["score"] is None else f"{result['score']:.2f}"
    click.echo(f"{terms['title']}: score {score} (at least {terms['least_score']:.2f})")
    if terms["credit"] is not None:
        where = ("which is in the cost" if terms["credit_in_cost"]
                 else f"not in the cost: {terms['not_in_cost']}")
        click.echo(f"it pays {terms['credit']:.4g} {terms['currency'] or ''}, {where}")
    if terms["sites_needed"] is not None:
        what = "promised reduction" if "curtailment" in result else "reserve"
        click.echo(f"the {what} is below its least offer of {terms['minimum_w']:,.0f} W: "
                   f"{terms['sites_needed']} such sites together reach it")
    click.echo(f"simplified: {terms['simplified']}")


def _print_events(found: dict[str, Any] | None) -> None:
    """Which events were followed, and whether their caps were kept."""
    if found is None:
        return
    click.echo(f"events followed: {', '.join(found['followed']) or 'none'}")
    if found["outside"]:
        click.echo(f"events outside of the contract's time: {', '.join(found['outside'])}")
    for line in found["not_followed"]:
        click.echo(f"  {line}")
    for what, kept in (("a cap of events", found["while_lowered"]),
                       ("the usual cap", found["while_usual"])):
        if kept["limited_s"]:
            click.echo(f"{what} holds for {kept['limited_s'] / 60:.4g} min, "
                       f"{kept['limit_w_lowest']:,.0f} W at the lowest, and the power is above it "
                       f"for {kept['exceed_share']:.2%} of that")
    if found["prices"]:
        click.echo("energy is priced as the events say")


def _quality_row(quality: TypeQuality) -> tuple[Any, ...]:
    """A type in the table; of one without jobs there is nothing to judge."""
    if not quality.jobs:
        return (quality.name, 0, 0, None, quality.threshold, None, None)
    return (quality.name, quality.jobs, quality.unfinished, quality.mean, quality.threshold,
            f"{quality.violation_share:.1%}", "yes" if quality.met else "NO")


def _verdict(result: dict[str, Any]) -> str:
    if result["violations"]:
        return "not met: " + "; ".join(result["violations"])
    if result["constraints_met"] is None:
        return "no constraint fails, but without a job in the contract there is nothing to judge"
    return "all constraints met"


def _numbers(text: str) -> list[float]:
    try:
        return [plain_number(part) for part in text.split(",")]
    except ValueError:
        raise click.BadParameter(f"'{text}' are not numbers with commas between",
                                 param_hint="--weights") from None


def length_words(judged_s: float, warmup_s: float) -> str:
    """How long a contract is, of which the warm-up is no part."""
    after = f" after {format_duration(warmup_s)} of warm-up" if warmup_s else ""
    return f"{format_duration(judged_s)} long{after}"


def _print(result: dict[str, Any], found: ContractRun) -> None:
    from wattline.demand_response.money import NO_CURRENCY

    case = found.case
    click.echo(f"{case.workload.name} on {case.workload.servers} servers under "
               f"{case.policy}, {length_words(case.end_s - case.judged_s, case.warmup_s)}")
    print_facility(result["facility"])
    if result["reason"]:
        click.echo(result["reason"])
    if result["planned_on"] is not None:
        click.echo(f"planned on {result['planned_on']}")
    if result["average_power_w"] is not None:
        click.echo(f"average {result['average_power_w']:,.0f} W, reserve "
                   f"{result['reserve_w']:,.0f} W{start_words(result['start_share'])}")
    bids = result["average_power_w"] is not None
    saving = saving_words(result, metered=case.credited) if bids else bill_saving_words(result)
    click.echo(f"cost {result['cost']:.4g} {result['currency'] or NO_CURRENCY}, saving {saving}")
    if bids:
        limit = " (limit 10 %)" if result["programme"] is None else ""  # else its score judges
        click.echo(f"tracking error {result['tracking']['mean']:.1%} in the mean, large for "
                   f"{result['tracking']['exceed_share']:.1%} of the time{limit}")
    _print_programme(result)
    if "curtailment" in result:
        kept = result["curtailment"]
        click.echo(f"curtailment from {kept['baseline_w']:,.0f} W, {kept['baseline_from']}, to "
                   f"{kept['limit_w']:,.0f} W, of which the idle machine draws "
                   f"{kept['idle_w']:,.0f} W: mean {kept['power_w_mean']:,.0f} W, above the limit "
                   f"for {kept['exceed_share']:.2%} of the event")
        click.echo(f"the counted reduction is {kept['reduction_w']:,.0f} W of "
                   f"{kept['promised_w']:,.0f} W promised")
        click.echo(f"the saving contains work that was put off: {kept['unfinished']} jobs are "
                   "unfinished at the end")
    _print_events(result.get("events"))
    shown = found.quality
    if len(shown) > 40:
        shown = tuple(sorted(shown, key=lambda q: -q.mean / q.threshold)[:40])
        click.echo(f"the 40 of {len(found.quality)} types with the largest mean degradation:")
    print_table(("type", "jobs", "unfinished", "mean Q", "threshold", "violations", "met"),
                [_quality_row(q) for q in shown])
    if result["participates"]:
        click.echo(_verdict(result))
    print_bound(result["bound"])
    print_remedy(result["remedy"])
    print_other_hours(result.get("other_hours"))
    for line in result["assumed"]:
        click.echo(f"note: {line}")
    for path in result.get("pictures", []):
        click.echo(path)
    if "run_dir" in result:
        folder = result["run_dir"]
        click.echo(f"run folder: {folder} (wattline report {folder} draws it)")
