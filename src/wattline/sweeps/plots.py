"""Pictures of a sweep: the Pareto front, and what each axis does."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from wattline.analysis.drawing import (
    COLOURS,
    INK,
    NARROW,
    SOFT,
    WIDTH,
    dress,
    legend_above,
    sheet,
)
from wattline.analysis.expressions import Expression
from wattline.analysis.summary import Scale
from wattline.sweeps.results import SweepResult, SweptSetting
from wattline.sweeps.table import shown
from wattline.sweeps.wording import heading, scale_of, with_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.transforms import Bbox

    from wattline.model.signal import FloatArray

MOST_LABELS = 12
MOST_DRAWN = 1000
"""Points beyond these are pixels in the page, which would grow with each of them."""
MOST_VALUES = 8
"""Of an axis, named below its pane."""
POINT_PX = 3
CORNERS = ((5, 5, "left", "bottom"), (-5, 5, "right", "bottom"), (5, -5, "left", "top"),
           (-5, -5, "right", "top"))
"""Where a label may stand beside its point, the best first: how far off, and how aligned."""


def draw_front(
    found: SweepResult, objectives: Sequence[str], narrow: bool = False
) -> Figure:
    """All settings by two figures; those on the front joined by a line and named."""
    goals = [Expression.parse(each) for each in objectives[:2]]
    front = found.front(objectives)
    on_front = {id(each) for alike in front for each in alike}
    others = [each for each in found.settings if each.runs and id(each) not in on_front]
    figure, (axes,) = sheet(height=4.6, width=NARROW if narrow else WIDTH)
    units = [_unit(goal, [*others, *(alike[0] for alike in front)]) for goal in goals]

    def place(each: SweptSetting) -> tuple[float, float]:
        x, y = (each.mean_of(goal) / unit.size
                for goal, unit in zip(goals, units, strict=True))
        return x, y

    beside = [place(each) for each in others]
    axes.plot([x for x, _ in beside], [y for _, y in beside], "o",
              color=SOFT, markersize=4, label="other settings",
              rasterized=len(others) > MOST_DRAWN)
    line = sorted((*place(alike[0]), _label(alike)) for alike in front)
    axes.plot([point[0] for point in line], [point[1] for point in line], "o-", color=COLOURS[0],
              label="no setting beats these")
    for axis, goal, unit in zip((axes.xaxis, axes.yaxis), goals, units, strict=True):
        axis.set_label_text(with_unit(heading(goal.text), unit), color=INK)
    axes.margins(x=0.08, y=0.1)
    legend_above(axes)
    _name(axes, line, beside)
    return figure


def _unit(goal: Expression, settings: Sequence[SweptSetting]) -> Scale:
    """One for a whole axis, so that its ticks are round numbers."""
    values = [each.mean_of(goal) for each in settings]
    return scale_of(goal.text, max((value for value in values if math.isfinite(value)),
                                   default=0.0))


def _label(alike: Sequence[SweptSetting]) -> str:
    said = ", ".join(shown(value) for value in alike[0].values.values())
    return said if len(alike) == 1 else f"{said} (+{len(alike) - 1} equal)"


def _name(axes: Axes, line: Sequence[tuple[float, float, str]],
          beside: Sequence[tuple[float, float]]) -> None:
    """Write names beside points, where they lie over no other name and no point of the line, and
    over none of the other points if there is such a place: the longest first, as they have the
    fewest places."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.transforms import Bbox

    figure = axes.get_figure(root=True)
    assert figure is not None
    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw_without_rendering()  # only then it is known where everything lies
    centres = axes.transData.transform([point[:2] for point in line])
    taken = [Bbox.from_bounds(x, y, 0, 0).padded(POINT_PX) for x, y in centres]
    points = axes.transData.transform(np.array(beside).reshape(-1, 2))
    named = line[:: -(-len(line) // MOST_LABELS)]
    for x, y, text in sorted(named, key=lambda each: -len(each[2])):
        for spared, (right, up, across, upright) in product((points, points[:0]), CORNERS):
            label = axes.annotate(text, (x, y), xytext=(right, up), textcoords="offset points",
                                  ha=across, va=upright, fontsize=8, color=INK)
            box = label.get_window_extent(renderer)
            if figure.bbox.containsx(box.x0) and figure.bbox.containsx(box.x1) and not any(
                    box.overlaps(other) for other in taken) and not _holds(box, spared):
                taken.append(box)
                break
            label.remove()


def _holds(box: Bbox, points: FloatArray) -> bool:
    low, high = np.asarray(box.min) - POINT_PX, np.asarray(box.max) + POINT_PX
    inside = (points > low) & (points < high)
    return bool(inside.all(axis=1).any())


def draw_effects(found: SweepResult, objective: str, narrow: bool = False) -> Figure:
    """For each axis the mean at each of its values: beside one another, or one under the other
    where the picture is narrow."""
    from matplotlib.figure import Figure

    effects = found.effects(objective)
    unit = _unit(Expression.parse(objective), [each for each in found.settings if each.runs])
    count = max(1, len(effects))
    size, rows, columns = ((NARROW, 2.6 * count), count, 1) if narrow else ((WIDTH, 3.3), 1, count)
    drawn = Figure(figsize=size, layout="constrained")
    panes = drawn.subplots(rows, columns, sharey=True, squeeze=False).ravel()
    for pane, (axis, means) in zip(panes, effects.items(), strict=False):
        _draw_effect(pane, axis, {value: mean / unit.size for value, mean in means.items()})
        pane.tick_params(axis="x", labelsize="medium" if narrow else "small")
    for pane in panes if narrow else panes[:1]:
        pane.set_ylabel(with_unit(heading(objective), unit), color=INK)
    return drawn


def _draw_effect(pane: Axes, axis: str, means: Mapping[str, float]) -> None:
    pane.plot(range(len(means)), list(means.values()), "o-", color=COLOURS[0])
    step = -(-len(means) // MOST_VALUES)
    pane.set_xticks(range(0, len(means), step), list(means)[::step], rotation=30, ha="right")
    pane.set_xlabel(axis, color=INK)
    dress(pane)
