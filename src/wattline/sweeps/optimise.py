"""A search along the axes of a sweep, by Optuna: each point follows from those before it."""

from __future__ import annotations

import json
import math
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from wattline.analysis.expressions import Constraint, Expression
from wattline.analysis.folders import run_folder
from wattline.model.errors import InputError, warn
from wattline.model.units import counted
from wattline.scenario.build import plan
from wattline.sweeps.api import written
from wattline.sweeps.cache import NoCache, PointCache, cache_file
from wattline.sweeps.first_months import MONTH_S, OneTrace, as_of_whole, begin_of, lasts_s
from wattline.sweeps.notes import Row
from wattline.sweeps.point import Point, point_of, sources_of
from wattline.sweeps.results import SweepResult, check_objectives
from wattline.sweeps.running import (
    SEARCH_JOURNAL,
    Counts,
    check_folder,
    only_one_in,
    resumable,
)
from wattline.sweeps.settings_tried import (
    SettingsTried,
    choice_name,
    fixed_sampler,
    setting_name,
)
from wattline.sweeps.shelf import Shelf
from wattline.sweeps.space import Space, read_space
from wattline.sweeps.work import run_point

BROKEN = 1e300
"""The value of a point that failed: worse than any other."""
EDGE = 1e-300
"""By how much a strict constraint is broken by what is just as large as its bound."""
NOT_RUN, ALL_RAN = Expression.parse("jobs.not_run"), "all jobs ran"
FIRST_TRIALS = 10
"""So many are drawn at random, before Optuna learns from them."""
STUDY, ASKED = "search", "asked"
"""How Optuna's journal names the search, and what it was asked for."""
RESTED_ON = "rested on"
"""How it keeps the settings of a trial's points, each with what its result rests on."""
FAILED = "failed"
"""How it marks a trial of which a point failed."""
REPEATED = "repeated"
"""How it marks a trial of a setting that had been tried before."""
MOST_REPEATS = 10
"""After so many trials in a row of what was tried before, another setting is chosen for Optuna."""


def optimise_sweep(
    sweep: str | Path | Mapping[str, Any], out: str | Path | None = None,
    objectives: Sequence[str] = ("energy_j",), *, subject_to: Sequence[str] = (),
    trials: int = 100, prune: bool = False, seed: int = 1, resume: bool = False,
    cache: bool = True, report: bool = True, allow_code: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> SweepResult:
    """Search the axes of a sweep for what makes `objectives` small; several: their Pareto front.

    An axis may be a range without a step. `subject_to` are constraints like
    `"wait_s.p95 <= 3600"`. With seeds, each setting counts by its mean over all of them. `prune`
    tries a setting on the first month first, then on twice as much, and gives it up where it does
    worse than most did there. It needs Optuna (`pip install wattline[optimise]`).

    >>> import tempfile
    >>> import wattline as wl
    >>> scenario = {"trace": {"generate": "lublin", "jobs": 20}, "policy": {"power": "dvfs"}}
    >>> axes = {"machine.nodes": {"from": 16, "to": 64}, "power.cap": ["70%", "90%"]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = wl.optimise_sweep({"scenario": scenario, "axes": axes}, f"{folder}/search",
    ...                               ["wait_s"], trials=5)
    >>> len(found)
    5
    """
    begin_s = time.monotonic()
    space = read_space(sweep)
    goals = [Expression.parse(each) for each in objectives]
    limits = [Constraint.parse(each) for each in subject_to]
    if not goals:
        raise InputError("objectives: give at least one, like energy_j")
    twice = next((each for each in objectives if list(objectives).count(each) > 1), None)
    if twice is not None:
        raise InputError(f"objectives: {twice} is given twice")
    if trials < 1:
        raise InputError(f"trials is {trials}, must be at least 1")
    if prune and len(goals) > 1:
        raise InputError("prune: settings can be given up by one objective, not by several")
    folder = run_folder("sweep", out)
    fresh = not folder.exists()
    check_folder(folder, resume, SEARCH_JOURNAL)
    search = _Search(space, goals, limits, folder, allow_code, prune, cache, seed)
    with only_one_in(folder):
        try:
            with resumable(folder, SEARCH_JOURNAL):
                search.run(trials, progress)
        except InputError:
            if fresh:  # what was asked for is put right and asked again: nothing is in its way
                shutil.rmtree(folder, ignore_errors=True)
            raise
    remarks = tuple(dict.fromkeys(line for row in search.rows for line in row.get("remarks", ())))
    found = SweepResult(
        name=space.name,
        fields=tuple(dict.fromkeys(name for row in search.rows for name in row["setting"])),
        rows=tuple(search.rows), counts=search.counts, seconds=time.monotonic() - begin_s,
        folder=folder, remarks=(*search.said, *remarks), subject_to=tuple(subject_to),
        objectives=tuple(objectives))
    warn(found.sentences)
    found = written(found, folder, report, objectives)
    return replace(found, seconds_in_all=time.monotonic() - begin_s)


class _Search:
    """Optuna asks, the simulator answers."""

    def __init__(
        self, space: Space, goals: Sequence[Expression], limits: Sequence[Constraint],
        folder: Path, allow_code: bool, prune: bool, cache: bool, seed: int,
    ) -> None:
        self.space, self.goals, self.limits = space, goals, limits
        self.folder, self.allow_code, self.prune, self.seed = folder, allow_code, prune, seed
        self.shelf = Shelf(folder / "traces")
        self.cache = PointCache(cache_file()) if cache else NoCache()
        self.rows: list[Row] = []
        self.counts = Counts()
        self.said: list[str] = []
        self.failures = 0
        """Settings that failed."""
        self.tried = SettingsTried(space)
        self.repeated = False
        """Whether the last trial was of a setting that had been tried before."""
        self._checked = False
        self._missed: list[float] = []
        """Jobs that did not run, by trial."""

    def run(self, trials: int, tell: Callable[[int, int], None] | None) -> None:
        optuna = _optuna()
        storage = optuna.storages.JournalStorage(
            optuna.storages.journal.JournalFileBackend(str(self.folder / SEARCH_JOURNAL)))
        pruner = optuna.pruners.MedianPruner() if self.prune else optuna.pruners.NopPruner()
        ended = self._check_same(optuna, storage)
        study = optuna.create_study(
            study_name=STUDY, storage=storage, pruner=pruner,
            directions=["minimize"] * len(self.goals), load_if_exists=True)
        study.set_user_attr(ASKED, self._asked())
        self._check_contents(ended)
        before = [trial for trial in ended if not _is_marked(trial, FAILED, REPEATED)]
        for trial in ended:
            self._remember(trial)
        tried, number, repeats = len(before), len(ended), 0
        each_once = self.tried.count <= trials
        # What fails tells nothing of the others, and what is repeated nothing new: another setting
        # is tried for it.
        while tried < trials and self.failures < trials and not self._is_over(repeats):
            failures, self.repeated = self.failures, False
            study.sampler = self._sampler(optuna, number, each_once, repeats)
            number += 1
            study.optimize(self._trial, n_trials=1)
            repeats = repeats + 1 if self.repeated else 0
            tried += self.failures == failures and not self.repeated
            if tell is not None:
                tell(tried, trials if not each_once else int(self.tried.count))
        if before:
            self.said.append(f"{counted(len(before), 'trial')} are from before")
        self._say_how_many(tried, trials)
        pruned = sum(trial.state.name == "PRUNED" for trial in study.trials)
        if pruned:
            self.said.append(f"{pruned} settings were given up by what they did in the first "
                             "months; they are not among the rows")

    def _is_over(self, repeats: int) -> bool:
        """Whether nothing is left to try, or nothing else is found along ranges."""
        return self.tried.is_all or (repeats >= MOST_REPEATS and self.tried.count == math.inf)

    def _sampler(self, optuna: Any, number: int, each_once: bool, repeats: int) -> Any:
        """One per trial, with draws of its own: a search that was interrupted goes on as it would
        have."""
        if each_once:
            return fixed_sampler(optuna, self.tried.first_left())
        draws = np.random.SeedSequence([self.seed, number])
        if repeats >= MOST_REPEATS:
            return fixed_sampler(optuna, self.tried.any_left(np.random.default_rng(draws)))
        # Of several objectives as well: a genetic one would draw its first fifty at random.
        return optuna.samplers.TPESampler(seed=int(draws.generate_state(1)[0]))

    def _say_how_many(self, tried: int, trials: int) -> None:
        if self.tried.is_all:
            self.said.append(f"{counted(int(self.tried.count), 'setting')}, "
                             f"{counted(trials, 'trial')}: each setting was tried once")
        elif self.failures >= trials:
            self.said.append(f"{tried:,} of {counted(trials, 'trial')} were made: the search was "
                             "given up after as many that failed")
        elif tried < trials:
            self.said.append(f"{tried:,} of {counted(trials, 'trial')} were made: the search came "
                             "back to settings that it had tried")

    def _check_same(self, optuna: Any, storage: Any) -> list[Any]:
        """The trials that ended before, of this search and no other; one in which the search was
        killed did not."""
        if STUDY not in optuna.get_all_study_names(storage):
            return []
        before = optuna.load_study(study_name=STUDY, storage=storage)
        was = before.user_attrs.get(ASKED, {})
        other = [name for name, now in self._asked().items() if was.get(name) != now]
        if before.trials and other:
            raise InputError(f"{self.folder} has a search with {' and '.join(other)} other than "
                             "now; name another folder")
        return [trial for trial in before.trials if trial.state.name in ("COMPLETE", "PRUNED")]

    def _check_contents(self, ended: Sequence[Any]) -> None:
        """What was found on other logs, or by other code, is not mixed with what is found now."""
        other: dict[str, None] = {}
        unseen = 0
        for trial in ended:
            then = trial.user_attrs.get(RESTED_ON, [])
            unseen += not all(rested_on for _, rested_on in then)
            for setting, rested_on in then:
                scenario = point_of(self.space, 0, setting).scenario if rested_on else None
                now = {} if scenario is None else sources_of(scenario)
                other |= dict.fromkeys(name for name in sorted(rested_on.keys() | now.keys())
                                       if rested_on.get(name) != now.get(name))
        if other:
            raise InputError(f"{self.folder} has a search with another content of "
                             f"{' and '.join(other)} than now; name another folder")
        if unseen:
            self.said.append(f"{counted(unseen, 'trial')} from before rest on what cannot be seen "
                             "(code, a database): it may have changed since")

    def _asked(self) -> dict[str, Any]:
        """What a search must have in common with the one that it goes on with."""
        space = self.space
        asked = {
            "objectives": [each.text for each in self.goals],
            "constraints": [each.text for each in self.limits],
            "axes": [[axis.field, list(axis.values)] for axis in space.axes]
            + [[each.field, each.value(each.low), each.value(each.high)]
               for each in space.intervals],
            "zip": [list(group) for group in space.together],
            "seeds": list(space.seeds), "a scenario": dict(space.base),
            "a seed of the search": self.seed, "prune": self.prune}
        return dict(json.loads(json.dumps(asked, default=str)))

    def _remember(self, trial: Any) -> None:
        if _is_marked(trial, REPEATED):
            return
        rows = trial.user_attrs.get("rows", ())
        self.tried.keep(setting_name(self._setting_of(trial.params)), list(rows) or None)
        if _is_marked(trial, FAILED):
            return
        for row in rows:
            self._keep(row)
            self.counts.cached += 1
        if rows:
            self._missing([row["figures"] for row in rows])

    def _keep(self, row: Row) -> None:
        self.counts.points += 1
        self.counts.failed += "error" in row
        self.rows.append(row)

    def _setting_of(self, params: Mapping[str, Any]) -> dict[str, Any]:
        setting: dict[str, Any] = {}
        for choices in self.space.choices():
            # Optuna's choices are simple values: tables, and values of axes that go together, are
            # chosen by their place in the list.
            setting |= choices[params[choice_name(choices[0])]]
        return setting | {each.field: each.value(params[each.field])
                          for each in self.space.intervals}

    def _chosen(self, trial: Any) -> dict[str, Any]:
        for choices in self.space.choices():
            trial.suggest_categorical(choice_name(choices[0]), list(range(len(choices))))
        for each in self.space.intervals:
            suggest = trial.suggest_int if each.whole else trial.suggest_float
            low, high = ((math.ceil(each.low), math.floor(each.high)) if each.whole
                         else (each.low, each.high))
            suggest(each.field, low, high)
        return self._setting_of(trial.params)

    def _trial(self, trial: Any) -> tuple[float, ...]:
        setting = self._chosen(trial)
        name = setting_name(setting)
        if name in self.tried:
            return self._again(trial, self.tried.rows(name))
        self.tried.keep(name, None)
        points = [point_of(self.space, len(self.rows) + place, {**setting, **seed})
                  for place, seed in enumerate(self.space.draws())]
        trial.set_user_attr(RESTED_ON, [[dict(point.setting), sources_of(point.scenario)]
                                        for point in points if point.scenario is not None])
        known = self.cache.find(point.key for point in points)
        if self.prune and any(point.key not in known for point in points):
            self._first_months(points, trial)
        rows = [_with_said(self._row(point, known.get(point.key)), point) for point in points]
        for row in rows:
            self._keep(row)
        trial.set_user_attr("rows", rows)
        self.tried.keep(name, rows)
        self.failures += any("error" in row for row in rows)
        return self._judged(trial, rows)

    def _again(self, trial: Any, rows: Sequence[Row] | None) -> tuple[float, ...]:
        """What is known of a setting; it is neither simulated nor a row again."""
        self.repeated = True
        trial.set_user_attr(REPEATED, True)
        if rows is None:
            raise _optuna().TrialPruned
        return self._judged(trial, rows)

    def _judged(self, trial: Any, rows: Sequence[Row]) -> tuple[float, ...]:
        figures = [row["figures"] for row in rows if "figures" in row]
        if len(figures) < len(rows):
            return self._failing(trial)
        self._check_figures(figures[0])
        self._tell_excess(trial, [_mean(each.excess, figures) for each in self.limits])
        trial.set_constraint(ALL_RAN, self._missing(figures))
        return tuple(_finite(_mean(each, figures)) for each in self.goals)

    def _check_figures(self, figures: Mapping[str, float]) -> None:
        """Once: what is asked for is there."""
        if not self._checked:
            check_objectives([each.text for each in self.goals], figures)
            for limit in self.limits:
                check_objectives(sorted(limit.excess.names), figures)
            self._checked = True

    def _missing(self, figures: Sequence[Mapping[str, float]]) -> float:
        """Jobs of a setting that did not run: to refuse them is no way to be best.

        Where some did not run under any of the first settings, only those count that ran under
        another: where all settings break a constraint alike, nobody looks at the objective.
        """
        missing = _mean(NOT_RUN, figures)
        self._missed.append(missing)
        least = min(self._missed) if len(self._missed) > FIRST_TRIALS else 0.0
        return _finite(missing - least)

    def _failing(self, trial: Any) -> tuple[float, ...]:
        """The value of a setting that failed, which leads the search elsewhere."""
        trial.set_user_attr(FAILED, True)
        self._tell_excess(trial, [BROKEN] * len(self.limits))
        trial.set_constraint(ALL_RAN, BROKEN)
        return (BROKEN,) * len(self.goals)

    def _tell_excess(self, trial: Any, excess: Sequence[float]) -> None:
        for limit, value in zip(self.limits, excess, strict=True):
            # To Optuna 0 is kept; a strict constraint is not.
            at_edge = value == 0 and not limit.allows(value)
            trial.set_constraint(limit.text, EDGE if at_edge else _finite(value))

    def _row(self, point: Point, known: Row | None) -> Row:
        setting = dict(point.setting)
        if point.scenario is None:
            return {"number": point.number, "error": point.error, "setting": setting}
        if known is not None:
            self.counts.cached += 1
            return {**known, "number": point.number, "setting": setting}
        row = run_point(self.shelf, point.number, point.scenario, self.allow_code)
        self.counts.computed += 1
        if "error" not in row:
            self.cache.keep([(point.key, row)])
        return json.loads(json.dumps({**row, "setting": setting}))  # type: ignore[no-any-return]

    def _first_months(self, points: Sequence[Point], trial: Any) -> None:
        """Give up a setting that does worse on the beginning of the log than most did.

        One answer per beginning: the mean over all seeds, as the whole will be judged. One that
        breaks a limit or refuses jobs there is no measure for others, nor measured by them: its
        objective is small for that.
        """
        optuna = _optuna()
        try:
            ready = [plan(point.scenario, self.shelf.trace(point.scenario),
                          allow_code=self.allow_code)
                     for point in points if point.scenario is not None]
        except Exception:  # of a policy or of ours: the run of the whole log will say it
            return
        wholes = [(each.trace, as_of_whole(each)) for each in ready]
        months = 1
        while len(ready) == len(points) and all(lasts_s(whole) > months * MONTH_S
                                                for whole, _ in wholes):
            rows = [run_point(OneTrace(begin_of(whole, months)), 0, scenario, self.allow_code)
                    for whole, scenario in wholes]
            if any("figures" not in row for row in rows):
                return
            figures = [row["figures"] for row in rows]
            self._check_figures(figures[0])
            if not self._may_be_best(figures):
                return
            trial.report(_finite(_mean(self.goals[0], figures)), months)
            if trial.should_prune():
                raise optuna.TrialPruned
            months *= 2

    def _may_be_best(self, figures: Sequence[Mapping[str, float]]) -> bool:
        """Whether it keeps all limits and runs all jobs."""
        return _mean(NOT_RUN, figures) == 0 and all(
            limit.allows(_mean(limit.excess, figures)) for limit in self.limits)


def _is_marked(trial: Any, *marks: str) -> bool:
    return any(mark in trial.user_attrs for mark in marks)


def _with_said(row: Row, point: Point) -> Row:
    """What was chosen for a point is said in this search; others may have chosen it."""
    return {**row, "remarks": [*point.said, *row.get("remarks", ())]} if point.said else row


def _mean(goal: Expression, figures: Sequence[Mapping[str, float]]) -> float:
    return float(np.mean([goal.value(each) for each in figures]))


def _finite(value: float) -> float:
    return value if math.isfinite(value) else BROKEN


def _optuna() -> Any:
    try:
        import optuna
    except ImportError:
        raise InputError("Optuna is not installed; install wattline[optimise]") from None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna


