"""A moment of a scenario and its candidates, run ahead on the same draws."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from wattline.advice.futures.arrivals import with_arrivals
from wattline.advice.futures.candidates import NamedChanges
from wattline.advice.futures.carried import begun_anew, carried_over
from wattline.advice.futures.run_times import FEW, Mask, RunTimes, asks_nothing
from wattline.analysis.metrics import quantiles
from wattline.analysis.summary import time_text
from wattline.engine.ahead import Candidate, Future, Moment, moment_of_log
from wattline.engine.looking_back import Fared, Span, look_back
from wattline.engine.prepare import Rules
from wattline.model.errors import InputError, WattlineError
from wattline.model.fields import name_of
from wattline.model.signal import FloatArray
from wattline.model.units import counted
from wattline.policies.contract import Composition
from wattline.policies.traits import regulates
from wattline.scenario.build import Plan, plan
from wattline.scenario.load import changed, validate

BOUND_S = 10.0
CAP = "power.cap"
"""The field of a scenario that a candidate changes for another cap."""
FIGURES = ("wait_s.mean", "wait_s.p95", "bounded_slowdown.mean", "jobs.started", "jobs.waiting",
           "jobs.refused", "energy_j", "power_w.mean", "power_w.peak", "time_above_cap_s",
           "utilisation")
"""What there is of a future, in the order of `figures_of`."""
OF_BOTH = tuple(name for name in FIGURES
                if name not in ("jobs.started", "jobs.waiting", "jobs.refused"))
"""Those that there are of a whole run too."""


@dataclass(frozen=True)
class Now:
    """An instant of a log, and what may be supposed of what follows."""

    plan: Plan
    moment: Moment
    rules: Rules
    until_s: float
    run_times: RunTimes
    assumed: tuple[str, ...]
    cap_told: bool = False
    """Whether the cap is one that somebody told the books, whatever the scenario says."""
    unasked: Mask | None = None
    """Which rows of the moment have no requested time of their own; None: all have one."""

    def draws(self, samples: int, seed: int) -> list[FloatArray]:
        """Run times of all jobs, once for each sample; every candidate has the same."""
        rng = np.random.default_rng(seed)
        drawing = self.run_times.of(self.moment.jobs, self.moment.done_s, self.unasked)
        return [drawing.draw(rng.random(len(self.moment.jobs))) for _ in range(samples)]

    @cached_property
    def begin(self) -> Begin:
        """What is the same in every future."""
        moment = self.moment
        waits = np.flatnonzero(~moment.running & ~moment.over)
        return Begin(
            float(moment.now_s), waits, moment.jobs.submit_s[waits],
            np.asarray(moment.books.state.live.units[: len(moment.jobs)], dtype=np.float64),
            float(moment.books.state.clock[0].units))


class Begin(NamedTuple):
    """How the jobs of a moment stand when it is run ahead."""

    now_s: float
    waits: npt.NDArray[np.intp]
    """The rows of those that have not started, or have not come; when they came or come."""
    submit_s: FloatArray
    size: FloatArray
    units: float


def stand_at(ready: Plan, at_s: float, horizon_s: float, arrivals: str) -> Now:
    """Simulate up to an instant."""
    if not isinstance(ready.policy, Composition):
        raise InputError("a look ahead needs a policy along the axes, not one written in Python")
    if regulates(ready.policy.regulation):
        raise InputError("a look ahead knows no contract with the grid; leave [contract] out")
    jobs, rules, _, assumed = with_arrivals(ready.jobs, ready.rules, at_s, at_s + horizon_s,
                                               arrivals)
    here = moment_of_log(jobs, ready.machine, ready.policy, rules, at_s, at_s + horizon_s)
    unasked = asks_nothing(jobs, rules.logged, ready.jobs)
    times = RunTimes(jobs.take(here.ended), unasked[here.ended])
    said: tuple[str, ...] = (assumed, *_drawn_from(times, unasked[here.log_row]))
    last_s = float(ready.jobs.submit_s[-1])
    if at_s > last_s:
        said = (*said, f"the log ends {time_text(at_s - last_s)} before: its last job came then")
    if name_of(ready.scenario.policy.configure) != "requested":
        said = (*said, "jobs with a configuration run as long as its table says: draws do not "
                       "change that")
    return Now(ready, here, rules, at_s + horizon_s, times, said, unasked=unasked[here.log_row])


def _drawn_from(times: RunTimes, unasked: Mask) -> Iterator[str]:
    """What run times are drawn from, and where that says little."""
    none = int(unasked.sum())
    if none < len(unasked):
        yield (f"run times are drawn from {counted(times.count, 'job')} that were over"
               if times.count else
               "run times are as requested: no job was over" if not times.over else
               "run times are as requested: no job that was over had a requested time")
    if none and times.over:
        yield (f"{counted(none, 'job')} of {len(unasked):,} have no requested time: how long they "
               f"run is drawn from the run times of {counted(times.over, 'job')} that were over; "
               "the policy plans with those of the log, as in the simulation")
    elif none:
        yield (f"{counted(none, 'job')} of {len(unasked):,} have no requested time, and no job was "
               "over: they run as long as the log says, which nobody could know then")
    drawn = times.over if none else times.count
    if 0 < drawn < FEW:
        yield f"{counted(drawn, 'job')} are few to draw from"


def candidate_of(now: Now, choice: NamedChanges) -> tuple[Candidate, str]:
    """A moment under one of the choices, and what must be said of that."""
    if not choice.changes:
        return Candidate(now.moment, None, now.rules, now.until_s), ""
    own = plan_of(now.plan, choice)
    policy = carried_over(now.plan.scenario, own, now.moment.books.policy)
    rules = replace(own.rules, logged=now.rules.logged)
    if now.cap_told:
        cap_w = own.rules.cap_w if CAP in choice.changes else now.rules.cap_w
        rules = replace(rules, reservations=(), user_share=(), cap_w=cap_w)
    anew = begun_anew(now.plan.scenario, own, policy)
    said = (f"under '{choice.name}' {', '.join(anew)} {'begins' if len(anew) == 1 else 'begin'} "
            "anew, with nothing remembered of before (joules spent, shares lent, claims "
            "learnt): another cap, or how power is limited, may change what was worked out"
            ) if anew else ""
    return Candidate(now.moment, policy, rules, now.until_s), said


def plan_of(ready: Plan, choice: NamedChanges) -> Plan:
    """The scenario with a choice's changes, on the same jobs and machine."""
    fields = ready.scenario.model_dump(mode="json", exclude_none=True)
    try:
        scenario = validate(changed(fields, choice.changes), choice.name)
        return plan(scenario, ready.trace, machine=ready.machine)
    except WattlineError as error:
        raise InputError(f"candidate '{choice.name}': {error}") from None


def figures_of(now: Now, future: Future) -> dict[str, float]:
    """What a future is judged by; of jobs that have not started, what they waited by its end."""
    begin = now.begin
    fared = Fared(np.empty(len(begin.waits)), np.empty(len(begin.waits)), np.empty(len(begin.size)))
    span = Span(begin.now_s, float(future.until_s), BOUND_S)
    taken, waiting = look_back(
        future.start_s, future.end_s, future.refused, begin.waits, begin.submit_s,
        future.run_s, begin.size, span, fared)
    wait_s, slowdown = fared.wait_s[:taken], fared.slowdown[:taken]
    span_s = future.until_s - begin.now_s
    return {
        "wait_s.mean": _mean(wait_s), "wait_s.p95": _quantile(wait_s, 0.95),
        "bounded_slowdown.mean": _mean(slowdown),
        "jobs.started": float(taken - waiting), "jobs.waiting": float(waiting),
        "jobs.refused": float(future.refused.sum()),
        "energy_j": future.energy_j, "power_w.mean": future.energy_j / span_s,
        "power_w.peak": future.peak_w, "time_above_cap_s": future.time_above_cap_s,
        "utilisation": float(fared.unit_s.sum()) / (begin.units * span_s),
    }


def _mean(values: FloatArray) -> float:
    return float(values.mean()) if values.size else 0.0


def _quantile(values: FloatArray, part: float) -> float:
    return quantiles(values, [part])[0] if values.size else 0.0
