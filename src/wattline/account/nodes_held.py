"""Which nodes the jobs of a run held, as runs of neighbours, and of which classes they are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wattline.model.jobs import IntArray
from wattline.model.machine import Machine
from wattline.model.run import Run

NodeRuns = tuple[tuple[int, int], ...]
"""First and last node of each run of neighbours, in order; none where nobody knows."""
UNKNOWN = "unknown"


class NodesHeld:
    """The nodes of each job in its last stretch; unknown where the run chose none."""

    def __init__(self, run: Run) -> None:
        self._machine = run.machine
        self._units = run.schedule.nodes
        self._placement = run.placement
        if run.placement is not None:
            self._order = np.argsort(run.placement.job, kind="stable")
            rows = np.arange(len(run.jobs) + 1)
            self._bounds = np.searchsorted(run.placement.job[self._order], rows)
            self._first = run.placement.first
            self._last = self._first + run.placement.count - 1
            ends = _unit_ends(run)
            if ends is not None:
                self._first, self._last = (np.searchsorted(ends, units, side="right")
                                           for units in (self._first, self._last))

    def of_all(self, rows: IntArray) -> list[NodeRuns]:
        """The nodes of the jobs in these rows of the table."""
        if self._placement is None:
            return [()] * len(rows)
        order = self._order
        pairs = list(zip(self._first[order].tolist(), self._last[order].tolist(), strict=True))
        counts = self._placement.count[order]
        all_held = np.append(0, np.cumsum(counts))[self._bounds]
        # Of most jobs every line counts: they were never paused.
        whole = (np.diff(all_held) == self._units) & (np.diff(self._bounds) > 0)
        if not counts.all():  # a line of no nodes counts with those of its stretch
            whole[:] = False
        bounds, plain = self._bounds.tolist(), whole.tolist()
        return [_joined(sorted(pairs[bounds[row]:bounds[row + 1]])) if plain[row]
                else self._last_stretch(row) for row in rows.tolist()]

    def _last_stretch(self, row: int) -> NodeRuns:
        assert self._placement is not None
        rows = self._order[self._bounds[row] : self._bounds[row + 1]][::-1]
        held = np.cumsum(self._placement.count[rows])
        # A job that was paused is listed once more for every stretch; the last one counts.
        stretch = rows[: int(np.searchsorted(held, self._units[row])) + 1]
        if not stretch.size or held[stretch.size - 1] != self._units[row]:
            return ()
        first, last = self._first[stretch], self._last[stretch]
        return _joined(sorted(zip(first.tolist(), last.tolist(), strict=True)))

    def classes_of_all(self, runs: Sequence[NodeRuns]) -> list[str]:
        """The class of the nodes of each job; of several, all their names; unknown where the
        nodes are."""
        machine = self._machine
        names = dict.fromkeys(group.node_class.name for group in machine.groups)
        if len(names) == 1:
            return [next(iter(names)) or UNKNOWN] * len(runs)
        return ["+".join(dict.fromkeys(
            name for first, last in each for name in _classes_between(machine, first, last)
        )) or UNKNOWN for each in runs]


def count_nodes(runs: NodeRuns) -> int:
    return sum(last - first + 1 for first, last in runs)


def _unit_ends(run: Run) -> IntArray | None:
    """Where units are cores: one past the last core of each node."""
    if run.units == run.machine.node_count:
        return None
    cores = np.concatenate([np.full(g.count, g.node_class.cores) for g in run.machine.groups])
    ends: IntArray = np.cumsum(cores)
    return ends


def _joined(runs: Sequence[tuple[int, int]]) -> NodeRuns:
    """Runs in order, with those that touch or share a node made one."""
    found: list[tuple[int, int]] = []
    for first, last in runs:
        if found and first <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(last, found[-1][1]))
        else:
            found.append((first, last))
    return tuple(found)


def _classes_between(machine: Machine, first: int, last: int) -> list[str]:
    found = []
    begin = 0
    for group in machine.groups:
        if first < begin + group.count and last >= begin:
            found.append(group.node_class.name)
        begin += group.count
    return found
