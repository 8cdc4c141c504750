"""Pictures of a sweep: the Pareto front, and what each axis does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from wattline.analysis.drawing import COLOURS, INK, SOFT, sheet
from wattline.analysis.expressions import Expression
from wattline.sweeps.results import SweepResult, SweptSetting, shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_LABELS = 12


def draw_front(
    found: SweepResult, objectives: Sequence[str], front: Sequence[SweptSetting]
) -> Figure:
    """All settings by two figures; those on the front joined by a line and named."""
    from wattline.sweeps.report import figure_text

    across, up = (Expression.parse(each) for each in objectives[:2])
    figure, (axes,) = sheet(height=4.6)
    others = [each for each in found.settings if each.runs and each not in front]
    axes.plot([across.value(each.means) for each in others],
              [up.value(each.means) for each in others], "o", color=SOFT, markersize=4,
              label="other settings")
    line = sorted(((across.value(each.means), up.value(each.means), each) for each in front),
                  key=lambda point: point[:2])
    axes.plot([point[0] for point in line], [point[1] for point in line], "o-", color=COLOURS[0],
              label="no setting beats these")
    for x, y, each in line[:: -(-len(line) // MOST_LABELS)]:
        axes.annotate(", ".join(shown(value) for value in each.values.values()), (x, y),
                      xytext=(5, 5), textcoords="offset points", fontsize=8, color=INK)
    axes.xaxis.set_major_formatter(lambda value, _: figure_text(objectives[0], value))
    axes.yaxis.set_major_formatter(lambda value, _: figure_text(objectives[1], value))
    axes.set_xlabel(objectives[0], color=INK)
    axes.set_ylabel(objectives[1], color=INK)
    axes.margins(x=0.08, y=0.1)
    axes.legend(frameon=False)
    return figure


def draw_effects(found: SweepResult, objective: str) -> Figure:
    """Beside one another, for each axis the mean at each of its values."""
    from matplotlib.figure import Figure

    from wattline.sweeps.report import figure_text

    effects = found.effects(objective)
    drawn = Figure(figsize=(10.0, 3.3), layout="constrained")
    panes = drawn.subplots(1, max(1, len(effects)), sharey=True, squeeze=False)[0]
    for pane, (axis, means) in zip(panes, effects.items(), strict=False):
        pane.plot(range(len(means)), list(means.values()), "o-", color=COLOURS[0])
        step = -(-len(means) // 8)
        pane.set_xticks(range(0, len(means), step), list(means)[::step], rotation=30, ha="right",
                        fontsize=8)
        pane.set_xlabel(axis, color=INK)
        pane.grid(True, color="#dddddd", linewidth=0.7)
        pane.set_axisbelow(True)
        for side in ("top", "right"):
            pane.spines[side].set_visible(False)
    panes[0].yaxis.set_major_formatter(lambda value, _: figure_text(objective, value))
    panes[0].set_ylabel(objective, color=INK)
    return drawn
