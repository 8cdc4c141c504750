"""The audit of power bounds at every level: no rack, unit or site above its own."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from wattline.analysis.audit import (
    GIVING,
    TAKING,
    TOLERANCE,
    at_event,
    held_s,
    placed_wrongly,
    stays_end,
)
from wattline.analysis.free_units import of_units, stay_sums
from wattline.analysis.power_audits import changes, changes_together, job_powers
from wattline.model.run import PowerBound, Run
from wattline.model.signal import FloatArray


def within_bounds(run: Run) -> Iterator[str]:
    """Each bounded entity draws what it draws idle, and of each job the part of its nodes there.

    What a job draws above idle is spread over its nodes equally, and of a node's watts the share
    counts that the bound has. It can be said where the log
    gives each change of a job's power, and the run knows which nodes a job held.
    """
    if not run.bounds:
        return
    if run.placement is None:
        yield "the run has power bounds, and does not say which nodes its jobs held"
        return
    if placed_wrongly(run, run.placement).any() or not stays_end(run):
        return  # which is reported as such
    if changes_together(run):
        return
    row, power_w, _ = job_powers(run)
    stay = np.cumsum(np.isin(run.events.kind[row], TAKING)) - 1
    idle_w = stay_sums(run, of_units(run, lambda node: node.power_w_idle))
    if idle_w is None:
        return
    share_w = (power_w - idle_w[stay]) / run.schedule.nodes[run.events.job[row]]
    share_w[np.isin(run.events.kind[row], GIVING)] = 0.0
    for bound in run.bounds:
        drawn_w = bound.idle_w + np.cumsum(
            changes(run, row, share_w * _watts_counted(run, bound)[stay]))
        over = np.flatnonzero((drawn_w > bound.limit_w * (1 + TOLERANCE) + 1e-6)
                              & (held_s(run) > 0))
        if over.size:
            yield (f"{bound.entity} is above its bound of {bound.limit_w:.10g} W "
                   f"{at_event(run, over)}: it draws {drawn_w[over].max():.10g} W at most")


def _watts_counted(run: Run, bound: PowerBound) -> FloatArray:
    """Of each stay of a job what counts here if each of its nodes draws a watt more."""
    inside = np.zeros(run.units)
    inside[bound.nodes] = 1.0 if bound.share is None else bound.share
    found = stay_sums(run, inside)
    assert found is not None
    return found
