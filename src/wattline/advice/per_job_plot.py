"""The picture of two runs job by job: how much later, and who."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from wattline.advice.per_job import EQUAL_S
from wattline.analysis.drawing import (
    CAP_COLOUR,
    COLOURS,
    INK,
    MINUS,
    NARROW,
    SOFT,
    WIDTH,
    dress,
)
from wattline.model.pictures import save_picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from wattline.advice.per_job import Group, PerJob
    from wattline.model.signal import FloatArray

HURT, GAINED, KILLED = CAP_COLOUR, COLOURS[2], SOFT
MARKS = ((60.0, "1 min"), (600.0, "10 min"), (3600.0, "1 h"), (36000.0, "10 h"), (864000.0, "10 d"))
_POINTS = 2000
MOST_NAMES = 8
"""Of groups, on the axis of a narrow picture."""


def draw_per_job(found: PerJob, path: Path) -> Path:
    return save_picture(per_job_figure(found), path)


def per_job_figure(found: PerJob, narrow: bool = False) -> Figure:
    """All jobs by their change on top; the shares of hurt and gained by size and hour below,
    one under the other where the picture is narrow."""
    from matplotlib.figure import Figure

    size, places = ((WIDTH, 6.4), [["all", "all"], ["size", "hour"]]) if not narrow else (
        (NARROW, 8.0), [["all"], ["size"], ["hour"]])
    figure = Figure(figsize=size, layout="constrained")
    top, *rest = figure.subplot_mosaic(places).values()
    for axes in (top, *rest):
        dress(axes)
    _draw_changes(top, found)
    labels = (f"{found.unit} of the job", "hour of submission")
    for axes, by, label in zip(rest, ("size", "hour"), labels, strict=True):
        groups = found.groups[by]
        _draw_shares(axes, groups, label, MOST_NAMES if narrow else len(groups))
    return figure


def changes(later_s: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The jobs in order of their change, as shares, thinned to what a picture can show."""
    ordered = np.sort(later_s)
    rows = np.unique(np.linspace(0, len(ordered) - 1, min(_POINTS, len(ordered))).astype(int))
    return (rows + 0.5) / max(len(ordered), 1), ordered[rows]


def _draw_changes(axes: Axes, found: PerJob) -> None:
    total = found.total
    if len(found.later_s):
        share, later_s = changes(found.later_s)
        axes.plot(share, later_s, color=INK, linewidth=1.2)
        axes.fill_between(share, later_s, 0, where=later_s > EQUAL_S, color=HURT, alpha=0.35,
                          label=f"hurt: {total.hurt:,}")
        axes.fill_between(share, later_s, 0, where=later_s < -EQUAL_S, color=GAINED, alpha=0.35,
                          label=f"gained: {total.gained:,}")
    for count, run in ((total.killed, found.second), (total.spared, found.first)):
        if count:  # they have no place on the line: their ends cannot be compared
            axes.plot([], [], "s", color=KILLED, label=f"killed in {run} only: {count:,}")
    if len(found.later_s) or total.killed or total.spared:
        axes.legend(frameon=False, loc="upper left")
    axes.set_yscale("symlog", linthresh=60.0)
    low_s, high_s = axes.get_ylim()
    marks_s = [sign * mark_s for mark_s, _ in MARKS for sign in (-1, 1)
               if low_s <= sign * mark_s <= high_s]
    axes.set_yticks([0, *marks_s], ["0", *map(_later_text, marks_s)], minor=False)
    axes.minorticks_off()
    axes.xaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    axes.set_xlim(0, 1)
    axes.set_xlabel("jobs, by how much their end changed", color=INK)
    axes.set_ylabel("done later by", color=INK)
    axes.set_title(f"{found.second} beside {found.first}", loc="left", color=INK, wrap=True)


def _later_text(mark_s: float) -> str:
    return f"{MINUS if mark_s < 0 else '+'}{dict(MARKS)[abs(mark_s)]}"


def _draw_shares(axes: Axes, groups: tuple[Group, ...], label: str, most_names: int) -> None:
    place = np.arange(len(groups))
    hurt = [(group.hurt + group.lost) / group.jobs for group in groups]
    gained = [-(group.gained + group.won) / group.jobs for group in groups]
    axes.bar(place, hurt, color=HURT, alpha=0.7)
    axes.bar(place, gained, color=GAINED, alpha=0.7)
    axes.bar(place, [group.killed / group.jobs for group in groups], bottom=hurt, color=KILLED)
    axes.bar(place, [-group.spared / group.jobs for group in groups], bottom=gained, color=KILLED)
    axes.axhline(0, color=SOFT, linewidth=0.8)
    axes.set_ylim(-1, 1)
    axes.yaxis.set_major_formatter(lambda share, _: f"{abs(share):.0%}")
    named = place[:: -(-len(groups) // max(most_names, 1)) or 1]
    axes.set_xticks(named, [groups[number].name for number in named],
                    rotation=90 if len(named) > 8 else 0)
    axes.set_xlabel(label, color=INK)
    axes.set_ylabel("gained | hurt", color=INK)
