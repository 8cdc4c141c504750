"""`wattline energy`: joules for a period, planned by price and carbon, and what they cost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from wattline.cli.choices import Choice, Group
from wattline.cli.finite import FiniteRange
from wattline.cli.live_options import live_options, needed, which
from wattline.cli.machine_options import machine_of, machine_options
from wattline.cli.needs import absent, given, option
from wattline.cli.output import json_option, print_json, print_table, progress
from wattline.cli.rate_options import carbon_option, price_option
from wattline.cli.simulating import warn_assumed
from wattline.cli.zone import ZONE_HELP, zone_option

GENERATED = absent("trace", why="it is of the log that is generated")
RATED = given("price", "carbon", why="it is of their tables")
DATED = given("price", "carbon", "trace", why="it is of their times")


@click.group("energy", cls=Group)
def command() -> None:
    """Energy budgets: spend joules where they cost least."""


def budget_options(function: Any) -> Any:
    """What describes a budget."""
    options = (
        click.option("--energy", required=True, metavar="JOULES|kWh",
                     help="The budget of the period, as in 900MWh or 3.2e12."),
        click.option("--period", default="7d", show_default=True, metavar="TIME",
                     help="How long a period is."),
        price_option,
        carbon_option,
        option("--start", default="", metavar="DATE", needs=RATED,
               help="Date in the tables at which the period begins; by the dates of the log "
                    "otherwise, and their first where there is none."),
        option("--carbon-weight", type=FiniteRange(0, 1), default=0.0, show_default=True,
               help="0 follows the price alone, 1 carbon alone.",
               needs=(given("price"), given("carbon"))),
    )
    for add in reversed(options):
        function = add(function)
    return function


@command.command()
@budget_options
@machine_options()
@option("--zone", default="", metavar="ZONE", help=ZONE_HELP, needs=RATED)
@click.option("--rows", type=click.IntRange(min=1), default=24, show_default=True,
              help="Slots that are printed.")
@json_option
def plan(as_json: bool, rows: int, **options: Any) -> None:
    """Plan the power of each slot so that the budget is spent where it costs least."""
    from wattline.advice.energy import plan_energy
    from wattline.model.units import format_duration, format_energy, format_power
    from wattline.traces.tariffs import NO_CURRENCY

    found = plan_energy(machine=machine_of(options), **_budget(options))
    warn_assumed(found.remarks)
    if as_json:
        print_json(found.to_dict())
        return
    click.echo(found.machine)
    click.echo(f"budget {format_energy(found.budget_j)}, flat {format_power(found.flat_w)}; "
               f"planned {format_energy(found.planned_j)}")
    if found.cost is not None:
        click.echo(f"cost {found.cost:,.2f} planned, {found.cost_flat:,.2f} flat, "
                   f"{found.currency or NO_CURRENCY}")
    if found.carbon_g is not None and found.carbon_g_flat is not None:
        click.echo(f"carbon {found.carbon_g / 1e6:,.3f} t planned, "
                   f"{found.carbon_g_flat / 1e6:,.3f} t flat")
    print_table(["from", "until", "power"], [
        [format_duration(slot.start_s), format_duration(slot.end_s), format_power(slot.power_w)]
        for slot in found.slots[:rows]])


@command.command("budget")
@budget_options
@machine_options(else_from="by the header of --trace")
@click.option("--trace", type=click.Path(path_type=Path), metavar="LOG",
              help="Job log; a generated one otherwise.")
@option("--zone", default="", metavar="ZONE", help=ZONE_HELP, needs=DATED)
@option("--jobs", type=click.IntRange(min=1), default=1000, show_default=True,
        help="Jobs of the generated log.", needs=GENERATED)
@option("--seed", type=click.IntRange(min=0), default=1, show_default=True,
        help="Seed of the generated log.", needs=GENERATED)
@click.option("--strategy", type=Choice(["idle", "shut", "dvfs", "mix", "cap"]), default="dvfs",
              show_default=True, help="What nodes do to draw less.")
@json_option
def budget_command(as_json: bool, **options: Any) -> None:
    """Run jobs under an energy budget, and beside it under a constant cap of the same energy."""
    from wattline.advice.energy import try_budget
    from wattline.model.units import format_duration, format_energy, format_power
    from wattline.traces.tariffs import NO_CURRENCY

    with progress("budget") as advance:
        found = try_budget(
            machine=machine_of(options), progress=advance, **_budget(options),
            **{name: options[name] for name in ("trace", "jobs", "seed", "strategy")})
    warn_assumed(found.remarks)
    if as_json:
        print_json(found.to_dict())
        return
    budget = found.budget
    click.echo(found.machine)
    click.echo(f"{format_energy(budget.energy_j)} for each {format_duration(budget.end_s)}; the "
               f"constant cap is {format_power(budget.mean_w)}")
    priced = options["price"] is not None
    print_table(
        ["limit", "energy", f"cost {found.currency or NO_CURRENCY}" if priced else "cost",
         "carbon t", "mean wait", "makespan", "over budget", "jobs", "killed", "refused"],
        [[name, format_energy(f["energy_j"]), f["cost"],
          None if f["carbon_g"] is None else f["carbon_g"] / 1e6, format_duration(f["wait_s"]),
          format_duration(f["makespan_s"]), format_energy(f["excess_j"]), f["jobs_run"],
          f["jobs_killed"], f["jobs_refused"]]
         for name, f in found.runs.items()],
    )


@command.command("status")
@click.argument("run", metavar="RUN|SCENARIO", required=False, type=click.Path(path_type=Path))
@option("--at", metavar="TIME", needs=absent("live", why="it shows how things stand now"),
        help="After the first submission, as in 6h. [default: the end of the run]")
@live_options
@json_option
def status_command(run: Path | None, at: str | None, as_json: bool, live: bool,
                   config: Path | None) -> None:
    """Show a budget at a time: what each period has drawn and promised, and who waits and why.

    With --live, the joules of the running machine by its controller's books.
    """
    site = which(live, config, run, "RUN")
    if site is not None:
        from wattline.cli.live_power import show_energy

        show_energy(site, as_json)
        return
    needed(run, "RUN|SCENARIO")
    assert run is not None
    from wattline.advice.energy_status import energy_status
    from wattline.model.units import format_duration, format_energy

    with progress("status"):
        found = energy_status(run, at=at)
    if as_json:
        print_json(found.to_dict())
        return
    zero_s = found.periods[0].start_s
    click.echo(f"{format_duration(found.now_s - zero_s)} after the first period began, in period "
               f"{found.now.period}: {format_energy(found.now.left_j)} of "
               f"{format_energy(found.now.budget_j)} left (carry = {found.carry}, unspent = "
               f"{found.unspent})")
    print_table(["period", "begins", "budget", "drawn", "idle to come", "promised", "left"], [
        [row.period, format_duration(row.start_s - zero_s),
         *(format_energy(joules) for joules in (row.budget_j, row.drawn_j, row.idle_j,
                                                row.promised_j, row.left_j))]
        for row in found.periods])
    if not found.waiting:
        click.echo("no job waits")
        return
    print_table(["job", "nodes", "waits", "needs", "why"], [
        [str(job.job_id), job.nodes, format_duration(found.now_s - job.since_s),
         format_energy(job.needs_j), job.why] for job in found.waiting])


@command.command("metered")
@click.option("--store", required=True, metavar="FILE|URL", help="The ledger.")
@click.option("--energy", required=True, metavar="JOULES|kWh",
              help="The budget of each period, as in 900MWh or 3.2e12.")
@click.option("--period", default="7d", show_default=True, metavar="TIME",
              help="How long a period is.")
@click.option("--start", required=True, metavar="DATE", help="When the first period begins.")
@click.option("--end", default="", metavar="DATE", help="[default: the last reading]")
@click.option("--unspent", type=Choice(["expire", "carry"]), default="expire", show_default=True,
              help="What becomes of joules that a period leaves.")
@click.option("--meter", default="", metavar="NAME[,NAME]",
              help="Feeds that were imported. [default: the nodes' meters]")
@zone_option
@click.option("-M", "--clusters", multiple=True, metavar="CLUSTER",
              help="Only this cluster; may be repeated.")
@json_option
def metered_command(as_json: bool, **options: Any) -> None:
    """Hold a budget against what the meters of a ledger saw, period by period."""
    from wattline.account.measured.periods import Period
    from wattline.advice.energy_metered import energy_metered
    from wattline.model.units import format_energy

    found = energy_metered(**options)
    warn_assumed(found.remarks)
    if as_json:
        print_json(found.to_dict())
        return
    written = Period(None, None, found.zone).written
    click.echo(f"joules of {found.source}; times of {found.zone.name}")
    print_table(["period", "begins", "seen", "budget", "drawn", "left", "over"], [
        [row.period, written(row.start_s), f"{row.seen:.0%}", format_energy(row.budget_j),
         format_energy(row.drawn_j), format_energy(max(row.left_j, 0.0)),
         format_energy(-row.left_j) if row.left_j < 0 else ""]
        for row in found.periods])


def _budget(options: dict[str, Any]) -> dict[str, Any]:
    """What describes the budget, of all options."""
    names = ("energy", "period", "price", "carbon", "start", "zone", "carbon_weight")
    return {name: options[name] for name in names}
