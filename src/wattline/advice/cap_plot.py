"""The picture of `advise cap`: mean wait over the cap, a line per power policy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from wattline.analysis.drawing import CAP_COLOUR, COLOURS, DASHES, INK, sheet
from wattline.analysis.summary import time_text
from wattline.model.pictures import save_picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from wattline.advice.cap import CapAdvice

ROUND_S = (1, 2, 5, 10, 20, 30, *(60 * n for n in (1, 2, 5, 10, 20, 30)),
           *(3600 * n for n in (1, 2, 5, 10)), *(86400 * n for n in (1, 2, 5, 10, 20, 50, 100)))
MOST_MARKS = 7

def draw_caps(advice: CapAdvice, path: Path) -> Path:
    """Every cap that was tried, and a mark where each policy's tightest one is."""
    figure, (axes,) = sheet(height=4.2)
    for number, choice in enumerate(advice.choices):
        colour = COLOURS[number % len(COLOURS)]
        shares = [each.cap_w / advice.peak_w for each in choice.tried]
        waits = [each.figures.wait_s for each in choice.tried]
        label = choice.policy
        if choice.cap_w is not None:
            label += f": {choice.cap_w / advice.peak_w:.1%}"
        axes.plot(shares, waits, linestyle=DASHES[number % len(DASHES)], color=colour, label=label,
                  marker=".", markersize=4)
        if choice.cap_w is not None and choice.figures is not None:
            axes.plot(choice.cap_w / advice.peak_w, choice.figures.wait_s, "o", color=colour)
    limit_s = advice.limits.resolve(advice.free).wait_s
    if limit_s < float("inf"):
        axes.axhline(limit_s, color=CAP_COLOUR, linewidth=1.0)
        axes.annotate(f"limit {time_text(limit_s)}", (0.01, limit_s), color=CAP_COLOUR,
                      xycoords=("axes fraction", "data"), va="bottom")
    axes.xaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    axes.yaxis.set_major_formatter(lambda wait_s, _: time_text(wait_s))
    if advice.free.wait_s > 0:
        axes.set_yscale("log")
        _mark_round_times(axes)
    axes.set_xlabel("cap, as a part of the peak without one", color=INK)
    axes.set_ylabel("mean wait", color=INK)
    axes.legend(frameon=False)
    return save_picture(figure, path)


def _mark_round_times(axes: Axes) -> None:
    """Minutes, hours and days instead of powers of ten of seconds; few of them on a long axis."""
    low_s, high_s = axes.get_ylim()
    shown = [time_s for time_s in ROUND_S if low_s <= time_s <= high_s]
    if len(shown) > 1:
        shown = shown[:: -(-len(shown) // MOST_MARKS)]
        axes.set_yticks(shown, [time_text(time_s) for time_s in shown])
    else:  # within one step of these times; even ones say more than powers of ten
        axes.set_yscale("linear")
        axes.yaxis.set_major_formatter(lambda wait_s, _: time_text(wait_s))
    axes.minorticks_off()
