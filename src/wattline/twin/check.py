"""`twin check`: what the twin simulates against what the log says, and how much is assumed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from wattline.analysis.metrics import size_class, size_label
from wattline.model.errors import InputError, warn
from wattline.model.jobs import JobTable
from wattline.model.run import Outcome, Run
from wattline.model.signal import FloatArray
from wattline.scenario.build import plan
from wattline.scenario.load import load
from wattline.scenario.model import Scenario
from wattline.scenario.twin.asked import NEVER_ENDS_S, Counter, Log
from wattline.scenario.twin.planning import TwinPlan, not_run_reasons, of_several
from wattline.twin.complete import FEWEST_JOBS, Stretch, complete_stretch
from wattline.twin.figures import (
    Series,
    busy_part,
    cpu_seconds,
    mean,
    moving_average_error,
    relative,
    series_of,
    wait_text,
)
from wattline.twin.make import Twin
from wattline.twin.what_ifs import said_of_what_ifs

PHASES = 5
MANY_JOBS = 50_000
"""With more than these one phase is simulated unless more are asked for."""
_AT_LIMIT = ("TIMEOUT", "DEADLINE")
"""States of jobs that a time limit ended."""
BY = {"account": "group", "user": "user", "partition": "partition", "qos": "queue"}


@dataclass(frozen=True, eq=False, repr=False)
class TwinCheck:
    """Simulated against logged waits.

    >>> import wattline as wl
    >>> from tempfile import TemporaryDirectory
    >>> from pathlib import Path
    >>> import warnings
    >>> with TemporaryDirectory() as folder, warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", wl.WattlineWarning)
    ...     conf, log = Path(folder, "slurm.conf"), Path(folder, "sacct.txt")
    ...     _ = conf.write_text("NodeName=n1 CPUs=8 RealMemory=8000\\n"
    ...                         "PartitionName=all Nodes=ALL Default=YES DefMemPerCPU=1000\\n")
    ...     _ = log.write_text("JobID|User|Submit|Start|End|ReqCPUS|NNodes|Timelimit|State\\n"
    ...                        "1|ada|100|105|700|8|1|00:20:00|COMPLETED\\n")
    ...     found = wl.check_twin(wl.make_twin(conf, sacct=log), phases=1)
    >>> isinstance(found, wl.TwinCheck), found.mean_wait_s["logged"]
    (True, 5.0)
    """

    name: str
    jobs: int
    """Of the log."""
    compared: int
    """Jobs that started in both; in the simulation, where the log has no starts. Of a log that is
    complete for a stretch only, those that were submitted in it."""
    stretch: Mapping[str, Any]
    """`first_s` and `last_s` of the log that the figures are of, and what is missing beside it."""
    mean_wait_s: Mapping[str, float | None]
    by: Mapping[str, Mapping[str, Mapping[str, Any]]]
    error: float | None
    """Of the mean wait: simulated over logged, less 1. None without logged waits."""
    moving_average_error: float | None
    """Mean distance of the two moving averages over the mean of the logged one."""
    window_s: float
    utilisation: Mapping[str, float | None]
    start_error_s: Mapping[str, float] | None
    """Median and 90th percentile of how far a start is from the logged one."""
    phases: Mapping[str, Any]
    never_ran: int
    never_ran_reasons: Mapping[str, int]
    killed_at_limit: int
    """Jobs that ran on in the log, and that the twin killed at a limit; `unfit` names the first."""
    not_modelled: tuple[str, ...]
    assumed: tuple[str, ...]
    filled: Mapping[str, Any]
    unfit: tuple[str, ...]
    came_of: tuple[str, ...]
    """What came of the file's what-ifs: classes that claims chose, what parts drew at most."""
    left_out: tuple[str, ...]
    contradictions: tuple[str, ...]
    unknown: tuple[str, ...]
    verdict: str
    series: Series
    run: Run

    def to_dict(self) -> dict[str, Any]:
        return {
            "jobs": self.jobs, "mean_wait_s": dict(self.mean_wait_s),
            "by": {key: {name: dict(row) for name, row in rows.items()}
                   for key, rows in self.by.items()},
            "error": self.error, "moving_average_error": self.moving_average_error,
            "not_modelled": list(self.not_modelled), "window_s": self.window_s,
            "compared": self.compared, "stretch": dict(self.stretch), "never_ran": self.never_ran,
            "never_ran_reasons": dict(self.never_ran_reasons),
            "killed_at_limit": self.killed_at_limit,
            "utilisation": dict(self.utilisation),
            "start_error_s": None if self.start_error_s is None else dict(self.start_error_s),
            "phases": dict(self.phases), "assumed": list(self.assumed),
            "filled": dict(self.filled), "unfit": list(self.unfit),
            "came_of": list(self.came_of), "left_out": list(self.left_out),
            "contradictions": list(self.contradictions),
            "unknown": list(self.unknown), "verdict": self.verdict,
        }

    def plot(self, path: str | Path) -> Path:
        """Draw the waits over time and by partition; PNG, SVG or PDF by the name."""
        from wattline.twin.plots import draw_check

        return draw_check(self, Path(path))

    def __repr__(self) -> str:
        return f"TwinCheck({self.name!r}: {self.verdict})"


def check_twin(
    twin: str | Path | Scenario | Twin, *, phases: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> TwinCheck:
    """Simulate a twin and hold its waits against those of its log.

    `phases` is how many shifts of the scheduler's loop are simulated for the distribution.

    >>> import wattline as wl
    >>> from tempfile import TemporaryDirectory
    >>> from pathlib import Path
    >>> import warnings
    >>> with TemporaryDirectory() as folder, warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", wl.WattlineWarning)
    ...     conf, log = Path(folder, "slurm.conf"), Path(folder, "day.events")
    ...     _ = conf.write_text("NodeName=n[1-4] CPUs=8 RealMemory=16000\\n"
    ...                         "PartitionName=all Nodes=ALL Default=YES DefMemPerCPU=1000\\n")
    ...     _ = log.write_text("-dt 0 -e submit_batch_job | -n 8 -t 10 -sim-walltime 60 a.sh\\n")
    ...     found = wl.check_twin(wl.make_twin(conf, events=log), phases=1)
    >>> found.jobs, found.mean_wait_s["logged"]
    (1, None)
    """
    scenario = twin.scenario if isinstance(twin, Twin) else twin
    if not isinstance(scenario, Scenario):
        scenario = load(scenario)
    if scenario.twin is None:
        raise InputError(f"{scenario.name}: has no [twin]; make one with `wattline twin make`")
    ready = plan(scenario)
    assert isinstance(ready, TwinPlan)
    count = phases_of(phases, len(ready.jobs))
    runs, told = [], []
    shifts = phase_shifts(ready, count)
    for number, shift_s in enumerate(shifts):
        run, of_jobs = ready.simulated_and_told(shift_s)
        runs.append(run)
        told.append(of_jobs)
        if progress is not None:
            progress((number + 1) / len(shifts))
    found = _compared(ready, runs, told[0], shifts)
    warn((*found.unfit, *found.came_of, *found.left_out))
    return found


def phases_of(asked: int | None, jobs: int) -> int:
    """How many shifts are simulated."""
    if asked is None:
        return PHASES if jobs <= MANY_JOBS else 1
    if not 1 <= asked <= 1000:
        raise InputError(f"phases is {asked}, must be from 1 to 1000")
    return asked


def phase_shifts(ready: TwinPlan, count: int) -> list[float]:
    """Even shifts over the longer of the scheduler's two intervals, the scenario's own first."""
    assert ready.scenario.twin is not None
    whole_s = max(ready.slurm.bf_interval_s, ready.slurm.sched_interval_s, 1.0)
    return [ready.scenario.twin.phase_s + number * whole_s / count for number in range(count)]


def _compared(
    ready: TwinPlan, runs: Sequence[Run], of_jobs: Sequence[str], shifts: Sequence[float]
) -> TwinCheck:
    site = ready.site
    assert site is not None
    run, jobs = runs[0], ready.jobs
    logged_s = np.array([job.start_s for job in site.log.jobs]) - jobs.submit_s
    simulated_s = run.schedule.start_s - jobs.submit_s
    has_log = site.log.has_starts
    used = _Logged.of(ready, run) if has_log else None
    stretch = None if used is None else used.stretch
    both = run.ran & (np.isfinite(logged_s) if has_log else True)
    if stretch is not None:
        both &= stretch.has(jobs.submit_s)
    means = {"simulated": mean(simulated_s[both]),
             "logged": mean(logged_s[both]) if has_log else None}
    series = series_of(jobs.submit_s[both], simulated_s[both],
                       logged_s[both] if has_log else None)
    distance_s = np.abs(simulated_s - logged_s)[both]
    errors = {"median": float(np.median(distance_s)), "p90": float(np.quantile(distance_s, 0.9))} \
        if has_log and distance_s.size else None
    spread = [mean((each.schedule.start_s - jobs.submit_s)[each.ran & both]) for each in runs]
    lists = site.lists
    filled = _filled(ready)
    error = relative(means["simulated"], means["logged"])
    moving = moving_average_error(series)
    killed = _killed_at_limit(site.log, run)
    return TwinCheck(
        ready.scenario.name, len(jobs), int(both.sum()), _told_of(stretch, used, jobs), means,
        _by(jobs, run, simulated_s, logged_s if has_log else None, both), error, moving,
        series.window_s, _utilisation(ready, run, used), errors,
        {"phase_s": list(shifts), "mean_wait_s": spread,
         "least": min((each for each in spread if each is not None), default=None),
         "most": max((each for each in spread if each is not None), default=None)},
        int((~run.ran).sum()), not_run_reasons(run), sum(killed.counts().values()),
        lists.not_modelled, lists.assumed, filled,
        (*site.made.unfit, *of_jobs, *killed.lines()),
        tuple(line for line in run.remarks if line not in of_jobs), site.log.left_out,
        lists.contradictions, lists.unknown,
        said_of_what_ifs(ready) + _verdict(
            means, (error, moving), errors, spread, run, filled, killed), series, run)


def _killed_at_limit(log: Log, run: Run) -> Counter:
    """Jobs that ended by themselves in the log and not in the twin: a limit is not the real one."""
    found = Counter()
    if not log.has_starts:
        return found
    for row in np.flatnonzero(run.schedule.outcome == Outcome.KILLED).tolist():
        job = log.jobs[row]
        if job.run_s < NEVER_ENDS_S and job.state not in _AT_LIMIT:
            limit = "the default limit of its partition" if job.limit_s < 0 else "its limit"
            found.note(f"killed at {limit} in the twin, and ran on in the log", job.job_id)
    return found


def _by(jobs: JobTable, run: Run, simulated_s: FloatArray, logged_s: FloatArray | None,
        both: np.ndarray[Any, np.dtype[np.bool_]]) -> dict[str, dict[str, dict[str, Any]]]:
    found: dict[str, dict[str, dict[str, Any]]] = {}
    codes = {key: getattr(jobs, column) for key, column in BY.items()}
    codes["size"] = size_class(run.schedule.nodes)
    for key, code in codes.items():
        rows = {}
        for each in np.unique(code[both]).tolist():
            mine = both & (code == each)
            rows[_name(jobs, key, each)] = {
                "simulated": mean(simulated_s[mine]),
                "logged": None if logged_s is None else mean(logged_s[mine]),
                "jobs": int(mine.sum())}
        found[key] = rows
    return found


def _name(jobs: JobTable, key: str, code: int) -> str:
    if key == "size":
        return f"{size_label(code)} CPU{'' if code == 0 else 's'}"
    return jobs.name_of(BY[key], code) if code >= 0 else "none"


@dataclass(frozen=True, eq=False)
class _Logged:
    """Times and CPUs of each job of the log, and the stretch in which the log is complete."""

    start_s: FloatArray
    end_s: FloatArray
    """NaN: it still ran when the log was taken."""
    paused_s: FloatArray
    cpus: FloatArray
    stretch: Stretch | None

    @classmethod
    def of(cls, ready: TwinPlan, run: Run) -> _Logged:
        site = ready.site
        assert site is not None
        start_s, end_s, paused_s = (np.array([getattr(job, name) for job in site.log.jobs])
                                    for name in ("start_s", "end_s", "suspended_s"))
        cpus = np.array([job.cpus for job in site.log.jobs], dtype=float)
        cpus = np.where(cpus > 0, cpus, np.where(run.ran, run.schedule.nodes, _asked_cpus(ready)))
        return cls(start_s, end_s, paused_s, cpus, complete_stretch(
            ready.jobs.submit_s, start_s, end_s, cpus, site.log.unix_start_s))


def _told_of(stretch: Stretch | None, used: _Logged | None, jobs: JobTable) -> dict[str, Any]:
    """The stretch for `to_dict`; of a log without one the whole, and why."""
    if stretch is not None:
        return {"first_s": stretch.first_s, "last_s": stretch.last_s,
                "jobs": int(stretch.has(jobs.submit_s).sum()), "edges": list(stretch.edges)}
    edges = [] if used is None or len(jobs) < FEWEST_JOBS else [
        "no stretch of the log is complete: jobs that ran when it begins or ends are missing, and "
        "the figures are of all of it"]
    return {"first_s": None, "last_s": None, "jobs": len(jobs), "edges": edges}


def _utilisation(ready: TwinPlan, run: Run, used: _Logged | None) -> dict[str, float | None]:
    """CPU-seconds in use over those there were, in the stretch in which the log is complete; where
    there is none, from the first submission to the last end.

    The log's are of all jobs that it has a start of, also of those that never ran in the twin.
    Jobs that still ran when the log was taken go on to their limits in the simulation, which the
    log cannot know: with such jobs both count to the last time that the log has.
    """
    first_s, last_s = float(ready.jobs.submit_s.min()), None
    if used is None:
        return {"simulated": busy_part(run, first_s), "logged": None}
    end_s = used.end_s
    if np.isnan(end_s).any():
        last_s = float(np.nanmax(np.concatenate((used.start_s, end_s))))
        end_s = np.where(np.isnan(end_s), last_s, end_s)
    if used.stretch is not None:
        first_s, last_s = used.stretch.first_s, used.stretch.last_s
    had = np.isfinite(used.start_s)
    return {"simulated": busy_part(run, first_s, last_s), "logged": cpu_seconds(
        used.start_s[had], end_s[had], used.paused_s[had], used.cpus[had], run.units, first_s,
        last_s)}


def _asked_cpus(ready: TwinPlan) -> FloatArray:
    """Of whole nodes, nobody knows of which, as many as a node has on average."""
    site = ready.site
    assert site is not None
    nodes = np.array([max(job.nodes, job.min_nodes, 1) for job in site.log.jobs])
    return np.where(site.made.requests.exclusive, nodes * site.machine.nodes.cpus.mean(),
                    ready.jobs.procs)


def _filled(ready: TwinPlan) -> dict[str, Any]:
    """How many jobs rest on rules: each rule with its jobs, and those of the log in all."""
    site = ready.site
    assert site is not None
    rules = {**site.log.counted, **site.made.counted}
    touched = site.log.touched | site.made.touched
    filled = sum(job.job_id.partition("/")[0] in touched or job.job_id in touched
                 for job in site.log.jobs)  # notes from before runs of one job got their numbers
    return {"jobs": len(ready.jobs), "rules": rules,
            "share": filled / max(1, len(ready.jobs))}


def _off_text(off_s: float) -> str:
    return f"{off_s:.0f} s" if off_s < 600.0 else wait_text(off_s)


def _verdict(means: Mapping[str, float | None], off: tuple[float | None, float | None],
             errors: Mapping[str, float] | None, spread: Sequence[float | None], run: Run,
             filled: Mapping[str, Any], killed: Counter) -> str:
    simulated, logged = means["simulated"], means["logged"]
    error, moving = off
    never = int((~run.ran).sum())
    why = ", ".join(f"{of_several(reason, count)}: {count:,}"
                    for reason, count in not_run_reasons(run).items())
    rest = f" {never:,} of {len(run.jobs):,} jobs never ran ({why})." if never else ""
    for what, count in killed.counts().items():
        rest += f" {count:,} {'job was' if count == 1 else 'jobs were'} {what}."
    if filled["share"] > 0:
        rest += f" Rules filled in something for {filled['share']:.0%} of the jobs."
    if simulated is None:
        return f"No job ran that could be compared.{rest}"
    if logged is None:
        known = [each for each in spread if each is not None]
        over = "" if len(known) < 2 else (f" ({wait_text(min(known))} to {wait_text(max(known))} "
                                          f"over {len(known)} phases)")
        return (f"The log has no starts: the simulated mean wait is {wait_text(simulated)}{over}, "
                f"and nothing says how close it is.{rest}")
    if error is None:
        return (f"Nobody waited in the log; the simulated mean wait is {wait_text(simulated)}."
                f"{rest}")
    word = "close to" if abs(error) <= 0.05 else "above" if error > 0 else "below"
    by = "" if word == "close to" else f"{abs(error):.0%} "
    half = "" if errors is None else (
        f"; half of the starts are within {_off_text(errors['median'])}")
    # Two means may agree by chance where nothing else does.
    over = "" if moving is None else f", and over time the waits are {moving:.0%} apart"
    return (f"The simulated mean wait of {wait_text(simulated)} is {by}{word} the logged one of "
            f"{wait_text(logged)}{half}{over}.{rest}")
