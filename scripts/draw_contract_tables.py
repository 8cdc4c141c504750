"""Pictures of the tables of docs/demand-response.md: what stands there is what is drawn."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from scripts.draw_contracts import Picture, plain_axes

from wattline.demand_response.plots import AMBER, BLUE, RED

PAGE = Path(__file__).resolve().parent.parent / "docs" / "demand-response.md"
FLOOR = 0.59
"""The cost of the idle machine for an hour."""


def table(first: str) -> list[list[str]]:
    """The rows of the page's table whose header begins so."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    begin = next(n for n, line in enumerate(lines) if line.startswith(f"| {first} |"))
    rows = []
    for line in lines[begin + 2:]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


def number(cell: str) -> float:
    """The first number of a cell; NaN where there is none."""
    found = re.search(r"-?\d+(\.\d+)?", cell)
    return float(found.group()) if found else float("nan")


def _pairs(axes: Axes, names: list[str], *series: tuple[str, str, list[float]]) -> None:
    for place, (word, colour, values) in enumerate(series):
        axes.bar(np.arange(len(names)) + 0.4 * place - 0.2, values, 0.38, color=colour, label=word)
    axes.set_xticks(range(len(names)), names)


def other_hours() -> Picture:
    """On how many of 20 other hours a bid holds that was planned on one hour, or on 30."""
    figure, axes = plain_axes(9, 3.2)
    rows = table("workload | one hour: cost")
    _pairs(axes, [row[0] for row in rows],
           ("planned on one hour", AMBER, [number(row[3]) for row in rows]),
           ("planned on 30 hours", BLUE, [number(row[8]) for row in rows]))
    axes.set_ylabel("of 20 other hours, met")
    axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    axes.set_title("with standby jobs; no bar: the answer is to stay out", loc="left", fontsize=9)
    return Picture(lambda: figure)


def costs() -> Picture:
    """Costs of an hour of the 14 workloads beside the published ones, and what no bid goes below.
    """
    figure, axes = plain_axes(9, 3.2)
    rows = table("workload | AQA cost")
    _pairs(axes, [row[0] for row in rows], ("here", BLUE, [number(row[1]) for row in rows]),
           ("published", AMBER, [number(row[5]) for row in rows]))
    axes.axhline(FLOOR, color="black", ls="--", lw=1.0, label="the idle machine")
    axes.set_ylabel("cost of an hour")
    axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return Picture(lambda: figure)


def hundred_servers() -> Picture:
    """Savings on 100 servers over ten seeds with their intervals, and the published ones."""
    figure, axes = plain_axes(8, 3.6)
    rows = [row for row in table("case | policy") if row[1] == "qosg" and row[2]]
    places = np.arange(len(rows))
    spans = [[float(text) for text in re.findall(r"\d+\.\d+", row[2])] for row in rows]
    for place, (mean, low, high) in zip(places, spans, strict=True):
        axes.plot([low, high], [place, place], color=BLUE, lw=3, alpha=0.5)
        axes.plot(mean, place, "o", color=BLUE, label="here, with 95 %" if place == 0 else None)
    theirs = [number(row[5].partition("saving")[2]) for row in rows]
    axes.plot(theirs, places, "D", color=AMBER, label="published (\"above\" for other sizes)")
    axes.set_yticks(places, [row[0] for row in rows])
    axes.invert_yaxis()
    axes.set_xlim(left=0)
    axes.set_xlabel("saving, %")
    axes.legend(fontsize=8)
    return Picture(lambda: figure)


def long_days() -> Picture:
    """Large errors and degradation of the days of real logs, with adaptive bids."""
    figure, axes = plain_axes(7, 3.8)
    rows = [row for row in table("log, day") if not row[0].startswith("published")]
    for column, word, colour in ((2, "QoSCap", BLUE), (5, "EnergyQARE", RED)):
        found = [[float(text) for text in re.findall(r"\d+\.\d+", row[column])[:2]]
                 for row in rows]
        axes.plot([pair[0] for pair in found], [pair[1] for pair in found], "o", color=colour,
                  alpha=0.7, label=word)
    axes.axhline(2, color="black", ls="--", lw=0.8)
    axes.axvline(10, color="black", ls="--", lw=0.8)
    axes.set_yscale("log")
    axes.set_xlim(left=0)
    axes.set_xlabel("share of the day with a large error, %")
    axes.set_ylabel("largest mean degradation")
    axes.set_title("adaptive bids, a point per day; both limits are kept at the lower left",
                   loc="left", fontsize=9)
    axes.legend(fontsize=8)
    return Picture(lambda: figure)
