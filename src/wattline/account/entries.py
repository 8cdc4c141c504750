"""What the ledger keeps of a run, in columns: objects for jobs would cost more than the run did."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from wattline.account.nodes_held import NodeRuns
from wattline.account.records import JobRecord, StepRecord, out_of_order
from wattline.model.jobs import IntArray
from wattline.model.signal import FloatArray, Signal
from wattline.model.units import format_hosts

OF_JOBS = ("job_id", "restart", "user", "account", "partition", "application", "node_class",
           "state", "quality", "nodes", "cores", "submit_s", "start_s", "end_s", "limit_s",
           "energy_j", "frequency_hz", "asked_frequency")
"""All of a job but its list of nodes."""


@dataclass(frozen=True, eq=False)
class Steps:
    """The stretches in which jobs ran, in the order of the jobs, and their power over time."""

    job: IntArray
    """Of which job each is, by its place among the jobs."""
    step_id: IntArray
    start_s: FloatArray
    end_s: FloatArray
    energy_j: FloatArray
    step: IntArray
    """Of which step each point in time is, by its place among the steps."""
    time_s: FloatArray
    power_w: FloatArray
    """Power of a step from this time on, all its nodes together."""


@dataclass(frozen=True, eq=False)
class Entries:
    """The jobs of a run with all that the ledger has of them."""

    jobs: Mapping[str, list[Any]]
    """By column; a frequency that is not known is None."""
    node_runs: list[NodeRuns]
    steps: Steps

    def __post_init__(self) -> None:
        submit_s, start_s, end_s, energy_j = (
            np.array(self.jobs[name], dtype=np.float64)
            for name in ("submit_s", "start_s", "end_s", "energy_j"))
        wrong = (start_s > end_s) | (submit_s > start_s)
        wrong |= ~(np.isfinite(energy_j) & (energy_j >= 0))
        for at in np.flatnonzero(wrong)[:1].tolist():
            raise out_of_order(self.jobs["job_id"][at], *(
                float(each[at]) for each in (submit_s, start_s, end_s, energy_j)))

    def __len__(self) -> int:
        return len(self.node_runs)

    @property
    def node_lists(self) -> list[str]:
        """`n[1-3,7]`, or nothing where the nodes are not known."""
        return [format_hosts("n", runs) if runs else "" for runs in self.node_runs]

    def records(self) -> Iterator[JobRecord]:
        """Each job as an object, for whoever looks at few of them."""
        steps = self.steps
        first_step = np.searchsorted(steps.job, np.arange(len(self) + 1))
        first_point = np.searchsorted(steps.step, np.arange(len(steps.job) + 1))
        columns = [self.jobs[name] for name in OF_JOBS]
        for at, values in enumerate(zip(*columns, strict=True)):
            found = dict(zip(OF_JOBS, values, strict=True))
            if found["frequency_hz"] is None:
                found["frequency_hz"] = float("nan")
            its = range(int(first_step[at]), int(first_step[at + 1]))
            yield JobRecord(**found, node_runs=self.node_runs[at], steps=tuple(
                self._step(step, slice(*first_point[step:step + 2])) for step in its))

    def _step(self, step: int, points: slice) -> StepRecord:
        steps = self.steps
        return StepRecord(
            int(steps.step_id[step]), float(steps.start_s[step]), float(steps.end_s[step]),
            float(steps.energy_j[step]), Signal(steps.time_s[points], steps.power_w[points], "W"))

    @classmethod
    def of(cls, records: Iterable[JobRecord]) -> Entries:
        """The columns of objects."""
        listed = list(records)
        jobs = {name: [getattr(record, name) for record in listed] for name in OF_JOBS}
        jobs["frequency_hz"] = [None if np.isnan(each) else each for each in jobs["frequency_hz"]]
        return cls(jobs, [record.node_runs for record in listed], _steps_of(listed))


def _steps_of(records: list[JobRecord]) -> Steps:
    steps = [(job, step) for job, record in enumerate(records) for step in record.steps]
    points = [(at, *point) for at, (_, step) in enumerate(steps)
              for point in zip(step.power_w.time_s, step.power_w.value, strict=True)]
    of_steps = [(job, step.step_id, step.start_s, step.end_s, step.energy_j)
                for job, step in steps]
    return Steps(*_columns(of_steps, "iifff"), *_columns(points, "iff"))


def _columns(rows: list[tuple[Any, ...]], kinds: str) -> list[Any]:
    found = list(zip(*rows, strict=True)) or [()] * len(kinds)
    return [np.array(column, dtype=np.int64 if kind == "i" else np.float64)
            for column, kind in zip(found, kinds, strict=True)]
