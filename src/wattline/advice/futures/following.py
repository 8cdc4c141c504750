"""A supervisor of a live machine: it looks ahead every so often, and may change the policy.

The same as self-tuning in a simulation: the books are copied and run ahead, and another policy
takes over where it promises enough. Here the controller is asked to let it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from wattline.advice.futures.candidates import (
    CURRENT,
    OF_THE_MACHINE,
    NamedChanges,
    changes_nothing,
    read_choices,
)
from wattline.advice.futures.live import as_told, in_watts, stand_live
from wattline.advice.futures.policy import CandidateFigures, PolicyAdvice, Question, judged
from wattline.advice.futures.running import CAP
from wattline.advice.futures.self_tuning import BETTER, more_than
from wattline.advice.futures.stopwatch import Stopwatch
from wattline.controller.changing_policy import SET_POLICY
from wattline.controller.looking_in import KeptBooks
from wattline.controller.speaking import live_order
from wattline.model.errors import InputError, WattlineError
from wattline.model.units import parse_duration, watts_of
from wattline.policies.declaration import AXES
from wattline.scenario.in_python import Source
from wattline.scenario.model import Scenario

FIRST = "as at first"
"""The policy that was there when it was first looked at, once another decides."""
PATIENCE_S = 120.0
"""So long a policy may take to be compiled before it takes over."""


@dataclass(frozen=True)
class PolicyRound:
    """One look of the supervisor: what it found, and what it did about it or would do.

    >>> import wattline as wl
    >>> try:
    ...     found = next(wl.follow_policy("site.toml", rounds=1))
    ... except wl.WattlineError as error:  # there is no site here
    ...     found = None
    """

    advice: PolicyAdvice | None
    """None where it could not look; `why` says it."""
    changes: Mapping[str, Any]
    """What is to be changed; empty: nothing."""
    why: str
    done: str
    """What the controller answered, where it was asked."""

    def to_dict(self) -> dict[str, Any]:
        """A line of `wattline advise policy --live --follow --json`."""
        return {"changes": dict(self.changes), "why": self.why, "done": self.done,
                "advice": None if self.advice is None else self.advice.to_dict()}


def follow_policy(
    live: str | Path, *, every: float | str = "10min", act: bool = False,
    rounds: int | None = None, candidates: Sequence[str] = (), horizon: float | str = "24h",
    samples: int = 30, objective: str = "wait_s", limits: Sequence[str] = (), risk: float = 0.1,
    arrivals: str = "last-week", history: Source | None = None, seed: int = 1,
    allow_code: bool = False, sleep: Callable[[float], None] = time.sleep,
) -> Iterator[PolicyRound]:
    """Choose the policy of a live machine anew every so often, for ever or so many times.

    Another one is chosen where it promises an objective smaller by 2 %, refuses no more jobs and
    keeps the limits. Without `act` nothing is ordered: each round says what would be. A round that
    finds no books, or a controller that refuses, says so, and the next one looks again.

    >>> import wattline as wl
    >>> try:
    ...     said = [each.why for each in wl.follow_policy("site.toml", rounds=1)]
    ... except wl.WattlineError as error:  # there is no site here
    ...     said = []
    """
    every_s = parse_duration(every) if isinstance(every, str) else float(every)
    if not 0 < every_s < math.inf:
        raise InputError(f"every is {every}, must be above 0 and finite")
    question = Question.of(samples, objective, limits, risk, horizon, seed)
    supervisor = _Supervisor(live, question, candidates, arrivals, history, act, allow_code)
    done = 0
    while rounds is None or done < rounds:
        begin_s = time.monotonic()
        yield supervisor.look(first=done == 0)
        done += 1
        if rounds is None or done < rounds:
            sleep(max(every_s - (time.monotonic() - begin_s), 0.0))


class _Supervisor:
    def __init__(
        self, live: str | Path, question: Question, candidates: Sequence[str], arrivals: str,
        history: Source | None, act: bool, allow_code: bool,
    ) -> None:
        self.live, self.question, self.candidates = live, question, candidates
        self.arrivals, self.history, self.act = arrivals, history, act
        self.allow_code = allow_code
        self.first: Scenario | None = None
        """What was there at the first look, the cap too: it stays a candidate, and the others
        change it, as in a simulation."""

    def look(self, first: bool) -> PolicyRound:
        try:
            return self._look()
        except WattlineError as error:
            if first:  # a mistake of whoever asks
                raise
            return PolicyRound(None, {}, f"nothing was decided: {error}", "")

    def _look(self) -> PolicyRound:
        watch = Stopwatch()
        stood = stand_live(self.live, self.question.horizon_s, self.arrivals, self.history,
                           allow_code=self.allow_code)
        if self.act and not stood.kept.running:
            raise WattlineError("no controller that acts runs there: nobody could be asked to "
                                "change the policy")
        choices = self._choices(stood.kept)
        advice = judged(stood.now, choices, self.question, watch)
        changes, why = wanted(advice, self.question.risk)
        done = self._order(changes) if self.act and changes else ""
        return PolicyRound(advice, changes, why, done)

    def _choices(self, kept: KeptBooks) -> list[NamedChanges]:
        there = as_told(kept)
        self.first = self.first or there
        choices = in_watts(read_choices(self.candidates, self.first), kept.books)
        now, first = _chosen(there), _chosen(self.first)
        if now == first:
            return choices
        wanted = [(choice, first | choice.changes)
                  for choice in (*choices[1:], NamedChanges(FIRST, {}))]
        others = [replace(choice, changes=_from_to(now, to)) for choice, to in wanted]
        return [choices[0], *(choice for choice in others
                              if choice.changes and not changes_nothing(choice, there))]

    def _order(self, changes: Mapping[str, Any]) -> str:
        """Ask for the cap, then for the policy: each is an order of its own."""
        policy = {name: value for name, value in changes.items() if name != CAP}
        said = []
        try:
            if CAP in changes:
                said.append(live_order(self.live, "set_cap", watts=_watts(changes[CAP])).said)
            if policy:
                said.append(live_order(self.live, SET_POLICY, changes=policy,
                                       within_s=PATIENCE_S).said)
        except WattlineError as error:
            said.append(f"refused: {error}")
        return "; ".join(said)


def _chosen(scenario: Scenario) -> dict[str, Any]:
    """What a running machine can change, by field."""
    fields = scenario.model_dump(mode="json", exclude_none=True)
    return {f"policy.{axis}": value for axis, value in fields["policy"].items() if axis in AXES} | {
        f"power.{name}": value for name, value in fields["power"].items()
        if f"power.{name}" not in OF_THE_MACHINE}


def _from_to(now: Mapping[str, Any], to: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in to.items() if now.get(name) != value}


def wanted(advice: PolicyAdvice, risk: float) -> tuple[Mapping[str, Any], str]:
    """What a supervisor would change, and why; empty where what is there stays."""
    by_name = {each.name: each for each in advice.candidates}
    now = by_name[CURRENT]
    if advice.best is None:
        return {}, f"{advice.why_none}: what is there stays"
    best = by_name[advice.best]
    if best is now:
        return {}, f"no candidate is better than what is there, by {advice.objective}"
    figures = f"{advice.objective} {best.value:,.4g} instead of {now.value:,.4g}"
    if max(now.breaks.values(), default=0.0) > risk:
        return best.changes, f"{best.name} keeps the limits, and what is there does not: {figures}"
    for figure, said in (("jobs.refused", "refuses fewer jobs"),
                         ("time_above_cap_s", "is less long above the cap")):
        if best.means[figure] < now.means[figure]:
            return best.changes, f"{best.name} {said} than what is there: {figures}"
    return _if_enough(best, now, figures)


def _if_enough(
    best: CandidateFigures, now: CandidateFigures, figures: str
) -> tuple[Mapping[str, Any], str]:
    if not math.isfinite(now.value) or more_than(now.value, best.value) < -BETTER:
        return best.changes, f"{best.name} promises {figures}"
    return {}, f"{best.name} promises {figures}: less than {BETTER:.0%} better, what is there stays"


def _watts(cap: Any) -> float | None:
    return None if cap in (None, "none") else watts_of(cap)
