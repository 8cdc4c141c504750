"""Pictures of configuration spaces and of procurement; what is drawn is computed elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from wattline.model.errors import InputError
from wattline.physics.configurations import ConfigurationTable
from wattline.physics.dimensions import device_of, is_cap, kind_of, shown
from wattline.physics.overprovisioning import ConfigurationChoice

if TYPE_CHECKING:
    from wattline.physics.procurement import Sweep

_MARKS = {
    "best": ("*", "#c1121f", 260), "packed_max": ("s", "#1d3557", 70),
    "packed_min": ("D", "#457b9d", 60), "spread_max": ("^", "#2a9d8f", 75),
    "spread_min": ("v", "#8ab17d", 75), "worst_case": ("X", "#6a040f", 90),
}
_LABELS = {
    "cost_ratio": "effective cost ratio", "power_w": "power budget (W)",
    "speed_ratio": "time saved by the newer node",
}


def draw_choice(table: ConfigurationTable, choice: ConfigurationChoice, path: str | Path) -> None:
    """The configuration space with what was chosen, and the best time of each node count."""
    figure = _figure(11.0, 4.8)
    space, degree = figure.subplots(1, 2, width_ratios=(3, 2))
    _draw_space(space, table, choice)
    _draw_degree(degree, choice)
    figure.suptitle(f"{choice.application} under {choice.bound_w:g} W ({table.source})")
    save(figure, path)


def draw_sweeps(sweeps: Sequence[Sweep], path: str | Path) -> None:
    """The gain over each parameter, with the break-even line."""
    figure = _figure(4.0 * len(sweeps), 3.8)
    panels = figure.subplots(1, len(sweeps), squeeze=False)[0]
    for panel, found in zip(panels, sweeps, strict=True):
        panel.plot(found.values, found.s_ovp, color="#1d3557",
                   drawstyle="steps-post" if found.in_steps else "default")
        panel.axhline(1.0, color="#c1121f", linewidth=1.0)
        panel.axvline(found.here, color="#888888", linestyle=":", linewidth=1.0)
        if found.break_even is not None:
            crossings = [one.value for one in found.crossings]
            panel.plot(crossings, np.ones(len(crossings)), "o", color="#c1121f", markersize=6)
            known = found.s_ovp[np.isfinite(found.s_ovp)]
            below = bool(known[-1] > known[0])  # on the side that the curve leaves free
            panel.annotate(f"{found.break_even:,.4g}", (found.break_even, 1.0),
                           textcoords="offset points", xytext=(6, -14 if below else 7))
        panel.set_xlabel(_LABELS.get(found.parameter, found.parameter))
        panel.grid(alpha=0.25)
    panels[0].set_ylabel("speedup of the overprovisioned machine")
    figure.suptitle("Above the red line more, older nodes are faster (dotted: the case asked)")
    save(figure, path)


def save(figure: Any, path: str | Path) -> None:
    if Path(path).is_dir():
        raise InputError(f"{path} is a folder; name a file to draw, like {Path(path) / 'plot.png'}")
    try:
        figure.savefig(path, dpi=130)
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be drawn: {error}") from None


def _draw_space(panel: Any, table: ConfigurationTable, choice: ConfigurationChoice) -> None:
    tinted, sized = _shown_settings(table)
    values = table.settings[tinted]
    levels = np.unique(values)
    colour = np.searchsorted(levels, values) / max(1, len(levels) - 1)
    part = 1.0 if sized is None else table.settings[sized] / table.settings[sized].max()
    points = panel.scatter(table.power_w, table.time_s, c=colour, cmap="viridis",
                           s=2.0 + 22.0 * part**2, alpha=0.55, linewidths=0)
    panel.axvline(choice.bound_w, color="black", linestyle="--", linewidth=1.0)
    for name, one in choice.named.items():
        if one is not None:
            mark, tint, size = _MARKS[name]
            panel.scatter([one.power_w], [one.time_s], marker=mark, c=tint, s=size,
                          edgecolors="white", linewidths=0.8, zorder=3,
                          label=f"{name.replace('_', '-')} {one.label}")
    panel.set_yscale("log")
    _plain_ticks(panel.yaxis)
    larger = "" if sized is None else f"; larger points use more {sized.replace('_', ' ')}"
    panel.set_xlabel(f"power of the job (W){larger}")
    panel.set_ylabel("time (s)")
    panel.legend(fontsize=7.5, loc="upper right")
    some = levels if len(levels) <= 8 else levels[np.linspace(0, len(levels) - 1, 6).astype(int)]
    bar = panel.figure.colorbar(points, ax=panel, pad=0.01,
                                ticks=np.searchsorted(levels, some) / max(1, len(levels) - 1))
    unit = shown(tinted).rpartition(" ")[2] if kind_of(tinted) != "count" else ""
    bar.ax.set_yticklabels([f"{level:g} {unit}".strip() for level in some])
    bar.set_label(f"cap of a {device_of(tinted)}" if is_cap(tinted) else tinted.replace("_", " "))


def _shown_settings(table: ConfigurationTable) -> tuple[str, str | None]:
    """Which setting is the colour and which the size: of caps and counts those of most levels."""
    by_levels = sorted(table.names, key=lambda name: -len(np.unique(table.settings[name])))
    tinted = next((name for name in by_levels if kind_of(name) != "count"), by_levels[0])
    return tinted, next((name for name in by_levels
                         if kind_of(name) == "count" and name != tinted), None)


def _draw_degree(panel: Any, choice: ConfigurationChoice) -> None:
    counts = [one.nodes for one in choice.by_nodes]
    panel.plot(counts, [one.time_s for one in choice.by_nodes], "^-", color="#1d3557",
               markerfacecolor="white", label="best of each node count")
    for name in ("best", "packed_max", "worst_case"):
        one = choice.named[name]
        if one is not None:
            mark, tint, size = _MARKS[name]
            panel.scatter([one.nodes], [one.time_s], marker=mark, c=tint, s=size, zorder=3,
                          label=name.replace("_", "-"))
    panel.set_xlabel("nodes in use")
    panel.set_ylabel("time (s)")
    panel.set_title("degree of overprovisioning", fontsize=10)
    panel.grid(alpha=0.25)
    panel.legend(fontsize=8)


def _plain_ticks(axis: Any) -> None:
    """Numbers, not powers of ten, on a logarithmic axis of one or two decades."""
    from matplotlib.ticker import LogLocator, NullFormatter, ScalarFormatter

    axis.set_major_locator(LogLocator(base=10, subs=(1.0, 2.0, 3.0, 5.0)))
    axis.set_major_formatter(ScalarFormatter())
    axis.set_minor_formatter(NullFormatter())


def _figure(width: float, height: float) -> Any:
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")
