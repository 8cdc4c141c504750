"""The picture of `sensors compare`: power over time, a line per meter."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from wattline.model.pictures import save_picture

if TYPE_CHECKING:
    from wattline.live.comparing import SensorComparison
    from wattline.physics.metering.stretches import Stretches


def lines_of(found: SensorComparison) -> dict[str, tuple[list[float], list[float]]]:
    """Per meter the corners of its steps; time from the first reading of all."""
    first_s = min(float(each.edge_s[0]) for each in found.series.values())
    return {name: _corners(each, first_s) for name, each in found.series.items()}


def draw_comparison(found: SensorComparison, path: Path) -> Path:
    """Steps of mean power; gaps are left open."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 4.5), layout="constrained")
    axes = figure.add_subplot()
    for name, (times_s, watts) in lines_of(found).items():
        believed = name in found.reference.split(" + ")
        axes.plot(times_s, watts, color="black" if believed else None,
                  linewidth=2.0 if believed else 1.0, label=name)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("seconds")
    axes.set_ylabel("power in W")
    axes.legend(fontsize="small", frameon=False)
    return save_picture(figure, path)


def _corners(power: Stretches, first_s: float) -> tuple[list[float], list[float]]:
    times_s: list[float] = []
    watts: list[float] = []
    for start_s, end_s, power_w in zip(power.edge_s[:-1], power.edge_s[1:], power.power_w,
                                       strict=True):
        times_s += [float(start_s - first_s), float(end_s - first_s)]
        watts += [float(power_w)] * 2
    return times_s, watts
