"""The beginning of a log, on which a search may give a setting up."""

from __future__ import annotations

import numpy as np

from wattline.model.cap_value import cap_field
from wattline.scenario.build import Grounds, Plan
from wattline.scenario.caps import is_of_uncapped_run
from wattline.scenario.model import Scenario
from wattline.sweeps.shelf import Shelf
from wattline.traces import Trace

MONTH_S = 30 * 86400.0


class OneTrace(Shelf):
    """Hands out one trace, whatever the scenario."""

    def __init__(self, trace: Trace) -> None:
        self.grounds = Grounds()
        self._trace = trace

    def trace(self, scenario: Scenario) -> Trace:
        return self._trace


def as_of_whole(ready: Plan) -> Scenario:
    """The scenario with a cap in per cent of the run without one as the watts that it is by the
    whole log: a month of it has another peak."""
    scenario, cap_w = ready.scenario, ready.rules.cap_w
    parts = {name: cap_field(cap_w.value[0]) for name in ("cap", "watch_cap")
             if cap_w is not None and is_of_uncapped_run(getattr(scenario.power, name))}
    return scenario.model_copy(update={"power": scenario.power.model_copy(update=parts)})


def lasts_s(trace: Trace) -> float:
    submit_s = trace.jobs.submit_s
    return float(submit_s[-1] - submit_s[0]) if len(submit_s) else 0.0


def begin_of(trace: Trace, months: int) -> Trace:
    submit_s = trace.jobs.submit_s
    count = int(np.searchsorted(submit_s, submit_s[0] + months * MONTH_S))
    return trace.first(count)
