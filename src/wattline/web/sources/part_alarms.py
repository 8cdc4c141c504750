"""Racks and feeds that draw more than they may carry, whatever the source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from wattline.model.cap_slack import CAP_SLACK
from wattline.model.units import format_power
from wattline.web.sources.shape import Alarm, Part


def part_alarms(parts: Mapping[str, Sequence[Part]]) -> list[Alarm]:
    """One for each part above its limit."""
    return [Alarm("critical", f"{_named(kind, part.name)} draws {format_power(part.power_w)}, "
                  f"{format_power(part.power_w - part.cap_w)} above what it may carry", None)
            for kind in ("rack", "feed") for part in parts[kind]
            if part.power_w is not None and part.cap_w is not None
            and part.power_w > part.cap_w * (1 + CAP_SLACK)]


def _named(kind: str, name: str) -> str:
    return name if name.startswith(kind) else f"{kind} {name}"
