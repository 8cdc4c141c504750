"""`twin judge`: a twin simulated over phases of its scheduler's loops, held to real runs."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

from wattline.model.errors import InputError
from wattline.model.local_time import zone_of
from wattline.scenario.build import plan
from wattline.scenario.load import load
from wattline.scenario.model import Scenario
from wattline.scenario.twin.planning import TwinPlan
from wattline.scenario.twin.site import Site
from wattline.twin.judging import TwinJudgement, judge
from wattline.twin.loop_phases import Phase, phases_between, phases_of
from wattline.twin.make import Twin
from wattline.twin.real_runs import RealRun, job_names, read_runs

PHASES = 20
LATE_S = 10.0
"""Later than this beside the others no script submits a job, even on a busy machine."""


def judge_twin(
    twin: str | Path | Scenario | Twin, runs: str | Path, *, phases: int = PHASES,
    by: Sequence[str] = ("account", "tasks", "asks"), zone: str = "",
    progress: Callable[[float], None] | None = None,
) -> TwinJudgement:
    """Hold a twin to several runs of a real Slurm over the same submissions.

    `runs` is a folder with a CSV per run (as `wattline testbed replay` writes them) or a text of
    `sacct -P` per run. A real Slurm's loops count from the start of slurmctld, so the twin is
    simulated with so many `phases` of them: each run's own where a log of its slurmctld is beside
    it, within the times that the folder's replay.json says, else over a whole PriorityCalcPeriod.
    Nothing is fitted. Times of runs and logs without an offset are of `zone`, else of the twin's.

    >>> import wattline as wl
    >>> wl.judge_twin("twin.toml", "runs/")  # doctest: +SKIP
    TwinJudgement(...)
    """
    if not 1 <= phases <= 1000:
        raise InputError(f"phases is {phases}, must be from 1 to 1000")
    scenario = twin.scenario if isinstance(twin, Twin) else twin
    ready = plan(scenario if isinstance(scenario, Scenario) else load(scenario))
    if not isinstance(ready, TwinPlan):
        raise InputError(f"{ready.scenario.name}: has no [twin]; `wattline twin make` makes one")
    clock = zone_of(zone or ready.scenario.trace.zone).info
    real = read_runs(Path(runs), clock)
    places, known_by = phases_of(Path(runs), real, float(ready.jobs.submit_s.min()),
                                 ready.slurm.priority.calc_period_s, phases, clock)
    simulated = []
    for place in places:
        simulated.append(_simulated(ready, place))
        if progress is not None:
            progress(len(simulated) / phases)
    named = _named_as_in(simulated[0], real)
    again = _submitted_again(named, simulated[0])
    found = judge(named, simulated, by=by, without=set(again))
    return replace(found, phases_known=known_by, submitted_again=again)


def _submitted_again(runs: Sequence[RealRun], simulated: RealRun) -> tuple[str, ...]:
    """Jobs that a run says were submitted later than the twin has them, unlike the others.

    That is how a text of `sacct` without -D has a requeue: its Submit is that of the requeue, so
    that what the job waited before is not known.
    """
    due_s = simulated.submit_s
    found: dict[str, None] = {}
    for run in runs:
        late_s = {job: at_s - due_s[job] for job, at_s in run.submit_s.items() if job in due_s}
        usual_s = median(late_s.values()) if late_s else 0.0
        found |= dict.fromkeys(job for job, late in late_s.items() if late - usual_s > LATE_S)
    return tuple(sorted(found))


def simulated_phases(
    ready: TwinPlan, least_after_s: float, most_after_s: float, phases: int
) -> Iterator[RealRun]:
    """The twin with its loops at so many places: submissions begin evenly between two times after
    the start of slurmctld."""
    for place in phases_between(least_after_s, most_after_s, phases):
        yield _simulated(ready, place)


def _simulated(ready: TwinPlan, place: Phase) -> RealRun:
    """One phase: the loops began so long before the twin's first moment."""
    assert ready.site is not None
    period_s = ready.slurm.priority.calc_period_s
    rules = replace(ready.slurm, unix_start_s=place.unix_s)
    found = replace(ready, slurm=rules).simulated(-place.after_s % period_s)
    names = _names(ready.site)
    submit_s: dict[str, float] = {}
    start_s: dict[str, float] = {}
    for name, submitted_s, began_s, ran in zip(
            names, ready.jobs.submit_s.tolist(), found.schedule.start_s.tolist(),
            found.ran.tolist(), strict=True):  # the lives of a job in their order
        submit_s.setdefault(name, submitted_s)
        start_s[name] = began_s if ran else math.nan
    first_s = min(submit_s.values())
    ran_all = [name for name in submit_s if not math.isnan(start_s[name])]
    return RealRun(f"{place.after_s:g}", {name: start_s[name] - first_s for name in ran_all},
                   {name: start_s[name] - submit_s[name] for name in ran_all},
                   tuple(name for name in submit_s if math.isnan(start_s[name])), {})


def _names(site: Site) -> list[str]:
    """Name a site's jobs: by the ids of submissions, or, of accounting, as those of runs."""
    if not site.log.has_starts:
        return list(site.made.requests.job_ids)
    numbers = [job.job_id.partition("/")[0] for job in site.log.jobs]
    return job_names([job.name or job.job_id for job in site.log.jobs], numbers)


def _named_as_in(simulated: RealRun, runs: Sequence[RealRun]) -> list[RealRun]:
    """Runs with the twin's names: job 1001 is `jobid_01001` of .events, part 12+1 `sim_12+1`."""
    known = {*simulated.start_s, *simulated.unstarted}

    def call(name: str) -> str:
        if name in known:
            return name
        ends = (re.search(r"[0-9]{1,15}[_+][0-9]{1,15}$", name), re.search(r"[0-9]{1,15}$", name))
        found = [re.sub("[0-9]+", lambda part: str(int(part[0])), end[0]) for end in ends if end]
        return next((each for each in found if each in known), (found or [name])[-1])

    return [run.renamed(run.event_ids.__getitem__ if _is_all(run.event_ids, known) else call)
            for run in runs]


def _is_all(event_ids: Mapping[str, str], known: set[str]) -> bool:
    """Say whether a run has all submissions of the file, so that its ids are those of the file."""
    return bool(event_ids) and set(event_ids.values()) == known and not set(event_ids) <= known
