"""`twin judge`: a twin simulated over phases of its scheduler's loops, held to real runs."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from wattline.model.errors import InputError
from wattline.scenario.build import plan
from wattline.scenario.load import load
from wattline.scenario.model import Scenario
from wattline.scenario.twin.planning import TwinPlan
from wattline.twin.judging import TwinJudgement, judge
from wattline.twin.make import Twin
from wattline.twin.real_runs import RealRun, read_runs

PHASES = 20
GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0
MINUTE_S = 60.0
RECORD = "replay.json"
"""What `wattline testbed replay` writes beside its runs."""


def judge_twin(
    twin: str | Path | Scenario | Twin, runs: str | Path, *, phases: int = PHASES,
    by: Sequence[str] = ("account", "tasks", "asks"),
    progress: Callable[[float], None] | None = None,
) -> TwinJudgement:
    """Hold a twin to several runs of a real Slurm over the same submissions.

    `runs` is a folder with a CSV per run (as `wattline testbed replay` writes them) or a text of
    `sacct -P` per run. A real Slurm's loops count from the start of slurmctld, so the twin is
    simulated with so many `phases` of them: within the times that the folder's replay.json says,
    else over a whole PriorityCalcPeriod. Nothing is fitted.

    >>> import wattline as wl
    >>> wl.judge_twin("twin.toml", "runs/")  # doctest: +SKIP
    TwinJudgement(...)
    """
    if not 1 <= phases <= 1000:
        raise InputError(f"phases is {phases}, must be from 1 to 1000")
    real = read_runs(Path(runs))
    scenario = twin.scenario if isinstance(twin, Twin) else twin
    ready = plan(scenario if isinstance(scenario, Scenario) else load(scenario))
    if not isinstance(ready, TwinPlan):
        raise InputError(f"{ready.scenario.name}: has no [twin]; `wattline twin make` makes one")
    simulated = []
    for found in simulated_phases(ready, *_begins(Path(runs), ready), phases):
        simulated.append(found)
        if progress is not None:
            progress(len(simulated) / phases)
    return judge(_named_as_in(simulated[0], real), simulated, by=by)


def simulated_phases(
    ready: TwinPlan, least_after_s: float, most_after_s: float, phases: int
) -> Iterator[RealRun]:
    """The twin with its loops at so many places: submissions begin evenly between two times after
    the start of slurmctld."""
    for number in range(phases):
        after_s = least_after_s + (most_after_s - least_after_s) * (number + 0.5) / phases
        yield _simulated(ready, after_s, MINUTE_S * (number * GOLDEN % 1.0))


def _begins(folder: Path, ready: TwinPlan) -> tuple[float, float]:
    """The least and the most seconds from the start of slurmctld to the first submission."""
    low_s, high_s = 0.0, ready.slurm.priority.calc_period_s
    try:
        record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        known = [float(run["begin_after_slurmctld_s"]) for run in record["runs"]]
        low_s, high_s = min(known), max(known)
    except OSError:
        pass
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{folder / RECORD} cannot be read: {error}") from None
    return low_s, high_s


def _simulated(ready: TwinPlan, after_s: float, unix_s: float) -> RealRun:
    """One phase: the loops began so long before the submissions, at this second of a minute."""
    assert ready.site is not None
    period_s = ready.slurm.priority.calc_period_s
    rules = replace(ready.slurm, unix_start_s=unix_s)
    found = replace(ready, slurm=rules).simulated(-after_s % period_s)
    names = ready.site.made.requests.job_ids
    start_s = dict(zip(names, found.schedule.start_s.tolist(), strict=True))
    submit_s = dict(zip(names, ready.jobs.submit_s.tolist(), strict=True))
    first_s = min(submit_s.values())
    ran = [name for name, here in zip(names, found.ran.tolist(), strict=True) if here]
    return RealRun(f"{after_s:g}", {name: start_s[name] - first_s for name in ran},
               {name: start_s[name] - submit_s[name] for name in ran},
               tuple(name for name in names if name not in set(ran)), {})


def _named_as_in(simulated: RealRun, runs: Sequence[RealRun]) -> list[RealRun]:
    """Runs with the twin's names: job 1001 is `jobid_01001` of .events, task 11_2 is itself."""
    known = {*simulated.start_s, *simulated.unstarted}

    def call(name: str) -> str:
        if name in known:
            return name
        ends = (re.search(r"[0-9]{1,15}_[0-9]{1,15}$", name), re.search(r"[0-9]{1,15}$", name))
        found = ["_".join(str(int(part)) for part in end[0].split("_")) for end in ends if end]
        return next((each for each in found if each in known), (found or [name])[-1])

    return [run.renamed(call) for run in runs]
