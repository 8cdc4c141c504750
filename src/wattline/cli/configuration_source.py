"""Where a command finds configurations: a table, a model file, the store, or the package."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from wattline.model.errors import InputError
from wattline.model.units import parse_fraction
from wattline.physics.configurations import Configuration, ConfigurationTable

if TYPE_CHECKING:
    from wattline.account.configurations import Catalogue

F = TypeVar("F", bound=Callable[..., Any])


class Source(NamedTuple):
    """What the user said about where configurations are found."""

    table: str | None
    model: str | None
    store: str | None
    margin: float
    catalogue: Catalogue | None = None
    """What the store holds, with its index."""


def source_options(command: F) -> F:
    """The options `--table`, `--model`, `--store` and `--margin`."""
    for option in (
        click.option("--margin", default="0%", show_default=True, metavar="PART",
                     help="Safety margin added to predicted power; 15% is a careful choice."),
        click.option("--store", metavar="URL", help="Use the configurations kept in this store."),
        click.option("--model", metavar="FILE", help="Predict with the models of this file."),
        click.option("--table", metavar="CSV",
                     help="Measured configurations: nodes, cores, cap_w, time_s, power_w and, "
                          "for several applications, application. May be compressed."),
    ):
        command = option(command)
    return command


def read_source(
    table: str | None, model: str | None, store: str | None, margin: str = "0%"
) -> Source:
    if sum(given is not None for given in (table, model, store)) > 1:
        raise InputError("give one of --table, --model and --store")
    if store is None:
        return Source(table, model, store, parse_fraction(margin))
    from wattline.account.configurations import read_catalogue

    return Source(table, model, store, parse_fraction(margin), read_catalogue(store))


def all_tables(source: Source, application: str = "") -> dict[str, ConfigurationTable]:
    """Every table of the source, by application; without a source, those of the package."""
    if source.margin and (source.table or source.store):
        raise InputError("--margin is for predicted power; a table has measured power")
    if source.table:
        from wattline.physics.measurements import read_measurements

        return read_measurements(source.table, application)
    if source.catalogue is not None:
        return dict(source.catalogue.by_name)
    from wattline.physics.regression import load_models, shipped_models

    models = load_models(source.model) if source.model else shipped_models()
    return {name: model.table(source.margin) for name, model in models.items()}


def best_stored(
    source: Source, application: str, nodes: int | None, power_w: float
) -> Configuration | None:
    """What the index of the store answers; without a store, nothing."""
    found = source.catalogue
    if found is None:
        return None
    most = int(found.by_name[application].nodes.max())
    return found.fastest(application, most if nodes is None else nodes, power_w)


def one_table(source: Source, application: str) -> ConfigurationTable:
    """The table of one application; how its name was understood is said on stderr."""
    from wattline.physics.measurements import find_application

    table, remark = find_application(all_tables(source, application), application)
    if remark:
        click.echo(f"wattline: {remark}", err=True)
    return table


def measured_tables(path: str, app: str | None) -> tuple[dict[str, ConfigurationTable], str]:
    """The measured tables of a file, or the one of an application with how its name was read."""
    from wattline.physics.measurements import find_application, read_measurements, unnamed_note

    tables = read_measurements(path, app or "")
    if app is None:
        return tables, ""
    say_note(unnamed_note(path, app))
    found, remark = find_application(tables, app)
    return {found.application: found}, remark


def say_notes(source: Source, table: ConfigurationTable) -> None:
    """What must be known of a table that was used, on stderr."""
    from wattline.physics.measurements import unnamed_note

    if source.table:
        say_note(unnamed_note(source.table, table.application))
    say_note(table.note, table.application)


def say_note(note: str, application: str = "") -> None:
    """What must be known of the figures that are used, on stderr."""
    if note:
        click.echo(f"wattline: {application and application + ': '}{note}", err=True)
