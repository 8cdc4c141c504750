"""The report of a sweep: one page that needs nothing else."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from wattline.analysis.expressions import Constraint, figure_of
from wattline.analysis.pages import render
from wattline.analysis.report_pictures import in_widths
from wattline.analysis.report_tables import Cell, Table
from wattline.analysis.summary import time_text
from wattline.model.errors import InputError
from wattline.model.files import write_whole
from wattline.model.units import counted
from wattline.sweeps.paired import Difference
from wattline.sweeps.results import OBJECTIVES, SweepResult, SweptSetting
from wattline.sweeps.table import shown
from wattline.sweeps.wording import figure_text, heading, in_sentence, spread_text

FIGURES = ("energy_j", "wait_s.mean", "wait_s.p95", "bounded_slowdown.mean", "utilisation",
           "makespan_s", "power_w.peak", "time_above_cap_s", "jobs.completed", "jobs.not_run")
"""What stands in the tables, beside what was asked for; results.parquet has all."""
PAIRED = ("Differences to the first value are of points that differ in nothing else, the seed "
          "included.")
MOST_ROWS = 500
LARGEST = sys.float_info.max


@dataclass(frozen=True)
class Chapter:
    title: str
    sentence: str
    tables: Sequence[Table]
    widths: Sequence[tuple[str, str]] = ()
    """Its picture, for wide and for narrow screens."""


def write_report(found: SweepResult, path: Path, objectives: Sequence[str] = OBJECTIVES) -> Path:
    """Write the page; its path."""
    page = render("sweeps/sweep.html.j2", {"clock": [0, 1], "charts": []}, title=found.name,
                  sentences=_sentences(found), chapters=_chapters(found, objectives))
    try:
        write_whole(path, page)
    except OSError as error:
        raise InputError(f"cannot write the report to {path}: {error.strerror}") from error
    return path


def _sentences(found: SweepResult) -> list[str]:
    counts = found.counts
    said = [f"{counted(counts.points, 'point')} along {', '.join(found.fields)}: "
            f"{counts}, in {time_text(found.seconds)}."]
    sets = {frozenset(map(str, each.seeds)) for each in found.settings}
    seeds = {each.runs + each.failed for each in found.settings}
    if max(seeds, default=1) > 1:
        said.append("Points that differ by their seed alone are one setting: figures are means "
                    "over its seeds, ± half a 95 % interval. " + (
                        "All settings have the same seeds." if len(sets) == 1 else
                        "Not all settings have the same seeds: some of what differs between them "
                        "may be the work of the draws."))
    return said + list(found.sentences)


def _chapters(found: SweepResult, objectives: Sequence[str]) -> list[Chapter]:
    from wattline.sweeps.plots import draw_effects, draw_front

    front = found.front(objectives)
    chapters = []
    if front:
        goals = " and ".join(map(in_sentence, objectives))
        chapters.append(Chapter(
            "The Pareto front", f"Settings that no other beats in {goals}, of which less is "
            f"better.{_alike_sentence(front)}",
            [_settings_table("", found, [alike[0] for alike in front[:MOST_ROWS]])],
            in_widths(lambda narrow: draw_front(found, objectives, narrow), "front")
            if len(objectives) > 1 else ()))
        chapters.append(Chapter(
            "The best settings", "By each objective the five with the smallest values.",
            [_settings_table(f"By {in_sentence(goal)}", found, found.best(goal))
             for goal in objectives]))
        chapters += [Chapter(
            f"What moves {in_sentence(goal)}", _effects_sentence(found),
            [_effects_table(found, goal)],
            in_widths(partial(draw_effects, found, goal), f"effects-{number}"))
            for number, goal in enumerate(objectives)]
    chapters.append(Chapter(
        "All settings", "One row per setting" + (
            f"; the first {MOST_ROWS:,} of {len(found.settings):,}."
            if len(found.settings) > MOST_ROWS else "."),
        [_settings_table("", found, found.settings[:MOST_ROWS])]))
    failed = [row for row in found.rows if "error" in row]
    if failed:
        chapters.append(Chapter(
            "Points that failed", "Each with its setting and why.", [Table(
                "", ("Setting", "Why"), tuple(
                    (Cell(setting_text(row["setting"])), Cell(row["error"]))
                    for row in failed[:MOST_ROWS]))]))
    return chapters


def _alike_sentence(front: Sequence[Sequence[SweptSetting]]) -> str:
    more = sum(len(alike) - 1 for alike in front)
    return "" if not more else (
        f" {counted(more, 'further setting')} {'is' if more == 1 else 'are'} equal to one of these "
        f"in all of that, and {'stands' if more == 1 else 'stand'} among all settings only.")


def _settings_table(title: str, found: SweepResult, settings: Iterable[SweptSetting]) -> Table:
    settings = list(settings)
    usual = [name for name in FIGURES
             if any(math.isfinite(each.means.get(name, math.nan)) for each in settings)]
    names = list(dict.fromkeys([*_asked_for(found), *usual]))
    rows = tuple((
        *(Cell(shown(each.values[axis]), _sorted_by(each.values[axis])) for axis in found.axes),
        Cell(str(each.runs), each.runs),
        *(_figure(name, each) for name in names)) for each in settings)
    return Table(title, (*found.axes, "Runs", *map(heading, names)), rows)


def _asked_for(found: SweepResult) -> list[str]:
    """The objectives, and the figures that constraints are about."""
    known = {name for each in found.settings for name in each.means}
    limits = [name for text in found.subject_to
              for name in sorted(Constraint.parse(text).excess.names)]
    return [figure_of(text, known) or text for text in (*found.objectives, *limits)]


def _figure(name: str, each: SweptSetting) -> Cell:
    mean, half = each.spread_of(name)
    return Cell(spread_text(name, mean, half), mean)


def _effects_sentence(found: SweepResult) -> str:
    said = "The mean over all settings that have a value"
    if not found.uneven:
        return f"{said}: how much an axis does by itself, whatever the others are. {PAIRED}"
    return (f"{said}. The values of {', '.join(found.uneven)} did not meet the same settings of "
            "the other axes (points failed, jobs were refused, axes are zipped, or a search "
            f"chose them): what differs there may be the work of those. {PAIRED}")


def _effects_table(found: SweepResult, objective: str) -> Table:
    against = found.paired_effects(objective)
    rows = tuple((Cell(axis), Cell(value), Cell(figure_text(objective, mean), mean),
                  _difference_cell(objective, against[axis].get(value)))
                 for axis, means in found.effects(objective).items()
                 for value, mean in means.items())
    return Table("", ("Axis", "Value", f"{heading(objective)}, on average",
                      "Against the first value"), rows)


def _difference_cell(objective: str, found: Difference | None) -> Cell:
    """Of pairs with the same seed, ± what the seeds leave open."""
    if found is None or not math.isfinite(found.mean):
        return Cell("-")
    sign = "-" if found.mean < 0 else "+"
    return Cell(sign + spread_text(objective, abs(found.mean), found.half), found.mean)


def setting_text(setting: object) -> str:
    assert isinstance(setting, dict)
    return ", ".join(f"{name} {shown(value)}" for name, value in setting.items())


def _sorted_by(value: object) -> float | None:
    """None: by its words, as a number that is too large for one."""
    if not isinstance(value, (int, float)) or abs(value) > LARGEST:
        return None
    return float(value)
