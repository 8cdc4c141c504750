"""A run made ready to be asked about any moment: arrays by job, sorted where that helps.

Half a million jobs are a few megabytes of columns; no object is made per job but for those of a
page.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from wattline.model.jobs import IntArray
from wattline.model.run import EventKind, Run
from wattline.model.signal import FloatArray
from wattline.model.states import WORDS, run_states

BoolArray = npt.NDArray[np.bool_]
QUEUED, RUNNING, LATER = "PENDING", "RUNNING", "LATER"
SAID = (*WORDS, RUNNING, LATER)
"""The states of a job in Slurm's words; LATER before its submission."""


@dataclass(frozen=True)
class Moment:
    """Which jobs run and which wait at a time; all else follows from it."""

    time_s: float
    power_w: float
    busy: int
    queued: int
    running: IntArray
    """Rows of the job table."""
    waiting: IntArray
    """In order of submission."""


class RunIndex:
    """The columns of a run, and what is computed of them once."""

    def __init__(self, run: Run) -> None:
        self.run = run
        ran = run.ran
        self.start_s = np.where(ran, run.schedule.start_s, np.inf)
        self.end_s = np.where(ran, run.schedule.end_s, np.inf)
        self.refused = run.refused

    @cached_property
    def states(self) -> IntArray:
        """How each job ends, as a place in `WORDS`."""
        return run_states(self.run)

    @cached_property
    def idle_w(self) -> FloatArray:
        """Idle watts of each node."""
        return np.concatenate([np.full(group.count, group.node_class.power_w_idle)
                               for group in self.run.machine.groups])

    @cached_property
    def class_of(self) -> IntArray:
        """By node: its group."""
        return np.repeat(np.arange(len(self.run.machine.groups)),
                         [group.count for group in self.run.machine.groups])

    @cached_property
    def rack_of(self) -> IntArray:
        racks = self.run.machine.racks
        return np.repeat(np.arange(len(racks)), [count for _, count in racks])

    @cached_property
    def mean_w(self) -> FloatArray:
        """Mean power of each job while it held nodes; 0 of those that never ran."""
        with np.errstate(invalid="ignore", divide="ignore"):  # of jobs that never ran
            took_s = self.end_s - self.start_s
            found = self.run.schedule.energy_j / took_s
        return np.where(np.isfinite(found), found, 0.0)

    @cached_property
    def units_of(self) -> IntArray:
        """Units that each job has or asks for."""
        run = self.run
        whole = run.units == run.machine.node_count
        cores = run.machine.groups[0].node_class.cores if whole else 1
        return np.where(run.ran, run.schedule.nodes, -(-run.jobs.procs // cores))

    def at(self, time_s: float) -> Moment:
        log = self.run.events
        place = int(np.searchsorted(log.time_s, time_s, side="right")) - 1
        running = np.flatnonzero((self.start_s <= time_s) & (self.end_s > time_s))
        upto = int(np.searchsorted(self.run.jobs.submit_s, time_s, side="right"))
        waiting = np.flatnonzero((self.start_s[:upto] > time_s) & ~self.refused[:upto])
        if place < 0:
            return Moment(time_s, self.run.machine.power_w_idle, 0, 0, running, waiting)
        return Moment(time_s, float(log.power_w[place]), int(log.busy[place]),
                      len(waiting), running, waiting)

    def state_codes(self, time_s: float, rows: IntArray | slice = slice(None)) -> IntArray:
        """The state of these jobs at a time, as a place in `SAID`."""
        pending = SAID.index(QUEUED)
        ended, started = self.end_s[rows] <= time_s, self.start_s[rows] <= time_s
        waits = np.where(self.refused[rows], SAID.index("CANCELLED"), pending)
        found = np.where(ended, self.states[rows], np.where(started, len(WORDS), waits))
        later = self.run.jobs.submit_s[rows] > time_s
        return np.where(later, len(WORDS) + 1, found).astype(np.int64)

    @cached_property
    def ids(self) -> npt.NDArray[np.str_]:
        """The number of each job as text, to be searched."""
        return self.run.jobs.job_id.astype(np.str_)

    def energy_at(self, moment: Moment, rows: IntArray) -> FloatArray:
        """Joules of these jobs so far: a job that runs has its part by its mean power."""
        whole_j = self.run.schedule.energy_j[rows]
        so_far_j = self.mean_w[rows] * (moment.time_s - self.start_s[rows])
        over = self.end_s[rows] <= moment.time_s
        begun = self.start_s[rows] <= moment.time_s
        return np.where(over, whole_j, np.where(begun, so_far_j, 0.0))

    @cached_property
    def drawn(self) -> tuple[FloatArray, FloatArray]:
        """Times, and the joules that the machine had drawn by then."""
        from wattline.analysis.series import power_steps

        steps = power_steps(self.run)
        return steps.edge_s, np.append(0.0, np.cumsum(steps.value * np.diff(steps.edge_s)))

    def drawn_j(self, time_s: float) -> float:
        return float(np.interp(time_s, *self.drawn))

    def node_powers(self, moment: Moment) -> tuple[FloatArray, IntArray] | None:
        """By node its watts and the row of its job (-1: none); None where no node is known.

        The machine's power is exact. What is above idle is shared among the running jobs by their
        mean power above idle, so that nodes add up to the machine.
        """
        run = self.run
        if run.placement is None or run.units != run.machine.node_count:
            return None
        job = np.full(run.machine.node_count, -1, dtype=np.int64)
        runs_now = np.zeros(len(run.jobs), dtype=np.bool_)
        runs_now[moment.running] = True
        held = np.flatnonzero(runs_now[run.placement.job])
        for row in held.tolist():
            first = int(run.placement.first[row])
            job[first : first + int(run.placement.count[row])] = run.placement.job[row]
        busy = job >= 0
        rise_w = np.zeros(len(job))
        rise_w[busy] = np.maximum(self.mean_w[job[busy]] / self.units_of[job[busy]]
                                  - self.idle_w[busy], 0.0)
        above_w = moment.power_w - float(self.idle_w.sum())
        total_w = float(rise_w.sum())
        if total_w > 0 and above_w > 0:
            return self.idle_w + rise_w * (above_w / total_w), job
        return self.idle_w * (moment.power_w / max(float(self.idle_w.sum()), 1e-9)), job

    @cached_property
    def job_idle_w(self) -> FloatArray:
        """What the nodes of each job draw when idle."""
        return self._held_w(self.idle_w)

    @cached_property
    def job_full_w(self) -> FloatArray:
        """What each job draws at full speed: as its log says, else what its nodes can draw."""
        known_w = self.run.jobs.power_w
        return np.where(np.isfinite(known_w), known_w, self._held_w(np.concatenate([
            np.full(group.count, group.node_class.power_w_active)
            for group in self.run.machine.groups])))

    def _held_w(self, node_w: FloatArray) -> FloatArray:
        """Watts of each job's own nodes; of as many of the machine's where no node is known."""
        run = self.run
        place = run.placement
        mean_w = np.asarray(float(node_w.sum()) / run.units * self.units_of)
        if place is None or run.units != run.machine.node_count:
            return mean_w
        upto_w = np.append(0.0, np.cumsum(node_w))
        held_w = upto_w[place.first + place.count] - upto_w[place.first]
        found = np.bincount(place.job, held_w, len(run.jobs)).astype(np.float64)
        placed = np.bincount(place.job, minlength=len(run.jobs)) > 0
        return np.where(placed, found, mean_w)

    @cached_property
    def free_idle_w(self) -> FloatArray:
        """After each event: what the nodes draw that no job holds, if all of them are on."""
        log = self.run.events
        took = np.isin(log.kind, (EventKind.START, EventKind.RESUME))
        gave = np.isin(log.kind, (EventKind.END, EventKind.PAUSE))
        idle_w = np.where(log.job >= 0, self.job_idle_w[np.maximum(log.job, 0)], 0.0)
        change_w = np.where(took, -idle_w, np.where(gave, idle_w, 0.0))
        return np.asarray(self.run.machine.power_w_idle + np.cumsum(change_w))

    @cached_property
    def decision_rows(self) -> IntArray:
        """Rows of the log that are decisions, or orders to decide by."""
        log = self.run.events
        kinds = (EventKind.START, EventKind.PAUSE, EventKind.RESUME, EventKind.CAP,
                 EventKind.RATE)
        wanted = np.isin(log.kind, kinds) | ((log.kind == EventKind.SUBMIT) & (log.value == 1.0))
        return np.flatnonzero(wanted)
