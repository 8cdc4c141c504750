"""The cap of a node: set through the knobs that are allowed, within the node's own limits.

On one knob it is set as it is. Several share it step by step, by what their devices draw and what
the node draws beyond them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from wattline.live.actuator import Actuator, Held, Knob, Remembers
from wattline.live.agent.devices import DevicePowers
from wattline.live.agent.settings import LimitSettings
from wattline.live.node_cap import keep_node_cap
from wattline.model.errors import InputError

TOO_MUCH_W = 1.0
"""So much above its cap is worth a word."""


class Caps:
    """What an agent may change on its node, and nothing else."""

    def __init__(
        self, actuator: Actuator | None, limits: LimitSettings,
        devices: DevicePowers | None = None,
    ) -> None:
        self._actuator, self._limits = actuator, limits
        self._knobs = _allowed(actuator, limits)
        self._devices = devices if len(self._knobs) > 1 else None
        self._node_w = math.nan
        self._ordered_w = math.inf
        self.cap_w = math.inf
        """What holds on the allowed knobs, as far as it could be read."""
        self._look()

    @property
    def found(self) -> Mapping[str, Any]:
        """What was there before the first change, for those knobs that were changed."""
        return self._actuator.found() if isinstance(self._actuator, Remembers) else {}

    def held(self) -> dict[str, float]:
        """What holds on each knob now, as far as it can be read."""
        if not isinstance(self._actuator, Remembers):
            return {}
        return {held.knob: held.value for held in self._actuator.held()}

    def about_to_change(self) -> dict[str, Any]:
        """What is going to be found; to be on disk before anything is changed."""
        if not isinstance(self._actuator, Remembers):
            return {}
        names = {knob.name for knob in self._knobs}
        now = {name: state for name, state in self._actuator.states().items() if name in names}
        return {**now, **self._actuator.found()}

    def remember(self, found: Mapping[str, Any]) -> None:
        if isinstance(self._actuator, Remembers):
            self._actuator.remember(found)

    def refusal(self, cap_w: float) -> str:
        """Why this cap may not be set here; empty where it may."""
        if not self._knobs:
            return "this node has no knobs that may be set (limits.knobs)"
        if math.isnan(cap_w) or not (self._limits.low <= cap_w <= self._limits.high
                                     or cap_w == math.inf):
            return (f"{cap_w:g} W is outside of what this node allows "
                    f"({self._limits.low:g} to {self._limits.high:g} W)")
        return ""

    def set(self, cap_w: float) -> str:
        """Set a cap that may be set; what went wrong.

        Several knobs get equal parts as long as nobody knows what their devices draw.
        """
        if cap_w == math.inf or self._actuator is None:
            return self.restore()
        self._ordered_w = cap_w
        if self._known():
            return self._step()
        share_w = cap_w / len(self._knobs)
        bounded = len(self._knobs) > 1
        return self._done([self._actuator.apply(
            knob.name, min(max(share_w, knob.low), knob.high) if bounded else share_w)
            for knob in self._knobs])

    def follow(self, node_w: float) -> str:
        """Share the cap anew by what node and devices draw now; what went wrong."""
        if self._devices is None:
            return ""
        self._devices.read()
        self._node_w = node_w
        return self._step() if self._ordered_w < math.inf and self._known() else ""

    def _known(self) -> bool:
        return (self._devices is not None and not math.isnan(self._node_w)
                and all(knob.name in self._devices.powers_w for knob in self._knobs))

    def _step(self) -> str:
        assert self._devices is not None
        assert self._actuator is not None
        found, held = keep_node_cap(self._ordered_w, self._node_w, self._devices.powers_w,
                                    self._actuator, self.held())
        self.cap_w = self._ordered_w
        short = [f"with all devices at their lowest the node may draw {found.short_w:.0f} W more "
                 "than its cap"] if found.short_w >= TOO_MUCH_W else []
        return "; ".join(filter(None, (_complaint(held), *short)))

    def restore(self) -> str:
        """Put back what was found; what went wrong."""
        held = [] if self._actuator is None else list(self._actuator.restore())
        self.cap_w = self._ordered_w = math.inf
        self._look()
        return _complaint(held)

    def _done(self, held: list[Held]) -> str:
        self.cap_w = sum(each.value for each in held)
        return _complaint(held)

    def _look(self) -> None:
        names = {knob.name for knob in self._knobs}
        if isinstance(self._actuator, Remembers) and names:
            self.cap_w = sum(each.value for each in self._actuator.held() if each.knob in names)


def _complaint(held: list[Held]) -> str:
    return "; ".join(f"{each.knob}: {each.reason}" for each in held if not each.ok)


def _allowed(actuator: Actuator | None, limits: LimitSettings) -> list[Knob]:
    knobs = {} if actuator is None else {knob.name: knob for knob in actuator.knobs()}
    for name in limits.knobs:
        if name not in knobs:
            raise InputError(f"limits.knobs: there is no knob '{name}' on this node; there are: "
                             f"{', '.join(knobs) or 'none'}")
        if knobs[name].unit != "W":
            raise InputError(f"limits.knobs: '{name}' is not set in watts")
    chosen = [knobs[name] for name in limits.knobs]
    domains = {knob.domain for knob in chosen}
    if "node" in domains and len(chosen) > 1:
        raise InputError("limits.knobs: one of the whole node stands alone, because its parts are "
                         f"in it: {', '.join(f'{k.name} ({k.domain})' for k in chosen)}")
    return chosen
