"""The picture of the study of the mixed cluster."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def picture(found: dict[str, Any]) -> Figure:
    """Time and energy of both loads beside what was published."""
    from matplotlib.figure import Figure as MakeFigure

    from wattline.analysis.drawing import INK, legend_above

    figure = MakeFigure(figsize=(10.0, 6.4), layout="constrained")
    for column, (load, rules) in enumerate(found["loads"].items()):
        for line, (key, label) in enumerate((("makespan_s", "time (s)"),
                                             ("energy_j", "energy (J)"))):
            axes = figure.add_subplot(2, 2, 2 * line + column + 1)
            _bars(axes, rules, key)
            axes.set_ylabel(label, color=INK)
            axes.set_title(load, loc="left", fontsize="medium", color=INK)
    legend_above(figure.axes[0])
    return figure


def _bars(axes: Axes, rules: dict[str, Any], key: str) -> None:
    """A bar per rule, and beside it the published one where there is one."""
    from wattline.analysis.drawing import COLOURS

    seen = [at for at, figures in enumerate(rules.values()) if "published" in figures]
    values = list(rules.values())
    places = [at - 0.2 if at in seen else float(at) for at in range(len(values))]
    axes.bar(places, [f[key] for f in values], 0.4, color=COLOURS[0], label="simulated")
    axes.bar([at + 0.2 for at in seen], [values[at]["published"][key] for at in seen], 0.4,
             color=COLOURS[1], label="published")
    axes.set_xticks(range(len(values)), list(rules))
    axes.yaxis.set_major_formatter("{x:,.0f}")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def write_pictures(found: dict[str, Any], folder: Path) -> list[Path]:
    """Write it as PNG."""
    from wattline.analysis.drawing import png

    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "hetero.png"
    path.write_bytes(png(picture(found)))
    return [path]
