"""Pictures of the study: every workload as a point, equal jobs as bars, the congestor."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from wattline.model.errors import InputError
from wattline.model.signal import FloatArray
from wattline.network.placement import BASELINES
from wattline.studies.dragonfly.comparison import TIE, PlacementComparison

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from wattline.studies.dragonfly.study import Study

COLOURS = {"simple": "#d9622b", "slurm": "#e8a33d", "rdg": "#b5423a", "rdn": "#3b75af",
           "rdr": "#57a3c7", "rrn": "#6a5fae", "rrr": "#3f9b8f", "level-spread": "#2f8f3a",
           "jokanovic": "#7a7a7a", "jokanovic-code": "#a9a9a9"}


def points(comparison: PlacementComparison, policies: Sequence[str]) -> dict[str, FloatArray]:
    """Small and large jobs' time over Level-Spread's: one point a workload."""
    own = comparison.time_s[:, comparison.policies.index("level-spread")]
    return {name: comparison.time_s[:, comparison.policies.index(name)] / own
            for name in policies}


def quarters(cloud: Mapping[str, FloatArray]) -> dict[str, float]:
    """Share of all points in each part of the picture; ties are in none."""
    off = np.concatenate(list(cloud.values())) - 1.0
    small, large = np.where(np.abs(off) <= TIE, 0.0, np.sign(off)).T
    return {"both slower": float(((small > 0) & (large > 0)).mean()),
            "small slower": float(((small > 0) & (large < 0)).mean()),
            "large slower": float(((small < 0) & (large > 0)).mean()),
            "both faster": float(((small < 0) & (large < 0)).mean())}


def draw_points(comparison: PlacementComparison, policies: Sequence[str], title: str) -> Figure:
    """All random workloads, Level-Spread at (1, 1)."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import FixedLocator

    cloud = points(comparison, policies)
    figure = Figure(figsize=(7.5, 6.5), layout="constrained")
    axes = figure.add_subplot()
    for name, xy in cloud.items():
        axes.scatter(xy[:, 0], xy[:, 1], s=9, alpha=0.45, linewidths=0, color=COLOURS[name],
                     label=name)
    axes.scatter([1], [1], marker="*", s=180, color=COLOURS["level-spread"], zorder=4,
                 edgecolors="white", label="level-spread")
    axes.axvline(1, color=COLOURS["level-spread"], linestyle="--", linewidth=1)
    axes.axhline(1, color=COLOURS["level-spread"], linestyle="--", linewidth=1)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(FixedLocator([0.25, 0.35, 0.5, 0.7, 1, 1.4, 2, 2.8, 4, 5.6, 8]))
        axis.set_major_formatter("{x:g}")
    axes.set_xlabel("time of small jobs over Level-Spread")
    axes.set_ylabel("time of large jobs over Level-Spread")
    axes.set_title(title, fontsize=10)
    corners = {"both slower": (0.98, 0.97), "small slower": (0.98, 0.03),
               "large slower": (0.02, 0.97), "both faster": (0.02, 0.03)}
    for name, share in quarters(cloud).items():
        x, y = corners[name]
        axes.text(x, y, f"{name}: {share:.0%}", transform=axes.transAxes, color="#1f3f9f",
                  ha="right" if x > 0.5 else "left", va="top" if y > 0.5 else "bottom")
    legend = figure.legend(*axes.get_legend_handles_labels(), loc="outside right upper",
                           fontsize=8, frameon=False)
    for handle in legend.legend_handles:
        if handle is not None:
            handle.set_alpha(1.0)
    return figure


def draw_tables(rows: Sequence[Mapping[str, Any]], title: str) -> Figure:
    """Bars of time over simple: one panel a kind of jobs and a ratio, groups by pattern."""
    from matplotlib.figure import Figure

    panels: dict[tuple[str, float], list[Mapping[str, Any]]] = {}
    for row in rows:
        panels.setdefault((row["jobs"], row["ratio"]), []).append(row)
    columns = len({ratio for _, ratio in panels})
    lines = -(-len(panels) // columns)
    figure = Figure(figsize=(4.6 * columns + 1.4, 2.9 * lines), layout="constrained")
    axes = figure.subplots(lines, columns, squeeze=False)
    for place, ((jobs, ratio), found) in zip(axes.flat, panels.items(), strict=False):
        policies = list(found[0]["relative_to_simple"])
        width = 0.85 / len(policies)
        for i, name in enumerate(policies):
            place.bar(np.arange(len(found)) + i * width,
                      [row["relative_to_simple"][name][0] for row in found], width,
                      color=COLOURS[name], label=name)
        place.set_xticks(np.arange(len(found)) + 0.4, [row["pattern"] for row in found],
                         rotation=25, fontsize=8)
        place.axhline(1, color="black", linewidth=0.6)
        place.set_title(f"{jobs} jobs, global/local bandwidth {ratio:g}", fontsize=9)
        place.set_ylabel("time over simple", fontsize=8)
    for place in list(axes.flat)[len(panels):]:
        place.set_axis_off()
    figure.legend(*axes.flat[0].get_legend_handles_labels(), loc="outside right upper",
                  fontsize=8, frameon=False)
    figure.suptitle(title, fontsize=10)
    return figure


def draw_congestor(stretch: Mapping[str, Mapping[str, float]]) -> Figure:
    """Execution time beside a congestor, by application and placement."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4.2), layout="constrained")
    axes = figure.add_subplot()
    policies = list(next(iter(stretch.values())))
    hues = ("#b5423a", "#3b75af", "#e8a33d", "#7a7a7a", "#2f8f3a")
    width = 0.8 / len(policies)
    for i, (name, hue) in enumerate(zip(policies, hues, strict=True)):
        axes.bar(np.arange(len(stretch)) + i * width, [row[name] for row in stretch.values()],
                 width, color=hue, label=name)
    axes.set_xticks(np.arange(len(stretch)) + 0.32, list(stretch))
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_ylabel("execution time over that without congestor")
    axes.legend(fontsize=8, frameon=False)
    return figure


def write_pictures(study: Study, found: Mapping[str, Any], folder: Path) -> list[Path]:
    """Write the pictures and the results into a folder."""
    pictures = {}
    if study.random is not None:
        flows = study.random
        pictures["small-first"] = draw_points(flows.small_first, BASELINES,
                                              "Random workloads, small jobs placed first, flows")
        pictures["large-first"] = draw_points(flows.large_first, BASELINES,
                                              "Random workloads, large jobs placed first, flows")
        pictures["jokanovic"] = draw_points(flows.steps or flows.small_first, ("jokanovic-code",),
                                            "Random workloads against Jokanovic's policy")
        if flows.steps is not None:
            pictures["small-first-steps"] = draw_points(
                flows.steps, BASELINES, "Random workloads, small jobs first, packets in steps")
    if "homogeneous" in found:
        pictures["homogeneous"] = draw_tables(
            [row for row in found["homogeneous"] if row["nodes"] == 272],
            "Equal jobs on 272 nodes")
    if "congestor" in found:
        pictures["congestor"] = draw_congestor(found["congestor"]["stretch"])
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, figure in pictures.items():
            written.append(folder / f"{name}.svg")
            figure.savefig(written[-1])
        (folder / "results.json").write_text(json.dumps(found, indent=2), encoding="utf-8")
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror or error}") from None
    return written
