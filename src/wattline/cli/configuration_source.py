"""The options that say where configurations are found, and what is said of those."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


map_option = click.option(
    "--map", "columns", multiple=True, metavar="NAME=COLUMN|FILE",
    help="Which column of the table is what, like gpu_cap_w=POWER_LIMIT, or a TOML file with "
         "[columns]; a name that is not known becomes a setting. Several are "
         "separated by commas, or given one by one.")


def source_options(command: F) -> F:
    """The options `--table`, `--map`, `--model`, `--store` and `--margin`."""
    for option in (
        click.option("--margin", default="0%", show_default=True, metavar="PART",
                     help="Safety margin added to predicted power; 15% is a careful choice."),
        click.option("--store", metavar="URL", help="Use the configurations kept in this store."),
        click.option("--model", metavar="FILE", help="Predict with the models of this file."),
        map_option,
        click.option("--table", metavar="CSV",
                     help="Measured configurations: nodes, settings like cores, cap_w, gpus or "
                          "gpu_cap_w, time_s, power_w and, for several applications, application. "
                          "May be compressed."),
    ):
        command = option(command)
    return command


def say_note(note: str, application: str = "") -> None:
    """What must be known of the figures that are used, on stderr."""
    if note:
        click.echo(f"wattline: {application and application + ': '}{note}", err=True)
