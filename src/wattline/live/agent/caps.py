"""The cap of a node: set through the knobs that are allowed, within the node's own limits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from wattline.live.actuator import Actuator, Held, Knob, Remembers
from wattline.live.agent.settings import LimitSettings
from wattline.model.errors import InputError


class Caps:
    """What an agent may change on its node, and nothing else."""

    def __init__(self, actuator: Actuator | None, limits: LimitSettings) -> None:
        self._actuator, self._limits = actuator, limits
        self._knobs = _allowed(actuator, limits)
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
        """Set a cap that may be set, in equal parts on the knobs; what went wrong."""
        if cap_w == math.inf or self._actuator is None:
            return self.restore()
        share_w = cap_w / len(self._knobs)
        return self._done([self._actuator.apply(knob.name, share_w) for knob in self._knobs])

    def restore(self) -> str:
        """Put back what was found; what went wrong."""
        held = [] if self._actuator is None else list(self._actuator.restore())
        self.cap_w = math.inf
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
    if len({knob.domain for knob in chosen}) > 1:
        raise InputError("limits.knobs: they must be of one domain, because a cap is set in equal "
                         f"parts: {', '.join(f'{k.name} ({k.domain})' for k in chosen)}")
    return chosen
