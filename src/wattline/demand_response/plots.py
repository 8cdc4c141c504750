"""Pictures of a regulation contract: power and target, waiting jobs, servers, distributions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from wattline.demand_response.run import ContractRun
from wattline.grid.bidding import Decision
from wattline.grid.market import ERROR_LIMIT, EXCEED_LIMIT, tracking_errors
from wattline.model.signal import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, RED, GREEN, AMBER, GREY = "#0072B2", "#D55E00", "#009E73", "#E69F00", "#777777"
DPI = 130


class PowerSeries(NamedTuple):
    """What the power picture draws; times in minutes from the start of the contract."""

    time_min: FloatArray
    actual_kw: FloatArray
    target_kw: FloatArray
    waiting: FloatArray
    submit_edges_min: FloatArray
    submitted: FloatArray


def power_series(found: ContractRun, points: int = 2400) -> PowerSeries:
    """Sample power, target and queue; count submissions in sixty intervals."""
    case = found.case
    times = np.linspace(case.start_s, case.end_s, points, endpoint=False)
    edges = np.linspace(case.start_s, case.end_s, 61)
    ordinary = case.jobs.application < len(case.workload.types)
    counts, _ = np.histogram(case.jobs.submit_s[ordinary], bins=edges)
    target_w = found.target_w.sample(times)
    offered = found.contract.reserve_w.sample(times) > 0
    target_w = np.where(offered, target_w, np.nan)
    if case.limit_w is not None:
        limit_w = case.limit_w.sample(times)
        target_w = np.where(np.isfinite(limit_w), limit_w, np.nan)
    return PowerSeries(
        (times - case.start_s) / 60, found.actual_w.sample(times) / 1000, target_w / 1000,
        found.waiting.sample(times), (edges - case.start_s) / 60, counts.astype(np.float64),
    )


def draw_power(found: ContractRun) -> Figure:
    """Target and actual power above, waiting and submitted jobs below."""
    from matplotlib.figure import Figure

    series = power_series(found)
    figure = Figure(figsize=(10, 5.2), layout="constrained")
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
    limited = found.case.limit_w is not None
    word = "limit" if limited else "target"
    if np.any(np.isfinite(series.target_kw)):
        top.plot(series.time_min, series.target_kw, color=RED, lw=1.6, label=word)
    top.plot(series.time_min, series.actual_kw, color=BLUE, lw=0.9, label="actual")
    top.set_ylabel("power, kW")
    title = (f"{found.case.workload.name} on {found.case.workload.servers} servers, "
             f"{found.case.policy}")
    if _offered(found):
        title += f": mean tracking error {found.tracking.mean:.1%}"
    top.set_title(title, loc="left", fontsize=10)
    bottom.stairs(series.submitted, series.submit_edges_min, fill=True, color=GREEN, alpha=0.45,
                  label="submitted in the interval")
    bottom.plot(series.time_min, series.waiting, color=AMBER, lw=1.4, label="waiting")
    bottom.set_ylabel("jobs")
    bottom.set_xlabel("minutes")
    for axes in (top, bottom):
        _tidy(axes)
        if found.case.warmup_s > 0:
            axes.axvspan(0.0, found.case.warmup_s / 60, color=GREY, alpha=0.15, lw=0,
                         label="warm-up")
        axes.set_xlim(series.time_min[0], series.submit_edges_min[-1])
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=8, frameon=False)
    return figure


def _offered(found: ContractRun) -> bool:
    return bool(np.any(found.contract.reserve_w.value > 0))


def draw_servers(found: ContractRun) -> Figure | None:
    """Which server ran which type when; None where servers were only counted."""
    from matplotlib.collections import PolyCollection
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    placement = found.run.placement
    if placement is None:
        return None
    start, end = found.run.schedule.start_s, found.run.schedule.end_s
    kinds = found.case.jobs.application
    names = [t.name for t in found.case.types]
    colours = _colours(len(names))
    figure = Figure(figsize=(10, 4.2), layout="constrained")
    axes = figure.subplots()
    boxes, faces = [], []
    for job, first, count in zip(placement.job, placement.first, placement.count, strict=True):
        if not np.isfinite(start[job]):
            continue
        left, right = start[job] / 60, min(end[job], found.case.end_s) / 60
        boxes.append([(left, first), (right, first), (right, first + count), (left, first + count)])
        faces.append(colours[kinds[job]])
    axes.add_collection(PolyCollection(boxes, facecolors=faces, edgecolors="white", lw=0.2))
    axes.set_xlim(found.case.start_s / 60, found.case.end_s / 60)
    axes.set_ylim(0, found.case.workload.servers)
    axes.set_xlabel("minutes")
    axes.set_ylabel("server")
    axes.set_title("servers by the type of the job they run (white: idle)", loc="left", fontsize=10)
    shown = sorted(set(kinds.tolist()))[:24]
    axes.legend([Patch(color=colours[k]) for k in shown], [names[k] for k in shown],
                loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=7, frameon=False)
    return figure


def draw_error(found: ContractRun) -> Figure:
    """Share of the time with a tracking error up to x."""
    from matplotlib.figure import Figure

    case = found.case
    error, held_s = tracking_errors(found.actual_w, found.contract, case.signal, case.judged_s,
                                    case.end_s)
    figure = Figure(figsize=(5.5, 3.6), layout="constrained")
    axes = figure.subplots()
    if error.size:
        order = np.argsort(error)
        axes.plot(error[order], np.cumsum(held_s[order]) / held_s.sum(), color=BLUE)
    axes.axvline(ERROR_LIMIT, color=GREEN, ls="--", lw=1)
    axes.axhline(1 - EXCEED_LIMIT, color=GREEN, ls="--", lw=1)
    axes.set_xlim(0, max(0.6, float(np.quantile(error, 0.99)) if error.size else 0.6))
    axes.set_ylim(0, 1.02)
    axes.set_xlabel("tracking error (share of the reserve)")
    axes.set_ylabel("share of the time")
    axes.set_title("the curve must pass above the crossing of the dashed lines", loc="left",
                   fontsize=9)
    _tidy(axes)
    return figure


def draw_quality(found: ContractRun) -> Figure:
    """For each type the share of jobs with a degradation up to x, and its threshold."""
    from matplotlib.figure import Figure

    judged_types = [row for row in zip(found.quality, found.degradations, strict=True)
                    if row[0].jobs > 0]
    quality = sorted(judged_types or zip(found.quality, found.degradations, strict=True),
                     key=lambda row: -row[0].mean / row[0].threshold)[:16]
    columns = 4
    rows = -(-len(quality) // columns)
    figure = Figure(figsize=(10, 2.1 * rows + 0.6), layout="constrained")
    panes = figure.subplots(rows, columns, squeeze=False, sharey=True).ravel()
    for axes, (judged, values) in zip(panes, quality, strict=False):
        q = np.sort(values)
        axes.step(np.append(0, q), np.append(0, np.arange(1, q.size + 1) / max(1, q.size)),
                  where="post", color=BLUE if judged.met else RED)
        axes.axvline(judged.threshold, color=GREEN, ls="--", lw=1)
        if found.case.mean_quality:  # it is the mean that must stay below the threshold
            axes.axvline(judged.mean, color=AMBER, ls=":", lw=1.6)
        else:
            axes.axhline(1 - judged.limit, color=GREEN, ls="--", lw=1)
        axes.set_xlim(0, 1.6 * judged.threshold)
        axes.set_ylim(0, 1.03)
        beyond = int((q > 1.6 * judged.threshold).sum())
        if beyond:  # the axis ends before they do
            axes.text(0.98, 0.06, f"{beyond} beyond, up to {q[-1]:.3g} →", fontsize=7, color=RED,
                      ha="right", transform=axes.transAxes)
        axes.set_title(f"{judged.name} ({judged.jobs} jobs)", fontsize=8, loc="left")
        _tidy(axes)
    for axes in panes[len(quality):]:
        axes.set_visible(False)
    mean = " (dotted: the mean)" if found.case.mean_quality else ""
    figure.supxlabel(f"QoS degradation{mean}", fontsize=9)
    figure.supylabel("share of the jobs", fontsize=9)
    return figure


def draw_surface(decision: Decision, unit: str) -> Figure:
    """Every bid tried, coloured by its cost; crosses fail a constraint, the star is chosen."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.6), layout="constrained")
    axes = figure.subplots()
    trials = decision.trials
    average = np.array([t.average_w for t in trials]) / 1000
    reserve = np.array([t.reserve_w for t in trials]) / 1000
    cost = np.array([t.cost for t in trials])
    good = np.array([t.feasible for t in trials], dtype=bool)
    bounds: dict[str, Any] = {"vmin": cost.min(), "vmax": cost.max(), "cmap": "viridis"}
    axes.scatter(average[~good], reserve[~good], c=cost[~good], marker="x", s=22, lw=1.1, **bounds)
    drawn = axes.scatter(average[good], reserve[good], c=cost[good], marker="o", s=30,
                         edgecolors="black", lw=0.4, **bounds)
    if decision.bid is not None:
        axes.plot(decision.bid.average_w / 1000, decision.bid.reserve_w / 1000, marker="*", ms=17,
                  color=RED, mec="black", ls="", label="chosen")
        axes.legend(loc="upper left", fontsize=8)
    figure.colorbar(drawn, ax=axes, label=f"cost of the hour, {unit}")
    axes.set_xlabel("average power, kW")
    axes.set_ylabel("reserve, kW")
    axes.set_title("bids tried: circles meet all constraints, crosses fail one", loc="left",
                   fontsize=10)
    _tidy(axes)
    return figure


def write_pictures(found: ContractRun, folder: Path) -> list[Path]:
    """Draw everything of one contract into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn: dict[str, Any] = {
        "power": draw_power(found), "servers": draw_servers(found),
        "tracking-error": draw_error(found) if _offered(found) else None,
        "qos": draw_quality(found),
    }
    paths = []
    for name, figure in drawn.items():
        if figure is not None:
            path = folder / f"{name}.png"
            figure.savefig(path, dpi=DPI)
            paths.append(path)
    return paths


def write_surface(decision: Decision, path: Path, unit: str) -> bool:
    """Draw the bids tried; False where there are none."""
    if not decision.trials:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    draw_surface(decision, unit).savefig(path, dpi=DPI)
    return True


def _tidy(axes: Axes) -> None:
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.grid(True, color="#dddddd", lw=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=8)


def _colours(count: int) -> list[Any]:
    from matplotlib import colormaps

    table = colormaps["tab20"]
    return [table(number % 20) for number in range(count)]
