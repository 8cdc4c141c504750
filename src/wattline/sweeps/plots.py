"""Pictures of a sweep: the Pareto front, and what each axis does."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from wattline.analysis.drawing import COLOURS, INK, SOFT, legend_above, sheet
from wattline.analysis.expressions import Expression
from wattline.analysis.summary import Scale
from wattline.sweeps.results import SweepResult, SweptSetting
from wattline.sweeps.table import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_LABELS = 12
CORNERS = ((5, 5, "left", "bottom"), (-5, 5, "right", "bottom"), (5, -5, "left", "top"),
           (-5, -5, "right", "top"))
"""Where a label may stand beside its point, the best first: how far off, and how aligned."""


def draw_front(found: SweepResult, objectives: Sequence[str]) -> Figure:
    """All settings by two figures; those on the front joined by a line and named."""
    goals = [Expression.parse(each) for each in objectives[:2]]
    front = found.front(objectives)
    on_front = {id(each) for alike in front for each in alike}
    others = [each for each in found.settings if each.runs and id(each) not in on_front]
    figure, (axes,) = sheet(height=4.6)
    units = [_unit(goal, [*others, *(alike[0] for alike in front)]) for goal in goals]

    def place(each: SweptSetting) -> tuple[float, float]:
        x, y = (each.mean_of(goal) / unit.size
                for goal, unit in zip(goals, units, strict=True))
        return x, y

    axes.plot([place(each)[0] for each in others], [place(each)[1] for each in others], "o",
              color=SOFT, markersize=4, label="other settings")
    line = sorted((*place(alike[0]), _label(alike)) for alike in front)
    axes.plot([point[0] for point in line], [point[1] for point in line], "o-", color=COLOURS[0],
              label="no setting beats these")
    for axis, goal, unit in zip((axes.xaxis, axes.yaxis), goals, units, strict=True):
        axis.set_label_text(f"{goal.text} ({unit.sign})" if unit.sign else goal.text, color=INK)
    axes.margins(x=0.08, y=0.1)
    legend_above(axes)
    _name(axes, line)
    return figure


def _unit(goal: Expression, settings: Sequence[SweptSetting]) -> Scale:
    """One for a whole axis, so that its ticks are round numbers."""
    from wattline.sweeps.report import scale_of

    values = [each.mean_of(goal) for each in settings]
    return scale_of(goal.text, max((value for value in values if math.isfinite(value)),
                                   default=0.0))


def _label(alike: Sequence[SweptSetting]) -> str:
    said = ", ".join(shown(value) for value in alike[0].values.values())
    return said if len(alike) == 1 else f"{said} (+{len(alike) - 1} equal)"


def _name(axes: Axes, line: Sequence[tuple[float, float, str]]) -> None:
    """Write names beside points, where they lie over no other name and no point of the line."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.transforms import Bbox

    figure = axes.get_figure(root=True)
    assert figure is not None
    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw_without_rendering()  # only then it is known where everything lies
    centres = axes.transData.transform([point[:2] for point in line])
    taken = [Bbox.from_extents(x - 3, y - 3, x + 3, y + 3) for x, y in centres]
    for x, y, text in line[:: -(-len(line) // MOST_LABELS)]:
        for right, up, across, upright in CORNERS:
            label = axes.annotate(text, (x, y), xytext=(right, up), textcoords="offset points",
                                  ha=across, va=upright, fontsize=8, color=INK)
            box = label.get_window_extent(renderer)
            if figure.bbox.containsx(box.x0) and figure.bbox.containsx(box.x1) and not any(
                    box.overlaps(other) for other in taken):
                taken.append(box)
                break
            label.remove()


def draw_effects(found: SweepResult, objective: str) -> Figure:
    """Beside one another, for each axis the mean at each of its values."""
    from matplotlib.figure import Figure

    effects = found.effects(objective)
    unit = _unit(Expression.parse(objective), [each for each in found.settings if each.runs])
    drawn = Figure(figsize=(10.0, 3.3), layout="constrained")
    panes = drawn.subplots(1, max(1, len(effects)), sharey=True, squeeze=False)[0]
    for pane, (axis, means) in zip(panes, effects.items(), strict=False):
        pane.plot(range(len(means)), [mean / unit.size for mean in means.values()], "o-",
                  color=COLOURS[0])
        step = -(-len(means) // 8)
        pane.set_xticks(range(0, len(means), step), list(means)[::step], rotation=30, ha="right",
                        fontsize=8)
        pane.set_xlabel(axis, color=INK)
        pane.grid(True, color="#dddddd", linewidth=0.7)
        pane.set_axisbelow(True)
        for side in ("top", "right"):
            pane.spines[side].set_visible(False)
    panes[0].set_ylabel(f"{objective} ({unit.sign})" if unit.sign else objective, color=INK)
    return drawn
