"""The picture of `advise job`: time over energy, with what nothing beats and the best named."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from wattline.advice.job_options import BASES
from wattline.analysis.drawing import CAP_COLOUR, COLOURS, INK, SOFT, legend_above, sheet
from wattline.model.pictures import save_picture

if TYPE_CHECKING:
    from matplotlib.axis import Axis

    from wattline.advice.job_options import JobAdvice

RINGS = ("o", "s", "D", "^", "v")
MARKERS = {"measured": "o", "claimed": "s", "predicted": "x"}


def draw_job(advice: JobAdvice, path: Path) -> Path:
    """Every option, the front as a line, the best by each measure with its name."""
    figure, (axes,) = sheet(height=5.0)
    for number, basis in enumerate(BASES):
        chosen = [option for option in advice.options if option.basis == basis]
        if chosen:
            axes.plot([o.energy_j for o in chosen], [o.time_s for o in chosen], MARKERS[basis],
                      color=COLOURS[number], markersize=5, linestyle="", label=basis)
    front = [advice.options[at] for at in advice.front]
    axes.plot([o.energy_j for o in front], [o.time_s for o in front], color=SOFT, linewidth=1.2,
              zorder=1, label="nothing is faster and thriftier")
    for number, (words, at) in enumerate(named(advice).items()):
        option = advice.options[at]
        axes.plot(option.energy_j, option.time_s, RINGS[number % len(RINGS)], markersize=11,
                  markerfacecolor="none", markeredgecolor=CAP_COLOUR, markeredgewidth=1.6,
                  linestyle="", label=f"best {words}: {option.label}")
    for scale, values in ((axes.set_xscale, [o.energy_j for o in advice.options]),
                          (axes.set_yscale, [o.time_s for o in advice.options])):
        scale("log" if max(values) > 10 * min(values) else "linear")
    axes.margins(x=0.08, y=0.1)
    for axis, unit in ((axes.xaxis, "J"), (axes.yaxis, "s")):
        axis.set_major_formatter(f"{{x:,g}} {unit}")
        axis.set_minor_formatter(f"{{x:,g}} {unit}" if _spans_little(axis) else "")
    axes.set_xlabel(f"energy of {advice.application}", color=INK)
    axes.set_ylabel("time", color=INK)
    legend_above(axes, whole=True)
    return save_picture(figure, path)


def _spans_little(axis: Axis) -> bool:
    """Whether so few powers of ten are in view that the marks between them need names."""
    low, high = axis.get_view_interval()
    return bool(axis.get_scale() == "log" and high < 100 * low)


def named(advice: JobAdvice) -> dict[str, int]:
    """The measures by what they choose: `energy, cost` where both choose the same."""
    by_option: dict[int, list[str]] = {}
    for name, at in advice.best.items():
        by_option.setdefault(at, []).append(name)
    return {", ".join(names): at for at, names in by_option.items()}
