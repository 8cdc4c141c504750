"""Fitting a model to part of a table and measuring its errors on the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from wattline.model.errors import InputError
from wattline.model.jobs import IntArray
from wattline.model.signal import FloatArray
from wattline.physics.configurations import ConfigurationTable
from wattline.physics.regression.base import (
    Grid,
    Known,
    Model,
    ModelErrors,
    QuantityErrors,
    error_summary,
)
from wattline.physics.regression.bayes import one_thread
from wattline.physics.regression.capping import fit_capping
from wattline.physics.regression.design import suggest
from wattline.physics.regression.mixed import fit_mixed
from wattline.physics.regression.quadratic import fit_quadratic
from wattline.physics.regression.smooth import fit_smooth
from wattline.physics.regression.terms import SHIPPED, Priors

KINDS: Mapping[str, Callable[[ConfigurationTable, Grid, int, Priors], Model]] = {
    "capping": fit_capping,
    "mixed": fit_mixed,
    "quadratic": lambda table, grid, sockets, priors: fit_quadratic(table, grid),
    "smooth": lambda table, grid, sockets, priors: fit_smooth(table, grid, priors),
}
AUTO = "auto"
"""Capping where a table has nodes, cores and a cap for each socket; smooth for all others."""
SAMPLES = ("designed", "random")
FOLDS = 5
"""Parts of a table that are left out in turn."""
FEWEST = 4
"""Below this many training points nothing can be said."""


class TooFewError(InputError):
    """A table has too few configurations for what is asked of it."""


@dataclass(frozen=True, eq=False)
class Fit:
    """A model, what it was trained on, and how well it predicts the rest."""

    model: Model
    trained: IntArray
    """Rows of the table."""
    time_ratio: FloatArray
    """Predicted over measured, of the configurations that were not trained on."""
    power_ratio: FloatArray
    covered: float
    """Share of the held-out powers and times inside their 90 % interval."""

    @property
    def time_error(self) -> dict[str, float]:
        return error_summary(self.time_ratio)

    @property
    def power_error(self) -> dict[str, float]:
        return error_summary(self.power_ratio)


def kind_for(grid: Grid, kind: str) -> str:
    """The kind of model that is meant for such tables."""
    if kind == AUTO:
        return "capping" if grid.is_classic else "smooth"
    if kind not in KINDS:
        raise InputError(f"there is no model '{kind}'; known are: {', '.join((AUTO, *KINDS))}")
    return kind


def fit(table: ConfigurationTable, kind: str = AUTO, *, grid: Grid | None = None,
        sockets: int = 2, priors: Priors = SHIPPED) -> Model:
    """Fit a model to all rows of a table."""
    grid = grid or Grid.of(table)
    kind = kind_for(grid, kind)
    if len(table) < FEWEST:
        raise TooFewError(f"{_size(table)}; at least {FEWEST} are needed to fit a model")
    with one_thread():
        return KINDS[kind](table, grid, sockets, priors)


def fit_with_errors(
    table: ConfigurationTable, kind: str = AUTO, *, sockets: int = 2, priors: Priors = SHIPPED,
) -> Model:
    """Fit a model to all rows of a table, with its cross-validated errors and the measurements.

    The rows are dealt to folds at random; each fold is predicted by a model of all the others. A
    table too small for that has a model without errors.
    """
    model = fit(table, kind, sockets=sockets, priors=priors)
    return replace(model, known=Known(_cross_validated(table, kind, sockets, priors), table))


def _cross_validated(
    table: ConfigurationTable, kind: str, sockets: int, priors: Priors
) -> ModelErrors | None:
    count = len(table)
    folds = min(FOLDS, count)
    if count - -(-count // folds) < FEWEST:
        return None
    ratios: list[list[FloatArray]] = [[], []]
    for fold in np.array_split(np.random.default_rng(1).permutation(count), folds):
        others = np.setdiff1d(np.arange(count), fold)
        found = check(fit(table.take(others), kind, grid=Grid.of(table), sockets=sockets,
                          priors=priors), table, others)
        ratios[0].append(found.time_ratio)
        ratios[1].append(found.power_ratio)
    time, power = (QuantityErrors.of(np.concatenate(each)) for each in ratios)
    return ModelErrors(time, power, count, folds)


def choose_training(
    table: ConfigurationTable, share: float, seed: int, sample: str = "designed", sockets: int = 2,
    priors: Priors = SHIPPED,
) -> IntArray:
    """Rows to train on: never more than the share that was asked for."""
    if not 0 < share < 1:
        raise InputError(f"the part to train on is {share:g}; write it like 0.1 or 10%")
    if sample not in SAMPLES:
        raise InputError(f"there is no sample '{sample}'; known are: {', '.join(SAMPLES)}")
    if len(table) <= FEWEST:
        raise TooFewError(f"{_size(table)}; more than {FEWEST} are needed to learn from some and "
                          "to check on others")
    count = int(share * len(table) + 1e-9)
    if count < FEWEST:
        raise TooFewError(
            f"{share:.0%} of the {len(table)} configurations of '{table.application}' are "
            f"{count}; at least {FEWEST} are needed, so train on "
            f"{-(-100 * FEWEST // len(table))}% or more"
        )
    if sample == "random":
        return np.sort(np.random.default_rng(seed).permutation(len(table))[:count])
    return np.sort(np.array(suggest(
        table.points(), count, names=("nodes", *table.names), sockets=sockets, seed=seed,
        priors=priors)))


def _size(table: ConfigurationTable) -> str:
    return (f"'{table.application}' has {len(table)} "
            f"configuration{'' if len(table) == 1 else 's'}")


def fit_and_check(
    table: ConfigurationTable, *, share: float = 0.1, seed: int = 1, kind: str = AUTO,
    sample: str = "designed", sockets: int = 2, priors: Priors = SHIPPED,
) -> Fit:
    """Train on a share of the table, predict the rest, and summarise the errors."""
    trained = choose_training(table, share, seed, sample, sockets, priors)
    return check(fit(table.take(trained), kind, grid=Grid.of(table), sockets=sockets,
                     priors=priors), table, trained)


def check(model: Model, table: ConfigurationTable, trained: IntArray) -> Fit:
    """How well a model that was trained on some rows of a table predicts the others."""
    held_out = np.ones(len(table), dtype=bool)
    held_out[trained] = False
    rest = table.take(held_out)
    predicted = model.predict_points(rest.points())
    inside = [
        np.abs(np.log(guess / truth)) <= 1.645 * deviation
        for guess, truth, deviation in (
            (predicted.time_s, rest.time_s, predicted.time_sd),
            (predicted.power_w, rest.power_w, predicted.power_sd),
        )
    ]
    return Fit(
        model, trained,
        predicted.time_s / rest.time_s,
        predicted.power_w / rest.power_w,
        float(np.mean(inside)),
    )
