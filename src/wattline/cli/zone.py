"""`--zone`: of which zone times without an offset are, the same option for every command."""

from __future__ import annotations

import click

ZONE_HELP = ("Zone of times without an offset from UTC, like Europe/Berlin; `local` is this "
             "machine's. [default: UTC]")
zone_option = click.option("--zone", default="", metavar="ZONE", help=ZONE_HELP)
