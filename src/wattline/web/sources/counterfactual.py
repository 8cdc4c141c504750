"""Course of a run without its cap from a moment on: which waiting jobs would start.

The question is asked of the run's own policies: everything is simulated once more, with the cap
lifted at that moment, as if an operator had ordered it then.
"""

from __future__ import annotations

import threading
import warnings
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from wattline.model.cap_value import cap_field
from wattline.model.errors import WattlineError, WattlineWarning
from wattline.model.jobs import IntArray
from wattline.model.run import Run
from wattline.model.signal import FloatArray, Signal

if TYPE_CHECKING:
    from wattline.scenario.build import Plan

LIFTED_W = 1e11
"""A cap above what any machine draws."""
SOON_S = 1.0
SAME_S = 1e-6


class WithoutCap:
    """A run's policies, asked what they would do without the cap."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self._lock = threading.Lock()
        self._last: tuple[int, npt.NDArray[np.bool_] | None] | None = None

    def starting(self, time_s: float, waiting: IntArray) -> npt.NDArray[np.bool_] | None:
        """Of these waiting jobs those that would start at once if the cap were lifted now.

        None where it cannot be told: where simulating the run again does not give the same run.
        """
        place = int(np.searchsorted(self.run.events.time_s, time_s, side="right"))
        with self._lock:
            if self._last is None or self._last[0] != place:
                self._last = place, self._soon(time_s)
            found = self._last[1]
        return None if found is None else found[waiting]

    def _soon(self, time_s: float) -> npt.NDArray[np.bool_] | None:
        """By job: whether it starts within a second of a cap that is lifted at this time."""
        other_s = self._starts_s(time_s)
        if other_s is None:
            return None
        own_s = np.where(self.run.ran, self.run.schedule.start_s, np.inf)
        before = own_s < time_s - SAME_S
        if not np.array_equal(before, other_s < time_s - SAME_S) or not np.allclose(
                own_s[before], other_s[before], rtol=0.0, atol=SAME_S):
            return None
        return np.asarray(other_s <= time_s + SOON_S)

    def _starts_s(self, time_s: float) -> FloatArray | None:
        from wattline.engine.simulate import simulate

        cap_w, plan = self.run.cap_w, self._plan
        if cap_w is None or plan is None:
            return None
        steps = [(at_s, watts) for at_s, watts in zip(
            cap_w.time_s.tolist(), cap_w.value.tolist(), strict=True) if at_s < time_s]
        lifted = Signal.from_steps([*steps, (time_s, LIFTED_W)], cap_w.unit)
        try:
            other = simulate(plan.jobs, plan.machine, plan.policy,
                             replace(plan.rules, cap_w=lifted))
        except WattlineError:
            return None
        found = np.full(len(self.run.jobs), np.inf)
        found[~self.run.refused] = np.where(other.ran, other.schedule.start_s, np.inf)
        return found

    @cached_property
    def _plan(self) -> Plan | None:
        """The run's policies made ready once more for its own jobs; None where that fails."""
        from wattline.policies.contract import Composition
        from wattline.scenario.build import plan
        from wattline.scenario.load import validate
        from wattline.traces import trace_of

        jobs = self.run.jobs.take(~self.run.refused)  # without a cap they would wait
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", WattlineWarning)  # the run has said them
                made = plan(validate(self._fields(), "run"), trace_of(jobs),
                            machine=self.run.machine)
        except WattlineError:
            return None
        usable = isinstance(made.policy, Composition) and len(made.jobs) == len(jobs)
        return made if usable else None

    def _fields(self) -> dict[str, Any]:
        """The scenario of the run, with the jobs that are here and the cap in watts."""
        fields = {**self.run.scenario, "trace": {"file": "jobs"}}
        power = dict(fields.get("power") or {})
        cap_w = self.run.cap_w
        if cap_w is not None and not isinstance(power.get("cap"), dict):
            power["cap"] = cap_field(cap_w.value.max())
        fields["power"] = power
        return fields
