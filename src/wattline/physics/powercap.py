"""The power cap of a machine over time: from the start, changed at a time, reserved in advance.

A reservation takes watts away from the jobs for a time, as a watt reservation in Slurm did: with
1,774,080 W of the machine, reserving 532,224 W leaves a cap of 70 %. A planned window is known
before it begins, so that no job need be running into it; a change on the fly is not.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from wattline.model.errors import InputError
from wattline.model.machine import Machine
from wattline.model.signal import Signal


@dataclass(frozen=True)
class CapChange:
    """From this time on the cap is so many watts; nobody knows of it before."""

    at_s: float
    watts: float


@dataclass(frozen=True)
class WattReservation:
    """So many watts are kept from the jobs during a window that is known in advance."""

    start_s: float
    duration_s: float
    watts: float
    name: str = ""

    @property
    def end_s(self) -> float:
        return self.start_s + self.duration_s


@dataclass(frozen=True)
class DrawLimits:
    """What a machine can draw: all idle, all at full speed, all off."""

    min_w: float
    max_w: float
    off_w: float

    @classmethod
    def of(cls, machine: Machine) -> DrawLimits:
        off = sum(group.count * group.node_class.power_w_off for group in machine.groups)
        return cls(machine.power_w_idle, machine.power_w_max, off)


@dataclass(frozen=True)
class PowerCap:
    """The whole plan: a cap from the start, changes, reservations, a floor and a ramp limit."""

    watts: float = math.inf
    changes: tuple[CapChange, ...] = ()
    reservations: tuple[WattReservation, ...] = ()
    floor_w: float = 0.0
    change_rate_w_per_s: float = 0.0
    """How fast decisions may change the power, up or down; 0 for no limit."""

    def checked(self, limits: DrawLimits, now_s: float = -math.inf) -> PowerCap:
        """This plan, refused with the reason where it cannot be."""
        _non_negative("floor", self.floor_w)
        _non_negative("change_rate", self.change_rate_w_per_s)
        if self.floor_w > limits.max_w:
            raise InputError(
                f"the floor of {self.floor_w:,.0f} W is above what the machine can draw, "
                f"{limits.max_w:,.0f} W"
            )
        self._refuse_low(self.watts, "the cap", limits)
        for change in self.changes:
            self._refuse_low(change.watts, f"the cap from {change.at_s:g} s on", limits)
        for reservation in self.reservations:
            self._check_reservation(reservation, limits, now_s)
        return self

    def reserve(self, wanted: WattReservation, limits: DrawLimits, now_s: float) -> PowerCap:
        """The plan with one reservation more, or the reason why not."""
        if wanted.start_s < now_s:
            raise InputError(
                f"the reservation starts at {wanted.start_s:g} s, which is in the past: "
                f"it is {now_s:g} s now"
            )
        return replace(self, reservations=(*self.reservations, wanted)).checked(limits)

    def signal(self, max_w: float = math.inf, start_s: float = 0.0) -> Signal:
        """The cap as a step function: changes in order, less what is reserved at each time.

        What is reserved is taken from the cap, or from `max_w` where there is none.
        """
        edges = {start_s}
        for change in self.changes:
            edges.add(change.at_s)
        for reservation in self.reservations:
            edges |= {reservation.start_s, reservation.end_s}
        steps = []
        changes = sorted(self.changes, key=lambda c: c.at_s)
        times = [change.at_s for change in changes]
        for time_s in sorted(edges):
            place = bisect_right(times, time_s)
            cap = changes[place - 1].watts if place else self.watts
            held = sum(r.watts for r in self.reservations if r.start_s <= time_s < r.end_s)
            base = max_w if math.isinf(cap) else cap
            steps.append((time_s, base - held if held else cap))
        return Signal.from_steps(steps, "W")

    def _check_reservation(self, wanted: WattReservation, limits: DrawLimits, now_s: float) -> None:
        what = f"reservation {wanted.name or 'at ' + format(wanted.start_s, 'g') + ' s'}"
        if wanted.start_s < now_s:
            raise InputError(f"{what} starts in the past; it is {now_s:g} s now")
        if not (math.isfinite(wanted.duration_s) and wanted.duration_s > 0):
            raise InputError(f"{what}: duration is {wanted.duration_s:g} s, must be above 0")
        if not (math.isfinite(wanted.watts) and wanted.watts > 0):
            raise InputError(f"{what}: watts is {wanted.watts:g}, must be above 0")
        plan = self.signal(limits.max_w)
        for time_s in plan.time_s:
            if wanted.start_s <= time_s < wanted.end_s:
                left = plan.at(float(time_s))
                if left < self.floor_w:
                    raise InputError(
                        f"{what} leaves {left:,.0f} W, below the floor of {self.floor_w:,.0f} W"
                    )
                self._refuse_low(left, what + " leaves a cap that", limits)

    def _refuse_low(self, cap_w: float, what: str, limits: DrawLimits) -> None:
        if math.isnan(cap_w) or cap_w <= 0:
            raise InputError(f"{what} is {cap_w:g} W, must be above 0")
        if cap_w < limits.off_w:
            raise InputError(
                f"{what} is {cap_w:,.0f} W, below the {limits.off_w:,.0f} W that the machine "
                "draws with all its nodes off"
            )
        if cap_w < self.floor_w:
            raise InputError(f"{what} is {cap_w:,.0f} W, below the floor of {self.floor_w:,.0f} W")

    def to_mapping(self) -> dict[str, Any]:
        """In the form of a scenario's `[power.cap]` table."""
        found: dict[str, Any] = {}
        if math.isfinite(self.watts):
            found["watts"] = self.watts
        if self.changes:
            found["changes"] = [{"at_s": c.at_s, "watts": c.watts} for c in self.changes]
        if self.reservations:
            found["reservations"] = [
                {"start_s": r.start_s, "duration_s": r.duration_s, "watts": r.watts,
                 **({"name": r.name} if r.name else {})}
                for r in self.reservations
            ]
        if self.floor_w:
            found["floor_w"] = self.floor_w
        if self.change_rate_w_per_s:
            found["change_rate_w_per_s"] = self.change_rate_w_per_s
        return found

    @classmethod
    def from_mapping(cls, given: Mapping[str, Any]) -> PowerCap:
        """From a `[power.cap]` table; times and powers may be written as people write them."""
        unknown = set(given) - {"watts", "changes", "reservations", "floor_w",
                                "change_rate_w_per_s"}
        if unknown:
            raise InputError(f"power.cap: unknown field '{sorted(unknown)[0]}'")
        return cls(
            watts=_watts(given.get("watts", math.inf), "watts"),
            changes=tuple(
                CapChange(_time(c, "at_s"), _watts(c.get("watts"), "changes.watts"))
                for c in _tables(given.get("changes", ()), "changes")
            ),
            reservations=tuple(
                WattReservation(_time(r, "start_s"), _time(r, "duration_s"),
                                _watts(r.get("watts"), "reservations.watts"),
                                str(r.get("name", "")))
                for r in _tables(given.get("reservations", ()), "reservations")
            ),
            floor_w=_watts(given.get("floor_w", 0.0), "floor_w"),
            change_rate_w_per_s=_watts(given.get("change_rate_w_per_s", 0.0),
                                       "change_rate_w_per_s"),
        )


@dataclass(frozen=True)
class PowerStatus:
    """The seven figures of `scontrol show powercap`."""

    min_w: float
    current_w: float
    cap_w: float
    floor_w: float
    change_rate_w_per_s: float
    adjusted_max_w: float
    """The most that can be drawn with the nodes that are off left off."""
    max_w: float

    @classmethod
    def of(
        cls, machine: Machine, plan: PowerCap, at_s: float = 0.0,
        current_w: float | None = None, nodes_off: int = 0,
    ) -> PowerStatus:
        limits = DrawLimits.of(machine)
        node = machine.class_of(0)
        off = nodes_off * (node.power_w_active - node.power_w_off)
        return cls(
            min_w=limits.min_w,
            current_w=limits.min_w if current_w is None else current_w,
            cap_w=plan.signal(limits.max_w).at(at_s),
            floor_w=plan.floor_w,
            change_rate_w_per_s=plan.change_rate_w_per_s,
            adjusted_max_w=limits.max_w - off,
            max_w=limits.max_w,
        )

    def as_scontrol(self) -> dict[str, str]:
        """By the names and in the order that `scontrol show powercap` prints."""
        cap = "INFINITE" if math.isinf(self.cap_w) else f"{self.cap_w:.0f}"
        return {
            "MinWatts": f"{self.min_w:.0f}",
            "CurrentWatts": f"{self.current_w:.0f}",
            "PowerCap": cap,
            "PowerFloor": f"{self.floor_w:.0f}",
            "PowerChangeRate": f"{self.change_rate_w_per_s:.0f}",
            "AdjustedMaxWatts": f"{self.adjusted_max_w:.0f}",
            "MaxWatts": f"{self.max_w:.0f}",
        }


def _tables(given: Any, name: str) -> Iterable[Mapping[str, Any]]:
    if not isinstance(given, (list, tuple)) or not all(isinstance(t, Mapping) for t in given):
        raise InputError(f"power.cap.{name}: expected a list of tables")
    return given


def _time(table: Mapping[str, Any], name: str) -> float:
    from wattline.model.units import parse_duration

    value = table.get(name)
    if value is None:
        raise InputError(f"power.cap: a table lacks '{name}'")
    return parse_duration(value) if isinstance(value, str) else float(value)


def _watts(value: Any, name: str) -> float:
    from wattline.model.units import parse_power, says_no_cap

    if isinstance(value, str):
        return math.inf if says_no_cap(value) else parse_power(value)
    if value is None or isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InputError(f"power.cap.{name} is {value!r}, expected watts")
    return float(value)


def _non_negative(name: str, value: float) -> None:
    if not (math.isfinite(value) and value >= 0):
        raise InputError(f"the {name} is {value:g}, must be >= 0")
