"""The picture of `account job`: power over time, a line per life."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from wattline.analysis.drawing import COLOURS, INK, legend_above, sheet
from wattline.model.pictures import save_picture

if TYPE_CHECKING:
    from wattline.advice.measured_job import MeasuredJob


def draw_measured_job(job: MeasuredJob, path: Path) -> Path:
    """Steps of power, from the beginning of the first life on."""
    figure, (axes,) = sheet(height=4.0)
    first_s = min(float(life["start_s"]) for life in job.lives)
    for number, life in enumerate(job.lives):
        times, watts = outline(life["power"], first_s)
        if times:
            axes.plot(times, watts, color=COLOURS[number % len(COLOURS)],
                      label=f"{life['job']} ({life['source']})")
    highest_w = max((watts for life in job.lives for *_, watts in life["power"]), default=0.0)
    axes.set_ylim(0, 1.1 * highest_w or 1.0)  # room above a line that is even
    axes.set_xlabel("hours since its start", color=INK)
    axes.set_ylabel("power in W", color=INK)
    legend_above(axes)
    return save_picture(figure, path)


def outline(
    power: list[tuple[float, float, float]], first_s: float
) -> tuple[list[float], list[float]]:
    """The corners of the steps, with nothing drawn over a gap."""
    times: list[float] = []
    watts: list[float] = []
    for start_s, end_s, power_w in power:
        hours = [(at - first_s) / 3600 for at in (start_s, end_s)]
        if times and hours[0] > times[-1]:
            times.append(hours[0])
            watts.append(float("nan"))
        times += hours
        watts += [power_w, power_w]
    return times, watts
