"""The power cap of a scenario: what it is at a time, and changed in the scenario's file."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from wattline.model.cap_value import WATTS, read_cap_value
from wattline.model.errors import InputError, warn
from wattline.model.files import write_whole
from wattline.model.machine import Machine
from wattline.model.run import Run
from wattline.model.run_clock import RunClock, parse_time
from wattline.model.shown import Shown
from wattline.model.units import (
    format_duration,
    parse_duration,
    says_no_cap,
    watts_of,
)
from wattline.physics.powercap import CapChange, DrawLimits, PowerCap, PowerStatus, WattReservation
from wattline.scenario import objects
from wattline.scenario.cap_file import with_cap
from wattline.scenario.caps import CHOICES, cap_plan, has_keeper, is_cap_file
from wattline.scenario.load import validate
from wattline.scenario.machines import machine_from, machine_in
from wattline.scenario.model import CapPlan, Scenario
from wattline.scenario.planned_cap import by_clock, planned_cap, resolved, windows


@dataclass(frozen=True, repr=False)
class PowerNow(Shown):
    """The seven figures of `scontrol show powercap`, and the watts that are reserved.

    >>> import wattline as wl
    >>> machine = wl.Machine(nodes=4, node_idle_w=90, node_active_w=300)
    >>> wl.power_status(machine).to_dict()["MinWatts"]
    360.0
    """

    status: PowerStatus
    reservations: tuple[WattReservation, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        status = self.status
        return {
            "MinWatts": status.min_w, "CurrentWatts": status.current_w, "PowerCap": status.cap_w,
            "PowerFloor": status.floor_w, "PowerChangeRate": status.change_rate_w_per_s,
            "AdjustedMaxWatts": status.adjusted_max_w, "MaxWatts": status.max_w,
            "reservations": [vars(each) for each in self.reservations],
        }


@dataclass(frozen=True, repr=False)
class CapWritten(Shown):
    """The plan that now stands in a scenario's file.

    >>> import wattline as wl
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = wl.copy_examples(folder)
    ...     wl.set_power(f"{folder}/week.toml", cap="8kW").plan.to_mapping()["watts"]
    8000.0
    """

    path: Path
    plan: PowerCap
    limits: DrawLimits
    remarks: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        return {"cap": self.plan.to_mapping(), "min_w": self.limits.min_w,
                "off_w": self.limits.off_w}


def power_status(
    source: Machine | objects.Machine | str | Path, *, at: float | str = 0.0,
    run: Run | str | Path | None = None,
) -> PowerNow:
    """The power cap of a scenario's file, or of a machine without one, at a time.

    With a `run` of the scenario, also what the machine drew then.

    >>> import wattline as wl
    >>> machine = wl.Machine(nodes=4, node_idle_w=90, node_active_w=300)
    >>> wl.power_status(machine).status.max_w
    1200.0
    """
    plan, at_s = PowerCap(), 0.0
    if isinstance(source, (str, Path)):
        scenario, machine = machine_in(source)
        plan, at_s = planned_cap(scenario, machine, str(source)), _seconds("--at", at, scenario)
    else:
        machine, at_s = machine_from(source), RunClock().at(parse_time(at), "--at")
    current_w, off = None, 0
    if run is not None:
        from wattline.analysis import rundir
        from wattline.analysis.moment import at_time

        made = run if isinstance(run, Run) else rundir.read(run)
        current_w, off = at_time(made, made.start_s + at_s)
    return PowerNow(PowerStatus.of(machine, plan, at_s, current_w, off), plan.reservations)


def set_power(
    scenario: str | Path, *, cap: float | str | None = None, at: float | str | None = None,
    floor: float | str | None = None, change_rate: float | str | None = None,
    now: float | str = 0.0,
) -> CapWritten:
    """Write the cap (from the start, or from a time on), the floor or the ramp into a scenario.

    `cap` is watts, per cent of rated power (`"70%"`), or `"none"`.

    >>> import wattline as wl
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "capped.toml"
    ...     said = file.write_text('''policy = { power = "dvfs" }
    ... trace = { generate = "lublin", jobs = 20 }
    ... machine = { nodes = 32, node_idle_w = 90, node_active_w = 300 }''')
    ...     found = wl.set_power(file, cap="8kW")
    ...     wl.power_status(file).status.cap_w
    8000.0
    """
    if cap is None and floor is None and change_rate is None:
        raise InputError("nothing to set: give --cap, --floor or --change-rate")
    path, later = Path(scenario), at not in (None, "")
    scenario_read, text, machine, before, remarks = _read(
        path, replaced=cap is not None and not later)
    plan = before
    if cap is not None:
        no_cap = isinstance(cap, str) and says_no_cap(cap)
        cap_w = math.inf if no_cap else _watts("--cap", cap, machine.power_w_max)
        if later:
            at_s = _seconds("--at", at or 0.0, scenario_read)
            if at_s < _seconds("--now", now, scenario_read):
                raise InputError(f"--at {at} is in the past: it is {now} now")
            others = tuple(change for change in plan.changes if change.at_s != at_s)
            # A step of a scenario has watts: what the machine can draw limits nothing.
            step_w = machine.power_w_max if no_cap else cap_w
            plan = replace(plan, changes=(*others, CapChange(at_s, step_w)))
        else:
            # A change at the start would undo the cap that is set from the start on.
            plan = replace(plan, watts=cap_w,
                           changes=tuple(change for change in plan.changes if change.at_s > 0))
    if floor is not None:
        plan = replace(plan, floor_w=watts_of(floor))
    if change_rate is not None:
        plan = replace(plan, change_rate_w_per_s=watts_of(change_rate))
    remarks += _write(path, text, before, plan.checked(DrawLimits.of(machine)))
    if cap is not None and not later and plan.changes:
        remarks.append(f"later changes of the cap stay ({steps_text(plan.changes)})")
    warn(remarks)
    return CapWritten(path, plan, DrawLimits.of(machine), tuple(remarks))


def reserve_power(
    scenario: str | Path, *, start: float | str, duration: float | str, watts: float | str,
    name: str = "", now: float | str = 0.0,
) -> CapWritten:
    """Reserve watts in advance in a scenario's file: jobs are admitted only if they can be kept.

    >>> import wattline as wl
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "capped.toml"
    ...     said = file.write_text('''policy = { power = "dvfs" }
    ... trace = { generate = "lublin", jobs = 20 }
    ... machine = { nodes = 32, node_idle_w = 90, node_active_w = 300 }''')
    ...     capped = wl.set_power(file, cap="8kW")
    ...     found = wl.reserve_power(file, start="1h", duration="30m", watts="2kW")
    >>> [each.watts for each in found.plan.reservations]
    [2000.0]
    """
    path = Path(scenario)
    scenario_read, text, machine, before, remarks = _read(path)
    limits = DrawLimits.of(machine)
    length_s = parse_duration(duration) if isinstance(duration, str) else float(duration)
    wanted = WattReservation(_seconds("--start", start, scenario_read), length_s,
                             _watts("--watts", watts, machine.power_w_max), name)
    after = before.reserve(wanted, limits, _seconds("--now", now, scenario_read))
    there = by_clock(scenario_read, lambda clock: windows(scenario_read, clock))
    replace(after, reservations=(*after.reservations, *there)).checked(limits)
    remarks += _write(path, text, before, after)
    warn(remarks)
    return CapWritten(path, after, limits, tuple(remarks))


def steps_text(changes: Iterable[CapChange]) -> str:
    """Later steps of a cap, in words."""
    return ", ".join(f"{change.watts:,.0f} W from {format_duration(change.at_s)} on"
                     for change in sorted(changes, key=lambda change: change.at_s))


def _read(
    path: Path, *, replaced: bool = False
) -> tuple[Scenario, str, Machine, PowerCap, list[str]]:
    """The scenario, the file's text, the machine, the cap as a plan, and what is to be said.

    A cap that is `replaced` from the start on need not be worked out, unless it has later steps.
    """
    scenario, machine = machine_in(path)
    text = "" if str(path).startswith("bundled:") else path.read_text("utf-8")
    cap = scenario.power.cap
    if cap is None or isinstance(cap, CapPlan):
        plan = by_clock(scenario, lambda clock: cap_plan(scenario, machine, clock))
        return scenario, text, machine, plan, []
    in_file = is_cap_file(cap)
    if replaced and not isinstance(cap, tuple):
        said = [f"the file {cap} is no longer the cap"] if in_file else []
        return scenario, text, machine, PowerCap(), said
    if in_file:
        raise InputError(
            f"{path}: power.cap is the file {cap}, to which nothing is added here; change that "
            "file, reserve watts in a [[reservations]] section, or replace it with "
            "`power set --cap`"
        )
    plan = by_clock(scenario, lambda clock: resolved(scenario, machine, str(path), clock))
    said = []
    if not isinstance(cap, tuple) and (value := read_cap_value(cap)).of != WATTS:
        said = [f"power.cap was {cap} of {value.reference}; it is now written as "
                f"{plan.watts:,.0f} W"]
    return scenario, text, machine, plan, said


def _write(path: Path, text: str, before: PowerCap, after: PowerCap) -> list[str]:
    """Put the plan into the file: all of it, or none."""
    if not text:
        raise InputError("a bundled scenario cannot be changed; copy it to a file first")
    written = with_cap(text, before.to_mapping(), after.to_mapping())
    scenario = validate(tomllib.loads(written), str(path))
    write_whole(path, written)
    return [] if has_keeper(scenario) else [f"nothing keeps this cap yet; {CHOICES}"]


def _watts(option: str, given: float | str, rated_w: float) -> float:
    try:
        return read_cap_value(given).watts(rated_w)
    except InputError as error:
        raise InputError(f"{option}: {error}") from None


def _seconds(option: str, given: float | str, scenario: Scenario) -> float:
    """A date, or a time after the first submission, in seconds after that."""
    time = parse_time(given)
    return by_clock(scenario, lambda clock: clock.at(time, option))
