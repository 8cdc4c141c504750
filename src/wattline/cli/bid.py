"""`wattline bid`: choose average power, reserve and weights of a contract."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wattline.analysis.folders import run_folder
from wattline.cli.contract_options import contract_options, say_unused, scenario_from
from wattline.cli.needs import given, option
from wattline.cli.other_hours import (
    print_bound,
    print_facility,
    print_other_hours,
    print_remedy,
    saving_words,
    start_words,
)
from wattline.cli.output import json_option, print_json, print_table, progress
from wattline.model.errors import InputError

if TYPE_CHECKING:
    from wattline.grid.bidding import Decision

PICTURES = (".png", ".svg", ".pdf")
OF_A_SITE = ("workload", "servers", "utilisation", "level", "burst", "mislabelled", "log",
             "log_start", "seed", "pue", "meter_noise")
"""Flags that describe one site; all others are of the contract or of the rule that keeps it."""


@click.command("bid")
@contract_options
@click.option("--bid", metavar="METHOD", default=None,
              help="auto (the policy's own), descent, closed_form, empirical, exhaustive, "
                   "heuristic, range.")
@click.option("--hours", "hours", type=click.IntRange(min=1), default=None,
              metavar="N", help="Also plan N hours ahead by the scenario's prices.")
@option("--hours-most", type=click.IntRange(min=0), default=None, metavar="N",
        help="Of these, bid only for the N that save most.", needs=given("hours"))
@click.option("--with", "others", multiple=True, type=click.Path(path_type=Path),
              metavar="SITE.toml",
              help="Another site that bids together with this one; flags then hold for all sites, "
                   "and those of a workload or machine are refused. No --policy auto, no bound and "
                   "no search for what would help: these are of one site.")
@option("--least-reserve", metavar="WATTS", default="0",
        help="The least reserve that the market takes, for all sites together.")
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE|DIR",
              help="Draw the cost surface, into this file (.png, .svg, .pdf) or folder.")
@json_option
def command(scenario_file: Path | None, bid: str | None, hours: int | None,
            hours_most: int | None, others: tuple[Path, ...], least_reserve: str,
            out: Path | None, as_json: bool, **flags: Any) -> None:
    """The best bid, the surface of costs that was seen, and why it stops there."""
    from wattline.demand_response.api import bid as choose_bid
    from wattline.demand_response.api import refuse_unused
    from wattline.demand_response.hours import planned_hours_words
    from wattline.demand_response.reading import contract_of

    picture = _picture_path(out) if out is not None else None
    flags |= {"bid": bid}
    if others:
        _refuse_of_a_site(flags)
    scenario = scenario_from(scenario_file, flags)
    together = bool(others) or least_reserve != "0"
    if not together:  # of several sites it is said together
        say_unused(scenario, choosing=True)
    refuse_unused(contract_of(scenario), hours=hours, hours_most=hours_most)
    if together:
        from wattline.cli.bid_together import bid_together

        _refuse_together(hours=hours, drawn=out is not None)
        bid_together([(scenario_file, scenario), *((p, scenario_from(p, flags)) for p in others)],
                     least_reserve, as_json=as_json)
        return
    with progress(f"choosing the bid on {planned_hours_words(scenario)}", spoken=True) as advance:
        found = choose_bid(scenario, hours=hours, hours_most=hours_most, progress=advance)
    decision, result = found.decision, found.to_dict()
    if picture is not None:
        from wattline.demand_response.money import NO_CURRENCY
        from wattline.demand_response.plots import write_surface

        unit = result["currency"] or NO_CURRENCY
        result["picture"] = str(picture) if write_surface(decision, picture, unit) else None
    if as_json:
        print_json(result)
    else:
        _print(result, decision)


def _picture_path(out: Path) -> Path:
    """The file to draw into; found out before any work whether it can be written."""
    if out.is_dir() or not out.suffix:
        return run_folder("", str(out)) / "surface.png"
    if out.suffix.lower() not in PICTURES:
        raise InputError(f"--out is {out}; pictures end in {', '.join(PICTURES)}")
    run_folder("", str(out.parent))
    return out


def _refuse_together(*, hours: int | None, drawn: bool) -> None:
    """Refuse what sites that bid together would leave unused."""
    if hours is not None or drawn:
        raise InputError("sites that bid together have one hour and no cost surface of one site: "
                         "leave --hours and --out out")


def _refuse_of_a_site(flags: dict[str, Any]) -> None:
    """Refuse flags that describe one site, where there are several."""
    given = [f"--{name.replace('_', '-')}" for name in OF_A_SITE if flags[name] is not None]
    if given:
        raise InputError(f"{', '.join(given)} beside --with: nobody can say of which site; give it "
                         "in each site's file")


def _short(why: str, length: int = 60) -> str:
    """The first constraint that fails, and how many more do."""
    first, *more = why.split("; ")
    return first[:length] + (f" (and {len(more)} more)" if more else "")


def _print(result: dict[str, Any], decision: Decision) -> None:
    from wattline.demand_response.money import NO_CURRENCY

    unit = result["currency"] or NO_CURRENCY
    if "hours" in result:
        taken = sum(row["participates"] for row in result["hours"])
        click.echo(f"bids for {taken} of {len(result['hours'])} hours; the first hour by itself:")
    print_facility(result["facility"])
    click.echo(decision.reason)
    if result["planned_on_hours"]:
        click.echo(f"planned on {result['planned_on']}, not on the contract's own (--forecast 0 "
                   "plans on that)")
    if decision.bid is not None:
        click.echo(f"average {decision.bid.average_w:,.0f} W, reserve "
                   f"{decision.bid.reserve_w:,.0f} W{start_words(decision.bid.start_share)}")
        for name, weight in result["weights"].items():
            click.echo(f"  weight {weight:.3f}  {name}")
    near = decision.nearest if decision.bid is None else None
    if near is not None:
        click.echo(f"the nearest bid: average {near.average_w:,.0f} W, reserve "
                   f"{near.reserve_w:,.0f} W")
    if decision.outcome is not None:
        saving = saving_words(result, metered=decision.outcome.drawn_w is not None)
        click.echo(f"cost {result['cost']:.4g} {unit}, saving {saving}, tracking error "
                   f"{result['tracking']['mean']:.1%} in the mean")
    if result["least_offer"]:
        click.echo(result["least_offer"])
    print_bound(result["bound"])
    print_remedy(result["remedy"])
    print_other_hours(result["other_hours"])
    if "picture" in result:
        click.echo(result["picture"] or "no picture: nothing was simulated")
    if decision.trials:
        cheapest = sorted(decision.trials, key=lambda t: (not t.feasible, t.cost))[:12]
        print_table(
            ("average W", "reserve W", f"cost {unit}", "meets all", "what fails"),
            [(round(t.average_w), round(t.reserve_w), t.cost, "yes" if t.feasible else "no",
              _short(t.why)) for t in cheapest],
            title=f"the best of {len(decision.trials)} bids tried",
        )
    for row in result.get("hours", []):
        word = "bid" if row["participates"] else "stay out"
        offer = ""
        if row["participates"]:
            offer = f" {row['average_power_w']:,.0f} W, {row['reserve_w']:,.0f} W"
        click.echo(f"hour {row['start_s'] / 3600:g}: {word}{offer}, cost {row['cost']:.4g} "
                   f"instead of {row['cost_without']:.4g} {unit}")
    for line in result["assumed"]:
        click.echo(f"note: {line}")
