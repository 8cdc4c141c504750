"""A run by Slurm's rules as its folder has it: site, requests, outcome, and who held which nodes.

Everything is read from the run's tables. Codes and limits are spelled out here anew, from the
documentation of the run folder, so that a mistake of the scheduler is not read with its own eyes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from wattline.model.jobs import IntArray
from wattline.model.run import NodeStays, PowerBound, Run
from wattline.model.signal import FloatArray, Signal
from wattline.model.slurm_record import SlurmRecord
from wattline.results.verify._base import Finding, Rows, Verdicts

NO_LIMIT = 1 << 60
WAITING, RAN, KILLED, REFUSED, CANCELLED, NEVER, NODE_FAILED, PREEMPTED = range(8)
"""Fate of a job (`outcome.state`)."""
AFTERANY, AFTEROK, AFTERNOTOK, AFTER, SINGLETON = range(5)
"""Kind of event that a job waits for (`dependencies.kind`)."""
CPU, MEMORY, NODE, FIRST_DEVICE = range(4)
"""Columns of tables of limits; then devices by type, then by name where they have types."""
SHARED, EXCLUSIVE, EXCLUSIVE_USER = range(3)
"""Jobs that may be beside another on a node of a partition (`partitions.sharing`)."""
ROUNDING = 1e-6


class Table:
    """Columns by name; a single value is that value."""

    def __init__(self, columns: Mapping[str, Any]) -> None:
        self._columns = columns

    def __getattr__(self, name: str) -> Any:
        value = self.get(name)
        if value is None:
            raise AttributeError(name)
        return value

    def get(self, name: str) -> Any:
        """The column, or None where the run does not have it."""
        value = self.__dict__["_columns"].get(name)
        return value.item() if value is not None and value.ndim == 0 else value


@dataclass(frozen=True, eq=False)
class Case:
    """All that the rules for shared nodes read; `stays` has every run and stretch of each job."""

    tables: Mapping[str, Table]
    job_id: IntArray
    start_s: FloatArray
    end_s: FloatArray
    energy_j: FloatArray
    log_s: FloatArray
    log_w: FloatArray
    """Power of the machine from each of these times on."""
    stays: NodeStays
    cap: Signal | None = None
    """The one that was kept."""
    bounds: tuple[PowerBound, ...] = ()
    memory_mb: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))
    given_s: FloatArray = field(default_factory=lambda: np.zeros(0))
    """Since when each stay had its node, which may have booted until its `from_s`."""
    devices: IntArray = field(default_factory=lambda: np.zeros((0, 0), np.int64))
    """Of each stay by kind; -1 of those that a job had left again, in folders of earlier versions
    and where there are not as many stays as the record has."""
    is_last: Any = None
    """Stays of the last stretch of each job."""

    def __getattr__(self, name: str) -> Table:
        try:
            return self.__dict__["tables"][name]  # type: ignore[no-any-return]
        except KeyError:
            raise AttributeError(name) from None

    def has(self, name: str) -> bool:
        return name in self.tables

    @property
    def count(self) -> int:
        return len(self.start_s)

    @property
    def kinds(self) -> list[tuple[str, str]]:
        """(name, type) of each kind of device."""
        return [(str(name), str(model)) for name, model in self.nodes.gres_kinds.reshape(-1, 2)]

    @property
    def ran(self) -> Any:
        ended = np.isin(self.outcome.state, (RAN, KILLED, NODE_FAILED, PREEMPTED))
        return ended & ~np.isnan(self.start_s)

    @property
    def ran_s(self) -> FloatArray:
        """Run time of each job, without the time that it was suspended."""
        return np.asarray(self.end_s - self.start_s - self.outcome.suspended_s)

    @property
    def late_s(self) -> float:
        """Longest time between the limit of a job and its end."""
        rules = self.rules
        return float(rules.over_time_limit_s + 2 * rules.kill_late_s + rules.start_latency_s)

    @property
    def user(self) -> IntArray:
        """Of each job; -1 where nobody is known."""
        association = self.jobs.association
        known = self.associations.user[np.maximum(association, 0)]
        return np.asarray(np.where(association >= 0, known, -1))

    @property
    def whole_nodes(self) -> Any:
        """Jobs that hold all of their nodes, by their request, their partition or the site."""
        part = np.maximum(self.outcome.partition, 0)
        return (
            self.jobs.exclusive
            | (self.partitions.sharing[part] == EXCLUSIVE)
            | (self.rules.select == "linear")
        )

    def device_totals(self) -> list[str]:
        """Names of devices that have types: limits may be on all of a name."""
        return list(dict.fromkeys(name for name, model in self.kinds if model))


_CASES: WeakKeyDictionary[Run, Case] = WeakKeyDictionary()


def case_of(run: Run) -> Case:
    """The case of a run that has the record; it is made once."""
    if run not in _CASES:
        assert run.slurm is not None
        assert run.node_stays is not None
        _CASES[run] = case_from(
            run.slurm,
            run.node_stays,
            job_id=run.jobs.job_id,
            start_s=run.schedule.start_s,
            end_s=run.schedule.end_s,
            energy_j=run.schedule.energy_j,
            log_s=run.events.time_s,
            log_w=run.events.power_w,
            cap=run.cap_w if run.promises.keeps_cap else None,
            bounds=run.node_bounds,
        )
    return _CASES[run]


def case_from(record: SlurmRecord, stays: NodeStays, **columns: Any) -> Case:
    """A case from its parts."""
    tables = {name: Table(each) for name, each in record.tables.items()}
    last = len(tables["outcome"].allocation_job)
    earlier = len(stays.job) - last
    devices = tables["outcome"].allocation_gres
    before = tables["outcome"].get("left_gres")
    if before is None or len(before) != earlier:
        before = np.full((earlier, devices.shape[1]), -1, np.int64)
    assert stays.memory_mb is not None
    assert stays.given_s is not None
    return Case(
        tables,
        stays=stays,
        memory_mb=stays.memory_mb,
        given_s=stays.given_s,
        devices=np.concatenate((before, devices)),
        is_last=np.arange(len(stays.job)) >= earlier,
        **columns,
    )


def jobs(case: Case, which: Rows, what: str, times_s: FloatArray | None = None) -> Verdicts:
    """A finding for those jobs, with the number of the first."""
    rows = np.flatnonzero(which) if which.dtype == np.bool_ else which
    if not len(rows):
        return
    first = int(rows[0])
    others = f" and {len(rows) - 1:,} more" if len(rows) > 1 else ""
    when = None if times_s is None or np.isnan(times_s[first]) else float(times_s[first])
    yield Finding(f"job {case.job_id[first]}{others} {what}", int(case.job_id[first]), when)


def on_node(case: Case, stay: int) -> str:
    return f"job {case.job_id[case.stays.job[stay]]} on {case.nodes.names[case.stays.node[stay]]}"


def of_stay(case: Case, which: Any, what: str) -> Verdicts:
    """A finding for those stays, of the first of them."""
    rows = np.flatnonzero(which)
    if len(rows):
        first = int(rows[0])
        yield Finding(
            f"{on_node(case, first)} {what}",
            int(case.job_id[case.stays.job[first]]),
            float(case.given_s[first]),
        )
