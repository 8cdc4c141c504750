"""The course of a machine over the last day: a ring of samples, one per second, in the folder.

The controller writes it, so that pages know of times when no server ran. A place in the ring
belongs to a second of the day: writing needs neither a count nor a tidying up.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from wattline.model.signal import FloatArray

FILE = "course.bin"
DAY_S = 86_400
FIELDS = ("time_s", "power_w", "cap_w", "target_w", "queued")
ROW_BYTES = 8 * len(FIELDS)


class CourseWriter:
    """Keeps a sample per second of what `status.json` says."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE
        self.second = -1

    def write(self, said: Mapping[str, Any]) -> None:
        """The sample of this second, if there is none yet."""
        if int(said["time_s"]) == self.second:
            return
        self.second = int(said["time_s"])
        if not self.path.exists():
            with self.path.open("xb") as made:
                made.truncate(DAY_S * ROW_BYTES)
        measured_w = said["measured_w"]
        values = (said["time_s"], said["power_w"] if measured_w is None else measured_w,
                  said["cap_w"], (said.get("target") or {}).get("watts"), said["waiting"]["count"])
        row = np.array([math.nan if value is None else float(value) for value in values])
        with self.path.open("r+b") as ring:
            ring.seek(self.second % DAY_S * ROW_BYTES)
            ring.write(row.tobytes())


def read_course(folder: Path, now_s: float) -> FloatArray:
    """The samples of the last day in order of time, a row of `FIELDS` each; NaN is not known."""
    try:
        found = np.fromfile(folder / FILE)
    except OSError:
        return np.empty((0, len(FIELDS)))
    rows = found[: len(found) // len(FIELDS) * len(FIELDS)].reshape(-1, len(FIELDS))
    rows = rows[(rows[:, 0] > now_s - DAY_S) & (rows[:, 0] <= now_s + DAY_S)]
    rows = rows[np.argsort(rows[:, 0], kind="stable")]
    rows[np.isinf(rows)] = math.nan  # no cap
    return rows
