"""The answers of a ledger about one run that is entered nowhere: all of it is at hand, in columns.

To put 100,000 jobs into an SQL store only to ask it once takes longer than to simulate them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from wattline.account.entries import Entries
from wattline.account.ledger import ALL, Chosen, Ledger, Total, jobs, refuse_group
from wattline.account.sacct import life
from wattline.model.jobs import IntArray

RUN_ID = 1


class RunLedger:
    """A run with its jobs, asked as a ledger is that has no other run."""

    def __init__(self, entries: Entries, run: Mapping[str, Any]) -> None:
        self._entries = entries
        self._jobs = entries.jobs
        self._run = {"id": RUN_ID, **run}
        self._ids = np.array(self._jobs["job_id"], dtype=np.int64)
        self._restarts = np.array(self._jobs["restart"], dtype=np.int64)

    def run_of(self, name: str = "") -> dict[str, Any]:
        """The row of the run."""
        kept = {field: json.loads(json.dumps(self._run[field])) for field in ("left_out",
                                                                              "assumed")}
        return self._run | kept

    def jobs_of(self, run_id: int, chosen: Chosen = ALL) -> list[dict[str, Any]]:
        """Jobs that match all given conditions, in order of their numbers."""
        columns = {"id": range(1, len(self._ids) + 1), "run_id": [run_id] * len(self._ids),
                   **self._jobs, "node_list": self._entries.node_lists}
        names = [column.name for column in jobs.columns]
        listed = list(zip(*(columns[name] for name in names), strict=True))
        order = np.lexsort((self._restarts, self._ids))
        order = order[self._matching(chosen)[order]]
        return [dict(zip(names, listed[at], strict=True)) for at in order.tolist()]

    def submissions(self, run_id: int) -> tuple[float, float]:
        """When the first and the last job of the run was submitted; 0 in a run without jobs."""
        submit_s = self._jobs["submit_s"]
        return min(submit_s, default=0.0), max(submit_s, default=0.0)

    def unknown(self, run_id: int, column: str, asked: Sequence[Any]) -> list[Any]:
        """Those of the names asked for that no job of the run has in a column."""
        there = set(self._jobs[column]) if asked else set()
        return [name for name in asked if name not in there]

    def steps_of(self, run_id: int) -> dict[tuple[int, int], list[dict[str, Any]]]:
        """The steps by job and restart."""
        steps = self._entries.steps
        order = self._order_of_steps(steps.job, steps.step_id)
        columns = {"id": order + 1, "run_id": np.full(len(order), run_id),
                   "job_id": self._ids[steps.job][order],
                   "restart": self._restarts[steps.job][order],
                   **{name: getattr(steps, name)[order]
                      for name in ("step_id", "start_s", "end_s", "energy_j")}}
        found: dict[tuple[int, int], list[dict[str, Any]]] = {}
        names = list(columns)
        for values in zip(*(each.tolist() for each in columns.values()), strict=True):
            row = dict(zip(names, values, strict=True))
            found.setdefault(life(row), []).append(row)
        return found

    def power_rows(self, run_id: int) -> tuple[npt.NDArray[Any], ...]:
        """The power of all jobs over time: job, restart, step, time, watts, and the step's end."""
        steps = self._entries.steps
        job = steps.job[steps.step]
        number = steps.step_id[steps.step]
        order = self._order_of_steps(job, number)
        columns = (self._ids[job], self._restarts[job], number, steps.time_s, steps.power_w,
                   steps.end_s[steps.step])
        return tuple(column[order] for column in columns)

    def totals(self, run_id: int, by: str, chosen: Chosen = ALL) -> list[Total]:
        """Joules by user, account, partition, application or node class, most first."""
        refuse_group(by)
        nodes, start_s, end_s, energy_j = (np.array(self._jobs[name], dtype=np.float64) for name in
                                           ("nodes", "start_s", "end_s", "energy_j"))
        counted = np.flatnonzero(self._matching(chosen) & (nodes > 0))
        names = dict.fromkeys(self._jobs[by][at] for at in counted.tolist())
        number = {name: at for at, name in enumerate(names)}
        group = np.array([number[self._jobs[by][at]] for at in counted.tolist()], dtype=np.int64)
        sums = (np.bincount(group, each[counted], len(names)).tolist()
                for each in (np.ones(len(nodes)), nodes * (end_s - start_s), energy_j))
        found = [Total(name, int(count), node_s, joules)
                 for name, count, node_s, joules in zip(names, *sums, strict=True)]
        return sorted(found, key=lambda total: (-total.energy_j, total.name))

    def _matching(self, chosen: Chosen) -> npt.NDArray[np.bool_]:
        found = np.ones(len(self._ids), dtype=bool)
        for column, wanted in (("job_id", chosen.job_ids), ("user", chosen.users),
                               ("account", chosen.accounts)):
            if wanted:
                asked = set(wanted)
                found &= np.array([each in asked for each in self._jobs[column]], dtype=bool)
        if chosen.start_s is not None:
            found &= np.array(self._jobs["end_s"]) >= chosen.start_s
        if chosen.end_s is not None:
            found &= np.array(self._jobs["submit_s"]) <= chosen.end_s
        return found

    def _order_of_steps(self, job: IntArray, step_id: IntArray) -> IntArray:
        """By the number of the job, its life and the step; what is in order stays so."""
        order: IntArray = np.lexsort((step_id, self._restarts[job], self._ids[job]))
        return order


AnyLedger = Ledger | RunLedger
