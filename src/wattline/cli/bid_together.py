"""`wattline bid` with several sites: the parts of one joint bid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wattline.cli.output import print_json, print_table, progress
from wattline.grid.qos import met_as_judged
from wattline.model.errors import InputError

if TYPE_CHECKING:
    from wattline.demand_response.jointly import Together
    from wattline.scenario.model import Scenario


def bid_together(
    sites: Sequence[tuple[Path | None, Scenario]],
    least_reserve: str,
    *,
    as_json: bool,
) -> None:
    """Choose and print the joint bid of these scenarios."""
    from wattline.demand_response.building import case_of
    from wattline.demand_response.hours import planning_of
    from wattline.demand_response.jointly import choose_together, unused_of
    from wattline.demand_response.money import assumed_prices, currency_of, currency_words
    from wattline.demand_response.reading import contract_of
    from wattline.model.units import parse_power

    names = [path.stem if path else "site" for path, _ in sites]
    for number, name in enumerate(names):
        if name in names[:number]:
            names[number] = f"{name}-{number + 1}"
    contracts = [contract_of(scenario) for _, scenario in sites]
    for name, contract in zip(names, contracts, strict=True):
        if contract.bidding in ("adaptive", "dayahead", "given") or contract.curtailment:
            raise InputError(f"site '{name}': a joint bid is chosen; give no bid, no `adaptive` or "
                             "`dayahead` bidding and no curtailment")
        for field in unused_of(contract, contracts[0]):
            click.echo(f"wattline: site '{name}': {field} has no effect: sites that bid together "
                       "take it from the first", err=True)
    with progress("choosing the joint bid", spoken=True) as tell:
        found = choose_together(
            {name: case_of(s) for name, (_, s) in zip(names, sites, strict=True)},
            {name: each.bidding for name, each in zip(names, contracts, strict=True)},
            reserve_w_least=parse_power(least_reserve), rounds=contracts[0].rounds, progress=tell,
            **planning_of(sites[0][1]),
        )
    first = sites[0][1]  # whose prices all follow
    money = {"currency": currency_of(first), "assumed": assumed_prices(first)}
    if as_json:
        print_json(_result(found) | money)
        return
    _print(found, currency_words(first))
    for line in assumed_prices(first):
        click.echo(f"note: {line}")


def _result(found: Together) -> dict[str, Any]:
    bill, joint = found.bill, found.joint
    parts = {}
    for name, part in joint.parts.items():
        run = found.runs[name]
        names = [t.name for t in run.case.workload.types]
        parts[name] = {
            "participates": part.reserve_w > 0,
            "average_power_w": part.average_w, "reserve_w": part.reserve_w,
            "weights": dict(zip(names, part.weights, strict=False)), "cost": part.cost,
            "constraints_met": met_as_judged(run.outcome.violations, run.quality)
            if part.reserve_w > 0 else None,
            "reason": found.decisions[name].reason,
        }
    return {
        "participates": found.participates,
        "average_power_w": joint.average_w if bill else None,
        "reserve_w": joint.reserve_w if bill else None,
        "cost": bill.cost if bill else joint.cost,
        "saving": bill.saving if bill else None,
        "tracking": asdict(bill.tracking) if bill else None,
        "constraints_met": found.constraints_met,
        "cost_apart": found.cost_apart if bill else None,
        "reason": joint.reason,
        "sites": parts,
    }


def _print(found: Together, unit: str) -> None:
    joint, bill = found.joint, found.bill
    click.echo(joint.reason)
    rows = [(name, "bid" if part.reserve_w > 0 else "stay out", round(part.average_w),
             round(part.reserve_w), part.cost) for name, part in joint.parts.items()]
    print_table(("site", "", "average W", "reserve W", f"cost alone {unit}"), rows)
    if bill is not None:
        click.echo(f"together: average {joint.average_w:,.0f} W, reserve {joint.reserve_w:,.0f} W, "
                   f"cost {bill.cost:.4g} (apart {found.cost_apart:.4g}) {unit}, tracking error "
                   f"{bill.tracking.mean:.1%} in the mean, large for "
                   f"{bill.tracking.exceed_share:.1%} of the time")
