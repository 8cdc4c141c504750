"""Time and energy above a cap that counts running jobs and leaves idle units out."""

from __future__ import annotations

import numpy as np

from wattline.model.cap_slack import CAP_SLACK
from wattline.model.run import EventLog
from wattline.model.signal import FloatArray, Signal


def jobs_power_w(events: EventLog, units: int, idle_w: float) -> FloatArray:
    """Power of the running jobs after each event, where every unit idles at the same power."""
    power: FloatArray = events.power_w - (units - events.busy) * idle_w
    return power


def above_cap(events: EventLog, power_w: FloatArray, cap_w: Signal,
              end_s: float) -> tuple[float, float]:
    """Seconds and joules of a power, given after each event, above a cap."""
    if not len(events):
        return 0.0, 0.0
    edges = np.unique(np.concatenate((events.time_s, [end_s], cap_w.time_s)))
    edges = edges[(edges >= events.time_s[0]) & (edges <= end_s)]
    row = np.searchsorted(events.time_s, edges[:-1], "right") - 1
    cap = cap_w.sample(edges[:-1])
    length_s = np.diff(edges)
    above = power_w[row] > cap * (1.0 + CAP_SLACK) + CAP_SLACK * np.abs(events.power_w[row])
    return float(length_s[above].sum()), float(np.dot((power_w[row] - cap)[above], length_s[above]))
