"""Pictures of the RMAP study."""

from __future__ import annotations

from math import isnan
from pathlib import Path
from typing import Any

from wattline.analysis.configuration_plots import save
from wattline.analysis.intervals import half_interval
from wattline.studies.rmap.report import findings
from wattline.studies.rmap.study import RmapResult

_STYLE = {
    "traditional": ("#6c757d", "s"), "naive": ("#e07a1f", "D"), "adaptive_0": ("#1d3557", "o"),
    "adaptive_10": ("#457b9d", "^"), "adaptive_30": ("#2a9d8f", "v"),
    "adaptive_unbounded": ("#c1121f", "X"), "adaptive_0_lending": ("#7b2cbf", "*"),
}
_TITLES = {"large": "large jobs", "small": "small jobs", "random1": "mixed, early arrivals",
           "random2": "mixed, even arrivals"}


def write_pictures(result: RmapResult, folder: Path) -> list[Path]:
    """Turnaround and power over the bound, and the published comparisons."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for figure in ("turnaround_s", "power_use"):
        written.append(folder / f"{figure}.png")
        draw_figure(result, figure, written[-1])
    written.append(folder / "published.png")
    draw_findings(result, written[-1])
    return written


def draw_figure(result: RmapResult, figure: str, path: str | Path) -> None:
    """One panel per trace: a figure over the bound, with 95 % intervals over the seeds."""
    from matplotlib.figure import Figure

    traces = list(result.setting.traces)
    columns = min(2, len(traces))
    rows = -(-len(traces) // columns)
    picture = Figure(figsize=(5.4 * columns, 3.9 * rows), layout="constrained")
    panels = picture.subplots(rows, columns, squeeze=False).ravel()
    for panel, trace in zip(panels, traces, strict=False):
        _draw_trace(panel, result, figure, trace)
    for panel in panels[len(traces):]:
        panel.set_visible(False)
    labels = panels[0].get_legend_handles_labels()
    picture.legend(*labels, loc="outside lower center", ncols=4, fontsize=8)
    what = {"turnaround_s": "Mean turnaround time", "power_use": "Mean power over the bound",
            "wait_s": "Mean wait"}.get(figure, figure)
    picture.suptitle(f"{what}, {result.setting.nodes} nodes, {result.setting.jobs} jobs, "
                     f"{len(result.setting.seeds)} seeds")
    save(picture, path)


def draw_findings(result: RmapResult, path: str | Path) -> None:
    """Each published comparison as a bar, beside what was found here with its 95 % interval."""
    from matplotlib.figure import Figure

    found = list(findings(result))
    picture = Figure(figsize=(9.5, 0.55 * len(found) + 1.8), layout="constrained")
    panel = picture.subplots()
    places = range(len(found))
    panel.barh([place - 0.2 for place in places], [100 * one.claim.published for one in found],
               0.38, color="#adb5bd", label="published (one trace each)")
    spread = [0.0 if isnan(one.half_width) else 100 * one.half_width for one in found]
    panel.barh([place + 0.2 for place in places], [100 * one.mean for one in found], 0.38,
               xerr=spread, color="#1d3557", ecolor="#e07a1f", capsize=2,
               label=f"here, {len(result.setting.seeds)} seeds, 95 % interval")
    panel.set_yticks(list(places), [
        f"{', '.join(one.claim.traces)}: {_words(one.claim.policy)} against "
        f"{_words(one.claim.against)}" for one in found], fontsize=8)
    panel.invert_yaxis()
    panel.axvline(0.0, color="black", linewidth=0.8)
    panel.set_xlabel("turnaround below the other policy's (%), mean over bounds")
    panel.grid(axis="x", alpha=0.25)
    picture.legend(loc="outside lower center", ncols=2, fontsize=8)
    picture.suptitle(f"What was published and what was found, {result.setting.nodes} nodes")
    save(picture, path)


def _words(policy: str) -> str:
    name, _, threshold = policy.partition("_")
    return f"{name} {threshold} %" if threshold.isdigit() else policy.replace("_", " ")


def _draw_trace(panel: Any, result: RmapResult, figure: str, trace: str) -> None:
    bounds = list(result.setting.bounds)
    for place, policy in enumerate(result.setting.policies):
        tint, mark = _STYLE[policy]
        beside = 0.004 * (place - len(result.setting.policies) / 2)  # so that intervals stay apart
        values = [result.of(figure, trace, bound, policy) for bound in bounds]
        errors = [half_interval(one) if len(one) > 1 else 0.0 for one in values]
        panel.errorbar([bound + beside for bound in bounds], [one.mean() for one in values],
                       yerr=errors, color=tint,
                       marker=mark, markersize=5, linewidth=1.3, elinewidth=0.8, capsize=1.5,
                       label=policy.replace("_", " "))
    panel.set_title(_TITLES.get(trace, trace), fontsize=10)
    panel.set_xlabel("power bound (part of peak)")
    panel.set_ylabel({"turnaround_s": "s", "wait_s": "s"}.get(figure, ""))
    panel.grid(alpha=0.25)
