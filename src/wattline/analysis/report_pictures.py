"""The pictures of a report: each as a chart for the page, and as a file."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wattline.analysis import charts, plots, series
from wattline.analysis.charts import Chart
from wattline.analysis.drawing import (
    CAP_COLOUR,
    COLOURS,
    GRID,
    INK,
    SOFT,
    picture_bytes,
    png,
)
from wattline.analysis.summary import time_text
from wattline.model.run import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMS = ("png", "svg", "pdf")
PAGE_COLOURS = {INK: "ink", SOFT: "edge", GRID: "line", CAP_COLOUR: "cap",
                **{COLOURS[number]: f"series-{number}" for number in range(6)},
                "#000000": "ink"}
"""Colours of pictures, and the variables of the page that stand for them."""


@dataclass(frozen=True)
class Still:
    """A picture: embedded, and the content of its file."""

    file: str
    content: bytes
    embedded: str


@dataclass(frozen=True)
class Picture(Still):
    """A chart with how to read it, and its picture."""

    chart: Chart
    caption: str
    still: str
    """What is to be said of the picture and not of the chart."""


def still(figure: Figure, name: str, form: str) -> Still:
    image = png(figure)
    content = image if form == "png" else picture_bytes(figure, form)
    return Still(f"{name}.{form}", content,
                 "data:image/png;base64," + base64.b64encode(image).decode())


def inline_svg(figure: Figure, name: str) -> str:
    """A picture as a part of the page: sharp at any width, and in the colours of the page.

    `name` sets it apart from others on the page, which may have the same parts.
    """
    from matplotlib import rc_context

    figure.patch.set_visible(False)
    for axes in figure.axes:
        axes.patch.set_visible(False)
    with rc_context({"svg.fonttype": "none"}):
        text = picture_bytes(figure, "svg", salt=f"wattline-{name}").decode()
    text = text[text.index("<svg"):]
    text = re.sub(r"<metadata>.*?</metadata>|<style[^>]*>.*?</style>", "", text, flags=re.DOTALL)
    for colour, variable in PAGE_COLOURS.items():
        text = re.sub(colour, f"var(--{variable})", text, flags=re.IGNORECASE)
    return text


def in_widths(draw: Callable[[bool], Figure], name: str) -> list[tuple[str, str]]:
    """A picture for wide and one for narrow screens, of which a page shows the one that fits."""
    return [(width, inline_svg(draw(width == "narrow"), f"{name}-{width}"))
            for width in ("wide", "narrow")]


@dataclass(frozen=True)
class Planned:
    chart: Chart
    caption: str
    still: str
    draw: Callable[[], Figure]

    def drawn(self, form: str) -> Picture:
        found = still(self.draw(), self.chart.id, form)
        return Picture(found.file, found.content, found.embedded, self.chart, self.caption,
                       self.still)


def common_pictures(runs: Mapping[str, Run]) -> list[Planned]:
    """The pictures that show all runs."""
    means = f"The line is the mean of spans of {time_text(plots.span_s(runs, True))}."
    band = (f"The line is the mean of spans of {time_text(plots.span_s(runs, False))}; the shade "
            "reaches from the lowest to the highest value within each.")
    in_power = band if len(runs) <= plots.MOST_PANELS else means
    in_others = band if len(runs) == 1 else means
    shade = _shade(runs)
    cap = " The dashed line is the cap." if any(run.cap_w for run in runs.values()) else ""
    return [
        Planned(charts.power(runs),
                f"Power of the whole machine, idle nodes included. {shade}{cap}", in_power,
                lambda: plots.power(runs)),
        Planned(charts.durations(runs),
                "All moments sorted from the highest power to the lowest: read off for which share "
                "of the time the machine drew at least so much. A flat top means that a limit "
                "holds.", "", lambda: plots.durations(runs)),
        Planned(charts.utilisation(runs), f"Share of the machine given to jobs. {shade}", in_others,
                lambda: plots.utilisation(runs)),
        Planned(charts.queue(runs),
                f"Jobs that were submitted and have not started yet. {shade} A queue that grows "
                "and never empties means that more work arrives than the machine can do.",
                in_others, lambda: plots.queue(runs)),
        Planned(charts.waits(runs),
                "For each waiting time, the share of jobs that waited no longer. The higher the "
                "curve, the better; its height at the left end is the share that started at once.",
                "", lambda: plots.waits(runs)),
    ]


def _shade(runs: Mapping[str, Run]) -> str:
    """How the line and the shade of a chart over time are read, and how far it can be zoomed."""
    where = "" if len(runs) <= 2 else ", where one or two runs are shown,"
    span_s = charts.finest_s(runs)
    closest = "" if span_s is None else f" The closest view has a value per {time_text(span_s)}."
    return (f"The line is the mean; the shade{where} reaches from the lowest to the highest value, "
            f"so no peak is lost.{closest}")


def map_picture(run: Run, runs: Mapping[str, Run], suffix: str) -> Planned:
    """The job map, with the colours of the first run's users; without places, use by size."""
    users = plots.top_users(next(iter(runs.values())))
    found = series.job_map(run)
    if found is None:
        span_s = (run.end_s - run.start_s) / charts.SPANS_BY_SIZE
        return Planned(
            charts.use_by_size(f"use-by-size{suffix}", run, runs),
            "Units in use over time, stacked by the size of the jobs that held them. The closest "
            f"view has a mean per {time_text(span_s)}. This run did not record which units each "
            "job held, so there is no map of them.", "",
            lambda: plots.use_by_size(run))
    who = ("Neighbouring jobs differ in colour." if not users else
           "The users with the most use have a colour of their own, all others are grey."
           if plots.shows_others(plots.map_colours(run, found.job, users)) else
           "Each user has a colour.")
    return Planned(
        charts.job_map(f"job-map{suffix}", run, found, runs, users),
        f"Each block is a job: from left to right its time, from bottom to top its units; "
        f"what has no colour is free. {who} {_grain(run, found)}", "",
        lambda: plots.placed_jobs(run, found, users))


def _grain(run: Run, found: series.JobMap) -> str:
    """What the map shows at the closest: a job that is smaller may be missing from it."""
    rows, columns = found.job.shape
    long = f"{time_text((found.end_s - found.start_s) / columns)} long"
    if rows == found.units:
        return f"A point is {long}."
    return f"A point is {long} and {found.units / rows:.3g} {plots.unit_word(run)}s high."
