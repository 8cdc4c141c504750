"""The pictures of a report: each function draws what `series` computed, and computes nothing.

Runs are laid over one another where lines can be told apart. Power gets a panel for each run
instead: what counts there are the peaks against the cap, and bands would hide one another.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from wattline.analysis import series
from wattline.analysis.drawing import (
    CAP_COLOUR,
    COLOURS,
    DASHES,
    HEIGHT,
    INK,
    clock_of,
    legend_above,
    shade,
    sheet,
    span_of,
    thousands,
    write_time,
)
from wattline.analysis.summary import POWER, Scale, power_text, scale_for
from wattline.model.jobs import IntArray
from wattline.model.run import Run
from wattline.model.signal import FloatArray, Signal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TOP_USERS = 6
MOST_PANELS = 4
_SPANS_ALONE, _SPANS_TOGETHER = 366, 183
OTHERS = ("#b5b5b5", "#9a9a9a")
_WAITS = ((1, "≤ 1 s"), (10, "10 s"), (60, "1 min"), (600, "10 min"), (3600, "1 h"),
          (6 * 3600, "6 h"), (86400, "1 d"), (7 * 86400, "1 week"), (30 * 86400, "30 d"),
          (365 * 86400, "1 year"))


def span_s(runs: Mapping[str, Run], overlaid: bool) -> float:
    """How long the spans are of which the pictures over time draw the mean."""
    start_s, end_s = span_of(runs)
    return series.round_span_s(end_s - start_s, _SPANS_TOGETHER if overlaid else _SPANS_ALONE)


def power(runs: Mapping[str, Run]) -> Figure:
    """Power over time with the caps: a panel a run, or only means when there are many runs."""
    if len(runs) > MOST_PANELS:
        return _power_means(runs)
    peak_w = max(run.power_w_peak for run in runs.values())
    scale = scale_for(POWER, [peak_w])
    figure, panels = sheet(len(runs), HEIGHT if len(runs) == 1 else 2.3 * len(runs) + 0.5)
    for number, (axes, (name, run)) in enumerate(zip(panels, runs.items(), strict=True)):
        found = series.band(series.power_steps(run), span_s(runs, overlaid=False))
        _draw_band(axes, found, scale, runs, number)
        axes.set_ylabel(f"power ({scale.sign})", color=INK)
        if len(runs) > 1:
            axes.set_title(name, loc="left", fontsize="medium", color=COLOURS[number])
        for cap_w in _shown_caps(run, runs):
            _draw_cap(axes, cap_w, scale, runs)
    panels[0].set_ylim(0, _headroom(peak_w, runs.values()) / scale.size)
    write_time(panels[-1], runs)
    if any(run.cap_w is not None for run in runs.values()):
        panels[0].legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), frameon=False)
    return figure


def utilisation(runs: Mapping[str, Run]) -> Figure:
    """Share of the machine in use over time."""
    figure, axes = _over_time(runs, series.utilisation_steps, Scale(0.0, 0.01, "%"))
    axes.set_ylabel("units in use (%)", color=INK)
    axes.set_ylim(0, 103)
    if len(runs) > 1:
        legend_above(axes)
    return figure


def queue(runs: Mapping[str, Run]) -> Figure:
    """Jobs waiting over time."""
    figure, axes = _over_time(runs, series.queue_steps, Scale(0.0, 1.0, ""))
    axes.set_ylabel("jobs waiting", color=INK)
    thousands(axes)
    axes.set_ylim(bottom=0)
    if len(runs) > 1:
        legend_above(axes)
    return figure


def waits(runs: Mapping[str, Run]) -> Figure:
    """Share of jobs that waited at most so long."""
    figure, (axes,) = sheet()
    longest_s = 60.0
    for number, (name, run) in enumerate(runs.items()):
        wait_s, share = series.wait_cdf(run)
        if wait_s.size:
            longest_s = max(longest_s, float(wait_s[-1]))
            x = np.concatenate(([1.0], np.maximum(wait_s, 1.0), [1e12]))
            y = 100 * np.concatenate(([0.0], share, [1.0]))
            axes.step(x, y, where="post", label=name, **_line(number, runs))
    axes.set_xscale("log")
    axes.set_xlim(0.9, longest_s * 1.5)
    ticks = [(time_s, text) for time_s, text in _WAITS if time_s <= longest_s * 1.5]
    axes.set_xticks([time_s for time_s, _ in ticks], [text for _, text in ticks])
    axes.minorticks_off()
    axes.set_ylim(0, 102)
    axes.set_ylabel("share of jobs (%)", color=INK)
    axes.set_xlabel("wait from submission to start, at most", color=INK)
    if len(runs) > 1:
        legend_above(axes)
    return figure


def durations(runs: Mapping[str, Run]) -> Figure:
    """Power duration curve: for how much of the time the power is at least so high."""
    curves = {name: series.duration_curve(series.power_steps(run)) for name, run in runs.items()}
    peak_w = max(float(value.max()) for _, value in curves.values())
    scale = scale_for(POWER, [peak_w])
    figure, (axes,) = sheet()
    for number, (name, (share, value)) in enumerate(curves.items()):
        axes.plot(100 * share, value / scale.size, label=name, **_line(number, runs))
    caps_w = {float(run.cap_w.value[0]) for run in runs.values()
              if run.cap_w is not None and np.unique(run.cap_w.value).size == 1}
    for cap_w in sorted(caps_w):
        axes.axhline(cap_w / scale.size, color=CAP_COLOUR, linestyle=(0, (4, 3)), linewidth=1.2,
                     label="cap" if len(caps_w) == 1 else f"cap of {power_text(cap_w)}")
        if len(caps_w) > 1:
            axes.text(100, cap_w / scale.size, power_text(cap_w), color=CAP_COLOUR, ha="right",
                      va="bottom")
    axes.set_ylim(0, _headroom(peak_w, runs.values()) / scale.size)
    axes.set_xlim(0, 100)
    axes.set_ylabel(f"power ({scale.sign})", color=INK)
    axes.set_xlabel("share of the time at or above this power (%)", color=INK)
    if len(axes.get_legend_handles_labels()[0]) > 1:
        legend_above(axes)
    return figure


def job_map(run: Run, users: Sequence[int]) -> Figure | None:
    """Which unit did what when, the largest users in colours; None without placement."""
    found = series.job_map(run)
    return None if found is None else placed_jobs(run, found, users)


def placed_jobs(run: Run, found: series.JobMap, users: Sequence[int]) -> Figure:
    """The map of jobs on their units, as it was computed."""
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    clock = clock_of({"": run})
    figure, (axes,) = sheet(height=4.4)
    axes.grid(False)
    axes.set_ylabel(unit_word(run), color=INK)
    thousands(axes)
    palette = ["#ffffff", *OTHERS, *COLOURS[:TOP_USERS]]
    colour = map_colours(run, found.job, users)
    axes.imshow(colour, cmap=ListedColormap(palette), vmin=0,
                vmax=len(palette) - 1, origin="lower", aspect="auto", interpolation="nearest",
                extent=(clock.x(found.start_s), clock.x(found.end_s), 0, found.units))
    patches = [Patch(color=COLOURS[rank], label=user_name(run, user))
               for rank, user in enumerate(users)]
    if users:
        if shows_others(colour):
            patches.append(Patch(color=OTHERS[0], label="other users"))
        patches.append(Patch(facecolor="white", edgecolor="#888888", label="free"))
        figure.legend(handles=patches, loc="outside lower center", ncols=len(patches),
                      frameon=False, handlelength=1.2, columnspacing=1.2)
    write_time(axes, {"": run})
    return figure


def size_shades(layers: int, *, dark: bool = False) -> FloatArray:
    """Colours of jobs from the smallest to the largest, which differ most from the paper.

    On white and on the page's dark paper, all have a contrast of at least 3 to 1 to it.
    """
    from matplotlib import colormaps

    found: FloatArray = colormaps["cividis"](np.linspace(*((0.4, 1.0) if dark else (0.6, 0.0)),
                                                         layers))
    return found


def use_by_size(run: Run) -> Figure:
    """Units in use over time, stacked by the size of the jobs."""
    edge_s, layers = series.use_by_size(run, _SPANS_ALONE)
    clock = clock_of({"": run})
    figure, (axes,) = sheet()
    below = np.zeros(edge_s.size - 1)
    for colour, (label, units) in zip(size_shades(len(layers)), layers, strict=True):
        shade(axes, below, below + units, clock.x(edge_s), facecolor=colour, label=label)
        below = below + units
    axes.axhline(run.units, color=INK, linewidth=0.8)
    axes.set_ylim(0, run.units * 1.04)
    axes.set_ylabel(f"{unit_word(run)}s in use", color=INK)
    thousands(axes)
    write_time(axes, {"": run})
    if layers:
        axes.legend(title=f"{unit_word(run)}s of the job", loc="upper left", frameon=False,
                    bbox_to_anchor=(1.0, 1.02), reverse=True)
    return figure


def top_users(run: Run) -> list[int]:
    """Codes of the users who used most; none where the log names no users."""
    ran = run.ran & (run.jobs.user >= 0)
    users, code = np.unique(run.jobs.user[ran], return_inverse=True)
    held_s = (run.schedule.end_s - run.schedule.start_s)[ran]
    used = np.bincount(code, weights=held_s * run.schedule.nodes[ran], minlength=users.size)
    return [int(user) for user in users[np.argsort(-used, kind="stable")[:TOP_USERS]]]


def _power_means(runs: Mapping[str, Run]) -> Figure:
    peak_w = max(run.power_w_peak for run in runs.values())
    scale = scale_for(POWER, [peak_w])
    figure, axes = _over_time(runs, series.power_steps, scale)
    for cap_w in _shown_caps(None, runs):
        _draw_cap(axes, cap_w, scale, runs)
    axes.set_ylabel(f"mean power ({scale.sign})", color=INK)
    axes.set_ylim(0, _headroom(peak_w, runs.values()) / scale.size)
    legend_above(axes)
    return figure


def _over_time(runs: Mapping[str, Run], steps_of: Any, scale: Scale) -> tuple[Figure, Axes]:
    """One run as a band; several as the means of longer spans, one over the other."""
    figure, (axes,) = sheet()
    for number, (name, run) in enumerate(runs.items()):
        found = series.band(steps_of(run), span_s(runs, overlaid=len(runs) > 1))
        if len(runs) == 1:
            _draw_band(axes, found, scale, runs, number)
        else:
            x, y = _stair(found, scale, runs)
            axes.step(x, y, where="post", label=name, color=COLOURS[number % len(COLOURS)],
                      linewidth=_width(number))
    write_time(axes, runs)
    return figure, axes


def _stair(found: series.Band, scale: Scale, runs: Mapping[str, Run]) -> tuple[Any, FloatArray]:
    y: FloatArray = np.append(found.mean, found.mean[-1]) / scale.size
    return clock_of(runs).x(found.edge_s), y


def _draw_band(axes: Axes, found: series.Band, scale: Scale, runs: Mapping[str, Run],
               number: int) -> None:
    x, y = _stair(found, scale, runs)
    colour = COLOURS[number % len(COLOURS)]
    if found.high is not found.mean:
        shade(axes, found.low / scale.size, found.high / scale.size, x, facecolor=colour,
              alpha=0.25)
    axes.step(x, y, where="post", color=colour, linewidth=1.2)


def _shown_caps(run: Run | None, runs: Mapping[str, Run]) -> list[Signal]:
    """A run's own cap, or the first of the others' to measure it by."""
    if run is not None and run.cap_w is not None:
        return [run.cap_w]
    return [other.cap_w for other in runs.values() if other.cap_w is not None][:1]


def _draw_cap(axes: Axes, cap_w: Signal, scale: Scale, runs: Mapping[str, Run]) -> None:
    start_s, end_s = span_of(runs)
    inner = cap_w.time_s[(cap_w.time_s > start_s) & (cap_w.time_s < end_s)]
    times_s = np.concatenate(([start_s], inner, [end_s]))
    value_w = cap_w.sample(times_s)
    value_w = np.where(np.isfinite(value_w), value_w, np.nan)
    axes.step(clock_of(runs).x(times_s), value_w / scale.size, where="post", color=CAP_COLOUR,
              linestyle=(0, (4, 3)), linewidth=1.4, label="power cap")


def _headroom(peak_w: float, runs: Iterable[Run]) -> float:
    """The top of the axis: above the peak, and above caps that are not far beyond it."""
    tops = [peak_w]
    for run in runs:
        if run.cap_w is not None:
            finite = run.cap_w.value[np.isfinite(run.cap_w.value)]
            tops += [float(value) for value in finite if value < 2.5 * peak_w]
    return 1.06 * max(tops) or 1.0


def map_colours(run: Run, job: IntArray, users: Sequence[int]) -> IntArray:
    """0 free, 1 and 2 other jobs in turn, then the users by rank."""
    colour = 1 + np.arange(len(run.jobs)) % 2
    for rank, user in enumerate(users):
        colour[run.jobs.user == user] = 3 + rank
    if not users:  # no one to name: neighbours still differ
        colour = 3 + np.arange(len(run.jobs)) % TOP_USERS
    return np.where(job < 0, 0, colour[np.maximum(job, 0)])


def shows_others(colour: IntArray) -> bool:
    """Whether a map has jobs of users without a colour of their own."""
    return bool(((colour == 1) | (colour == 2)).any())


def user_name(run: Run, user: int) -> str:
    name = run.jobs.name_of("user", user)
    return f"user {name}" if name == str(user) else name


def unit_word(run: Run) -> str:
    return "node" if run.units == run.machine.node_count else "core"


def _line(number: int, runs: Mapping[str, Run]) -> dict[str, Any]:
    """Lines differ in their dashes too, so that a page printed in grey can be read."""
    return {"color": COLOURS[number % len(COLOURS)], "linestyle": DASHES[number % len(DASHES)],
            "linewidth": 1.6 if len(runs) == 1 else _width(number)}


def _width(number: int) -> float:
    """The first lines are wider, so that they are seen behind later ones that coincide."""
    return max(1.5, 2.6 - 0.6 * number)
