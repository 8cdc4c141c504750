"""The port of an actuator: what can be set on a node, within which bounds, and what holds now.

An actuator is any object with the three methods of `Actuator`. It describes its knobs as data. It
changes nothing when it is opened, remembers what it found before its first change, and `restore`
puts that back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable


@dataclass(frozen=True)
class Knob:
    """One thing that can be set."""

    name: str
    """Unique within the actuator, and the same at every start."""
    unit: Literal["W", "Hz"]
    domain: Literal["node", "package", "memory", "gpu", "core"]
    low: float
    high: float
    """Bounds of the hardware; an order outside of them is refused, not clipped."""


@dataclass(frozen=True)
class Held:
    """What holds on a knob, read back from the device."""

    knob: str
    value: float
    """Infinite where nothing is limited; NaN where it could not be read."""
    ok: bool = True
    reason: str = ""
    """Why an order was not obeyed."""


@runtime_checkable
class Actuator(Protocol):
    """What sets limits on a node."""

    def knobs(self) -> Sequence[Knob]:
        """What can be set; the same at every call."""
        ...

    def apply(self, knob: str, value: float) -> Held:
        """Set it and read back what holds; never raises for a device."""
        ...

    def restore(self) -> Sequence[Held]:
        """Put back what was found before the first change."""
        ...


@runtime_checkable
class Remembers(Protocol):
    """An actuator whose memory can outlive its process: what a killed agent changed is undone."""

    def held(self) -> Sequence[Held]:
        """What holds on each knob now; changes nothing."""
        ...

    def states(self) -> Mapping[str, Any]:
        """What a change of each knob would find now, as JSON can keep it."""
        ...

    def found(self) -> Mapping[str, Any]:
        """What was there before the first change, for the knobs that were changed."""
        ...

    def remember(self, found: Mapping[str, Any]) -> None:
        """Take what an earlier process found for what `restore` puts back."""
        ...
