"""`wattline energy`: joules for a period, planned by price and carbon, and what they cost."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wattline.cli.choices import Choice, Group
from wattline.cli.output import counted, json_option, print_json, print_table, progress
from wattline.cli.rate_options import carbon_option, price_option
from wattline.cli.simulating import say_budget
from wattline.cli.view import machine_of, machine_options, machine_words
from wattline.model.errors import InputError

if TYPE_CHECKING:
    from wattline.model.jobs import JobTable
    from wattline.model.signal import Signal
    from wattline.physics.budget import EnergyBudget


@click.group("energy", cls=Group)
def command() -> None:
    """Energy budgets: spend joules where they cost least."""


def budget_options(function: Any) -> Any:
    """What describes a budget."""
    options = (
        click.option("--energy", required=True, metavar="JOULES|kWh",
                     help="The budget of the period, as in 900MWh or 3.2e12."),
        click.option("--period", default="7d", show_default=True, metavar="TIME"),
        price_option,
        carbon_option,
        click.option("--start", default="", metavar="DATE",
                     help="Date in the tables at which the period begins; their first otherwise."),
        click.option("--carbon-weight", type=click.FloatRange(0, 1), default=0.0,
                     show_default=True, help="0 follows the price alone, 1 carbon alone."),
    )
    for option in reversed(options):
        function = option(function)
    return function


def budget_of(options: dict[str, Any]) -> tuple[EnergyBudget, Signal | None, Signal | None]:
    """The budget that the options describe, with its price and its carbon intensity."""
    from wattline.model.units import parse_duration, parse_energy
    from wattline.physics.budget import EnergyBudget, cost_of
    from wattline.traces.rates import carbon_from, price_from

    price = price_from(options["price"], start=options["start"]) if options["price"] else None
    carbon = carbon_from(options["carbon"], start=options["start"]) if options["carbon"] else None
    weight = options["carbon_weight"] if price is not None else 1.0
    if weight > 0 and carbon is None and price is not None:
        raise InputError("--carbon-weight is above 0, but there is no --carbon")
    cost = cost_of(price, carbon, weight)
    period_s = parse_duration(options["period"])
    _tell_end(options, price, carbon, period_s)
    return EnergyBudget(parse_energy(options["energy"]), 0.0, period_s, cost), price, carbon


def _tell_end(
    options: dict[str, Any], price: Signal | None, carbon: Signal | None, until_s: float,
    told_s: float = 0.0,
) -> None:
    """Warn of a table that ends before a time, unless it was told that it ends before another."""
    from wattline.traces.rates import end_note

    for name, tariff in (("price", price), ("carbon", carbon)):
        note = end_note(str(options[name]), tariff, until_s, told_s)
        if note:
            click.echo(f"warning: {note}", err=True)


@command.command()
@budget_options
@machine_options
@click.option("--rows", type=click.IntRange(min=1), default=24, show_default=True,
              help="Slots that are printed.")
@json_option
def plan(as_json: bool, rows: int, **options: Any) -> None:
    """Plan the power of each slot so that the budget is spent where it costs least."""
    from wattline.model.units import format_duration, format_energy, format_power
    from wattline.physics.budget import plan as plan_of
    from wattline.traces.tariffs import NO_CURRENCY, currency_of

    machine = machine_of(options)
    budget, price, carbon = budget_of(options)
    found = plan_of(budget, machine.power_w_idle, machine.power_w_max)
    end = [*found.time_s[1:].tolist(), budget.end_s]
    planned_j = found.integral(budget.start_s, budget.end_s)
    flat_w = budget.mean_w
    totals: dict[str, Any] = {
        "budget_j": budget.energy_j,
        "planned_j": planned_j,
        "currency": currency_of(price),
        "cost": _cost(found, price, budget),
        "cost_flat": _flat(flat_w, price, budget),
        "carbon_g": _cost(found, carbon, budget),
        "carbon_g_flat": _flat(flat_w, carbon, budget),
    }
    if as_json:
        print_json({**totals, "machine": machine_words(machine), "slots": [
            {"start_s": float(t), "end_s": float(e), "power_w": float(p)}
            for t, e, p in zip(found.time_s, end, found.value, strict=True)]})
        return
    click.echo(machine_words(machine))
    click.echo(f"budget {format_energy(budget.energy_j)}, flat {format_power(flat_w)}; planned "
               f"{format_energy(planned_j)}")
    if price is not None:
        click.echo(f"cost {totals['cost']:,.2f} planned, {totals['cost_flat']:,.2f} flat, "
                   f"{totals['currency'] or NO_CURRENCY}")
    if carbon is not None:
        click.echo(f"carbon {totals['carbon_g'] / 1e6:,.3f} t planned, "
                   f"{totals['carbon_g_flat'] / 1e6:,.3f} t flat")
    print_table(["from", "until", "power"], [
        [format_duration(t), format_duration(e), format_power(p)]
        for t, e, p in list(zip(found.time_s, end, found.value, strict=True))[:rows]])


@command.command("budget")
@budget_options
@machine_options
@click.option("--trace", type=click.Path(path_type=Path), metavar="LOG",
              help="Job log; a generated one otherwise.")
@click.option("--jobs", type=click.IntRange(min=1), default=1000, show_default=True,
              help="Jobs of the generated log.")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True)
@click.option("--strategy", type=Choice(["idle", "shut", "dvfs", "mix"]), default="dvfs",
              show_default=True, help="What nodes do to draw less.")
@json_option
def budget_command(as_json: bool, **options: Any) -> None:
    """Run jobs under an energy budget, and beside it under a constant cap of the same energy."""
    from wattline.advice.budget import compare, figures
    from wattline.model.units import format_duration, format_energy, format_power
    from wattline.policies.admission.adaptive_setup import Strategy
    from wattline.traces.tariffs import NO_CURRENCY, currency_of

    machine = machine_of(options)
    budget, price, carbon = budget_of(options)
    budget.checked(machine.power_w_idle, machine.power_w_max)
    strategy = Strategy.parse(options["strategy"])
    with progress("budget") as advance:
        jobs = _jobs(options, machine.class_of(0).cores)
        advance(0.1)
        found = compare(jobs, machine, budget, strategy=strategy)
    length_s = max(run.end_s for run in found.runs.values()) - found.budget.start_s
    if length_s > budget.end_s:
        _tell_end(options, price, carbon, length_s, budget.end_s)
    say_budget(found.runs["budget"])
    table = figures(found, price, carbon)
    currency = currency_of(price)
    if as_json:
        print_json({"budget_j": budget.energy_j, "period_s": budget.end_s, "cap_w": budget.mean_w,
                    "periods": found.periods, "currency": currency,
                    "machine": machine_words(machine), "runs": table})
        return
    click.echo(machine_words(machine))
    click.echo(f"{format_energy(budget.energy_j)} for each {format_duration(budget.end_s)}; the "
               f"constant cap is {format_power(budget.mean_w)}")
    print_table(
        ["limit", "energy", "cost" if price is None else f"cost {currency or NO_CURRENCY}",
         "carbon t", "mean wait", "makespan", "over budget", "jobs", "killed", "refused"],
        [[name, format_energy(f["energy_j"]), f["cost"],
          None if f["carbon_g"] is None else f["carbon_g"] / 1e6, format_duration(f["wait_s"]),
          format_duration(f["makespan_s"]), format_energy(f["excess_j"]), f["jobs_run"],
          f["jobs_killed"], f["jobs_refused"]]
         for name, f in table.items()],
    )


def _jobs(options: dict[str, Any], cores: int) -> JobTable:
    """The log's jobs, or generated ones whose sizes are nodes."""
    from wattline.traces import generate, read

    if options["trace"] is not None:
        log = read(options["trace"], machine_procs=options["nodes"] * cores)
        dropped = log.cleaning.count("too_large")
        if dropped:
            click.echo(f"warning: {counted(dropped, 'job')} of the log dropped: larger than "
                       f"{options['nodes']:,} nodes of {cores:,} cores (--nodes, --cores)",
                       err=True)
        return log.jobs
    jobs = generate("lublin", seed=options["seed"], jobs=options["jobs"],
                    nodes=options["nodes"]).jobs
    return jobs.with_columns(procs=jobs.procs * cores)


def _cost(plan: Signal, tariff: Signal | None, budget: EnergyBudget) -> float | None:
    """What a plan costs: the integral of power times tariff, exact for two step functions."""
    if tariff is None:
        return None
    import numpy as np

    inner = np.concatenate((plan.time_s, tariff.time_s))
    inner = inner[(inner > budget.start_s) & (inner < budget.end_s)]
    edges = np.unique(np.concatenate(([budget.start_s], inner, [budget.end_s])))
    return float(np.sum(plan.sample(edges[:-1]) * tariff.sample(edges[:-1]) * np.diff(edges)))


def _flat(power_w: float, tariff: Signal | None, budget: EnergyBudget) -> float | None:
    if tariff is None:
        return None
    return power_w * tariff.integral(budget.start_s, budget.end_s)
