"""Where configurations are found: a table, a model file, a store, or the package."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from wattline.model.errors import InputError
from wattline.model.units import part_of
from wattline.physics.configurations import Configuration, ConfigurationTable
from wattline.physics.power_scope import with_scope

if TYPE_CHECKING:
    from wattline.account.configurations import Catalogue
    from wattline.physics.measurement_columns import ColumnMap
    from wattline.physics.regression import Model, ModelErrors


@dataclass(frozen=True, eq=False)
class ConfigurationSource:
    """What was said about where configurations are found; nothing: the shipped models."""

    table: str | Path | None = None
    model: str | Path | None = None
    store: str | None = None
    margin: float = 0.0
    catalogue: Catalogue | None = None
    """What the store holds, with its index."""
    columns: ColumnMap = None
    """Which column of the table is what."""
    power_scope: str = ""
    """Of what the watts are, where the source does not say it."""

    def tables(self, application: str = "") -> dict[str, ConfigurationTable]:
        """Every table, by application."""
        return {name: with_scope(table, self.power_scope)
                for name, table in self._read(application).items()}

    def _read(self, application: str) -> dict[str, ConfigurationTable]:
        if self.margin and (self.table or self.store):
            raise InputError("--margin is for predicted power; a table has measured power")
        if self.table:
            from wattline.physics.measurements import read_measurements

            return read_measurements(self.table, application, self.columns)
        if self.catalogue is not None:
            return dict(self.catalogue.by_name)
        return {name: model.table(self.margin) for name, model in self._models.items()}

    @cached_property
    def _models(self) -> Mapping[str, Model]:
        from wattline.physics.regression import load_models, shipped_models

        return load_models(self.model) if self.model else shipped_models()

    def errors(self, application: str) -> ModelErrors | None:
        """Return the errors of an application's model; None without a model or known errors."""
        if self.table or self.store:
            return None
        return self._models[application].known.errors

    def one(self, application: str) -> tuple[ConfigurationTable, list[str]]:
        """The table of one application, and what must be known of it."""
        from wattline.physics.measurements import find_application, unnamed_note

        found, remark = find_application(self.tables(application), application)
        unnamed = unnamed_note(self.table, found.application, self.columns) if self.table else ""
        note = f"{found.application}: {found.note}" if found.note else ""
        return found, [line for line in (remark, unnamed, note) if line]

    def best(self, application: str, nodes: int | None, power_w: float) -> Configuration | None:
        """What the index of the store answers; without a store, nothing."""
        known = self.catalogue
        if known is None:
            return None
        most = int(known.by_name[application].nodes.max())
        return known.fastest(application, most if nodes is None else nodes, power_w)


def read_source(
    table: str | Path | None = None, model: str | Path | None = None, store: str | None = None,
    margin: float | str = 0.0, columns: ColumnMap = None, power_scope: str = "",
) -> ConfigurationSource:
    """At most one of the three; the store is read at once."""
    if sum(given is not None for given in (table, model, store)) > 1:
        raise InputError("give one of --table, --model and --store")
    if columns and table is None:
        raise InputError("a map names columns of a table; give --table too")
    if store is None:
        return ConfigurationSource(table, model, store, part_of(margin), columns=columns,
                                   power_scope=power_scope)
    from wattline.account.configurations import read_catalogue

    return ConfigurationSource(table, model, store, part_of(margin), read_catalogue(store),
                               power_scope=power_scope)
