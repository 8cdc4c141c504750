"""The rows of a sweep as one table, and what stands out in it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from wattline.analysis.expressions import Constraint, Expression, figure_of
from wattline.analysis.intervals import mean_interval
from wattline.model.errors import InputError
from wattline.model.run import Outcome
from wattline.model.units import counted
from wattline.sweeps.axes import SEED
from wattline.sweeps.paired import Difference, against_first
from wattline.sweeps.running import Counts
from wattline.sweeps.table import shown, table_of, told

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

OBJECTIVES = ("energy_j", "wait_s.mean")
"""What most sweeps are about, where nobody says otherwise; less is better."""
WORKLOAD, LEFT_OUT = "trace.", "trace.drop_larger"
"""Axes that say which jobs there are; one that leaves jobs out lets fewer of the same run."""


@dataclass(frozen=True)
class SweptSetting:
    """One setting of the axes without the seed, with the means over its seeds.

    >>> import wattline as wl
    >>> one = wl.SweptSetting({"power.cap": "90%"}, 2, {"jobs.completed": 19.5}, {})
    >>> one.ran
    19.5
    """

    values: Mapping[str, Any]
    runs: int
    means: Mapping[str, float]
    halves: Mapping[str, float]
    """Half the width of the 95 % interval of each mean; NaN of one run."""
    failed: int = 0
    figures: tuple[Mapping[str, float], ...] = field(default=(), repr=False)
    """Of each run."""
    seeds: tuple[Any, ...] = ()
    """Of each run that did not fail."""

    def mean_of(self, goal: Expression) -> float:
        """The mean over the runs of an expression's value in each of them; NaN where it is no
        number in one."""
        return _mean_of_all([goal.value(each) for each in self.figures])[0]

    def half_of(self, expression: str) -> float:
        """Half the width of the 95 % interval of a figure or an expression of figures."""
        return self.spread_of(expression)[1]

    def spread_of(self, expression: str) -> tuple[float, float]:
        """Its mean, and half the width of the interval."""
        goal = Expression.parse(expression)
        return _mean_of_all([goal.value(each) for each in self.figures])

    @property
    def ran(self) -> float:
        """Jobs that ran, per run."""
        return sum(self.means.get(f"jobs.{how.name.lower()}", 0.0) for how in Outcome
                   if how != Outcome.NOT_RUN)


@dataclass(frozen=True, eq=False, repr=False)
class SweepResult:
    """What `run_sweep` gives: a row per point, groups of seeds, the Pareto front, main effects.

    >>> import tempfile
    >>> import wattline as wl
    >>> sweep = {"scenario": {"trace": {"generate": "lublin", "jobs": 10}},
    ...          "axes": {"machine.nodes": [32, 64]}}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = wl.run_sweep(sweep, f"{folder}/sweep", workers=1, report=False)
    >>> found.axes, len(found)
    (('machine.nodes',), 2)
    """

    name: str
    fields: tuple[str, ...]
    """The axes."""
    rows: tuple[Mapping[str, Any], ...]
    """Per point its setting, its figures, and its error where it failed."""
    counts: Counts
    seconds: float
    """From the beginning to the last row."""
    folder: Path | None = None
    page: Path | None = None
    remarks: tuple[str, ...] = field(default=())
    subject_to: tuple[str, ...] = ()
    """Constraints that a setting must keep to be among the best."""
    objectives: tuple[str, ...] = OBJECTIVES
    """What is to be small."""
    seconds_in_all: float = math.nan
    """The same with table and report."""

    def __repr__(self) -> str:
        return (f"SweepResult('{self.name}': {self.counts.points:,} points, "
                f"{self.counts.computed:,} computed, {self.counts.cached:,} cached, "
                f"{self.counts.failed:,} failed, in {self.seconds:.3g} s)")

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def settings(self) -> tuple[SweptSetting, ...]:
        """Points that differ by their seed alone are one setting; a point that a search comes back
        to is one run, however often it was asked for."""
        groups: dict[str, list[Mapping[str, Any]]] = {}
        different = {json.dumps(row["setting"], default=str): row
                     for row in sorted(self.rows, key=lambda row: "error" not in row)}
        for row in sorted(different.values(), key=lambda row: row["number"]):
            shown = {name: row["setting"].get(name) for name in self.axes}
            groups.setdefault(json.dumps(shown, default=str), []).append(row)
        return tuple(_grouped(self.axes, rows) for rows in groups.values())

    @property
    def axes(self) -> tuple[str, ...]:
        """The fields that change, without the seed."""
        return tuple(name for name in self.fields if name != SEED)

    @cached_property
    def comparable(self) -> tuple[SweptSetting, ...]:
        """Settings that keep what they are subject to, and under which as many jobs ran as under
        any other: to have or to run fewer saves joules and hours, but is no way to be best."""
        limits = [Constraint.parse(each) for each in self.subject_to]
        return tuple(each for each in self._with_same_draws
                     if all(limit.allows(each.mean_of(limit.excess)) for limit in limits))

    @cached_property
    def _whole(self) -> list[SweptSetting]:
        return [each for each in self.settings if each.runs and not each.failed]

    @cached_property
    def _with_all_jobs(self) -> list[SweptSetting]:
        """Those under which as many jobs ran as under any other that has the same ones."""
        most: dict[str, float] = {}
        for each in self._whole:
            most[self._jobs_of(each)] = max(most.get(self._jobs_of(each), 0.0), each.ran)
        return [each for each in self._whole if each.ran >= most[self._jobs_of(each)]]

    @cached_property
    def _with_most_jobs(self) -> list[SweptSetting]:
        most = max((each.ran for each in self._with_all_jobs), default=0.0)
        return [each for each in self._with_all_jobs if each.ran >= most]

    @cached_property
    def _with_same_draws(self) -> list[SweptSetting]:
        """Of settings that have different seeds, as where the seed is zipped with an axis, those
        with the seeds that most have: a small draw is no way to be best either."""
        groups: dict[frozenset[str], list[SweptSetting]] = {}
        for each in self._with_most_jobs:
            groups.setdefault(frozenset(map(str, each.seeds)), []).append(each)
        return max(groups.values(), key=len, default=[])

    @property
    def _workload(self) -> list[str]:
        """The axes that say which jobs there are."""
        return [name for name in self.axes if name.startswith(WORKLOAD) and name != LEFT_OUT]

    def _jobs_of(self, setting: SweptSetting) -> str:
        return json.dumps([setting.values[name] for name in self._workload], default=str)

    def pareto(self, objectives: Sequence[str] = ()) -> tuple[SweptSetting, ...]:
        """Settings that no other beats in all of these figures, of which less is better; without
        any, in those that the sweep was about. Of settings that are equal in all of them, the
        first; `front` has the others too."""
        return tuple(alike[0] for alike in self.front(objectives))

    def front(self, objectives: Sequence[str] = ()) -> tuple[tuple[SweptSetting, ...], ...]:
        """The settings of `pareto`, each with those that are equal to it in all of these
        figures."""
        wanted = [Expression.parse(each) for each in objectives or self.objectives]
        whole = self.comparable
        values = np.array([[each.mean_of(goal) for goal in wanted] for each in whole])
        places: dict[tuple[float, ...], list[SweptSetting]] = {}
        for number, each in enumerate(whole):
            if np.isfinite(values[number]).all() and not _is_beaten(values, number):
                places.setdefault(tuple(values[number].tolist()), []).append(each)
        return tuple(tuple(alike) for alike in places.values())

    def best(self, objective: str = OBJECTIVES[0], count: int = 5) -> tuple[SweptSetting, ...]:
        """The settings with the smallest value of a figure, or of an expression of figures."""
        goal = Expression.parse(objective)
        valued = [(each.mean_of(goal), each) for each in self.comparable]
        return tuple(each for value, each in sorted(valued, key=lambda pair: pair[0])
                     if math.isfinite(value))[:count]

    def effects(self, objective: str = OBJECTIVES[0]) -> dict[str, dict[str, float]]:
        """By axis and value the mean of a figure over the settings that have this value, of which
        no run failed and under which all jobs ran; of the axes that `uneven` names, other axes have
        a part in it."""
        goal = Expression.parse(objective)
        found: dict[str, dict[str, float]] = {}
        for axis in self.axes:
            sums: dict[str, list[float]] = {}
            for each in self._with_all_jobs:
                value = each.mean_of(goal)
                if math.isfinite(value):
                    sums.setdefault(shown(each.values[axis]), []).append(value)
            found[axis] = {value: float(np.mean(values)) for value, values in sums.items()}
        return found

    def paired_effects(self, objective: str = OBJECTIVES[0]) -> dict[str, dict[str, Difference]]:
        """By axis and value how much more a figure is there than at the axis's first value: of
        pairs that differ in nothing else, so with the same seed, and of the settings that `effects`
        has."""
        goal = Expression.parse(objective)
        rows = self._rows_with_all_jobs
        return {axis: against_first(rows, axis, goal) for axis in self.axes}

    @cached_property
    def _rows_with_all_jobs(self) -> list[Mapping[str, Any]]:
        whole = {json.dumps(dict(each.values), default=str) for each in self._with_all_jobs}
        return [row for row in self.rows if "error" not in row and json.dumps(
            {name: row["setting"].get(name) for name in self.axes}, default=str) in whole]

    @cached_property
    def uneven(self) -> tuple[str, ...]:
        """Axes whose values did not meet the same settings of the other axes and the same seeds:
        points failed, jobs were refused, axes are zipped, or a search chose the points."""
        found = []
        for axis in self.axes:
            met: dict[str, set[str]] = {}
            for each in self._with_all_jobs:
                others = [shown(value) for name, value in each.values.items() if name != axis]
                others.append(shown(sorted(map(shown, each.seeds))))
                met.setdefault(shown(each.values[axis]), set()).add(json.dumps(others))
            if len({frozenset(others) for others in met.values()}) > 1:
                found.append(axis)
        return tuple(found)

    def differences(
        self, axis: str, first: Any, second: Any, objective: str = OBJECTIVES[0]
    ) -> tuple[float, float]:
        """Mean of `objective` at the second value of an axis less that at the first, and half its
        95 % interval: of pairs that differ in nothing else, so with the same seed. Settings of
        which a run failed, or under which fewer jobs ran than under others that have the same
        ones, are left out."""
        if axis not in self.axes:
            raise InputError(f"'{axis}' is no axis; there are: {', '.join(self.axes)}")
        goal = Expression.parse(objective)
        sides: list[dict[str, float]] = [{}, {}]
        for row in self._rows_with_all_jobs:
            others = {name: value for name, value in row["setting"].items() if name != axis}
            for side, value in zip(sides, (first, second), strict=True):
                if shown(row["setting"][axis]) == shown(value):
                    side[json.dumps(others, default=str)] = goal.value(row["figures"])
        pairs = [sides[1][key] - sides[0][key] for key in sides[0] if key in sides[1]]
        if not pairs:
            raise InputError(f"no two points differ in {axis} alone, with {first} and {second}, of "
                             "those under which all jobs ran")
        return mean_interval(pairs)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What must be known of the settings: those that are not comparable, and the remarks of
        runs, each kind once."""
        whole, alike, good = len(self._whole), len(self._with_all_jobs), len(self.comparable)
        most, drawn = len(self._with_most_jobs), len(self._with_same_draws)
        said = []
        partly = sum(1 for each in self.settings if each.runs and each.failed)
        if partly:
            said.append(f"of {counted(partly, 'setting')} some seeds failed; they are not among "
                        "the best, on the front or in the effects")
        if alike < whole:
            said.append(f"under {whole - alike:,} of {whole:,} settings fewer jobs ran than under "
                        "others; they are not among the best, on the front, in the effects or in "
                        "differences")
        if most < alike:
            said.append(f"{alike - most:,} of {alike:,} settings are of workloads with fewer jobs "
                        f"than others ({', '.join(self._workload)}); they are not among the best "
                        "or on the front")
        if drawn < most:
            said.append(f"{most - drawn:,} of {most:,} settings have other seeds than the "
                        f"{drawn:,} that are compared: what differs would be the work of the "
                        "draws; they are not among the best or on the front")
        if good < drawn:
            said.append(f"{drawn - good:,} of {drawn:,} settings break a constraint "
                        f"({', '.join(self.subject_to)})"
                        + ("; there is no best one" if not good else ""))
        for text in self.objectives:
            goal = Expression.parse(text)
            lost = sum(1 for each in self.comparable if not math.isfinite(each.mean_of(goal)))
            if lost:
                said.append(f"under {lost:,} of {good:,} settings {text} is no number in some run; "
                            "they are not among the best, on the front or in the effects"
                            + ("; there is no best one" if lost == good else ""))
        return (*said, *once(self.remarks))

    def to_arrow(self) -> pa.Table:
        """A row per point: the axes, the figures, and the error."""
        return table_of(self.fields, self.rows)

    def to_pandas(self) -> pd.DataFrame:
        """The same for pandas."""
        return self.to_arrow().to_pandas()

    def to_dict(self) -> dict[str, Any]:
        """What `wattline sweep --json` prints."""
        return {
            "name": self.name, "points": self.counts.points, "computed": self.counts.computed,
            "cached": self.counts.cached, "no_scenario": self.counts.no_scenario,
            "failed": self.counts.failed, "seconds": self.seconds,
            "seconds_in_all": self.seconds_in_all,
            "table": None if self.folder is None else str(self.folder / "results.parquet"),
            "report": None if self.page is None else str(self.page),
            "objectives": list(self.objectives),
            "pareto": [self._told(alike) for alike in self.front()],
            "effects": {text: self._effects_told(text) for text in self.objectives},
            "errors": [{"setting": told(row["setting"]), "error": row["error"]}
                       for row in self.rows if "error" in row][:100],
            "remarks": list(self.sentences),
        }

    def _effects_told(self, objective: str) -> dict[str, Any]:
        against = self.paired_effects(objective)
        return {axis: {value: {"mean": mean} | (
            against[axis][value]._asdict() | {"mean": mean, "difference": against[axis][value].mean}
            if value in against[axis] else {}) for value, mean in means.items()}
            for axis, means in self.effects(objective).items()}

    def _told(self, alike: Sequence[SweptSetting]) -> dict[str, Any]:
        each = alike[0]
        return {"setting": told(each.values), "runs": each.runs,
                "alike": [told(other.values) for other in alike[1:]],
                **{text: {"mean": each.mean_of(Expression.parse(text)),
                          "half": each.half_of(text)} for text in self.objectives}}


def _grouped(axes: Iterable[str], rows: Sequence[Mapping[str, Any]]) -> SweptSetting:
    good = [row["figures"] for row in rows if "error" not in row]
    names = dict.fromkeys(name for figures in good for name in figures)
    spread = {name: _mean_of_all([figures.get(name, math.nan) for figures in good])
              for name in names}
    return SweptSetting(
        values={name: rows[0]["setting"].get(name) for name in axes}, runs=len(good),
        means={name: mean for name, (mean, _) in spread.items()},
        halves={name: half for name, (_, half) in spread.items()},
        failed=len(rows) - len(good), figures=tuple(good),
        seeds=tuple(row["setting"].get(SEED) for row in rows if "error" not in row))


def _mean_of_all(values: Sequence[float]) -> tuple[float, float]:
    """The mean and half its interval: of all runs or none, because a setting is not better for
    runs that have no figure."""
    if not all(map(math.isfinite, values)):
        return math.nan, math.nan
    if len(values) == 1:  # most often, and many times quicker
        return float(values[0]), math.nan
    return mean_interval(values)


def _is_beaten(values: Any, number: int) -> bool:
    mine = values[number]
    return bool(((values <= mine).all(axis=1) & (values < mine).any(axis=1)).any())


def once(remarks: Iterable[str]) -> list[str]:
    """Remarks that differ in their numbers alone, as one of them and how many more there are."""
    kinds: dict[str, list[str]] = {}
    for line in remarks:
        kinds.setdefault(re.sub(r"[0-9][0-9.,]*", "#", line), []).append(line)
    return [lines[0] if len(lines) == 1 else
            f"{lines[0]} (and {len(lines) - 1} more like it, with other numbers)"
            for lines in kinds.values()]


def check_objectives(objectives: Iterable[str], figures: Iterable[str]) -> None:
    """Say which figures there are where one is asked for that there is not."""
    known = set(figures)
    for text in objectives:
        for name in Expression.parse(text).names:
            if figure_of(name, known) is None:
                raise InputError(f"there is no figure '{name}'; there are: "
                                 f"{', '.join(sorted(known))}")
