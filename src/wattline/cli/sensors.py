"""`wattline sensors`: what can be measured on this machine, and what it draws now."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wattline.cli.output import json_option, print_json, print_table
from wattline.live.found import KINDS
from wattline.model.errors import InputError

if TYPE_CHECKING:
    from wattline.live.sensor import Sensor


@click.command()
@click.option("--kind", metavar="KIND", help=f"Only this kind of sensor: {', '.join(KINDS)}.")
@click.option("--place", type=click.Path(exists=True, path_type=Path), default=None,
              help="Where to look for it instead of its usual place; needs --kind.")
@click.option("--seconds", type=click.FloatRange(min=0.01), default=1.0, show_default=True,
              help="Time between the two readings that a power is made of.")
@json_option
def command(kind: str | None, place: Path | None, seconds: float, as_json: bool) -> None:
    """List the sensors of this machine and read them twice: what it draws now, by domain."""
    from wattline.live.found import KINDS, open_sensor, sensors_here

    if place is not None and kind is None:
        raise InputError("--place needs --kind, the kind of sensor to look for there")
    sensors = sensors_here() if kind is None else {kind: open_sensor(kind, place)}
    if not sensors:
        raise InputError(f"no sensor was found on this machine (looked for: {', '.join(KINDS)})")
    earlier = {name: list(sensor.read()) for name, sensor in sensors.items()}
    time.sleep(seconds)
    rows = [row for name, sensor in sensors.items()
            for row in _rows(name, sensor, earlier[name])]
    if as_json:
        print_json({"sensors": rows})
        return
    print_table(["sensor", "channel", "domain", "power", "quality"],
                [[row["sensor"], row["channel"], row["domain"],
                  None if row["power_w"] is None else f"{row['power_w']:.1f} W",
                  row["quality"] + (f": {row['reason']}" if row["reason"] else "")]
                 for row in rows])


def _rows(name: str, sensor: Sensor, earlier: list[Any]) -> list[dict[str, Any]]:
    from wattline.live.sensor import Quality

    rows = []
    for channel, before, now in zip(sensor.channels(), earlier, sensor.read(), strict=True):
        good = now.quality is Quality.GOOD
        power_w = now.value if good else None
        if good and channel.unit == "J":
            power_w = (now.value - before.value) / (now.time_s - before.time_s)
        rows.append({"sensor": name, "channel": channel.name, "domain": channel.domain,
                     "power_w": power_w, "quality": now.quality.value, "reason": now.reason})
    return rows
