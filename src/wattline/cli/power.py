"""`wattline power`: the power cap of a scenario, in the manner of `scontrol show powercap`."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wattline.cli.choices import Group
from wattline.cli.live_options import live_options, needed, order, which
from wattline.cli.machine_options import machine_of, machine_options
from wattline.cli.needs import absent, given, option
from wattline.cli.output import json_option, print_json
from wattline.model.errors import InputError

if TYPE_CHECKING:
    from wattline.advice.power import CapWritten
    from wattline.physics.powercap import PowerCap

scenario_argument = click.argument("scenario", required=False, type=click.Path(path_type=Path))
NOW = "Time of the scenario's clock; what lies before it is past."


FILES = absent("live", why="it is a field of a scenario")
NEW = absent("remove", why="the name says which")


@click.group("power", cls=Group)
def command() -> None:
    """Show, set and reserve the power cap of a scenario, or with --live of the machine itself."""


@command.command()
@click.argument("scenario", required=False, type=click.Path(path_type=Path))
@option("--at", default="0", show_default=True, metavar="TIME",
        needs=absent("live", why="it shows what holds now, and what is reserved ahead"),
        help="Time at which the cap and the power are shown.")
@click.option("--run", "run_folder", type=click.Path(path_type=Path), metavar="RUN",
              help="Run folder of the scenario, for what the machine drew at that time.")
@machine_options(absent("live", why="the machine is the controller's"),
                 absent("scenario", why="that has the machine"))
@live_options
@json_option
def show(scenario: Path | None, run_folder: Path | None, as_json: bool, live: bool,
         config: Path | None, **options: Any) -> None:
    """Show the seven figures; without SCENARIO, of a machine given by its options."""
    site = which(live, config, scenario or run_folder, "SCENARIO and --run")
    if site is not None:
        from wattline.cli.live_power import show_live

        show_live(site, as_json)
        return
    from wattline.advice.power import power_status

    source = machine_of(options) if scenario is None else scenario
    found = power_status(source, at=options["at"], run=run_folder)
    if as_json:
        print_json(found.to_dict())
        return
    click.echo(" ".join(f"{name}={value}" for name, value in found.status.as_scontrol().items()))
    for each in found.reservations:
        click.echo(f"Reservation={each.name or '(none)'} StartTime={each.start_s:g} "
                   f"Duration={each.duration_s:g} Watts={each.watts:.0f}")


@command.command("set")
@scenario_argument
@click.option("--cap", metavar="WATTS|PERCENT|none",
              help="The cap, or none; per cent are of MaxWatts, its rated power.")
@option("--at", default="", metavar="TIME", help="From this time on; else from the start.",
        needs=(absent("live", why="a cap is set now; `reserve` lowers it for a time ahead"),
               given("cap", why="floor and change rate hold from the start on")))
@option("--floor", metavar="WATTS", help="The machine is not switched off below this.",
        needs=FILES)
@option("--change-rate", metavar="WATTS", help="How fast power may change, per second.",
        needs=FILES)
@option("--now", default="0", show_default=True, metavar="TIME", help=NOW,
        needs=(absent("live", why="it is now"), given("at", why="a cap from the start on is "
                                                                "never past")))
@live_options
@json_option
def set_(scenario: Path | None, as_json: bool, live: bool, config: Path | None,
         **options: Any) -> None:
    """Set the cap (from the start, or from a time on), the floor, the ramp of a SCENARIO file.

    With --live, the cap that the running controller keeps, from now on.
    """
    site = which(live, config, scenario, "SCENARIO")
    if site is not None:
        from wattline.controller.speaking import cap_fields, live_status

        if options["cap"] is None:
            raise InputError("nothing to set: give --cap")
        order(site, "set_cap", cap_fields(options["cap"], live_status(site)), as_json)
        return
    needed(scenario, "SCENARIO")
    assert scenario is not None
    from wattline.advice.power import set_power

    _print(set_power(scenario, **options), as_json)


@command.command()
@scenario_argument
@option("--start", metavar="TIME", needs=NEW,
        help="When the window begins; with --live a date, or a time from now on.")
@option("--duration", metavar="TIME", needs=NEW, help="How long it lasts.")
@option("--watts", metavar="WATTS|PERCENT", needs=NEW,
        help="Watts kept from the jobs; per cent are of MaxWatts.")
@click.option("--name", default="", help="A name for it.")
@option("--remove", is_flag=True, help="With --live: withdraw the reservation of this name.",
        needs=given("live", why="take it out of the file otherwise"))
@option("--now", default="0", show_default=True, metavar="TIME", help=NOW,
        needs=absent("live", why="it is now"))
@live_options
@json_option
def reserve(scenario: Path | None, as_json: bool, live: bool, config: Path | None, remove: bool,
            **options: Any) -> None:
    """Reserve watts in advance in a SCENARIO file: jobs are admitted only if they can be kept.

    With --live, in the books of the running controller.
    """
    site = which(live, config, scenario, "SCENARIO")
    if remove:
        assert site is not None
        if not options["name"]:
            needed(None, "--name")
        order(site, "unreserve", {"name": options["name"]}, as_json)
        return
    if site is None:
        needed(scenario, "SCENARIO")
    missing = [name for name in ("start", "duration", "watts") if options[name] is None]
    if missing:
        needed(None, f"--{missing[0]}")
    if site is not None:
        from wattline.controller.speaking import live_status, window_fields

        fields = window_fields(options["start"], options["duration"], options["watts"],
                               options["name"], live_status(site))
        order(site, "reserve", fields, as_json)
        return
    assert scenario is not None
    from wattline.advice.power import reserve_power

    _print(reserve_power(scenario, **options), as_json)


def _print(found: CapWritten, as_json: bool) -> None:
    for line in found.remarks:
        click.echo(f"note: {line}", err=True)
    if as_json:
        print_json(found.to_dict())
        return
    limits = found.limits
    click.echo(f"{found.path}: {_told(found.plan)}")
    click.echo(f"the machine draws {limits.min_w:,.0f} W idle and {limits.off_w:,.0f} W with all "
               "its nodes off, below which no cap can be")
    lowest = min(found.plan.signal(limits.max_w).value)
    if lowest < limits.min_w:
        click.echo(f"{lowest:,.0f} W is below idle: only a policy that switches nodes off keeps it")


def _told(plan: PowerCap) -> str:
    """The plan in words."""
    from wattline.advice.power import steps_text
    from wattline.model.units import format_duration

    parts = ["no cap from the start" if math.isinf(plan.watts)
             else f"a cap of {plan.watts:,.0f} W from the start"]
    if plan.changes:
        parts.append(steps_text(plan.changes))
    for found in plan.reservations:
        name = f" ({found.name})" if found.name else ""
        parts.append(f"{found.watts:,.0f} W reserved{name} from {format_duration(found.start_s)} "
                     f"for {format_duration(found.duration_s)}")
    if plan.floor_w:
        parts.append(f"a floor of {plan.floor_w:,.0f} W")
    if plan.change_rate_w_per_s:
        parts.append(f"changes of at most {plan.change_rate_w_per_s:,.0f} W/s")
    return "; ".join(parts)
