"""`wattline power`: the power cap of a scenario, in the manner of `scontrol show powercap`."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wattline.cli.choices import Group
from wattline.cli.output import json_option, print_json
from wattline.cli.view import machine_in, machine_of, machine_options
from wattline.model.errors import InputError
from wattline.model.files import write_whole

if TYPE_CHECKING:
    from wattline.model.machine import Machine
    from wattline.physics.powercap import CapChange, PowerCap

    Plans = tuple[PowerCap, PowerCap]

scenario_argument = click.argument("scenario", type=click.Path(path_type=Path))
now_option = click.option("--now", default="0", show_default=True, metavar="TIME",
                          help="Time of the scenario's clock; what lies before it is past.")


@click.group("power", cls=Group)
def command() -> None:
    """Show, set and reserve the power cap of a scenario."""


@command.command()
@click.argument("scenario", required=False, type=click.Path(path_type=Path))
@click.option("--at", default="0", show_default=True, metavar="TIME",
              help="Time at which the cap and the power are shown.")
@click.option("--run", "run_folder", type=click.Path(path_type=Path), metavar="RUN",
              help="Run folder of the scenario, for what the machine drew at that time.")
@machine_options
@json_option
def show(scenario: Path | None, run_folder: Path | None, as_json: bool, **options: Any) -> None:
    """Show the seven figures; without SCENARIO, of a machine given by its options."""
    from wattline.model.units import parse_duration
    from wattline.physics.powercap import PowerCap, PowerStatus

    at_s = parse_duration(options["at"])
    if scenario is None:
        machine, plan = machine_of(options), PowerCap()
    else:
        from wattline.scenario.planned_cap import planned_cap

        loaded, machine = machine_in(scenario)
        plan = planned_cap(loaded, machine, str(scenario))
    current_w, off = None, 0
    if run_folder is not None:
        from wattline.analysis import rundir
        from wattline.analysis.moment import at_time

        current_w, off = at_time(rundir.read(run_folder), at_s)
    status = PowerStatus.of(machine, plan, at_s, current_w, off)
    if as_json:
        print_json({
            "MinWatts": status.min_w, "CurrentWatts": status.current_w, "PowerCap": status.cap_w,
            "PowerFloor": status.floor_w, "PowerChangeRate": status.change_rate_w_per_s,
            "AdjustedMaxWatts": status.adjusted_max_w, "MaxWatts": status.max_w,
            "reservations": [vars(r) for r in plan.reservations],
        })
        return
    click.echo(" ".join(f"{name}={value}" for name, value in status.as_scontrol().items()))
    for found in plan.reservations:
        click.echo(f"Reservation={found.name or '(none)'} StartTime={found.start_s:g} "
                   f"Duration={found.duration_s:g} Watts={found.watts:.0f}")


@command.command("set")
@scenario_argument
@click.option("--cap", metavar="WATTS|PERCENT|INFINITE",
              help="The cap; per cent are of MaxWatts, what the machine can draw.")
@click.option("--at", default="", metavar="TIME", help="From this time on; else from the start.")
@click.option("--floor", metavar="WATTS", help="The machine is not switched off below this.")
@click.option("--change-rate", metavar="WATTS", help="How fast power may change, a second.")
@now_option
@json_option
def set_(scenario: Path, as_json: bool, **options: Any) -> None:
    """Set the cap (from the start, or from a time on), the floor, the ramp of a SCENARIO file."""
    from dataclasses import replace

    from wattline.model.units import parse_duration, parse_power
    from wattline.physics.powercap import CapChange, Limits

    if options["cap"] is None and options["floor"] is None and options["change_rate"] is None:
        raise InputError("nothing to set: give --cap, --floor or --change-rate")
    text, machine, before = _read(scenario, replaced=options["cap"] is not None
                                  and not options["at"])
    plan = before
    if options["cap"] is not None:
        cap_w = _watts(options["cap"], machine.power_w_max)
        if options["at"]:
            at_s = parse_duration(options["at"])
            if at_s < parse_duration(options["now"]):
                raise InputError(f"--at {options['at']} is in the past: it is {options['now']} now")
            others = tuple(change for change in plan.changes if change.at_s != at_s)
            plan = replace(plan, changes=(*others, CapChange(at_s, cap_w)))
        else:
            # A change at the start would undo the cap that is set from the start on.
            later = tuple(change for change in plan.changes if change.at_s > 0)
            plan = replace(plan, watts=cap_w, changes=later)
    if options["floor"] is not None:
        plan = replace(plan, floor_w=parse_power(options["floor"]))
    if options["change_rate"] is not None:
        plan = replace(plan, change_rate_w_per_s=parse_power(options["change_rate"]))
    _write(scenario, text, (before, plan.checked(Limits.of(machine))), machine, as_json)
    if options["cap"] is not None and not options["at"] and plan.changes:
        click.echo(f"note: later changes of the cap stay ({_steps(plan.changes)})", err=True)


@command.command()
@scenario_argument
@click.option("--start", required=True, metavar="TIME", help="When the window begins.")
@click.option("--duration", required=True, metavar="TIME", help="How long it lasts.")
@click.option("--watts", required=True, metavar="WATTS|PERCENT",
              help="Watts kept from the jobs; per cent are of MaxWatts.")
@click.option("--name", default="", help="A name for it.")
@now_option
@json_option
def reserve(scenario: Path, as_json: bool, **options: Any) -> None:
    """Reserve watts in advance in a SCENARIO file: jobs are admitted only if they can be kept."""
    from dataclasses import replace

    from wattline.model.units import parse_duration
    from wattline.physics.powercap import Limits, WattReservation
    from wattline.scenario.load import load
    from wattline.scenario.planned_cap import windows

    text, machine, plan = _read(scenario)
    wanted = WattReservation(parse_duration(options["start"]), parse_duration(options["duration"]),
                             _watts(options["watts"], machine.power_w_max), options["name"])
    now_s = parse_duration(options["now"])
    after = plan.reserve(wanted, Limits.of(machine), now_s)
    replace(after, reservations=(*after.reservations, *windows(load(scenario)))).checked(
        Limits.of(machine))
    _write(scenario, text, (plan, after), machine, as_json)


def _read(path: Path, *, replaced: bool = False) -> tuple[str, Machine, PowerCap]:
    """The file's text, its machine, and its cap as a plan that can be changed.

    A cap that is `replaced` from the start on need not be worked out, unless it has later steps.
    """
    from wattline.physics.powercap import PowerCap
    from wattline.scenario.caps import cap_plan, is_share
    from wattline.scenario.model import CapPlan
    from wattline.scenario.planned_cap import resolved

    scenario, machine = machine_in(path)
    text = "" if str(path).startswith("bundled:") else path.read_text("utf-8")
    cap = scenario.power.cap
    if cap is None or isinstance(cap, CapPlan):
        return text, machine, cap_plan(scenario, machine)
    in_file = isinstance(cap, str) and Path(cap).is_file()
    if replaced and not isinstance(cap, tuple):
        if in_file:
            click.echo(f"note: the file {cap} is no longer the cap", err=True)
        return text, machine, PowerCap()
    if in_file:
        raise InputError(
            f"{path}: power.cap is the file {cap}, to which nothing is added here; change that "
            "file, reserve watts in a [[reservations]] section, or replace it with "
            "`power set --cap`"
        )
    plan = resolved(scenario, str(path))
    if not isinstance(cap, tuple) and is_share(cap):
        click.echo(f"note: power.cap was {cap} of the peak without a cap; it is now written as "
                   f"{plan.watts:,.0f} W", err=True)
    return text, machine, plan


def _write(path: Path, text: str, plan: Plans, machine: Machine, as_json: bool) -> None:
    """Put the plan into the file: all of it, or none."""
    from wattline.physics.powercap import Limits
    from wattline.scenario.cap_file import with_cap
    from wattline.scenario.caps import CHOICES, has_keeper
    from wattline.scenario.load import validate

    if not text:
        raise InputError("a bundled scenario cannot be changed; copy it to a file first")
    before, after = plan
    table = after.to_mapping()
    written = with_cap(text, before.to_mapping(), table)
    scenario = validate(tomllib.loads(written), str(path))
    write_whole(path, written)
    if not has_keeper(scenario):
        click.echo(f"note: nothing keeps this cap yet; {CHOICES}", err=True)
    limits = Limits.of(machine)
    if as_json:
        print_json({"cap": table, "min_w": limits.min_w, "off_w": limits.off_w})
        return
    click.echo(f"{path}: {_told(after)}")
    click.echo(f"the machine draws {limits.min_w:,.0f} W idle and {limits.off_w:,.0f} W with all "
               "its nodes off, below which no cap can be")
    lowest = min(after.signal(limits.max_w).value)
    if lowest < limits.min_w:
        click.echo(f"{lowest:,.0f} W is below idle: only a policy that switches nodes off keeps it")


def _steps(changes: Iterable[CapChange]) -> str:
    from wattline.model.units import format_duration

    return ", ".join(f"{change.watts:,.0f} W from {format_duration(change.at_s)} on"
                     for change in sorted(changes, key=lambda change: change.at_s))


def _told(plan: PowerCap) -> str:
    """The plan in words."""
    from wattline.model.units import format_duration

    parts = ["no cap from the start" if math.isinf(plan.watts)
             else f"a cap of {plan.watts:,.0f} W from the start"]
    if plan.changes:
        parts.append(_steps(plan.changes))
    for found in plan.reservations:
        name = f" ({found.name})" if found.name else ""
        parts.append(f"{found.watts:,.0f} W reserved{name} from {format_duration(found.start_s)} "
                     f"for {format_duration(found.duration_s)}")
    if plan.floor_w:
        parts.append(f"a floor of {plan.floor_w:,.0f} W")
    if plan.change_rate_w_per_s:
        parts.append(f"changes of at most {plan.change_rate_w_per_s:,.0f} W/s")
    return "; ".join(parts)


def _watts(text: str, max_w: float = math.nan) -> float:
    from wattline.model.units import parse_fraction, parse_power

    if text.strip().upper() == "INFINITE":
        return math.inf
    if text.strip().endswith("%") and not math.isnan(max_w):
        return round(parse_fraction(text) * max_w, 6)
    return parse_power(text)
