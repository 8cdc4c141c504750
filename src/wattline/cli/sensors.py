"""`wattline sensors`: what can be measured on this machine, and what it draws now."""

from __future__ import annotations

from pathlib import Path

import click

from wattline.cli.output import json_option, print_json, print_table
from wattline.live.found import KINDS
from wattline.model.errors import InputError


@click.command()
@click.option("--kind", metavar="KIND", help=f"Only this kind of sensor: {', '.join(KINDS)}.")
@click.option("--place", type=click.Path(exists=True, path_type=Path), default=None,
              help="Where to look for it instead of its usual place; needs --kind.")
@click.option("--seconds", type=click.FloatRange(min=0.01), default=1.0, show_default=True,
              help="Time between the two readings that a power is made of.")
@json_option
def command(kind: str | None, place: Path | None, seconds: float, as_json: bool) -> None:
    """List the sensors of this machine and read them twice: what it draws now, by domain."""
    from wattline.live.found import read_sensors

    if place is not None and kind is None:
        raise InputError("--place needs --kind, the kind of sensor to look for there")
    rows = read_sensors(kind, place, seconds=seconds)
    if as_json:
        print_json({"sensors": rows})
        return
    print_table(["sensor", "channel", "domain", "power", "quality"],
                [[row["sensor"], row["channel"], row["domain"],
                  None if row["power_w"] is None else f"{row['power_w']:.1f} W",
                  row["quality"] + (f": {row['reason']}" if row["reason"] else "")]
                 for row in rows])
