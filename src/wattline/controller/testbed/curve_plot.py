"""The picture of a run on a bed: what the machine drew, below the cap of each time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from wattline.model.pictures import save_picture

Points = Sequence[tuple[float, float]]
"""From when on, and how many watts: of the machine, or of its cap."""


def corners(points: Points, first_s: float, last_s: float) -> tuple[list[float], list[float]]:
    """A line in steps: each power holds until the next, and the last one to the end."""
    times_s: list[float] = []
    watts: list[float] = []
    ends = [*(start_s for start_s, _ in points[1:]), last_s]
    for (start_s, power_w), end_s in zip(points, ends, strict=True):
        times_s += [max(start_s, first_s), max(end_s, first_s)]
        watts += [power_w] * 2
    return times_s, watts


def draw_curve(power: Points, caps: Points, path: Path) -> Path:
    """Draw both over the time in which power was seen; nothing else where there was none."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 3.6), layout="constrained")
    axes = figure.add_subplot()
    if power:
        span = power[0][0], power[-1][0]
        axes.plot(*corners(caps, *span), color="black", linestyle="--", linewidth=1.0, label="cap")
        axes.plot(*corners(power, *span), linewidth=1.0, label="drawn, by the meters")
        axes.legend(fontsize="small", frameon=False, loc="lower left")
    axes.set_ylim(bottom=0)
    axes.set_xlabel("seconds")
    axes.set_ylabel("power in W")
    return save_picture(figure, path)
