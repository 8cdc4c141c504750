"""`wattline bid` with several sites: the parts of one joint bid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wattline.cli.other_hours import bill_saving_words
from wattline.cli.output import print_json, print_table, progress
from wattline.grid.qos import met_as_judged
from wattline.model.errors import InputError

if TYPE_CHECKING:
    from wattline.demand_response.jointly import Together
    from wattline.scenario.model import Scenario


def bid_together(
    given: Sequence[tuple[Path | None, Scenario]],
    least_reserve: str,
    *,
    as_json: bool,
) -> None:
    """Choose and print the joint bid of these scenarios."""
    from wattline.demand_response.building import case_of
    from wattline.demand_response.hours import planned_words, planning_of
    from wattline.demand_response.joint_hours import check_together
    from wattline.demand_response.jointly import (
        choose_together,
        planned_together,
        without_events_of_others,
    )
    from wattline.demand_response.money import NO_CURRENCY, assumed_prices, currency_of
    from wattline.demand_response.reading import contract_of
    from wattline.model.progress import Stages

    least_w = _least_w(least_reserve)
    sites = _named(given)
    _look_at(sites)
    sites = without_events_of_others(sites)
    first = planned_together(list(sites.values()))
    planned = contract_of(first)
    with progress("choosing the joint bid", spoken=True) as tell:
        stages = Stages(tell)
        cases = {name: case_of(scenario) for name, scenario in sites.items()}
        found = choose_together(
            cases,
            {name: contract_of(scenario).bidding for name, scenario in sites.items()},
            reserve_w_least=least_w, rounds=planned.rounds,
            progress=stages.stage(0.95), **planning_of(first),
        )
        other_hours = check_together(first, found, stages.stage(1.0))
    result = _result(found) | {
        "planned_on_hours": planned.forecast, "planned_on": planned_words(first),
        "other_hours": other_hours,
        "currency": currency_of(first, next(iter(cases.values()))),
        "assumed": assumed_prices(first)}
    if as_json:
        print_json(result)
    else:
        _print(found, result, result["currency"] or NO_CURRENCY)


def _least_w(text: str) -> float:
    from wattline.model.units import parse_power

    least_w = parse_power(text)
    if least_w < 0:
        raise InputError(f"--least-reserve is {text}; a reserve is 0 W or more")
    return least_w


def _named(given: Sequence[tuple[Path | None, Scenario]]) -> dict[str, Scenario]:
    """The scenarios by their files; of two of one name the second is told apart."""
    sites: dict[str, Scenario] = {}
    for number, (path, scenario) in enumerate(given):
        name = path.stem if path else "site"
        sites[f"{name}-{number + 1}" if name in sites else name] = scenario
    return sites


def _look_at(sites: Mapping[str, Scenario]) -> None:
    """Refuse what sites that bid together cannot do, and say what of them has no effect."""
    from wattline.demand_response.building import AUTO, rule_of
    from wattline.demand_response.jointly import same_arrivals, unused_of
    from wattline.demand_response.reading import contract_of

    contracts = {name: contract_of(scenario) for name, scenario in sites.items()}
    first = next(iter(contracts.values()))
    for name, contract in contracts.items():
        if contract.bidding in ("adaptive", "dayahead", "given") or contract.curtailment:
            raise InputError(f"site '{name}': a joint bid is chosen; give no bid, no `adaptive` or "
                             "`dayahead` bidding and no curtailment")
        if rule_of(sites[name])[0] == AUTO:
            raise InputError(f"site '{name}': of sites that bid together the policy is not chosen; "
                             "give one, like aqa or qoscap (`wattline bid` for the site alone says "
                             "which)")
        for field in unused_of(contract, first):
            click.echo(f"wattline: site '{name}': {field} has no effect: sites that bid together "
                       "take it from the first", err=True)
    _say_unused(sites)
    for name, other in same_arrivals(sites):
        click.echo(f"wattline: sites '{name}' and '{other}' have the same jobs at the same "
                   "moments: give them different seeds (trace.seed)", err=True)


def _say_unused(sites: Mapping[str, Scenario]) -> None:
    """What has no effect, once for all sites that it holds of, and of which where not of all."""
    from wattline.demand_response.remarks import remarks

    named: dict[str, list[str]] = {}
    for name, scenario in sites.items():
        for remark in remarks(scenario, choosing=True):
            named.setdefault(remark, []).append(name)
    for remark, names in named.items():
        of = "" if len(names) == len(sites) else " and ".join(f"site '{n}'" for n in names) + ": "
        click.echo(f"wattline: {of}{remark}", err=True)


def _result(found: Together) -> dict[str, Any]:
    bill, joint = found.bill, found.joint
    parts = {}
    for name, part in joint.parts.items():
        run = found.runs[name]
        names = [t.name for t in run.case.workload.types]
        parts[name] = {
            "participates": part.reserve_w > 0,
            "average_power_w": part.average_w, "reserve_w": part.reserve_w,
            "weights": dict(zip(names, part.weights, strict=False)),
            "cost": run.settlement.cost,
            "constraints_met": met_as_judged(run.outcome.violations, run.quality)
            if part.reserve_w > 0 else None,
            "reason": found.decisions[name].reason,
        }
    return {
        "participates": found.participates,
        "average_power_w": joint.average_w if bill else None,
        "reserve_w": joint.reserve_w if bill else None,
        "cost": found.cost,
        "saving_against_uncontrolled": found.saving_against_uncontrolled if bill else None,
        "saving": bill.saving if bill else None,
        "tracking": asdict(bill.tracking) if bill else None,
        "constraints_met": found.constraints_met,
        "fails": found.fails if bill else [],
        "cost_apart": found.cost_apart if bill else None,
        "reason": joint.reason,
        "least_offer": found.least_offer,
        "sites": parts,
    }


def _print(found: Together, result: dict[str, Any], unit: str) -> None:
    joint, bill = found.joint, found.bill
    click.echo(joint.reason)
    if result["planned_on_hours"]:
        click.echo(f"planned on {result['planned_on']}, not on the "
                   "contract's own (--forecast 0 plans on that)")
    rows = [(name, "bid" if part.reserve_w > 0 else "stay out", round(part.average_w),
             round(part.reserve_w), found.runs[name].settlement.cost)
            for name, part in joint.parts.items()]
    print_table(("site", "", "average W", "reserve W", f"cost alone {unit}"), rows)
    _print_reasons(found)
    if bill is not None:
        click.echo(f"together: average {joint.average_w:,.0f} W, reserve {joint.reserve_w:,.0f} W, "
                   f"cost of all sites {found.cost:.4g} (apart {found.cost_apart:.4g}) {unit}, "
                   f"saving {bill_saving_words(result)}, tracking error "
                   f"{bill.tracking.mean:.1%} in the mean, large for "
                   f"{bill.tracking.exceed_share:.1%} of the time")
        failed = "; ".join(found.fails)
        click.echo(f"in the contract's own time: {f'fails {failed}' if failed else 'all met'}")
    if found.least_offer:
        click.echo(found.least_offer)
    _print_hours(result["other_hours"])
    for line in result["assumed"]:
        click.echo(f"note: {line}")


def _print_reasons(found: Together) -> None:
    """Why sites stay out, and who says what would help them: only a site's own search does."""
    out = [name for name, part in found.joint.parts.items() if part.reserve_w <= 0]
    for name in out:
        click.echo(f"  {name}: {found.decisions[name].reason}")
    if any(found.decisions[name].bid is None for name in out):
        click.echo("`wattline bid` for such a site alone says what would help, and its bound")


def _print_hours(found: dict[str, Any] | None) -> None:
    """How often the joint bid holds, and what fails."""
    if found is None:
        return
    low, high = found["met_share"]
    click.echo(f"on {found['hours']} other hours (other arrivals and signals, the same bids): all "
               f"constraints met in {found['met']} ({low:.0%} to {high:.0%} with 95 % confidence), "
               f"saving {bill_saving_words(found)}")
    if found["fails"]:
        listed = ", ".join(f"{name} in {times}" for name, times in list(found["fails"].items())[:3])
        click.echo(f"  fails there: {listed}")
