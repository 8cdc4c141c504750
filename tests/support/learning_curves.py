"""Errors of a model, which fall with the part of a table that it is trained on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from wattline.physics.configurations import ConfigurationTable
from wattline.physics.regression import Grid, fit

SHARES = (0.05, 0.1, 0.2, 0.4, 0.7, 1.0)
HELD_OUT = 0.2


class Errors(NamedTuple):
    """Mean relative errors of held-out cells."""

    time: float
    power: float


def learning_curve(
    table: ConfigurationTable, kind: str, seed: int, shares: tuple[float, ...] = SHARES
) -> list[Errors]:
    """Errors of the same held-out fifth, trained on growing shares of all the other cells.

    Each training holds the one before it. Shares of fewer than four cells are left out.
    """
    order = np.random.default_rng(seed).permutation(len(table))
    cut = max(4, round(HELD_OUT * len(table)))
    truth, others = table.take(order[:cut]), order[cut:]
    found = []
    for share in shares:
        count = round(share * len(others))
        if count < 4:
            continue
        model = fit(table.take(np.sort(others[:count])), kind, grid=Grid.of(table))
        predicted = model.predict_points(truth.points())
        found.append(Errors(float(np.mean(np.abs(predicted.time_s / truth.time_s - 1.0))),
                            float(np.mean(np.abs(predicted.power_w / truth.power_w - 1.0)))))
    return found
