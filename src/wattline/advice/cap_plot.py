"""The picture of `advise cap`: what is limited over the cap, a line per power policy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from wattline.analysis.drawing import CAP_COLOUR, COLOURS, DASHES, INK, WIDTH, dress, sheet
from wattline.analysis.summary import energy_text, number_text, time_text
from wattline.model.pictures import save_picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from wattline.advice.cap import CapAdvice, CapChoice, Tried

ROUND_S = (1, 2, 5, 10, 20, 30, *(60 * n for n in (1, 2, 5, 10, 20, 30)),
           *(3600 * n for n in (1, 2, 5, 10)), *(86400 * n for n in (1, 2, 5, 10, 20, 50, 100)))
MOST_MARKS = 7
HEIGHT, STRIP_HEIGHT = 4.2, 0.2
"""Inches; of the strip for each of its lines."""


class _Shown(NamedTuple):
    """What is drawn over the cap."""

    name: str
    """Of the limit, and the figure's field."""
    field: str
    label: str
    text: Callable[[float], str]


SHOWN = (_Shown("wait", "wait_s", "mean wait", time_text),
         _Shown("slowdown", "slowdown", "mean bounded slowdown", number_text),
         _Shown("energy", "energy_j", "energy", energy_text))


def draw_caps(advice: CapAdvice, path: Path) -> Path:
    return save_picture(cap_figure(advice), path)


def cap_figure(advice: CapAdvice) -> Figure:
    """Every cap that was tried, and a mark where each policy's tightest one is.

    Over the caps stands what is limited: the first of wait, slowdown and energy that is.
    """
    given = advice.limits.given()
    shown = next((each for each in SHOWN if each.name in given), SHOWN[0])
    losing = {number: choice for number, choice in enumerate(advice.choices)
              if lost_under(advice, choice)}
    figure, axes, strip = _sheet(len(losing))
    for number, choice in enumerate(advice.choices):
        _draw_choice(axes, advice, choice, number, shown)
    if strip is not None:
        _draw_lost(strip, advice, losing)
    limit = getattr(advice.limits.resolve(advice.free), shown.field)
    if limit < float("inf"):
        axes.axhline(limit, color=CAP_COLOUR, linewidth=1.0)
        axes.annotate(f"limit {shown.text(limit)}", (0.01, limit), color=CAP_COLOUR,
                      xycoords=("axes fraction", "data"), va="bottom")
    axes.xaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    axes.yaxis.set_major_formatter(lambda value, _: shown.text(value))
    if shown.field == "wait_s" and advice.free.wait_s > 0:
        axes.set_yscale("log")
        _mark_round_times(axes)
    axes.set_xlabel("cap, as a part of the peak without one", color=INK)
    axes.set_ylabel(shown.label, color=INK)
    axes.legend(frameon=False)
    return figure


def _sheet(losing: int) -> tuple[Figure, Axes, Axes | None]:
    """The axes, and above them a strip for the policies under which jobs never run: on the axes
    they would be read as figures."""
    if not losing:
        figure, (axes,) = sheet(height=HEIGHT)
        return figure, axes, None
    from matplotlib.figure import Figure

    high = STRIP_HEIGHT * (losing + 1)
    figure = Figure(figsize=(WIDTH, HEIGHT + high), layout="constrained")
    strip, axes = figure.subplots(2, 1, sharex=True, height_ratios=(high, HEIGHT))
    for each in (strip, axes):
        dress(each)
    return figure, axes, strip


def _draw_lost(strip: Axes, advice: CapAdvice, losing: Mapping[int, CapChoice]) -> None:
    """A row for each policy, with a cross for each cap that was tried in vain."""
    for row, (number, choice) in enumerate(losing.items()):
        lost = lost_under(advice, choice)
        strip.plot([each.cap_w / advice.peak_w for each in lost], [row] * len(lost), "x",
                   color=COLOURS[number % len(COLOURS)], markersize=5)
    strip.set_yticks(range(len(losing)), [choice.policy for choice in losing.values()])
    strip.set_ylim(len(losing) - 0.5, -0.5)
    strip.set_title("jobs never run", loc="left", fontsize="medium", color=INK)
    strip.grid(False, axis="y")
    strip.spines["bottom"].set_visible(False)
    strip.tick_params(axis="both", length=0)


def _draw_choice(
    axes: Axes, advice: CapAdvice, choice: CapChoice, number: int, shown: _Shown
) -> None:
    """The line ends where more jobs never run than may: what is left of them says little."""
    colour = COLOURS[number % len(COLOURS)]
    label = choice.policy
    if choice.cap_w is not None:
        label += f": {choice.cap_w / advice.peak_w:.1%}"
    lost = lost_under(advice, choice)
    ran = [each for each in choice.tried if each not in lost]
    axes.plot([each.cap_w / advice.peak_w for each in ran],
              [getattr(each.figures, shown.field) for each in ran],
              linestyle=DASHES[number % len(DASHES)], color=colour, label=label, marker=".",
              markersize=4)
    if choice.cap_w is not None and choice.figures is not None:
        axes.plot(choice.cap_w / advice.peak_w, getattr(choice.figures, shown.field), "o",
                  color=colour)


def lost_under(advice: CapAdvice, choice: CapChoice) -> list[Tried]:
    """The caps under which more jobs never run than may be lost."""
    most = advice.free.refused + (advice.limits.refused or 0)
    return [each for each in choice.tried if each.figures.refused > most]


def _mark_round_times(axes: Axes) -> None:
    """Minutes, hours and days instead of powers of ten of seconds; few of them on a long axis."""
    low_s, high_s = axes.get_ylim()
    shown = [time_s for time_s in ROUND_S if low_s <= time_s <= high_s]
    if len(shown) > 1:
        shown = shown[:: -(-len(shown) // MOST_MARKS)]
        axes.set_yticks(shown, [time_text(time_s) for time_s in shown])
    else:  # within one step of these times; even ones say more than powers of ten
        axes.set_yscale("linear")
        axes.set_ylim(low_s, high_s)
        axes.set_yticks(_even_times(low_s, high_s))
        axes.yaxis.set_major_formatter(lambda wait_s, _: time_text(wait_s))
    axes.minorticks_off()


def _even_times(low_s: float, high_s: float) -> list[float]:
    """Multiples of a round time within these."""
    step_s = next((each for each in ROUND_S if (high_s - low_s) / each <= MOST_MARKS), ROUND_S[-1])
    return [float(step_s * n) for n in range(ceil(low_s / step_s), int(high_s // step_s) + 1)]
