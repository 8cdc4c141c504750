"""`wattline openadr`: follow the events of an OpenADR server with the file of the cap."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import click

from wattline.model.units import parse_power


@click.command("openadr")
@click.option("--vtn", required=True, metavar="URL",
              help="The server, like http://host:8080/OpenADR2/Simple/2.0b.")
@click.option("--ven", required=True, metavar="NAME", help="What we are called there.")
@click.option("--cap", required=True, metavar="POWER", help="The usual cap, without an event.")
@click.option("--cap-file", required=True, type=click.Path(path_type=Path), metavar="FILE",
              help="Written with the cap that holds: `cap_file` of the controller.")
def command(vtn: str, ven: str, cap: str, cap_file: Path) -> None:
    """Follow the events of an OpenADR 2.0b server: the file of the cap says what may be drawn.

    SIMPLE levels 0 to 3 are 100, 90, 75 and 50 % of the usual cap; setpoints of LOAD_DISPATCH are
    watts. Other signals are refused (optOut). Of events that overlap the lowest cap holds. Stopped
    with Ctrl-C, the file stays as it is.
    """
    from wattline.grid.events import EventBook
    from wattline.live.openadr import CapWriter, follow

    writer = CapWriter(cap_file, EventBook(parse_power(cap)), say=click.echo)
    asyncio.run(follow(writer, vtn, ven, time.time))
