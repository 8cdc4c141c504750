"""What a value of an axis does, by pairs of points that differ in nothing else.

Both points of a pair have the same seed, so that luck is not in their difference. Over the other
axes pairs are averaged seed by seed; the interval is that of the seeds, which are drawn
independently, as settings are not.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from wattline.analysis.expressions import Expression
from wattline.analysis.intervals import mean_interval
from wattline.sweeps.axes import SEED
from wattline.sweeps.table import shown

Rows = Sequence[Mapping[str, Any]]


class Difference(NamedTuple):
    """The mean of a figure at one value of an axis less that at another."""

    mean: float
    half: float
    """Half its 95 % interval over the seeds; NaN where there is one."""
    pairs: int


def against_first(rows: Rows, axis: str, goal: Expression) -> dict[str, Difference]:
    """By value of an axis the difference to the first of them, of the pairs that there are."""
    by_value: dict[str, dict[tuple[str, str], float]] = {}
    for row in rows:
        others = {name: value for name, value in row["setting"].items() if name not in (axis, SEED)}
        pair = json.dumps(others, default=str), shown(row["setting"].get(SEED))
        by_value.setdefault(shown(row["setting"].get(axis)), {})[pair] = goal.value(row["figures"])
    if axis == SEED or not by_value:
        return {}
    first, *later = by_value
    return {value: _difference(by_value[first], by_value[value]) for value in later
            if by_value[first].keys() & by_value[value].keys()}


def _difference(
    first: Mapping[tuple[str, str], float], other: Mapping[tuple[str, str], float]
) -> Difference:
    by_seed: dict[str, list[float]] = {}
    for pair in first.keys() & other.keys():
        by_seed.setdefault(pair[1], []).append(other[pair] - first[pair])
    mean, half = mean_interval([float(np.mean(found)) for _, found in sorted(by_seed.items())])
    return Difference(mean, half, sum(map(len, by_seed.values())))
