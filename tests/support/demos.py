"""The demo without simulating the same again: many tests look at it as it is opened."""

from __future__ import annotations

from wattline.model.run import Run
from wattline.web.sources.demo import DemoPlan, DemoSource

_RUNS: dict[tuple[int, DemoPlan], Run] = {}


class KeptDemo(DemoSource):
    """A demo whose run under a plan is simulated once per process; nobody writes into a run."""

    def simulated(self, plan: DemoPlan) -> Run:
        wanted = (len(self.table), plan)
        if wanted not in _RUNS:
            _RUNS[wanted] = super().simulated(plan)
        return _RUNS[wanted]
