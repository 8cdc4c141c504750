"""Columns of tables of limits and weights: CPUs, memory, nodes, each kind of GRES, each name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from wattline.shared_nodes.machine import (
    CPU,
    FIRST_GRES,
    MEMORY_MB,
    NO_LIMIT,
    NODE,
    IntArray,
    device_totals,
)

Kinds = Sequence[tuple[str, str]]
PLAIN = {"cpu": CPU, "mem": MEMORY_MB, "node": NODE}


def column_of(resource: str, kinds: Kinds) -> int | None:
    """Where a resource such as `cpu`, `gres/gpu` or `gres/gpu:a100` stands; None for nowhere."""
    name = resource.lower()
    if name in PLAIN:
        return PLAIN[name]
    wanted, _, model = name.removeprefix("gres/").partition(":")
    places = {(kind.lower(), its_type.lower()): FIRST_GRES + at
              for at, (kind, its_type) in enumerate(kinds)}
    places |= {(total.lower(), ""): FIRST_GRES + len(kinds) + at
               for at, total in enumerate(device_totals(kinds))}
    return places.get((wanted, model)) if name.startswith("gres/") else None


def _width(kinds: Kinds) -> int:
    return FIRST_GRES + len(kinds) + len(device_totals(kinds))


def limits_row(tres: Mapping[str, int], kinds: Kinds) -> tuple[IntArray, list[str]]:
    """A row of limits, and the resources that the machine does not have."""
    row = np.full(_width(kinds), NO_LIMIT, dtype=np.int64)
    left = []
    for resource, count in tres.items():
        column = column_of(resource, kinds)
        if column is None:
            left.append(resource)
        else:
            row[column] = count
    return row, left


def weights_row(weights: Mapping[str, float], kinds: Kinds) -> tuple[tuple[float, ...], list[str]]:
    """A row of weights, and the resources that the machine does not have."""
    row = [0.0] * _width(kinds)
    left = []
    for resource, weight in weights.items():
        column = column_of(resource, kinds)
        if column is None:
            left.append(resource)
        else:
            row[column] += weight
    return tuple(row), left
