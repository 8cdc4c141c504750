"""`wattline sensors read`: what this machine draws now."""

from __future__ import annotations

from typing import Any

import click

from wattline.cli.finite import FiniteRange
from wattline.cli.needs import given, option
from wattline.cli.output import json_option, print_json, print_table
from wattline.live.found import KINDS


@click.command("read")
@click.option("--kind", metavar="KIND", help=f"Only this kind of sensor: {', '.join(KINDS)}.")
@option("--place", metavar="PLACE", default=None,
        help="Where to look for it instead of its usual place: a folder, or an address such "
        "as lanplus://user@host or https://user@host; needs --kind.", needs=given("kind"))
@click.option("--seconds", type=FiniteRange(min=0.01), default=1.0, show_default=True,
              help="Time between the two readings that a power is made of.")
@json_option
def command(kind: str | None, place: str | None, seconds: float, as_json: bool) -> None:
    """List the sensors of this machine and read them twice: what it draws now, by domain."""
    from wattline.live.reading import look

    found = look(kind, place, seconds=seconds)
    if as_json:
        print_json(found.to_dict())
        return
    print_table(["sensor", "channel", "domain", "now", "quality", "chosen"],
                [[row["sensor"], row["channel"], row["domain"], _figure(row),
                  row["quality"] + (f": {row['reason']}" if row["reason"] else ""),
                  "yes" if row["chosen"] else ""]
                 for row in found.rows])
    if found.choice is not None:
        click.echo(f"node: {found.node_w:.1f} W ({found.choice.why})")
    for name, reason in found.absent.items():
        click.echo(f"no {name}: {reason}", err=True)


def _figure(row: dict[str, Any]) -> str | None:
    if row["power_w"] is not None:
        return f"{row['power_w']:.1f} W"
    return f"{row['frequency_hz'] / 1e9:.2f} GHz" if "frequency_hz" in row else None
