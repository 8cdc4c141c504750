"""`wattline bid`: choose average power, reserve and weights of a contract."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wattline.analysis.folders import run_folder
from wattline.cli.contract_options import contract_options, say_unused, scenario_from
from wattline.cli.other_hours import check_hours, print_other_hours
from wattline.cli.output import json_option, print_json, print_table, progress, share_text
from wattline.model.errors import InputError

if TYPE_CHECKING:
    from wattline.grid.bidding import Decision
    from wattline.grid.dayahead import Hour
    from wattline.scenario.regulated import Case
    from wattline.scenario.regulation import RegulationScenario

PICTURES = (".png", ".svg", ".pdf")


@click.command("bid")
@contract_options
@click.option("--bid", metavar="METHOD", default=None,
              help="auto (the policy's own), descent, closed_form, empirical, exhaustive, "
                   "heuristic, range.")
@click.option("--hours", "hours", type=click.IntRange(min=1), default=None,
              help="Also plan so many hours ahead by the scenario's prices.")
@click.option("--hours-most", type=click.IntRange(min=0), default=None, metavar="N",
              help="Of these, bid only for the N that save most.")
@click.option("--with", "others", multiple=True, type=click.Path(path_type=Path),
              metavar="SITE.toml", help="Another site that bids together with this one.")
@click.option("--least-reserve", metavar="WATTS", default="0",
              help="The least reserve that the market takes, for all sites together.")
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE|DIR",
              help="Draw the cost surface, into this file (.png, .svg, .pdf) or folder.")
@json_option
def command(scenario_file: Path | None, bid: str | None, hours: int | None,
            hours_most: int | None, others: tuple[Path, ...], least_reserve: str,
            out: Path | None, as_json: bool, **flags: Any) -> None:
    """The best bid, the surface of costs that was seen, and why it stops there."""
    from wattline.scenario.choosing import choose, choose_day
    from wattline.scenario.regulation import case_of, planning_of

    picture = _picture_path(out) if out is not None else None
    scenario = scenario_from(scenario_file, flags | {"bid": bid})
    say_unused(scenario, choosing=True)
    together = bool(others) or least_reserve != "0"
    _refuse_unused(scenario, hours=hours, hours_most=hours_most,
                   together=together, drawn=out is not None)
    case = case_of(scenario)
    if together:
        from wattline.cli.bid_together import bid_together

        bid_together([(scenario_file, scenario), *((p, scenario_from(p, {})) for p in others)],
                     least_reserve, as_json=as_json)
        return
    with progress("choosing the bid") as tell:
        search = choose if hours is None else partial(choose_day, hours=hours)
        decision = search(case, scenario.bidding, rounds=scenario.rounds, progress=tell,
                          verify=True, **planning_of(scenario))
    result = _result(scenario, case, decision)
    result["other_hours"] = check_hours(scenario, case, decision.bid, chosen=True)
    if hours is not None:
        result["hours"] = _plan(case, decision, hours, hours_most)
    if picture is not None:
        from wattline.scenario.money import currency_words
        from wattline.studies.regulation.plots import write_surface

        unit = currency_words(scenario)
        result["picture"] = str(picture) if write_surface(decision, picture, unit) else None
    if as_json:
        print_json(result)
    else:
        _print(result, decision)


def _picture_path(out: Path) -> Path:
    """The file to draw into; found out before any work whether it can be written."""
    if out.is_dir() or not out.suffix:
        return run_folder("", str(out)) / "surface.png"
    if out.suffix not in PICTURES:
        raise InputError(f"--out is {out}; pictures end in {', '.join(PICTURES)}")
    run_folder("", str(out.parent))
    return out


def _refuse_unused(scenario: RegulationScenario, *, hours: int | None, hours_most: int | None,
                   together: bool, drawn: bool) -> None:
    """Refuse what would be left unused, rather than leave it unused in silence."""
    if scenario.bid is not None:
        raise click.UsageError("`wattline bid` chooses the bid: `wattline regulate` simulates a "
                               "given one; with --bid auto the scenario's own is put aside")
    if scenario.bidding == "adaptive":
        raise click.UsageError("adaptive bids are found in the run: use `wattline regulate`")
    if scenario.bidding == "dayahead" and hours is None:
        raise click.UsageError("day-ahead bids need --hours N: how many hours to plan")
    if hours_most is not None and hours is None:
        raise click.UsageError("--hours-most needs --hours N: the hours it chooses from")
    if together and (hours is not None or drawn):
        raise click.UsageError("sites that bid together have one hour and no cost surface of one "
                               "site: leave --hours and --out out")
    if together and scenario.check:
        raise click.UsageError("sites that bid together are not tried on other hours: "
                               "leave --check out, and check each by itself")


def _result(scenario: RegulationScenario, case: Case, decision: Decision) -> dict[str, Any]:
    from wattline.scenario.money import assumed_prices

    names = [t.name for t in case.workload.types]
    shown = decision.bid or decision.nearest
    outcome = decision.outcome
    return {
        "participates": decision.participates,
        "average_power_w": decision.bid.average_w if decision.bid else None,
        "reserve_w": decision.bid.reserve_w if decision.bid else None,
        "weights": dict(zip(names, shown.weights, strict=False)) if shown else {},
        "reason": decision.reason,
        "cost": outcome.cost if outcome else None,
        "currency": scenario.prices.currency or None,
        "assumed": assumed_prices(scenario),
        "saving": outcome.saving if outcome else None,
        "tracking": asdict(outcome.tracking) if outcome else None,
        "qos": {q.name: {"violation_share": q.violation_share, "threshold": q.threshold}
                for q in outcome.quality} if outcome else {},
        # Cost, saving, tracking and QoS are its, where there is no bid.
        "nearest": {"average_power_w": decision.nearest.average_w,
                    "reserve_w": decision.nearest.reserve_w}
        if decision.bid is None and decision.nearest else None,
        "surface": [{"average_power_w": t.average_w, "reserve_w": t.reserve_w, "cost": t.cost,
                     "feasible": t.feasible, "why": t.why} for t in decision.trials],
    }  # fmt: skip


def _plan(case: Case, decision: Decision, hours: int, most: int | None) -> list[dict[str, Any]]:
    from wattline.scenario.choosing import plan_day

    plan = plan_day(case, decision, hours=hours, hours_max=most)
    return [hour_entry(h, case.judged_s) for h in plan]


def hour_entry(hour: Hour, first_s: float = 0.0) -> dict[str, Any]:
    """An hour of the plan, for output; its start counts from that of the contract."""
    return {
        "start_s": hour.start_s - first_s, "participates": hour.bid is not None,
        "average_power_w": hour.bid.average_w if hour.bid else None,
        "reserve_w": hour.bid.reserve_w if hour.bid else None,
        "cost": hour.cost, "cost_without": hour.cost_without, "saving": hour.saving,
    }  # fmt: skip


def _short(why: str, length: int = 60) -> str:
    """The first constraint that fails, and how many more do."""
    first, *more = why.split("; ")
    return first[:length] + (f" (and {len(more)} more)" if more else "")


def _print(result: dict[str, Any], decision: Decision) -> None:
    from wattline.scenario.money import NO_CURRENCY

    unit = result["currency"] or NO_CURRENCY
    if "hours" in result:
        taken = sum(row["participates"] for row in result["hours"])
        click.echo(f"bids for {taken} of {len(result['hours'])} hours; the first hour by itself:")
    click.echo(decision.reason)
    if decision.bid is not None:
        click.echo(f"average {decision.bid.average_w:,.0f} W, reserve "
                   f"{decision.bid.reserve_w:,.0f} W")
        for name, weight in result["weights"].items():
            click.echo(f"  weight {weight:.3f}  {name}")
    near = decision.nearest if decision.bid is None else None
    if near is not None:
        click.echo(f"the nearest bid: average {near.average_w:,.0f} W, reserve "
                   f"{near.reserve_w:,.0f} W")
    if decision.outcome is not None:
        click.echo(f"cost {result['cost']:.4g} {unit}, saving {share_text(result['saving'])}, "
                   f"tracking error {result['tracking']['mean']:.1%} in the mean")
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
        )  # fmt: skip
    for row in result.get("hours", []):
        word = "bid" if row["participates"] else "stay out"
        offer = ""
        if row["participates"]:
            offer = f" {row['average_power_w']:,.0f} W, {row['reserve_w']:,.0f} W"
        click.echo(f"hour {row['start_s'] / 3600:g}: {word}{offer}, cost {row['cost']:.4g} "
                   f"instead of {row['cost_without']:.4g} {unit}")
    for line in result["assumed"]:
        click.echo(f"note: {line}")
