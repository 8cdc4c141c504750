"""What all pictures share: the sheet, the colours, the clock on the axis, the file.

Colours are those of Okabe and Ito, which people with any kind of colour vision can tell apart.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from wattline.analysis.describe import date_text, unix_start_s
from wattline.model.run import Run
from wattline.model.signal import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 2)), (0, (1, 1)))
CAP_COLOUR = "#8B0000"
INK, SOFT, GRID = "#222222", "#888888", "#dddddd"
WIDTH, HEIGHT, DPI = 10.0, 3.3, 130
NARROW = 4.6
"""Inches of a picture for narrow screens: its letters are some 11 pixels on one of 400."""
MINUS = "\N{MINUS SIGN}"
"""Before negative numbers on axes, where matplotlib writes no hyphen either."""
_LETTERS_PER_INCH, _LEGEND_SIGN_LETTERS, _LONGEST_NAME = 12, 7, 44


class Clock(NamedTuple):
    """How times are written on an axis: as dates where the log has them."""

    origin_s: float
    unit_s: float
    label: str
    dated: bool

    def x(self, time_s: Any) -> Any:
        return (np.asarray(time_s) - self.origin_s) / self.unit_s


def clock_of(runs: Mapping[str, Run]) -> Clock:
    """The clock of the first run: runs that are drawn together replay the same log."""
    run = next(iter(runs.values()))
    start_s, end_s = span_of(runs)
    unix_s = unix_start_s(run)
    if unix_s is not None:  # matplotlib counts days since 1970
        label = f"{date_text(unix_s + start_s)} to {date_text(unix_s + end_s)} (UTC)"
        return Clock(-unix_s, 86400.0, label, True)
    for least_s, unit_s, word in ((3 * 86400, 86400.0, "days"), (3 * 3600, 3600.0, "hours"),
                                  (300, 60.0, "minutes")):
        if end_s - start_s >= least_s:
            return Clock(start_s, unit_s, f"{word} since the first submission", False)
    return Clock(start_s, 1.0, "seconds since the first submission", False)


def span_of(runs: Mapping[str, Run]) -> tuple[float, float]:
    start_s = min(run.start_s for run in runs.values())
    return start_s, max(*(run.end_s for run in runs.values()), start_s + 1.0)


def sheet(
    panels: int = 1, height: float = HEIGHT, *, alike: bool = True, width: float = WIDTH
) -> tuple[Figure, list[Axes]]:
    """Panels one above the other, which share their axes where they are alike."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    rows = figure.subplots(panels, 1, sharex=alike, sharey=alike, squeeze=False)
    panes = [row[0] for row in rows]
    for axes in panes:
        dress(axes)
    return figure, panes


def dress(axes: Axes) -> None:
    """Two quiet sides and a grid behind what is drawn."""
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(SOFT)
    axes.tick_params(colors=INK, color=SOFT)
    axes.grid(True, color=GRID, linewidth=0.7)
    axes.set_axisbelow(True)


def write_time(axes: Axes, runs: Mapping[str, Run]) -> None:
    """Limits, ticks and label of a time axis."""
    clock = clock_of(runs)
    start_s, end_s = span_of(runs)
    axes.set_xlim(clock.x(start_s), clock.x(end_s))
    axes.set_xlabel(clock.label, color=INK)
    if clock.dated:
        from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

        locator = AutoDateLocator(minticks=4, maxticks=10)
        axes.xaxis.set_major_locator(locator)
        axes.xaxis.set_major_formatter(ConciseDateFormatter(
            locator, show_offset=False,
            formats=["%Y", "%b", "%d %b", "%H:%M", "%H:%M", "%S"],
            zero_formats=["", "%b %Y", "%d %b", "%d %b", "%H:%M", "%H:%M"],
        ))


def shade(axes: Axes, low: Any, high: FloatArray, x: FloatArray, **look: Any) -> None:
    """Fill steps between two heights, given the edges of the spans.

    As `axes.stairs` does, which asks each corner for itself how far it reaches.
    """
    from matplotlib.patches import StepPatch

    steps = StepPatch(high, x, baseline=low, fill=True, linewidth=0, **look)
    steps.sticky_edges.y.append(np.min(low))
    axes.add_artist(steps)
    axes.update_datalim([(x[0], min(np.min(low), np.min(high))), (x[-1], np.max(high))])


def thousands(axes: Axes) -> None:
    """Counts on the upright axis, thousands apart."""
    from matplotlib.ticker import MaxNLocator, StrMethodFormatter

    axes.yaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 5, 10], integer=True))
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))


def legend_above(axes: Axes, *, whole: bool = False) -> None:
    """A legend over the picture, in as many columns as its words leave room for.

    Names are shortened only to what a column has room for; where the picture's answer stands in
    them, they are to be `whole`.
    """
    handles, labels = axes.get_legend_handles_labels()
    figure = axes.get_figure(root=True)
    assert figure is not None
    letters = _LETTERS_PER_INCH * figure.get_figwidth()
    longest = min(max(map(len, labels)), letters if whole else _LONGEST_NAME)
    columns = max(1, min(len(labels), int(letters / (longest + _LEGEND_SIGN_LETTERS))))
    room = int(letters / columns) - _LEGEND_SIGN_LETTERS
    figure.legend(handles, [_shortened(label, room) for label in labels],
                  loc="outside upper left", ncols=columns, frameon=False, columnspacing=1.4)


def _shortened(name: str, room: int) -> str:
    """With both its ends, which differ where its middle may not."""
    if len(name) <= room:
        return name
    end = (room - 5) * 2 // 5
    return f"{name[:room - 5 - end]} ... {name[-end:]}"


_UNDATED: dict[str, dict[str, None]] = {
    "png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}


def picture_bytes(figure: Figure, form: str, salt: str = "wattline") -> bytes:
    """The picture as a file's content; without a date, so that equal runs give equal files."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    FigureCanvasAgg(figure)
    content = io.BytesIO()
    with rc_context({"svg.hashsalt": salt}), _laid_out(figure):
        figure.savefig(content, format=form, dpi=DPI, metadata=_UNDATED[form])
    return content.getvalue()


@contextmanager
def _laid_out(figure: Figure) -> Iterator[None]:
    """With its parts in their places: to find them, matplotlib would draw all of it once more."""
    layout, dpi = figure.get_layout_engine(), figure.dpi
    if layout is None:
        yield
        return
    figure.dpi = DPI
    layout.execute(figure)
    figure.set_layout_engine(None)
    try:
        yield
    finally:
        figure.set_layout_engine(layout)
        figure.dpi = dpi


def png(figure: Figure) -> bytes:
    return picture_bytes(figure, "png")
