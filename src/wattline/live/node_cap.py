"""A cap of a node turned into caps of its devices, step by step.

A node draws more than its devices: fans, losses, boards. What it draws beyond them is measured, not
assumed; only how much more the node draws for each watt more of a device is bounded, from 1 to
`slope`. A step shares what the devices draw now plus the room below the cap, and counts every watt
that a device may rise by at its dearest and every watt that one must fall by at its cheapest: so no
demand, however sudden, takes the node above its cap, and the room shrinks with every step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from wattline.live.actuator import Actuator, Held
from wattline.model.errors import InputError

SLOPE = 1.25
"""Watts of a node for each watt of a device at most: supplies of 80 % are the worst still sold."""
HUNGRY = 0.97
"""A device that draws so much of its cap would draw more."""

RESERVE = 1.1
"""Others get so much of what they draw, or their cap would look as if it held them back."""
TOO_LITTLE_W = 1e-6


@dataclass(frozen=True)
class Device:
    """A device that can be capped, as it is now."""

    name: str
    power_w: float
    cap_w: float
    """What holds now; infinite where nothing does."""
    low_w: float
    high_w: float

    @property
    def wants_w(self) -> float:
        """What it should get: all that it can take where its cap holds it back."""
        hungry = self.power_w >= HUNGRY * min(self.cap_w, self.high_w)
        return self.high_w if hungry else min(max(RESERVE * self.power_w, self.low_w), self.high_w)


@dataclass(frozen=True)
class DeviceCaps:
    """Caps to set, and how far they miss the node's."""

    caps_w: dict[str, float]
    short_w: float
    """By so much the node may still exceed its cap, with devices at their lowest; 0 where not."""


def device_caps(
    cap_w: float, node_w: float, devices: Sequence[Device], *, slope: float = SLOPE
) -> DeviceCaps:
    """One step: caps of devices that keep the node within its cap, shared by what they want."""
    if not slope >= 1.0:
        raise InputError("a node draws at least a watt more for each watt of a device: slope >= 1")
    # A device below its lowest cap may rise to that, and nothing can be done about it.
    idle_w = sum(max(device.low_w - device.power_w, 0.0) for device in devices)
    devices = [replace(device, power_w=max(device.power_w, device.low_w)) for device in devices]
    room_w = cap_w - node_w - slope * idle_w
    shared_w = _shared(sum(device.power_w for device in devices) + room_w, devices)
    rise_w, fall_w = _moves(shared_w, devices)
    kept = 1.0 if rise_w <= 0 else min(max((room_w + fall_w) / (slope * rise_w), 0.0), 1.0)
    caps_w = {device.name: _eased(device, shared_w[device.name], kept) for device in devices}
    rise_w, fall_w = _moves(caps_w, devices)
    return DeviceCaps(caps_w, max(slope * rise_w - fall_w - room_w, 0.0))


def _eased(device: Device, shared_w: float, kept: float) -> float:
    """Only rises are made smaller: who must fall falls."""
    risen_w = device.power_w + kept * (shared_w - device.power_w)
    return min(shared_w, risen_w) if shared_w > device.power_w else shared_w


def _moves(caps_w: Mapping[str, float], devices: Sequence[Device]) -> tuple[float, float]:
    """By how much the devices could rise to their caps, and must fall to them, each added up."""
    moves_w = [caps_w[device.name] - device.power_w for device in devices]
    return sum(each for each in moves_w if each > 0), -sum(each for each in moves_w if each < 0)


def keep_node_cap(
    cap_w: float, node_w: float, powers_w: Mapping[str, float], actuator: Actuator,
    caps_w: Mapping[str, float], *, slope: float = SLOPE,
) -> tuple[DeviceCaps, list[Held]]:
    """The same for the knobs of an actuator whose powers are known; gives what then holds.

    Caps that fall are set before caps that rise, so that not even in between the sum is too much.
    """
    devices = [Device(knob.name, powers_w[knob.name], caps_w.get(knob.name, float("inf")),
                      knob.low, knob.high)
               for knob in actuator.knobs() if knob.unit == "W" and knob.name in powers_w]
    found = device_caps(cap_w, node_w, devices, slope=slope)
    falling_first = sorted(devices, key=lambda device: found.caps_w[device.name] - device.cap_w)
    return found, [actuator.apply(device.name, found.caps_w[device.name])
                   for device in falling_first]


def _shared(sum_w: float, devices: Sequence[Device]) -> dict[str, float]:
    """Everyone's lowest; then evenly by their ranges up to what each wants; then the rest.

    Nobody gets more than a device can take, and all together not more than `sum_w` or the lowest.
    """
    caps_w = {device.name: device.low_w for device in devices}
    most_w = max(sum_w, sum(caps_w.values()))
    weights = {device.name: max(min(device.high_w, most_w) - device.low_w, TOO_LITTLE_W)
               for device in devices}
    for goals_w in ({device.name: device.wants_w for device in devices},
                    {device.name: device.high_w for device in devices}):
        caps_w = _filled(caps_w, goals_w, weights, sum_w)
    return caps_w


def _filled(
    caps_w: dict[str, float], goals_w: Mapping[str, float], weights: Mapping[str, float],
    sum_w: float,
) -> dict[str, float]:
    """What is left to the sum, by weight, until it is spent or everyone is at the goal."""
    caps_w = dict(caps_w)
    while True:
        left_w = sum_w - sum(caps_w.values())
        below = [name for name in caps_w if caps_w[name] < goals_w[name] - TOO_LITTLE_W]
        if not below or left_w <= TOO_LITTLE_W:
            return caps_w
        total = sum(weights[name] for name in below)
        for name in below:
            caps_w[name] = min(caps_w[name] + left_w * weights[name] / total, goals_w[name])
