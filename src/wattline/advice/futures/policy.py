"""Which policy for the next hours: every candidate run ahead on the same draws."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from wattline.advice.futures.candidates import NamedChanges, read_choices
from wattline.advice.futures.instants import instant_s
from wattline.advice.futures.live import as_told, in_watts, stand_live
from wattline.advice.futures.running import FIGURES, Now, candidate_of, stand_at
from wattline.advice.futures.side_by_side import figures_of_all
from wattline.advice.futures.stopwatch import Stopwatch
from wattline.analysis.expressions import Constraint, Expression, figure_of
from wattline.analysis.intervals import mean_interval
from wattline.engine.ahead import Candidate
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
    """The candidate with the smallest objective of those that keep the limits; None: none does,
    or the objective of those is no number."""
    waiting: int
    running: int
    seconds: float
    """Without the wait for the compiler."""
    assumed: tuple[str, ...]
    compile_seconds: float = 0.0

    @property
    def why_none(self) -> str:
        """Why no candidate is the best, where none is."""
        if any(math.isfinite(each.value) for each in self.candidates):
            return "no candidate keeps the limits"
        return f"{self.objective} is no number under any candidate"

    def to_dict(self) -> dict[str, Any]:
        """What `wattline advise policy --json` prints."""
        return {
            "at_s": self.at_s, "horizon_s": self.horizon_s, "samples": self.samples,
            "objective": self.objective, "best": self.best, "waiting": self.waiting,
            "running": self.running, "seconds": self.seconds,
            "compile_seconds": self.compile_seconds,
            "candidates": [{
                "name": each.name, "changes": dict(each.changes), "objective": each.value,
                "figures": dict(each.means), "half_interval": dict(each.halves),
                "breaks": dict(each.breaks)} for each in self.candidates],
            "assumed": list(self.assumed)}


def advise_policy(
    scenario: Source | None = None, *, at: float | str | None = None,
    live: str | Path | None = None, history: Source | None = None,
    candidates: Sequence[str] = (), horizon: float | str = "24h", samples: int = 30,
    objective: str = "wait_s", limits: Sequence[str] = (), risk: float = 0.1,
    arrivals: str = "last-week", seed: int = 1, allow_code: bool = False,
    progress: Callable[[float], None] | None = None, **given: Any,
) -> PolicyAdvice:
    """At an instant of a log, or live, what the next hours would be under each candidate policy.

    `at` is a time of the log (seconds, `"30d"`), a part of it (`"50%"`) or a date; `live` is the
    file of a site instead, whose controller's books are read. A candidate is a
    policy (`"sjf"`), or several changes (`"power=dvfs cap=80%"`). Run times are drawn from how
    requested and true ones differed in the history, the same draws for all; live that is what the
    controller's journals hold, and the log `history`. `limits` like
    `"power_w.peak <= 3e6"` may be broken with a probability up to `risk`. `arrivals` says which
    jobs come: `last-week`, `none`, or `hindsight`. Further ones are those of `simulate`.

    >>> import wattline as wl
    >>> trace = wl.generate("lublin", seed=1, jobs=60, nodes=32)
    >>> found = wl.advise_policy(trace, at="50%", candidates=["sjf"], samples=2,
    ...                          machine=wl.Machine(nodes=32))
    >>> found.candidates[0].means["jobs.started"] > 0
    True
    """
    watch = Stopwatch()
    question = Question.of(samples, objective, limits, risk, horizon, seed)
    refuse_both(at, live, history, scenario, given)
    if live is not None:
        stood = stand_live(live, question.horizon_s, arrivals, history, allow_code=allow_code)
        now = stood.now
        choices = in_watts(read_choices(candidates, as_told(stood.kept)), stood.kept.books)
    else:
        assert at is not None
        ready = planned(scenario, given, allow_code)
        at_s = instant_s(at, ready)
        choices = read_choices(candidates, ready.scenario)
        now = stand_at(ready, at_s, question.horizon_s, arrivals)
    return judged(now, choices, question, watch, progress)


@dataclass(frozen=True)
class Question:
    """What is asked of a moment, whichever it is."""

    samples: int
    objective: str
    goal: Expression
    kept: tuple[Constraint, ...]
    risk: float
    horizon_s: float
    seed: int

    @classmethod
    def of(
        cls, samples: int, objective: str, limits: Sequence[str], risk: float,
        horizon: float | str, seed: int,
    ) -> Question:
        """What somebody asks, checked before it costs any time."""
        if not 1 <= samples <= 100_000:
            raise InputError(f"samples is {samples}, must be 1 to 100,000")
        if not 0 <= risk <= 1:
            raise InputError(f"risk is {risk}, must be 0 to 1")
        horizon_s = parse_duration(horizon) if isinstance(horizon, str) else float(horizon)
        if not 0 < horizon_s < math.inf:
            raise InputError(f"horizon is {horizon}, must be above 0 and finite")
        return cls(samples, objective, Expression.parse(objective),
                   tuple(Constraint.parse(each) for each in limits), risk, horizon_s, seed)


def judged(
    now: Now, choices: Sequence[NamedChanges], question: Question, watch: Stopwatch,
    progress: Callable[[float], None] | None = None,
) -> PolicyAdvice:
    """Every choice run ahead from a moment, on the same draws."""
    check_figures(question.goal, question.kept, FIGURES)  # before the long part
    draws = now.draws(question.samples, question.seed)
    told = None if progress is None else lambda done: progress(done / len(choices))
    said: list[str] = []

    def ones() -> Iterator[Candidate]:
        for choice in choices:
            one, remark = candidate_of(now, choice)
            said.extend([remark] if remark else [])
            yield one

    all_rows = figures_of_all(now, ones(), draws, told)
    found = [_candidate(choice, rows, question.goal, question.kept)
             for choice, rows in zip(choices, all_rows, strict=True)]
    moment = now.moment
    return PolicyAdvice(
        moment.now_s, question.horizon_s, question.samples,
        question.objective, tuple(found), _best(found, question.risk),
        int(moment.waiting.sum()), int(moment.running.sum()), watch.seconds,
        (*now.assumed, *(choice.said for choice in choices if choice.said), *said,
         *_no_numbers(found)),
        watch.compile_seconds)


def _no_numbers(found: Sequence[CandidateFigures]) -> tuple[str, ...]:
    """Who cannot be the best because its objective cannot be computed."""
    names = [each.name for each in found if not math.isfinite(each.value)]
    return (f"the objective is no number under {', '.join(names)}: never the best",
            ) if names else ()


def refuse_both(
    at: float | str | None, live: str | Path | None, history: Source | None,
    scenario: Source | None, given: Mapping[str, Any],
) -> None:
    """A look ahead begins at an instant of a log, or where a live machine is."""
    if (at is None) == (live is None):
        raise InputError("give at, an instant of a log, or live, the file of a site")
    if live is not None and (scenario is not None or given):
        raise InputError("a live machine has its own machine, jobs and policies: give neither "
                         f"{'a scenario' if scenario is not None else next(iter(given))} "
                         "with live")
    if live is None and history is not None:
        raise InputError("history goes with live; of a log, its own jobs are the history")


def _candidate(
    choice: NamedChanges, rows: Sequence[Mapping[str, float]], goal: Expression,
    kept: Sequence[Constraint],
) -> CandidateFigures:
    spread = {name: mean_interval([row[name] for row in rows]) for name in rows[0]}
    return CandidateFigures(
        choice.name, choice.changes, {name: mean for name, (mean, _) in spread.items()},
        {name: half for name, (_, half) in spread.items()},
        {each.text: broken_part(each, rows) for each in kept},
        float(np.mean([goal.value(row) for row in rows])))


def broken_part(limit: Constraint, rows: Sequence[Mapping[str, float]]) -> float:
    """In which part of the draws a limit is broken; what is no number does not keep one."""
    return float(np.mean([not limit.is_kept(row) for row in rows]))


def planned(scenario: Source | None, given: Mapping[str, Any], allow_code: bool) -> Plan:
    """What `simulate` would run, made ready."""
    from wattline.scenario.sweep import asked_for

    ready = asked_for(scenario, given, allow_code).plan()
    warn(ready.assumed)
    return ready


def check_figures(
    goal: Expression, kept: Sequence[Constraint], figures: Collection[str]
) -> None:
    """Say which figures there are where one is asked for that there is not."""
    for expression in (goal, *(each.excess for each in kept)):
        for name in expression.names:
            if figure_of(name, figures) is None:
                raise InputError(f"there is no figure '{name}' of a look ahead; there are: "
                                 f"{', '.join(figures)}")


def _best(found: Sequence[CandidateFigures], risk: float) -> str | None:
    """What is there wins where another is not better; who refuses jobs, or draws more than the
    cap allows, does not win by that, nor does an objective that is no number."""
    good = [each for each in found if math.isfinite(each.value)
            and max(each.breaks.values(), default=0.0) <= risk]
    for name in ("jobs.refused", "time_above_cap_s"):
        least = min((each.means[name] for each in good), default=0.0)
        good = [each for each in good if each.means[name] <= least]
    return min(good, key=lambda each: each.value).name if good else None
