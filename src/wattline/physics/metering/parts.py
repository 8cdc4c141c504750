"""Power of a whole server from the power of its parts: a straight line, or no answer.

What parts do not show (fans, losses of supplies, boards) grows with them, so each part has a
weight, and there is a base. The fit is refused where the data cannot tell the weights apart.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from wattline.model.errors import InputError
from wattline.model.signal import FloatArray

ROWS_PER_UNKNOWN = 10
LEAST_CHANGE = 0.05
"""A part must change by so much of its highest power."""
LEAST_R2 = 0.8
MOST_ALIKE = 0.95
"""So much of one part may follow from the others at most."""
FOLDS = 5
BEYOND = 0.2
"""By so much of its range may a part leave what the fit has seen."""


@dataclass(frozen=True)
class ServerPart:
    """One part of a server in the model."""

    weight: float
    """Watts of the server for each watt of the part."""
    low_w: float
    high_w: float
    """Between these the fit has seen it."""

    def knows(self, power_w: float) -> bool:
        reach_w = BEYOND * (self.high_w - self.low_w)
        return self.low_w - reach_w <= power_w <= self.high_w + reach_w


@dataclass(frozen=True)
class ServerModel:
    """`base_w` and so much for each watt of each part."""

    base_w: float
    parts: dict[str, ServerPart]
    r2: float
    """Share of the server's changes that the parts explain."""
    error_w: float
    """Root of the mean square of errors on stretches of the data that were left out."""
    worst_w: float
    """The largest of those errors."""
    rows: int

    def power_w(self, parts_w: Mapping[str, float]) -> float:
        """The server's power now; NaN beyond what the fit has seen."""
        if not all(part.knows(parts_w[name]) for name, part in self.parts.items()):
            return math.nan
        return self.base_w + sum(part.weight * parts_w[name] for name, part in self.parts.items())


def fit_server(parts_w: Mapping[str, FloatArray], server_w: FloatArray) -> ServerModel:
    """The line through measurements of parts and server at the same times."""
    names = list(parts_w)
    table = np.column_stack([parts_w[name] for name in names]) if names else np.empty((0, 0))
    whole = ~np.isnan(table).any(axis=1) & ~np.isnan(server_w) if names else np.empty(0, bool)
    table, server_w = table[whole], server_w[whole]
    _check_data(names, table, server_w)
    found = _solved(table, server_w)
    errors_w = _left_out(table, server_w)
    r2 = 1.0 - float(np.var(server_w - _told(found, table)) / np.var(server_w))
    _check_fit(names, found, r2)
    parts = {name: ServerPart(float(weight), float(column.min()), float(column.max()))
             for name, weight, column in zip(names, found[1:], table.T, strict=True)}
    return ServerModel(float(found[0]), parts, r2, float(np.sqrt(np.mean(errors_w**2))),
                       float(np.abs(errors_w).max()), int(server_w.size))


def _solved(table: FloatArray, server_w: FloatArray) -> FloatArray:
    """The base and the weights."""
    found, *_ = np.linalg.lstsq(np.column_stack([np.ones(len(table)), table]), server_w)
    return np.asarray(found, dtype=np.float64)


def _told(found: FloatArray, table: FloatArray) -> FloatArray:
    return np.asarray(found[0] + table @ found[1:], dtype=np.float64)


def _left_out(table: FloatArray, server_w: FloatArray) -> FloatArray:
    """Errors on each fifth of the time by what the other four tell."""
    errors = []
    for fold in np.array_split(np.arange(len(table)), FOLDS):
        others = np.ones(len(table), dtype=np.bool_)
        others[fold] = False
        found = _solved(table[others], server_w[others])
        errors.append(server_w[fold] - _told(found, table[fold]))
    return np.concatenate(errors)


def _check_data(names: Sequence[str], table: FloatArray, server_w: FloatArray) -> None:
    least = ROWS_PER_UNKNOWN * (len(names) + 1)
    if not names or len(table) < least:
        raise InputError(f"the power of a server from {len(names)} parts needs {least} rows with "
                         f"all of them, and at least one part; there are {len(table)}")
    for name, column in zip(names, table.T, strict=True):
        if np.ptp(column) < LEAST_CHANGE * column.max() or np.ptp(column) == 0:
            raise InputError(f"{name} hardly changes ({column.min():.0f} to {column.max():.0f} W): "
                             "what it weighs cannot be told; leave it out, or measure more loads")
    if np.ptp(server_w) < LEAST_CHANGE * server_w.max():
        raise InputError("the server's power hardly changes: measure while its load does")
    for place, name in enumerate(names):
        others = np.delete(table, place, axis=1)
        if others.size and _follows(table[:, place], others) > MOST_ALIKE:
            raise InputError(f"{name} rises and falls with the other parts: what each weighs "
                             "cannot be told; leave it out, or measure other loads")


def _follows(column: FloatArray, others: FloatArray) -> float:
    """Which share of one part follows from the others."""
    return 1.0 - float(np.var(column - _told(_solved(others, column), others)) / np.var(column))


def _check_fit(names: Sequence[str], found: FloatArray, r2: float) -> None:
    if r2 < LEAST_R2:
        raise InputError(f"these parts explain {max(r2, 0.0):.0%} of the server's changes only: a "
                         "part is missing, or the meters are not of the same time")
    wrong = [name for name, weight in zip(names, found[1:], strict=True) if weight <= 0]
    if wrong:
        raise InputError(f"{wrong[0]} would take power away from the server: the data cannot tell "
                         "what it weighs; leave it out, or measure more loads")
