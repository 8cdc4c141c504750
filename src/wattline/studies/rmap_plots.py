"""Pictures of the RMAP study."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from wattline.analysis.configuration_plots import save
from wattline.studies.rmap import Result
from wattline.studies.rmap_report import interval

_STYLE = {
    "traditional": ("#6c757d", "s"), "naive": ("#e07a1f", "D"), "adaptive_0": ("#1d3557", "o"),
    "adaptive_10": ("#457b9d", "^"), "adaptive_30": ("#2a9d8f", "v"),
    "adaptive_unbounded": ("#c1121f", "X"), "adaptive_0_lending": ("#7b2cbf", "*"),
}
_TITLES = {"large": "large jobs", "small": "small jobs", "random1": "mixed, early arrivals",
           "random2": "mixed, even arrivals"}


def draw_figure(result: Result, figure: str, path: str | Path) -> None:
    """One panel a trace: a figure over the bound, with 95 % intervals over the seeds."""
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


def _draw_trace(panel: Any, result: Result, figure: str, trace: str) -> None:
    bounds = list(result.setting.bounds)
    for place, policy in enumerate(result.setting.policies):
        tint, mark = _STYLE[policy]
        beside = 0.004 * (place - len(result.setting.policies) / 2)  # so that intervals stay apart
        values = [result.of(figure, trace, bound, policy) for bound in bounds]
        errors = [interval(one) if len(one) > 1 else 0.0 for one in values]
        panel.errorbar([bound + beside for bound in bounds], [one.mean() for one in values],
                       yerr=errors, color=tint,
                       marker=mark, markersize=5, linewidth=1.3, elinewidth=0.8, capsize=1.5,
                       label=policy.replace("_", " "))
    panel.set_title(_TITLES.get(trace, trace), fontsize=10)
    panel.set_xlabel("power bound (part of peak)")
    panel.set_ylabel({"turnaround_s": "s", "wait_s": "s"}.get(figure, ""))
    panel.grid(alpha=0.25)
