"""Learning time and power of applications from a table of measurements."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from wattline.model.errors import InputError, warn
from wattline.model.progress import silent
from wattline.model.shown import Shown
from wattline.model.units import counted, part_of
from wattline.physics.configurations import ConfigurationTable
from wattline.physics.dimensions import CLASSIC
from wattline.physics.measurement_columns import ColumnMap
from wattline.physics.measurements import (
    find_application,
    read_measurements,
    unnamed_note,
)
from wattline.physics.regression import (
    Fit,
    Model,
    TooFewError,
    error_summary,
    fit_and_check,
    fit_with_errors,
    save_models,
)
from wattline.physics.regression.files import with_scope
from wattline.physics.regression.learning import (
    FEWEST,
    fit_widely,
    learn_slopes,
    learned_from,
    load_priors,
    save_priors,
    slopes_of,
)
from wattline.physics.regression.learning import learn_priors as common_priors
from wattline.physics.regression.terms import SHIPPED, Priors

LEARNED_FROM = 20
"""A smaller table determines too few coefficients to learn from."""


@dataclass(repr=False)
class Fitted(Shown):
    """What came of each application."""

    tables: Mapping[str, ConfigurationTable]
    settings: Mapping[str, Any]
    said: tuple[str, ...] = ()
    """How the file and the name of the application were read."""
    checked: dict[str, Fit] = field(default_factory=dict)
    models: dict[str, Model] = field(default_factory=dict)
    """Fitted to all points, with their cross-validated errors."""
    not_checked: dict[str, str] = field(default_factory=dict)
    """Why the errors of an application are not known."""

    @property
    def notes(self) -> list[str]:
        """What must be known of the measurements, and what a model found out about them."""
        used = {name: one.model for name, one in self.checked.items()} | self.models
        said = {name: used.get(name, table).note for name, table in self.tables.items()}
        return [f"{name}: {note}" for name, note in said.items() if note]

    @property
    def remarks(self) -> tuple[str, ...]:
        absurd = [f"{name}: {text}" for name, one in self.checked.items() if (text := _absurd(one))]
        return (*self.said, *self.notes, *absurd, *self.not_checked.values())

    def save(self, path: str | Path) -> None:
        """Write the models, fitted to all points, for `predict` and `configure`."""
        save_models(self.models, str(path))

    def to_dict(self) -> dict[str, Any]:
        rows = {name: {
            "kind": found.model.kind, "configurations": len(self.tables[name]),
            "trained_on": len(found.trained),
            "time_error": found.time_error, "power_error": found.power_error,
            "inside_90pct_interval": found.covered,
        } for name, found in self.checked.items()}
        written = {name: model.known.errors and model.known.errors.as_dict()
                   for name, model in self.models.items()}
        return {**self.settings, "not_checked": self.not_checked, "notes": self.notes,
                **self._together(), "applications": rows, "models": written}

    def _together(self) -> dict[str, Any]:
        """Errors over all points of the file that were not trained on; none where all were."""
        if not self.checked:
            return {"time_error": None, "power_error": None}
        import numpy as np

        found = self.checked.values()
        return {
            "time_error": error_summary(np.concatenate([one.time_ratio for one in found])),
            "power_error": error_summary(np.concatenate([one.power_ratio for one in found])),
        }


def fit(
    table: str | Path, *, app: str | None = None, train: float | str = 0.1, seed: int = 1,
    sample: Literal["designed", "random"] = "designed",
    kind: Literal["auto", "capping", "mixed", "smooth", "quadratic"] = "auto", sockets: int = 2,
    keep: bool = True, columns: ColumnMap = None, priors: str | Path | None = None,
    progress: Callable[[float], None] | None = None,
) -> Fitted:
    """Learn time and power as functions of nodes and settings from measured configurations.

    The errors are of configurations that the model has not seen: it is trained on the part
    `train`. With `keep` a model of every point is made too, for `Fitted.save`. `columns` says which
    column of the table is what. `priors` is a file of `learn_priors`; else the shipped ones.

    >>> import wattline as wl
    >>> from tempfile import TemporaryDirectory
    >>> rows = [f"{n},{c},{cap},{4000 / (n * c) * (1 + 20 / cap)},{n * (60 + cap)}"
    ...         for n in (8, 12, 16, 24, 32) for c in (4, 8, 12, 16) for cap in (51, 65, 80, 95)]
    >>> with TemporaryDirectory() as folder:
    ...     table = Path(folder) / "measured.csv"
    ...     said = table.write_text("\\n".join(["nodes,cores,cap_w,time_s,power_w", *rows]))
    ...     found = wl.fit(table, train="50%", keep=False)
    >>> [each["configurations"] for each in found.to_dict()["applications"].values()]
    [80]
    """
    said, tables = measured(table, app, columns)
    share = part_of(train)
    believed = SHIPPED if priors is None else load_priors(priors)
    if priors is not None:
        said = (*said, *_not_believed(tables, kind, believed, str(priors)),
                *_seen_before(tables, str(priors)))
    found = Fitted(tables, {"kind": kind, "sample": sample, "train": share, "seed": seed}, said)
    for done, (name, one) in enumerate(tables.items()):
        try:
            if keep:
                made = fit_with_errors(one, kind, sockets=sockets, priors=believed)
                found.models[name] = with_scope(made, one.power_scope)
            found.checked[name] = fit_and_check(one, share=share, seed=seed, kind=kind,
                                                sample=sample, sockets=sockets,
                                                priors=believed)
        except TooFewError as error:
            model = found.models.get(name)
            found.not_checked[name] = f"{error}{'' if model is None else _how_checked(model)}"
        if progress is not None:
            progress((done + 1) / len(tables))
    if not (found.models if keep else found.checked):
        raise InputError(next(iter(found.not_checked.values())))
    warn(found.remarks)
    return found


def _how_checked(model: Model) -> str:
    """Say how a model of all points was checked where too few of them can be left out."""
    how = "not checked" if model.known.errors is None else "checked by cross-validation alone"
    return f"; its model, of all {model.trained_on} of them, is {how}"


def _not_believed(tables: Mapping[str, ConfigurationTable], kind: str, believed: Priors,
                  source: str) -> list[str]:
    """Settings of which a file of priors says nothing; refused for a model without priors."""
    if kind == "quadratic":
        raise InputError("the quadratic model has no priors, so they would have no effect; leave "
                         "them out")
    of_caps = (believed.power, believed.time) != (SHIPPED.power, SHIPPED.time)
    found = []
    for name, one in tables.items():
        if one.names == CLASSIC and kind != "smooth":
            unknown: tuple[str, ...] = () if of_caps else one.names
        else:
            unknown = tuple(each for each in one.names if each not in believed.time_slopes)
        if unknown:
            found.append(f"{name}: {source} says nothing of {' and '.join(unknown)}: it was "
                         "learned from no application with such settings")
    return found


def _seen_before(tables: Mapping[str, ConfigurationTable], source: str) -> list[str]:
    """Applications whose configurations, those to be checked among them, taught the priors."""
    seen = set(learned_from(source))
    return [f"{name}: {source} was learned from an application of this name too; errors on one "
            "that the priors have not seen may be larger" for name in tables if name in seen]


def learn_priors(
    table: str | Path, output: str | Path, *, sockets: int = 2, columns: ColumnMap = None,
    progress: Callable[[float], None] = silent,
) -> list[str]:
    """Learn what a site's applications have in common, and write it for `fit(..., priors=)`.

    It takes tables of at least three applications with the same settings, whatever these are, and
    gives the names of those that were used.

    >>> import wattline as wl
    >>> try:
    ...     wl.learn_priors("few.csv", "priors.json")
    ... except wl.InputError as error:
    ...     print(error)
    few.csv: there is no such file
    """
    tables = {name: one for name, one in measured(table, None, columns)[1].items()
              if len(one) >= LEARNED_FROM}
    kinds: dict[tuple[str, ...], dict[str, ConfigurationTable]] = {}
    for name, one in tables.items():
        kinds.setdefault(one.names, {})[name] = one
    usable = {names: alike for names, alike in kinds.items() if len(alike) >= FEWEST}
    if not usable:
        raise InputError(f"{table} has {counted(len(tables), 'application')} of {LEARNED_FROM} "
                         f"configurations or more, and no {FEWEST} of them with the same settings; "
                         f"to learn what they have in common takes {FEWEST}")
    classic = usable.pop(CLASSIC, {})
    others = {name: one for alike in usable.values() for name, one in alike.items()}
    used = sorted((*classic, *others))
    learned = common_priors(fit_widely(classic, sockets, progress)) if classic else SHIPPED
    slopes = learn_slopes({name: slopes_of(tables[name]) for name in used})
    save_priors(learned._replace(power_slopes=slopes["power"], time_slopes=slopes["time"]), used,
                output)
    return used


def measured(
    table: str | Path, app: str | None = None, columns: ColumnMap = None
) -> tuple[tuple[str, ...], dict[str, ConfigurationTable]]:
    """The measured tables of a file, or that of one application; first how it was read."""
    tables = read_measurements(table, app or "", columns)
    if app is None:
        return (), tables
    unnamed = unnamed_note(table, app, columns)
    found, remark = find_application(tables, app)
    return tuple(filter(None, (unnamed, remark))), {found.application: found}


def _absurd(found: Fit) -> str:
    """What is said of a model that nobody should use."""
    worst = max(found.time_error["mean"], found.power_error["mean"])
    if worst <= 1.0:
        return ""
    return (f"the mean error is {worst:.0%}: {len(found.trained)} configurations do not determine "
            "this model; train on more, or use another --kind")
