"""Models of applications that the priors have not seen: each is left out in turn.

The priors of the capping model were learned from the public tables, so its errors there say little
of a new application. Here each application is left out with all its tables, the priors are learned
from the others, and a part of each table left out is measured: the configurations that teach most.
All models know the same: the smooth one too is told what the others have in common, the slopes of
time and power. They are trained on the same configurations and judged on the rest of the table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wattline.model.errors import InputError
from wattline.model.progress import silent
from wattline.physics.configurations import ConfigurationTable
from wattline.physics.dimensions import CLASSIC
from wattline.physics.regression import Grid, Model, fit
from wattline.physics.regression.capping import CappingModel
from wattline.physics.regression.fitting import Fit, check, choose_training
from wattline.physics.regression.learning import (
    FEWEST,
    TableSlopes,
    fit_widely,
    learn_priors,
    learn_slopes,
    slopes_of,
)
from wattline.physics.regression.mixed import MixedModel
from wattline.physics.regression.smooth import SmoothModel
from wattline.physics.regression.terms import Prior, Priors

KINDS = ("capping", "mixed", "smooth")
SMALLEST = 48
"""Of a smaller table a tenth is too few to train on."""

Tables = Mapping[str, ConfigurationTable]
Progress = Callable[[float], None]


def application_of(table: str) -> str:
    """What the tables of one application share in the names of the public files."""
    parts = table.casefold().split("_")
    if parts[0] == "synthetic" and len(parts) > 1:
        return parts[1]
    return parts[2] if parts[0] == "nas" and len(parts) > 2 else parts[0]


def knows(table: str, prior: Prior) -> bool:
    """The NAS tables end at 95 W: they know nothing of the uncapped mode."""
    return not (prior.group == "top" and table.startswith("nas_"))


@dataclass(frozen=True)
class UnseenTable:
    """The errors of every kind of model on one table, one figure per seed."""

    table: str
    application: str
    configurations: int
    trained_on: int
    time: Mapping[str, tuple[float, ...]]
    """By kind of model, the mean error of the time."""
    power: Mapping[str, tuple[float, ...]]
    held: Mapping[str, float]
    """By kind of model, the share of the seeds in which the published errors are reached."""

    def as_dict(self) -> dict[str, Any]:
        return {"table": self.table, "application": self.application,
                "configurations": self.configurations, "trained_on": self.trained_on,
                "published_errors_held": dict(self.held),
                **{what: {kind: float(np.median(errors)) for kind, errors in found.items()}
                   for what, found in (("time", self.time), ("power", self.power))}}


def unseen(
    tables: Tables, seeds: Sequence[int], share: float = 0.1, progress: Progress = silent
) -> dict[str, Any]:
    """Mean errors on every table that is large enough, its application being left out."""
    used, left_out = usable(tables)
    applications = sorted({application_of(name) for name in used})
    if len(applications) <= FEWEST:
        raise InputError(f"there are {len(applications)} applications with tables of {SMALLEST} "
                         "configurations or more of nodes, cores and a cap; to leave one out and "
                         f"learn from {FEWEST} takes {FEWEST + 1}")
    widely = fit_widely(used, progress=lambda part: progress(part / 4))
    slopes = {name: slopes_of(table) for name, table in used.items()}
    found = []
    for done, (name, table) in enumerate(used.items()):
        priors = priors_without(application_of(name), widely, slopes)
        found.append(_judge(table, priors, seeds, share))
        progress(0.25 + 0.75 * (done + 1) / len(used))
    rows = [one.as_dict() for one in found]
    return {"train": share, "seeds": len(seeds), "applications": applications,
            "left_out": left_out, "tables": rows, "median": _over_tables(rows, np.median),
            "mean": _over_tables(rows, np.mean), "best": _best(rows)}


def priors_without(
    application: str, models: Mapping[str, CappingModel], slopes: Mapping[str, TableSlopes]
) -> Priors:
    """What the tables of all other applications have in common, for both kinds of model."""
    def others(found: Mapping[str, Any]) -> dict[str, Any]:
        return {name: one for name, one in found.items() if application_of(name) != application}

    common = learn_slopes(others(slopes), application_of)
    return learn_priors(others(models), application_of, knows)._replace(
        power_slopes=common["power"], time_slopes=common["time"])


def usable(tables: Tables) -> tuple[dict[str, ConfigurationTable], dict[str, str]]:
    """The tables that can be learned from, and why the others cannot."""
    used, left_out = {}, {}
    for name, table in tables.items():
        if table.names != CLASSIC:
            left_out[name] = "its settings are not cores and a cap"
        elif len(table) < SMALLEST:
            left_out[name] = f"it has {len(table)} configurations, below {SMALLEST}"
        elif name.startswith("nas_old"):
            left_out[name] = "its labels do not fit its measurements"
        else:
            used[name] = table
    return used, left_out


def _judge(
    table: ConfigurationTable, priors: Priors, seeds: Sequence[int], share: float
) -> UnseenTable:
    checked = [_fits(table, priors, seed, share) for seed in seeds]
    return UnseenTable(
        table.application, application_of(table.application), len(table),
        len(checked[0][KINDS[0]].trained),
        {kind: tuple(one[kind].time_error["mean"] for one in checked) for kind in KINDS},
        {kind: tuple(one[kind].power_error["mean"] for one in checked) for kind in KINDS},
        {kind: float(np.mean([_holds(one[kind]) for one in checked])) for kind in KINDS})


def _holds(found: Fit) -> bool:
    """Whether time and power reach the errors that are published of a tenth."""
    both = (found.time_error, found.power_error)
    return found.power_error["under_10pct_share"] <= 0.04 and all(
        one["mean"] < 0.10 and one["median"] < 0.077 and one["p75"] < 0.132 for one in both)


def _fits(
    table: ConfigurationTable, priors: Priors, seed: int, share: float
) -> dict[str, Fit]:
    """All kinds of model, trained on the same configurations."""
    trained = choose_training(table, share, seed, priors=priors)
    grid, part = Grid.of(table), table.take(trained)
    capping = fit(part, "capping", grid=grid, priors=priors)
    smooth = fit(part, "smooth", grid=grid, priors=priors)
    assert isinstance(capping, CappingModel)
    assert isinstance(smooth, SmoothModel)
    models: dict[str, Model] = {
        "capping": capping, "smooth": smooth,
        "mixed": MixedModel(table.application, grid, len(part), capping, smooth)}
    return {kind: check(models[kind], table, trained) for kind in KINDS}


def _over_tables(
    rows: Sequence[Mapping[str, Any]], middle: Callable[[list[float]], Any]
) -> dict[str, dict[str, float]]:
    return {what: {kind: float(middle([row[what][kind] for row in rows])) for kind in KINDS}
            for what in ("time", "power")}


def _best(rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, int]]:
    """On how many tables each kind has the smallest error of time, capping or smooth of power."""
    of = {"time": KINDS, "power": ("capping", "smooth")}  # mixed has the power of capping
    return {what: {kind: sum(min(kinds, key=row[what].__getitem__) == kind for row in rows)
                   for kind in kinds} for what, kinds in of.items()}
