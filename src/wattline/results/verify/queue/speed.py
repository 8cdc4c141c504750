"""The speed that all jobs have together, where a policy slows the whole machine down."""

from __future__ import annotations

import numpy as np

from wattline.model.jobs import NO_JOB
from wattline.model.promises import QueueRule
from wattline.model.run import EventKind, Run
from wattline.model.signal import FloatArray


class CommonSpeed:
    """Progress of all jobs over time, by the rows of the log that change their speed together."""

    def __init__(self, run: Run, rule: QueueRule) -> None:
        log = run.events
        rows = np.flatnonzero((log.kind == EventKind.RATE) & (log.job == NO_JOB))
        self.changes = rule.least_power < 1.0
        self._time_s = np.append(run.start_s, log.time_s[rows])
        self._speed = np.append(rule.fastest, log.value[rows])
        gone_s = np.diff(self._time_s)
        self._done_s = np.append(0.0, np.cumsum(gone_s * self._speed[:-1]))

    def at(self, now_s: float) -> float:
        """The speed by which a decision of this time plans: that before its own change."""
        place = int(np.searchsorted(self._time_s, now_s, "left")) - 1
        return float(self._speed[max(place, 0)])

    def slack(self, slack_w: float) -> float:
        """Watts by which a job must fit to be sure that it does: powers of levels are rounded."""
        return slack_w if self.changes else 0.0

    def due_s(self, start_s: FloatArray, takes_s: FloatArray, now_s: float) -> FloatArray:
        """When jobs that take so long at full speed are gone at the speed of now."""
        left_s = takes_s - (self._progress(np.array([now_s])) - self._progress(start_s))
        return np.asarray(now_s + left_s / self.at(now_s))

    def _progress(self, time_s: FloatArray) -> FloatArray:
        place = np.maximum(np.searchsorted(self._time_s, time_s, "right") - 1, 0)
        passed_s = np.maximum(time_s - self._time_s[place], 0.0)
        return np.asarray(self._done_s[place] + passed_s * self._speed[place])
