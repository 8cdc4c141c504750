"""Columns of tables of limits and weights: CPUs, memory, nodes, then each kind of GRES."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from wattline.shared_nodes.machine import CPU, FIRST_GRES, MEMORY_MB, NO_LIMIT, NODE, IntArray

Kinds = Sequence[tuple[str, str]]
PLAIN = {"cpu": CPU, "mem": MEMORY_MB, "node": NODE}


def columns_of(resource: str, kinds: Kinds) -> list[int]:
    """Where a resource such as `cpu`, `gres/gpu` or `gres/gpu:a100` stands; none where nowhere."""
    name = resource.lower()
    if name in PLAIN:
        return [PLAIN[name]]
    if not name.startswith("gres/"):
        return []
    wanted, _, model = name.removeprefix("gres/").partition(":")
    return [FIRST_GRES + at for at, (kind, its_type) in enumerate(kinds)
            if kind.lower() == wanted and model in ("", its_type.lower())]


def limits_row(tres: Mapping[str, int], kinds: Kinds) -> tuple[IntArray, list[str]]:
    """A row of limits, and what of it stands in no column as one figure."""
    row = np.full(FIRST_GRES + len(kinds), NO_LIMIT, dtype=np.int64)
    left = []
    for resource, count in tres.items():
        columns = columns_of(resource, kinds)
        if len(columns) != 1:
            # A limit on all GPUs together is none on each of two types.
            left.append(resource)
        else:
            row[columns[0]] = count
    return row, left


def weights_row(weights: Mapping[str, float], kinds: Kinds) -> tuple[tuple[float, ...], list[str]]:
    """A row of weights, and the resources that the machine does not have."""
    row = [0.0] * (FIRST_GRES + len(kinds))
    left = []
    for resource, weight in weights.items():
        columns = columns_of(resource, kinds)
        left += [] if columns else [resource]
        for column in columns:
            row[column] += weight
    return tuple(row), left
