"""Which policy for the next hours: every candidate run ahead on the same draws."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wattline.advice.futures.candidates import Choice, read_choices
from wattline.advice.futures.instants import instant_s
from wattline.advice.futures.running import candidate_of, stand_at
from wattline.advice.futures.side_by_side import figures_of_all
from wattline.analysis.expressions import Constraint, Expression, figure_of
from wattline.analysis.intervals import mean_interval
from wattline.model.errors import InputError, warn
from wattline.model.units import parse_duration
from wattline.scenario.build import Plan
from wattline.scenario.in_python import Source


@dataclass(frozen=True)
class CandidateFigures:
    """A candidate's figures: means over the samples, and how often it broke each limit.

    >>> import wattline as wl
    >>> trace = wl.generate("lublin", seed=1, jobs=60, nodes=32)
    >>> found = wl.advise_policy(trace, at="50%", candidates=["sjf"], samples=2,
    ...                          machine=wl.Machine(nodes=32))
    >>> [each.name for each in found.candidates]
    ['as it is', 'sjf']
    """

    name: str
    changes: Mapping[str, Any]
    means: Mapping[str, float]
    halves: Mapping[str, float]
    """Half the width of the 95 % interval of each mean."""
    breaks: Mapping[str, float]
    """The probability of breaking each limit."""
    value: float
    """The mean of the objective."""


@dataclass(frozen=True)
class PolicyAdvice:
    """What `advise_policy` gives.

    >>> import wattline as wl
    >>> trace = wl.generate("lublin", seed=1, jobs=60, nodes=32)
    >>> found = wl.advise_policy(trace, at="50%", candidates=["sjf"], samples=2,
    ...                          machine=wl.Machine(nodes=32))
    >>> found.best in ("as it is", "sjf")
    True
    """

    at_s: float
    horizon_s: float
    samples: int
    objective: str
    candidates: tuple[CandidateFigures, ...]
    best: str | None
    """The candidate with the smallest objective of those that keep the limits; None: none does."""
    waiting: int
    running: int
    seconds: float
    assumed: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """What `wattline advise policy --json` prints."""
        return {
            "at_s": self.at_s, "horizon_s": self.horizon_s, "samples": self.samples,
            "objective": self.objective, "best": self.best, "waiting": self.waiting,
            "running": self.running, "seconds": self.seconds,
            "candidates": [{
                "name": each.name, "changes": dict(each.changes), "objective": each.value,
                "figures": dict(each.means), "half_interval": dict(each.halves),
                "breaks": dict(each.breaks)} for each in self.candidates],
            "assumed": list(self.assumed)}


def advise_policy(
    scenario: Source | None = None, *, at: float | str, candidates: Sequence[str] = (),
    horizon: float | str = "24h", samples: int = 30, objective: str = "wait_s",
    limits: Sequence[str] = (), risk: float = 0.1, arrivals: str = "last-week", seed: int = 1,
    allow_code: bool = False, progress: Callable[[float], None] | None = None, **given: Any,
) -> PolicyAdvice:
    """At an instant of a log, what the next hours would be under each candidate policy.

    `at` is a time of the log (seconds, `"30d"`), a part of it (`"50%"`) or a date. A candidate is a
    policy (`"sjf"`), or several changes (`"power=dvfs cap=80%"`). Run times are drawn from how
    requested and true ones differed in the history, the same draws for all. `limits` like
    `"power_w.peak <= 3e6"` may be broken with a probability up to `risk`. `arrivals` says which
    jobs come: `last-week`, `none`, or `hindsight`. Further ones are those of `simulate`.

    >>> import wattline as wl
    >>> trace = wl.generate("lublin", seed=1, jobs=60, nodes=32)
    >>> found = wl.advise_policy(trace, at="50%", candidates=["sjf"], samples=2,
    ...                          machine=wl.Machine(nodes=32))
    >>> found.candidates[0].means["jobs.started"] > 0
    True
    """
    begin_s = time.monotonic()
    if not 1 <= samples <= 100_000:
        raise InputError(f"samples is {samples}, must be 1 to 100,000")
    if not 0 <= risk <= 1:
        raise InputError(f"risk is {risk}, must be 0 to 1")
    goal = Expression.parse(objective)
    kept = [Constraint.parse(each) for each in limits]
    ready = planned(scenario, given, allow_code)
    at_s = instant_s(at, ready)
    horizon_s = parse_duration(horizon) if isinstance(horizon, str) else float(horizon)
    if not horizon_s > 0:
        raise InputError(f"horizon is {horizon}, must be above 0")
    choices = read_choices(candidates, ready.scenario)
    now = stand_at(ready, at_s, horizon_s, arrivals)
    draws = now.draws(samples, seed)
    told = None if progress is None else lambda done: progress(done / len(choices))
    all_rows = figures_of_all(now, (candidate_of(now, choice) for choice in choices), draws, told)
    _check(goal, kept, all_rows[0][0])
    found = [_candidate(choice, rows, goal, kept)
             for choice, rows in zip(choices, all_rows, strict=True)]
    moment = now.moment
    running = int(moment.running.sum())
    return PolicyAdvice(
        at_s, horizon_s, samples, objective, tuple(found), _best(found, risk),
        int(moment.waiting.sum()), running, time.monotonic() - begin_s, now.assumed)


def _candidate(
    choice: Choice, rows: Sequence[Mapping[str, float]], goal: Expression,
    kept: Sequence[Constraint],
) -> CandidateFigures:
    spread = {name: mean_interval([row[name] for row in rows]) for name in rows[0]}
    return CandidateFigures(
        choice.name, choice.changes, {name: mean for name, (mean, _) in spread.items()},
        {name: half for name, (_, half) in spread.items()},
        {each.text: float(np.mean([each.excess.value(row) > 0 for row in rows]))
         for each in kept},
        float(np.mean([goal.value(row) for row in rows])))


def planned(scenario: Source | None, given: Mapping[str, Any], allow_code: bool) -> Plan:
    """What `simulate` would run, made ready."""
    from wattline.scenario.sweep import asked_for

    ready = asked_for(scenario, given, allow_code).plan()
    warn(ready.assumed)
    return ready


def _check(goal: Expression, kept: Sequence[Constraint], row: Mapping[str, float]) -> None:
    for expression in (goal, *(each.excess for each in kept)):
        for name in expression.names:
            if figure_of(name, row) is None:
                raise InputError(f"there is no figure '{name}'; there are: {', '.join(row)}")


def _best(found: Sequence[CandidateFigures], risk: float) -> str | None:
    """What is there wins where another is not better; who refuses jobs, or draws more than the
    cap allows, does not win by that."""
    good = [each for each in found if max(each.breaks.values(), default=0.0) <= risk]
    for name in ("jobs.refused", "time_above_cap_s"):
        least = min((each.means[name] for each in good), default=0.0)
        good = [each for each in good if each.means[name] <= least]
    return min(good, key=lambda each: each.value).name if good else None


