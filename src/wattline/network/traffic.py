"""Who sends to whom in a job: six patterns, measured matrices, and tasks put on nodes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from pathlib import Path

import numpy as np
import numpy.typing as npt

from wattline.model.errors import InputError
from wattline.model.jobs import IntArray
from wattline.model.reading import read_text
from wattline.model.signal import FloatArray
from wattline.model.units import plain_number

PATTERNS = ("all-to-all", "broadcast", "fft3d", "halo2d", "halo3d", "halo3d26")
MAPPINGS = ("random", "linear")
TASKS_PER_NODE = 2


@dataclass(frozen=True, eq=False)
class Traffic:
    """Messages between the tasks of one job in one exchange: source, target, how many messages.

    All messages of a job have the same size; a measured matrix becomes fractions of messages.
    """

    tasks: int
    source: IntArray
    target: IntArray
    messages: FloatArray


def pattern(name: str, tasks: int) -> Traffic:
    """The messages of one of the six patterns."""
    if name not in PATTERNS:
        raise InputError(f"pattern '{name}' is unknown; write one of {', '.join(PATTERNS)}")
    if tasks < 1:
        raise InputError(f"a pattern needs at least one task, not {tasks}")
    return _pattern(name, tasks)


@lru_cache(maxsize=512)
def _pattern(name: str, tasks: int) -> Traffic:
    if name == "all-to-all":
        source = np.repeat(np.arange(tasks), tasks - 1)
        target = np.arange(tasks * (tasks - 1)) % max(1, tasks - 1)
        target += target >= source
    elif name == "broadcast":
        # One central task sends to every other one.
        source, target = np.zeros(tasks - 1, dtype=np.int64), np.arange(1, tasks)
    elif name == "fft3d":
        source, target = _rows_and_columns(tasks)
    else:
        source, target = _halo(name, tasks)
    return _traffic(tasks, source, target, np.ones(len(source)))


def _traffic(tasks: int, source: IntArray, target: IntArray, messages: FloatArray) -> Traffic:
    arrays = (source.astype(np.int64), target.astype(np.int64), messages.astype(np.float64))
    for values in arrays:
        values.setflags(write=False)
    return Traffic(tasks, *arrays)


def grid(tasks: int, dimensions: int) -> tuple[int, ...]:
    """The most cube-like grid of this many tasks, largest side first."""
    best: tuple[int, ...] = (tasks,) + (1,) * (dimensions - 1)
    if dimensions == 1:
        return best
    for side in range(1, round(tasks ** (1 / dimensions)) + 1):
        if tasks % side == 0:
            found = (*grid(tasks // side, dimensions - 1), side)
            if max(found) < max(best) or (max(found) == max(best) and min(found) > min(best)):
                best = found
    return tuple(sorted(best, reverse=True))


def _rows_and_columns(tasks: int) -> tuple[IntArray, IntArray]:
    """A 3-D FFT in pencils: tasks in a grid exchange all to all in each row and each column."""
    rows, columns = grid(tasks, 2)
    row, column = np.divmod(np.arange(rows * columns), columns)
    pairs = (row[:, None] == row) | (column[:, None] == column)
    np.fill_diagonal(pairs, False)
    source, target = np.nonzero(pairs)
    return source, target


def _halo(name: str, tasks: int) -> tuple[IntArray, IntArray]:
    """Neighbours in a grid without wrap-around; 26 of them when diagonals count."""
    dimensions = 2 if name == "halo2d" else 3
    sides = grid(tasks, dimensions)
    steps = [step for step in product((-1, 0, 1), repeat=dimensions)
             if any(step) and (name == "halo3d26" or sum(map(abs, step)) == 1)]
    places = np.stack(np.unravel_index(np.arange(tasks), sides), axis=1)
    sources, targets = [], []
    for step in steps:
        there = places + np.array(step)
        inside = np.all((there >= 0) & (there < np.array(sides)), axis=1)
        sources.append(np.flatnonzero(inside))
        targets.append(np.ravel_multi_index(tuple(there[inside].T), sides))
    return np.concatenate(sources), np.concatenate(targets)


def from_matrix(matrix: npt.ArrayLike,
                where: str = "communication matrix") -> tuple[Traffic, float]:
    """Messages from a matrix of bytes between ranks, and their mean size in bytes."""
    values = np.asarray(matrix, dtype=np.float64)
    if values.ndim != 2 or values.shape[0] != values.shape[1]:
        raise InputError(f"{where}: has the shape {'x'.join(map(str, values.shape))}; "
                         "a matrix of ranks must be square")
    if not np.all(np.isfinite(values)):
        row, column = np.argwhere(~np.isfinite(values))[0]
        raise InputError(f"{where}: row {row + 1}, column {column + 1} is not a number")
    if np.any(values < 0):
        row, column = np.argwhere(values < 0)[0]
        raise InputError(f"{where}: row {row + 1}, column {column + 1} is "
                         f"{values[row, column]:g}; bytes must not be negative")
    sent = values.copy()
    np.fill_diagonal(sent, 0.0)
    source, target = np.nonzero(sent)
    if source.size == 0:
        raise InputError(f"{where}: no rank sends anything to another one")
    size = float(sent[source, target].mean())
    return _traffic(values.shape[0], source, target, sent[source, target] / size), size


def read_matrix(path: Path) -> tuple[Traffic, float]:
    """A matrix of bytes between ranks from a CSV file without a header."""
    lines = [line for line in read_text(path).splitlines() if line.strip()]
    rows = []
    for number, line in enumerate(lines, start=1):
        try:
            rows.append([plain_number(cell) for cell in line.split(",")])
        except ValueError:
            raise InputError(f"{path}, line {number}: has a cell that is not a number") from None
        if len(rows[-1]) != len(lines):
            raise InputError(f"{path}, line {number}: has {len(rows[-1])} columns, but the file "
                             f"has {len(lines)} rows; a matrix of ranks must be square")
    if not rows:
        raise InputError(f"{path} is empty; a matrix has one row and one column a rank")
    return from_matrix(rows, str(path))


def map_tasks(nodes: IntArray, tasks: int, mapping: str, rng: np.random.Generator) -> IntArray:
    """The node of each task: tasks fill the nodes in order, or in an order drawn at random.

    Every node gets the same number of tasks, but for the last ones when they do not divide.
    """
    if mapping not in MAPPINGS:
        raise InputError(f"mapping '{mapping}' is unknown; write one of {', '.join(MAPPINGS)}")
    each = -(-tasks // len(nodes))
    places = np.repeat(nodes, each)[:tasks]
    return rng.permutation(places) if mapping == "random" else places
