"""A supervisor above a simulation: every few hours it looks ahead and chooses the policy.

What it gains is measured beside every fixed policy, and beside the best of them in hindsight.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from wattline.advice.futures.arrivals import with_arrivals
from wattline.advice.futures.candidates import CURRENT, read_choices
from wattline.advice.futures.carried import carried_over
from wattline.advice.futures.history import History
from wattline.advice.futures.policy import Question, broken_part, check_figures, planned
from wattline.advice.futures.run_times import RunTimes, asks_nothing
from wattline.advice.futures.running import FIGURES, OF_BOTH, Now, plan_of
from wattline.advice.futures.side_by_side import figures_of_all
from wattline.advice.futures.stopwatch import Stopwatch
from wattline.analysis.expressions import Constraint, Expression, figure_of
from wattline.analysis.metrics import totals
from wattline.analysis.result import Result, flattened
from wattline.engine.ahead import Candidate
from wattline.engine.supervised import Supervised
from wattline.model.errors import InputError
from wattline.model.units import counted, parse_duration
from wattline.policies.contract import Composition
from wattline.scenario.build import Plan
from wattline.scenario.in_python import Source

BETTER = 0.02
"""Another policy has to be better by so much: to change for nothing only makes waits uneven."""
TUNED = "self-tuning"


@dataclass(frozen=True)
class Switched:
    """When the supervisor changed the policy, and to which."""

    time_s: float
    to: str


@dataclass(frozen=True, eq=False)
class SelfTuning:
    """What `self_tune` gives.

    >>> import wattline as wl
    >>> trace = wl.generate("lublin", seed=1, jobs=60, nodes=32)
    >>> found = wl.self_tune(trace, candidates=["sjf"], every="6h", samples=2,
    ...                      machine=wl.Machine(nodes=32))
    >>> sorted(found.values) == ['as it is', 'self-tuning', 'sjf']
    True
    """

    run: Result
    objective: str
    values: dict[str, float]
    """The objective of the whole run: of each fixed policy, and of the self-tuning one."""
    figures: dict[str, dict[str, float]]
    switches: tuple[Switched, ...]
    decisions: int
    seconds: float
    """Without the wait for the compiler."""
    assumed: tuple[str, ...]
    limits: tuple[str, ...] = ()
    """What each look ahead had to keep."""
    history: History = field(default_factory=History)
    """What the run times of looks ahead were drawn from."""
    compile_seconds: float = 0.0
    asked: dict[str, Any] = field(default_factory=dict)
    """What decides about the answer beside the log: draws, how often and how far it looks, and
    which jobs are to come."""

    @property
    def left_out(self) -> dict[str, str]:
        """Fixed policies that are never the best, and why: who refuses jobs waits less for it."""
        fixed = [name for name in self.values if name != TUNED]
        broken = {name: broken_limits(self.figures[name], self.limits) for name in fixed}
        fewest = min(map(len, broken.values()))
        found = {name: f"it breaks {' and '.join(broken[name])}" for name in fixed
                 if len(broken[name]) > fewest}
        finite = [name for name in fixed if name not in found and np.isfinite(self.values[name])]
        if finite:  # where no objective is a number, there is nothing to compare
            found |= {name: f"{self.objective} is no number" for name in fixed
                      if name not in found and name not in finite}
        for figure, said in (("jobs.not_run", "{:,.0f} jobs never ran"),
                             ("time_above_cap_s", "{:,.0f} s above the cap")):
            value = {name: np.nan_to_num(self.figures[name].get(figure, 0.0)) for name in fixed}
            least = min(value[name] for name in fixed if name not in found)
            found |= {name: said.format(value[name]) for name in fixed
                      if value[name] > least and name not in found}
        return found

    @property
    def best_fixed(self) -> str:
        """The fixed policy that was best, which nobody knew beforehand."""
        return min((name for name in self.values if name not in (TUNED, *self.left_out)),
                   key=self.values.__getitem__)

    @property
    def regret(self) -> float:
        """How much worse than that, as a part of it; below 0 it was better. No number where fewer
        jobs ran."""
        if self.fewer_ran:
            return math.nan
        return more_than(self.values[self.best_fixed], self.values[TUNED])

    @property
    def fewer_ran(self) -> int:
        """Jobs that ran under the best fixed policy and not under the supervisor: its figures are
        of others, and not compared."""
        not_run = [self.figures[name]["jobs.not_run"] for name in (TUNED, self.best_fixed)]
        return max(int(not_run[0] - not_run[1]), 0)

    def to_dict(self) -> dict[str, Any]:
        """What `wattline advise policy --follow --json` prints."""
        return {"objective": self.objective, "values": self.values, "figures": self.figures,
                "best_fixed": self.best_fixed, "regret": self.regret,
                "fewer_ran": self.fewer_ran,
                "switches": [{"time_s": each.time_s, "to": each.to} for each in self.switches],
                "limits": list(self.limits), "left_out": self.left_out,
                "decisions": self.decisions, "seconds": self.seconds,
                "compile_seconds": self.compile_seconds, **self.asked,
                "run_times": self.history.to_dict(), "assumed": list(self.assumed)}


def self_tune(
    scenario: Source | None = None, *, candidates: Sequence[str] = (), every: float | str = "6h",
    horizon: float | str = "24h", samples: int = 30, objective: str = "wait_s",
    limits: Sequence[str] = (), risk: float = 0.1, arrivals: str = "last-week", seed: int = 1,
    allow_code: bool = False, progress: Callable[[float], None] | None = None, **given: Any,
) -> SelfTuning:
    """Simulate a log under a supervisor that chooses the policy anew every few hours.

    At each of these times it copies the books, runs every candidate ahead as `advise_policy` does,
    and changes the policy where another promises an objective smaller by 2 %. The candidates are
    also simulated alone, so that the gain, or the loss, is known. `limits` like
    `"power_w.peak <= 3e6"` may be broken in a look ahead with a probability up to `risk`; where no
    candidate keeps them, what is there stays.

    >>> import wattline as wl
    >>> trace = wl.generate("lublin", seed=5, jobs=60, nodes=32)
    >>> found = wl.self_tune(trace, candidates=["sjf"], every="1h", samples=2,
    ...                      machine=wl.Machine(nodes=32))
    >>> found.decisions, len(found.switches)
    (10, 2)
    """
    watch = Stopwatch()
    question = Question.of(samples, objective, limits, risk, horizon, seed)
    ready = planned(scenario, given, allow_code)
    if not isinstance(ready.policy, Composition):
        raise InputError("self-tuning chooses between policies along the axes; this one is "
                         "written in Python")
    every_s = parse_duration(every) if isinstance(every, str) else float(every)
    if not 0 < every_s < math.inf:
        raise InputError(f"every is {every}, must be above 0 and finite")
    choices = read_choices(candidates, ready.scenario)
    plans = {choice.name: ready if not choice.changes else plan_of(ready, choice)
             for choice in choices}
    _check_of_both(question.goal)  # before the long part
    check_figures(question.goal, question.kept, FIGURES)
    figures = {name: flattened(totals(each.run())) for name, each in plans.items()}
    supervisor = _Supervisor(ready, plans, question, arrivals)
    run = supervisor.run(every_s, progress)
    figures[TUNED] = flattened(totals(run))
    return SelfTuning(
        run, objective, {name: question.goal.value(each) for name, each in figures.items()},
        figures, tuple(supervisor.switches), supervisor.decisions, watch.seconds,
        (supervisor.assumed, *supervisor.history.said, *supervisor.said, *_not_held(question.kept),
         *(choice.said for choice in choices if choice.said),
         *_refused(figures), *_broken(figures[TUNED], limits)), tuple(limits), supervisor.history,
        watch.compile_seconds,
        {"samples": samples, "every_s": every_s, "horizon_s": question.horizon_s,
         "arrivals": arrivals, "seed": seed})


def _check_of_both(goal: Expression) -> None:
    """The objective judges looks ahead and whole runs, so that both must have its figures."""
    for name in goal.names:
        if figure_of(name, FIGURES) is not None and figure_of(name, OF_BOTH) is None:
            raise InputError(f"there is no figure '{name}' of a whole run, only of a look ahead; "
                             f"both have: {', '.join(OF_BOTH)}")
    check_figures(goal, (), OF_BOTH)


def _not_held(limits: Sequence[Constraint]) -> tuple[str, ...]:
    """Limits that only looks ahead can be held to."""
    return tuple(
        f"{limit.text} is of looks ahead: fixed policies and the whole run are not held to it"
        for limit in limits if any(figure_of(name, OF_BOTH) is None for name in limit.excess.names))


def _refused(figures: Mapping[str, Mapping[str, float]]) -> tuple[str, ...]:
    """What makes the supervisor's figures those of other jobs than the best fixed policy's."""
    least = min(each["jobs.not_run"] for each in figures.values())
    lost = figures[TUNED]["jobs.not_run"] - least
    return () if lost == 0 else (
        f"under the supervisor {lost:,.0f} jobs never ran that ran under a fixed policy: refused "
        "while another policy decided, or behind one that no cap to come has room for; its figures "
        "are of the others",)


def broken_limits(figures: Mapping[str, float], limits: Sequence[str]) -> list[str]:
    """Those that the figures of a whole run break, what is no number too; of one that these figures
    do not have, none is known."""
    # Without a cap no time is above it: a look ahead says 0 of it, a whole run that there is none.
    known = {name: 0.0 if name == "time_above_cap_s" and np.isnan(value) else value
             for name, value in figures.items()}
    read = [Constraint.parse(limit) for limit in limits]
    return [limit.text for limit in read
            if all(figure_of(name, known) for name in limit.excess.names)
            and not limit.is_kept(known)]


def _broken(figures: Mapping[str, float], limits: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"over the whole log the supervisor breaks {limit}: each look ahead is held to "
                 "it, with what was known then" for limit in broken_limits(figures, limits))


class _Supervisor:
    def __init__(
        self, ready: Plan, plans: dict[str, Plan], question: Question, arrivals: str
    ) -> None:
        self.ready, self.plans, self.question, self.arrivals = ready, plans, question, arrivals
        self.switches: list[Switched] = []
        self.decisions = 0
        self.passed = 0
        """Instants at which there was nothing to decide."""
        self.chosen = CURRENT
        self.assumed = ""
        self.history = History()

    def run(self, every_s: float, tell: Callable[[float], None] | None) -> Result:
        ready = self.ready
        assert isinstance(ready.policy, Composition)
        world = Supervised(ready.jobs, ready.machine, ready.policy, ready.rules)
        at_s = float(ready.jobs.submit_s[0])
        while not world.finished and np.isfinite(world.next_s):
            # Nothing can be decided anew before something happens.
            at_s += every_s * max(1.0, np.ceil((world.next_s - at_s) / every_s))
            world.run_until(at_s)
            self._look(world)
            if tell is not None:
                tell(float(world.record.meter[0].done) / len(ready.jobs))
        run = ready.finished(world.finish())
        return replace(run, remarks=(*run.remarks, *self.history.said))

    @property
    def said(self) -> tuple[str, ...]:
        return () if not self.passed else (
            f"at {self.passed:,} of {counted(self.passed + self.decisions, 'instant')} fewer than "
            "two jobs waited: there was nothing to decide",)

    def _look(self, world: Supervised) -> None:
        state = world.state
        if int(state.clock[0].queue_last - state.clock[0].queue_first) < 2:
            self.passed += 1
            return  # whoever waits alone is next under any policy
        at_s = world.now_s
        ready, question = self.ready, self.question
        until_s = at_s + question.horizon_s
        jobs, rules, _, self.assumed = with_arrivals(ready.jobs, ready.rules, at_s,
                                                     until_s, self.arrivals)
        here = world.moment(jobs, rules)
        unasked = asks_nothing(jobs, rules.logged, ready.jobs)
        over = jobs.take(here.ended)
        times = RunTimes(over, unasked[here.ended])
        now = Now(ready, here, rules, until_s, times, (), unasked=unasked[here.log_row])
        self.history.note(at_s, times, over, bool(unasked[here.log_row].any()))
        draws = now.draws(question.samples, question.seed + self.decisions)
        self.decisions += 1
        now_there = self.plans[self.chosen].scenario
        ones = (Candidate(here, None if name == self.chosen
                          else carried_over(now_there, own, here.books.policy),
                          replace(own.rules, logged=rules.logged), now.until_s)
                for name, own in self.plans.items())
        rows = dict(zip(self.plans, figures_of_all(now, ones, draws), strict=True))
        values = {name: _judged(found, question) for name, found in rows.items()}
        best = min(values, key=lambda name: values[name])
        if not values[best].breaks and _clearly_better(values[best], values[self.chosen]):
            own = self.plans[best]
            world.switch(carried_over(now_there, own, world.policy), own.rules)
            self.chosen = best
            self.switches.append(Switched(at_s, best))


def more_than(other: float, value: float) -> float:
    """How much more a value is than another, as a part of it; also of values below 0. What is not 0
    is infinitely much more, or less, than 0."""
    if other == 0:
        return math.copysign(math.inf, value) if value != 0 and not math.isnan(value) else value
    return (value - other) / abs(other)


class Judged(NamedTuple):
    """What a candidate is judged by, the weightiest first; less is better."""

    breaks: bool
    """Whether it breaks a limit more often than may be."""
    refused: float
    above_cap_s: float
    """A policy that cannot slow jobs lets those that another one slowed run in full when it takes
    over, which may be more than the cap."""
    objective: float


def _clearly_better(one: Judged, other: Judged) -> bool:
    """Whether it keeps the limits, refuses fewer jobs, is above the cap for less time, or is
    better by 2 %."""
    if one[:3] != other[:3]:
        return one[:3] < other[:3]
    if not np.isfinite(other.objective):
        return bool(np.isfinite(one.objective))
    return one.objective < other.objective - BETTER * abs(other.objective)


def _judged(found: Sequence[Mapping[str, float]], question: Question) -> Judged:
    return Judged(
        any(broken_part(limit, found) > question.risk for limit in question.kept),
        float(np.mean([each["jobs.refused"] for each in found])),
        float(np.mean([each["time_above_cap_s"] for each in found])),
        _or_worst(float(np.mean([question.goal.value(each) for each in found]))))


def _or_worst(value: float) -> float:
    """What is no number is worse than any that is."""
    return value if np.isfinite(value) else np.inf
