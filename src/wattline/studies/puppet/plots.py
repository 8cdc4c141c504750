"""Draws the figures of the PuPPET study from its result."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from wattline.studies.puppet.figures import FIGURES, Figure
from wattline.studies.puppet.runs import ORDERS
from wattline.studies.puppet.study import PuppetResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

LABELS = {"utilisation": "utilisation", "wait": "mean wait", "edp": "energy-delay product"}
NAMES = {"none": "no cap", "wait": "WAIT", "dvfs": "DVFS"}
COLOURS = ("#4477aa", "#66ccee", "#228833", "#ccbb44", "#ee6677", "#aa3377")
LOG_FROM = 20.0
"""A ratio above this makes the axis logarithmic."""


def write_pictures(result: PuppetResult, folder: Path) -> list[Path]:
    """One PNG per figure; their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    drawings = [(f"figure{figure.number}.png", bars(result, figure)) for figure in FIGURES]
    drawings += [("figure16.png", curves(result)), ("table2.png", steps(result))]
    for name, canvas in drawings:
        canvas.savefig(folder / name, dpi=110)
        written.append(folder / name)
    return written


def bars(result: PuppetResult, figure: Figure) -> Canvas:
    """Orders in rows, metrics in columns, parts along the axis, a bar for each choice.

    With one metric the orders stand side by side.
    """
    panels = [(order, metric) for order in ORDERS for metric in figure.metrics]
    rows = len(ORDERS) if len(figure.metrics) > 1 else 1
    columns = len(panels) // rows
    canvas = _canvas(4.6 * columns + 0.6, 2.9 * rows + 1.2)
    axes = canvas.subplots(rows, columns, squeeze=False)
    for axis, (order, metric) in zip(axes.flat, panels, strict=True):
        _draw_bars(axis, result, figure, order, metric)
    handles, labels = axes[0][0].get_legend_handles_labels()
    canvas.legend(handles, labels, loc="lower center", ncols=len(labels), frameon=False)
    canvas.suptitle(f"{figure.title}\n(relative to the same jobs without a cap; "
                    f"counterpart of the published figure {figure.number})", fontsize=11)
    canvas.tight_layout(rect=(0, 0.05 if rows > 1 else 0.09, 1, 1))
    return canvas


def bar_heights(result: PuppetResult, figure: Figure, order: str, metric: str) -> list[list[float]]:
    """What is drawn: for each choice the ratio in each part."""
    return [
        [float(getattr(result.ratios[figure.case(choice, part, order)], metric))
         for part in range(len(result.workload.parts))]
        for choice in range(len(figure.choices))
    ]


def curves(result: PuppetResult) -> Canvas:
    """Figure 16: mean power by the time of day."""
    canvas = _canvas(8.0, 4.6)
    axis = canvas.subplots()
    curve = result.curve
    for (method, power_w), colour in zip(curve.power_w.items(), ("#555555", *COLOURS[2:5:2]),
                                         strict=True):
        axis.plot(curve.hour, power_w / 1e6, label=NAMES[method], color=colour)
    axis.axhline(curve.cap_w / 1e6, color="black", linestyle="--", label="cap")
    axis.set(xlabel="hour of the day", ylabel="mean power (MW)", xlim=(0, 24), ylim=(0, None),
             xticks=range(0, 25, 3))
    axis.set_title(f"Mean power over {curve.days} days, WFP with EASY, cap 70 % "
                   "(counterpart of figure 16)", fontsize=11)
    axis.legend(frameon=False, ncols=4, loc="lower center")
    axis.grid(alpha=0.3)
    canvas.tight_layout()
    return canvas


def steps(result: PuppetResult) -> Canvas:
    """Table 2 as a picture: the error of a stepped simulation."""
    canvas = _canvas(7.0, 4.2)
    axis = canvas.subplots()
    minutes = [row.step_min for row in result.steps]
    lines: tuple[tuple[str, list[float], str], ...] = (
        ("stepped simulation against the exact one", [row.error for row in result.steps],
         COLOURS[0]),
        ("exact run, power read once a step", [row.sampled for row in result.steps], COLOURS[2]),
        ("published, against measured power", [row.published_error for row in result.steps],
         COLOURS[4]),
    )
    for label, values, colour in lines:
        axis.plot(minutes, [100 * value for value in values], "o-", label=label, color=colour)
    axis.set(xlabel="simulation step (minutes)", ylabel="largest error of a day's energy (%)",
             xscale="log", xticks=minutes, xticklabels=[str(m) for m in minutes], ylim=(0, None))
    axis.minorticks_off()
    axis.legend(frameon=False)
    axis.grid(alpha=0.3)
    canvas.tight_layout()
    return canvas


def _draw_bars(axis: Axes, result: PuppetResult, figure: Figure, order: str, metric: str) -> None:
    heights = bar_heights(result, figure, order, metric)
    width = 0.8 / len(heights)
    for choice, row in enumerate(heights):
        places = [part - 0.4 + width * (choice + 0.5) for part in range(len(row))]
        axis.bar(places, row, width, label=figure.choices[choice][0],
                 color=COLOURS[choice % len(COLOURS)])
    axis.axhline(1.0, color="black", linewidth=0.8)
    if max(max(row) for row in heights) > LOG_FROM:
        axis.set_yscale("log")
    axis.set_xticks(range(len(result.workload.names)), result.workload.names)
    axis.set_title(f"{order.upper()}: {LABELS[metric]}", fontsize=10)
    axis.grid(axis="y", alpha=0.3)


def _canvas(width: float, height: float) -> Canvas:
    from matplotlib.figure import Figure as Made

    return Made(figsize=(width, height))
