"""The picture of `twin check`: waits over time, and by partition."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from wattline.analysis.drawing import COLOURS, DASHES, INK, sheet
from wattline.analysis.summary import time_text
from wattline.model.pictures import save_picture

if TYPE_CHECKING:
    from wattline.twin.check import TwinCheck

MOST_GROUPS = 12


def bars_of(found: TwinCheck) -> tuple[list[str], list[float], list[float]]:
    """Mean waits by partition and QOS, those with the most jobs first."""
    rows = [(f"{key} {name}", row) for key in ("partition", "qos", "account")
            for name, row in found.by[key].items()]
    rows = sorted(rows, key=lambda row: -row[1]["jobs"])[:MOST_GROUPS]
    return ([name for name, _ in rows], [row["simulated"] or 0.0 for _, row in rows],
            [row["logged"] or 0.0 for _, row in rows])


def draw_check(found: TwinCheck, path: Path) -> Path:
    """Moving averages above, groups below."""
    figure, (above, below) = sheet(2, height=7.0, alike=False)
    series = found.series
    hours = series.time_s / 3600.0
    for number, (label, values) in enumerate((("logged", series.logged_s),
                                              ("simulated", series.simulated_s))):
        if values is not None:
            above.plot(hours, values, label=label, color=COLOURS[number],
                       linestyle=DASHES[number])
    above.set_xlabel("submitted, hours from the beginning", color=INK)
    above.set_ylabel(f"wait, mean of {time_text(series.window_s)}", color=INK)
    above.yaxis.set_major_formatter(lambda wait_s, _: time_text(wait_s))
    above.legend(frameon=False)
    names, simulated, logged = bars_of(found)
    place = np.arange(len(names))
    if series.logged_s is not None:
        below.barh(place - 0.2, logged, 0.4, color=COLOURS[0], label="logged")
    below.barh(place + 0.2, simulated, 0.4, color=COLOURS[1], label="simulated")
    below.set_yticks(place, [name[:30] for name in names])
    below.invert_yaxis()
    below.xaxis.set_major_formatter(lambda wait_s, _: time_text(wait_s))
    below.set_xlabel("mean wait", color=INK)
    below.legend(frameon=False)
    return save_picture(figure, path)
