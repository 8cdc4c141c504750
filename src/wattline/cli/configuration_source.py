"""The options that say where configurations are found, and what is said of those."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import click

from wattline.cli.choices import Choice
from wattline.model.errors import InputError

F = TypeVar("F", bound=Callable[..., Any])


def map_option(command: F) -> F:
    """The options `--map` and `--where`; what is chosen becomes entries of the map."""

    @wraps(command)
    def with_choice(*args: Any, columns: tuple[str, ...], where: tuple[str, ...],
                    **others: Any) -> Any:
        return command(*args, columns=(*columns, *_choices(where)), **others)

    for option in (
        click.option("--where", multiple=True, metavar="COLUMN=VALUE",
                     help="Read only the rows of the table with this cell, like input=large; may "
                          "be given several times."),
        click.option(
            "--map", "columns", multiple=True, metavar="NAME=COLUMN[:UNIT]|FILE",
            help="Which column of the table is what, and in which unit, like "
                 "gpu_cap_w=POWER_LIMIT or power_w=Power_kW:kW, or a TOML file with [columns]; a "
                 "name that is not known becomes a setting. Several are separated by commas, or "
                 "given one by one."),
    ):
        with_choice = option(with_choice)
    return with_choice  # type: ignore[return-value]


def _choices(where: tuple[str, ...]) -> list[str]:
    """Choices of rows as entries of a column map."""
    from wattline.physics.measurement_columns import map_pairs

    found = []
    for text in (part for each in where for part in map_pairs(each)):
        name, equals, value = text.partition("=")
        value = value.removeprefix("=")
        if not (equals and name.strip() and value.strip()):
            raise InputError(f"--where {text}: write it like --where input=large")
        found.append(f"{name}=={value}")
    return found


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


def power_options(command: F) -> F:
    """The options that say of what watts are: `--power-scope`, `--base-power` and how they count
    where the bound is kept."""
    for option in (
        click.option("--bound-at", type=Choice(["wall", "node"]), default="wall",
                     show_default=True, help="Where the bound is kept: with the losses of the "
                     "power supplies, or before them."),
        click.option("--supply-efficiency", metavar="PART",
                     help="What a node gets of what its power supplies take, like 94%."
                          "  [default: 100%]"),
        click.option("--base-power", metavar="WATTS",
                     help="What a running node draws beside the devices that the table has the "
                          "watts of: boards, fans, network."),
        click.option("--power-scope", type=Choice(["devices", "node", "wall"]),
                     help="Of what the table's watts are, where it does not say it: counters of "
                          "CPUs, memory or GPUs, meters of nodes, or the wall."),
    ):
        command = option(command)
    return command


def say_note(note: str, application: str = "") -> None:
    """What must be known of the figures that are used, on stderr."""
    if note:
        click.echo(f"wattline: {application and application + ': '}{note}", err=True)
