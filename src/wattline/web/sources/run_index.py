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
from wattline.web.sources.counterfactual import WithoutCap
from wattline.web.sources.run_course import Course, Drawn, drawn_until

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
        self._drawn_by: tuple[float, Drawn] | None = None
        """Of the moment that was asked for last."""

    @cached_property
    def without_cap(self) -> WithoutCap:
        return WithoutCap(self.run)

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
    def active_w(self) -> FloatArray:
        """The most that each node draws."""
        return np.concatenate([np.full(group.count, group.node_class.power_w_active)
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

    @cached_property
    def course(self) -> Course:
        return Course(self.run.events, self.run.machine.power_w_idle, self.job_idle_w,
                      self.free_idle_w)

    def drawn_by(self, moment: Moment) -> Drawn:
        """Of the jobs that run at a moment, in the order in which it has them."""
        kept = self._drawn_by
        if kept is not None and kept[0] == moment.time_s:
            return kept[1]
        rows = moment.running
        found = drawn_until(moment.time_s, self.course, rows, self.start_s[rows],
                            self.end_s[rows], self.run.schedule.energy_j[rows])
        self._drawn_by = moment.time_s, found
        return found

    def energy_at(self, moment: Moment, rows: IntArray) -> FloatArray:
        """Joules of these jobs so far."""
        over = self.end_s[rows] <= moment.time_s
        so_far_j = self._of_running(moment, rows, self.drawn_by(moment).energy_j)
        return np.where(over, self.run.schedule.energy_j[rows], so_far_j)

    def mean_at(self, moment: Moment, rows: IntArray) -> FloatArray:
        """Mean power of these jobs so far; 0 of those that have not begun."""
        found = self.drawn_by(moment)
        held_s = moment.time_s - self.start_s[moment.running]
        so_far_w = np.where(held_s > 0, found.energy_j / np.where(held_s > 0, held_s, 1.0),
                            found.power_w)
        over = self.end_s[rows] <= moment.time_s
        return np.where(over, self.mean_w[rows], self._of_running(moment, rows, so_far_w))

    @staticmethod
    def _of_running(moment: Moment, rows: IntArray, value: FloatArray) -> FloatArray:
        """The value of each of these rows that runs, and 0 of the others."""
        found = np.zeros(len(rows))
        if len(moment.running):
            place = np.minimum(np.searchsorted(moment.running, rows), len(moment.running) - 1)
            found = np.where(moment.running[place] == rows, value[place], 0.0)
        return found

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

        The machine's power is exact. What is above idle is shared among the running jobs by what
        each draws above idle now, and among a job's nodes by what each can; no node gets more than
        it can draw, unless the machine draws more than all busy ones can.
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
        above_w = moment.power_w - float(self.idle_w.sum())
        if above_w <= 0:
            return self.idle_w * (moment.power_w / max(float(self.idle_w.sum()), 1e-9)), job
        most_w = np.where(job >= 0, self.active_w - self.idle_w, 0.0)
        return self.idle_w + _shared_out(above_w, self._rises_w(moment, job, most_w), most_w), job

    def _rises_w(self, moment: Moment, job: IntArray, most_w: FloatArray) -> FloatArray:
        """By node: the part of its job's watts above idle that goes by what the node can draw."""
        busy = np.flatnonzero(job >= 0)
        rise_w = np.zeros(len(job))
        power_w = self._of_running(moment, job[busy], self.drawn_by(moment).power_w)
        above_w = np.maximum(power_w - self.job_idle_w[job[busy]], 0.0)
        can_w = np.bincount(job[busy], most_w[busy], len(self.run.jobs))[job[busy]]
        rise_w[busy] = above_w * most_w[busy] / np.maximum(can_w, 1e-9)
        return rise_w

    @cached_property
    def job_idle_w(self) -> FloatArray:
        """What the nodes of each job draw when idle."""
        return self._held_w(self.idle_w)

    @cached_property
    def job_full_w(self) -> FloatArray:
        """What each job draws at full speed: as its log says, else what its nodes can draw."""
        known_w = self.run.jobs.power_w
        return np.where(np.isfinite(known_w), known_w, self._held_w(self.active_w))

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
        gave = np.isin(log.kind, (EventKind.END, EventKind.PAUSE, EventKind.REQUEUE))
        idle_w = np.where(log.job >= 0, self.job_idle_w[np.maximum(log.job, 0)], 0.0)
        change_w = np.where(took, -idle_w, np.where(gave, idle_w, 0.0))
        return np.asarray(self.run.machine.power_w_idle + np.cumsum(change_w))

    @cached_property
    def decision_rows(self) -> IntArray:
        """Rows of the log that are decisions, or orders to decide by."""
        log = self.run.events
        kinds = (EventKind.START, EventKind.PAUSE, EventKind.RESUME, EventKind.CAP,
                 EventKind.RATE, EventKind.REQUEUE)
        wanted = np.isin(log.kind, kinds) | ((log.kind == EventKind.SUBMIT) & (log.value == 1.0))
        return np.flatnonzero(wanted)


def _shared_out(total_w: float, wanted_w: FloatArray, most_w: FloatArray) -> FloatArray:
    """A total among nodes as they want it; what is above the most of one goes to the others."""
    given_w = wanted_w * (total_w / wanted_w.sum()) if wanted_w.sum() > 0 else 0.0 * wanted_w
    given_w = np.minimum(given_w, most_w)
    left_w = total_w - float(given_w.sum())
    room_w = most_w - given_w
    if room_w.sum() < left_w:  # of nodes that draw more than their class says
        return np.asarray(most_w * (total_w / most_w.sum()) if most_w.sum() > 0
                          else np.full(len(most_w), total_w / len(most_w)))
    return np.asarray(given_w + room_w * (left_w / room_w.sum() if room_w.sum() > 0 else 0.0))
