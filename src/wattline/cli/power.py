"""`wattline power`: the power cap of a scenario, in the manner of `scontrol show powercap`."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wattline.cli.output import json_option, print_json
from wattline.cli.view import machine_in, machine_of, machine_options
from wattline.model.errors import InputError
from wattline.model.files import write_whole

if TYPE_CHECKING:
    from wattline.model.machine import Machine
    from wattline.physics.powercap import PowerCap

    Plans = tuple[PowerCap, PowerCap]

scenario_argument = click.argument("scenario", type=click.Path(path_type=Path))
now_option = click.option("--now", default="0", show_default=True, metavar="TIME",
                          help="Time of the scenario's clock; what lies before it is past.")


@click.group("power")
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
        machine, plan = _read(scenario)[1:]
    current_w, off = _measured(run_folder, at_s) if run_folder is not None else (None, 0)
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

    text, machine, before = _read(scenario)
    plan = before
    if options["cap"] is None and options["floor"] is None and options["change_rate"] is None:
        raise InputError("nothing to set: give --cap, --floor or --change-rate")
    if options["cap"] is not None:
        cap_w = _watts(options["cap"], machine.power_w_max)
        if options["at"]:
            at_s = parse_duration(options["at"])
            if at_s < parse_duration(options["now"]):
                raise InputError(f"--at {options['at']} is in the past: it is {options['now']} now")
            plan = replace(plan, changes=(*plan.changes, CapChange(at_s, cap_w)))
        else:
            plan = replace(plan, watts=cap_w)
    if options["floor"] is not None:
        plan = replace(plan, floor_w=parse_power(options["floor"]))
    if options["change_rate"] is not None:
        plan = replace(plan, change_rate_w_per_s=parse_power(options["change_rate"]))
    _write(scenario, text, (before, plan.checked(Limits.of(machine))), machine, as_json)


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
    from wattline.model.units import parse_duration
    from wattline.physics.powercap import Limits, WattReservation

    text, machine, plan = _read(scenario)
    wanted = WattReservation(parse_duration(options["start"]), parse_duration(options["duration"]),
                             _watts(options["watts"], machine.power_w_max), options["name"])
    now_s = parse_duration(options["now"])
    after = plan.reserve(wanted, Limits.of(machine), now_s)
    _write(scenario, text, (plan, after), machine, as_json)


def _read(path: Path) -> tuple[str, Machine, PowerCap]:
    """The file's text, its machine, and its cap as a plan."""
    from wattline.physics.powercap import CapChange, PowerCap
    from wattline.scenario.energy import cap_plan
    from wattline.scenario.model import CapPlan

    scenario, machine = machine_in(path)
    cap = scenario.power.cap
    if cap is None or isinstance(cap, CapPlan):
        plan = cap_plan(scenario, machine)
    elif isinstance(cap, tuple):
        plan = PowerCap(changes=tuple(CapChange(step.time_s, step.watts) for step in cap))
    else:
        watts = _watts(str(cap))
        # A fraction is of the peak that the jobs reach, which only a simulation knows.
        if watts <= 1:
            raise InputError(f"{path}: power.cap is {cap}; `wattline power` needs it in watts")
        plan = PowerCap(watts)
    text = "" if str(path).startswith("bundled:") else path.read_text("utf-8")
    return text, machine, plan


def _write(path: Path, text: str, plan: Plans, machine: Machine, as_json: bool) -> None:
    """Put the plan into the file: all of it, or none."""
    from wattline.physics.powercap import Limits
    from wattline.scenario.cap_file import with_cap
    from wattline.scenario.load import validate

    if not text:
        raise InputError("a bundled scenario cannot be changed; copy it to a file first")
    before, after = plan
    table = after.to_mapping()
    written = with_cap(text, before.to_mapping(), table)
    validate(tomllib.loads(written), str(path))
    write_whole(path, written)
    limits = Limits.of(machine)
    if as_json:
        print_json({"cap": table, "min_w": limits.min_w, "off_w": limits.off_w})
        return
    click.echo(f"{path}: power.cap = {table}")
    click.echo(f"the machine draws {limits.min_w:,.0f} W idle and {limits.off_w:,.0f} W with all "
               "its nodes off, below which no cap can be")
    lowest = min(after.signal(limits.max_w).value)
    if lowest < limits.min_w:
        click.echo(f"{lowest:,.0f} W is below idle: only a policy that switches nodes off keeps it")


def _measured(folder: Path, at_s: float) -> tuple[float, int]:
    """Power at a time of a run, and how many nodes were off then."""
    import numpy as np

    from wattline.analysis import rundir
    from wattline.model.run import EventKind

    run = rundir.read(folder)
    log = run.events
    place = int(np.searchsorted(log.time_s, at_s, side="right")) - 1
    if place < 0 or at_s > run.end_s:
        raise InputError(f"--at {at_s:g} s lies outside of the run, which goes from "
                         f"{run.start_s:g} s to {run.end_s:g} s")
    node = np.flatnonzero((log.kind == EventKind.NODE) & (np.arange(len(log)) <= place))
    kind = run.machine.groups[0].node_class
    off = _nodes_off(zip(log.time_s[node].tolist(), log.value[node].tolist(), strict=True),
                     kind.shutdown_s, kind.boot_s)
    return float(log.power_w[place]), off


def _nodes_off(switched: Iterable[tuple[float, float]], shutdown_s: float, boot_s: float) -> int:
    """Nodes that are off after these events: each change is logged as it begins and when done.

    A node counts as off from the end of its shutdown to the beginning of its boot.
    """
    off = 0.0
    ends: dict[bool, list[float]] = {True: [], False: []}
    for time_s, nodes in switched:
        down = nodes < 0
        done = bool(ends[down]) and math.isclose(ends[down][0], time_s, abs_tol=1e-6)
        if done:
            ends[down].pop(0)
        else:
            ends[down].append(time_s + (shutdown_s if down else boot_s))
        if done == down:
            off -= nodes
    return int(off)


def _watts(text: str, max_w: float = math.nan) -> float:
    from wattline.model.units import parse_fraction, parse_power

    if text.strip().upper() == "INFINITE":
        return math.inf
    if text.strip().endswith("%") and not math.isnan(max_w):
        return round(parse_fraction(text) * max_w, 6)
    return parse_power(text)
