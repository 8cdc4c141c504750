"""Several meters on a node: which one is its power.

The whole node before parts of it, because what parts leave out (fans, losses, boards) can be a
third; a counter before a power, because it misses nothing between two readings; then the order of
kinds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wattline.live.found import KINDS
from wattline.live.sensor import Channel, Domain

PARTS: tuple[Domain, ...] = ("package", "memory", "gpu")
"""Parts that do not overlap; a package has its cores in it."""


@dataclass(frozen=True)
class NodeChannels:
    """The channels that together stand for a node."""

    channels: tuple[tuple[str, str], ...]
    """Sensor and channel."""
    whole: bool
    """Whether it is the whole node; otherwise it is less than the node draws."""
    why: str


def choose(sensors: Mapping[str, Sequence[Channel]]) -> NodeChannels | None:
    """The node's meter among channels that give readings, by sensor; None where there is none."""
    whole = _best(sensors, "node")
    if whole:
        counted = "a counter" if whole[0][1].unit == "J" else "a power, for no counter answers"
        return NodeChannels(_names(whole), True, f"the whole node, by {counted}")
    parts = [each for domain in PARTS for each in _best(sensors, domain)]
    if not parts:
        return None
    names = sorted({channel.domain for _, channel in parts})
    return NodeChannels(_names(parts), False,
                        f"no meter of the whole node answers: only {', '.join(names)}")


def _best(
    sensors: Mapping[str, Sequence[Channel]], domain: Domain
) -> list[tuple[str, Channel]]:
    """The channels of a domain from the sensor that is believed most; one is a whole node."""
    found = [(sensor, channel) for sensor, channels in sensors.items() for channel in channels
             if channel.domain == domain and channel.unit in {"J", "W"}]
    if not found:
        return []
    first, unit = min(((sensor, channel.unit) for sensor, channel in found), key=_rank)
    best = [each for each in found if each[0] == first and each[1].unit == unit]
    return best[:1] if domain == "node" else best


def _rank(meter: tuple[str, str]) -> tuple[bool, int]:
    sensor, unit = meter
    kinds = list(KINDS)
    kind = sensor.partition("=")[0]
    return unit != "J", kinds.index(kind) if kind in kinds else len(kinds)


def _names(found: Sequence[tuple[str, Channel]]) -> tuple[tuple[str, str], ...]:
    return tuple((sensor, channel.name) for sensor, channel in found)
