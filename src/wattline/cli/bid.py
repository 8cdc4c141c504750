"""`wattline bid`: choose average power, reserve and weights of a contract."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wattline.cli.contract_options import contract_options, scenario_from
from wattline.cli.output import json_option, print_json, print_table, progress

if TYPE_CHECKING:
    from wattline.grid.bidding import Decision
    from wattline.grid.dayahead import Hour
    from wattline.scenario.regulated import Case


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
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE.png",
              help="Draw the cost surface.")
@json_option
def command(scenario_file: Path | None, bid: str | None, hours: int | None,
            hours_most: int | None, others: tuple[Path, ...], least_reserve: str,
            out: Path | None, rounds: int, forecast: int, as_json: bool, **flags: Any) -> None:
    """The best bid, the surface of costs that was seen, and why it stops there."""
    from wattline.scenario.choosing import choose
    from wattline.scenario.regulation import case_of

    scenario = scenario_from(scenario_file, flags | {"bid": bid})
    case = case_of(scenario)
    if case.adaptive:
        raise click.UsageError("adaptive bids are found in the run: use `wattline regulate`")
    if others or least_reserve != "0":
        from wattline.cli.bid_together import bid_together

        bid_together([(scenario_file, scenario), *((p, scenario_from(p, {})) for p in others)],
                     least_reserve, rounds=rounds, forecast=forecast, as_json=as_json)
        return
    with progress("choosing the bid") as tell:
        decision = choose(case, scenario.bidding, rounds=rounds, forecast=forecast,
                          seed=scenario.seed, progress=tell)
    result = _result(case, decision)
    if hours is not None:
        result["hours"] = _plan(case, decision, hours, hours_most)
    if out is not None:
        from wattline.studies.regulation.plots import write_surface

        write_surface(decision, out)
        result["picture"] = str(out)
    if as_json:
        print_json(result)
    else:
        _print(result, decision)


def _result(case: Case, decision: Decision) -> dict[str, Any]:
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
        "saving": outcome.saving if outcome else None,
        "tracking": asdict(outcome.tracking) if outcome else None,
        "qos": {q.name: {"violation_share": q.violation_share, "threshold": q.threshold}
                for q in outcome.quality} if outcome else {},
        "surface": [{"average_power_w": t.average_w, "reserve_w": t.reserve_w, "cost": t.cost,
                     "feasible": t.feasible, "why": t.why} for t in decision.trials],
    }  # fmt: skip


def _plan(case: Case, decision: Decision, hours: int, most: int | None) -> list[dict[str, Any]]:
    from wattline.scenario.choosing import plan_day

    return [hour_entry(h) for h in plan_day(case, decision, hours=hours, hours_max=most)]


def hour_entry(hour: Hour) -> dict[str, Any]:
    """An hour of the plan, for output."""
    return {
        "start_s": hour.start_s, "participates": hour.bid is not None,
        "average_power_w": hour.bid.average_w if hour.bid else None,
        "reserve_w": hour.bid.reserve_w if hour.bid else None,
        "cost": hour.cost, "cost_without": hour.cost_without, "saving": hour.saving,
    }  # fmt: skip


def _print(result: dict[str, Any], decision: Decision) -> None:
    click.echo(decision.reason)
    if decision.bid is not None:
        click.echo(f"average {decision.bid.average_w:,.0f} W, reserve "
                   f"{decision.bid.reserve_w:,.0f} W")
        for name, weight in result["weights"].items():
            click.echo(f"  weight {weight:.3f}  {name}")
    if decision.outcome is not None:
        click.echo(f"cost {result['cost']:.4g}, saving {result['saving']:.1%}, tracking error "
                   f"{result['tracking']['mean']:.1%} in the mean")
    if decision.trials:
        cheapest = sorted(decision.trials, key=lambda t: (not t.feasible, t.cost))[:12]
        print_table(
            ("average W", "reserve W", "cost", "meets all", "what fails"),
            [(round(t.average_w), round(t.reserve_w), t.cost, "yes" if t.feasible else "no",
              t.why[:60]) for t in cheapest],
            title=f"the best of {len(decision.trials)} bids tried",
        )  # fmt: skip
    for row in result.get("hours", []):
        word = "bid" if row["participates"] else "stay out"
        offer = ""
        if row["participates"]:
            offer = f" {row['average_power_w']:,.0f} W, {row['reserve_w']:,.0f} W"
        click.echo(f"hour {row['start_s'] / 3600:g}: {word}{offer}, cost {row['cost']:.4g} "
                   f"instead of {row['cost_without']:.4g}")
