"""What a run made of its energy budget: periods kept, periods exceeded, time without one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from wattline.analysis.series import power_steps
from wattline.model.run import Run

_ROUNDING = 1e-6
"""What floats leave of a budget that is used to the last joule is no excess."""


def budget_notes(budget: Any, run: Run) -> dict[str, float]:
    """Figures for `Run.notes` from a budget's parameters (`admission.budget.Budget`)."""
    edges = np.asarray(budget.edge_s)[np.asarray(budget.first)]
    steps = power_steps(run)
    drawn_j = np.concatenate(([0.0], np.cumsum(steps.value * np.diff(steps.edge_s))))
    begun = edges[edges < run.end_s]
    ends = np.append(begun[1:], min(edges[-1], run.end_s)) if len(begun) else begun
    used_j = np.interp(ends, steps.edge_s, drawn_j) - np.interp(begun, steps.edge_s, drawn_j)
    used_j = used_j[ends > begun]
    over_j = np.maximum(used_j - budget.energy_j, 0.0)
    over_j[over_j <= _ROUNDING * budget.energy_j] = 0.0
    return {
        "budget_periods": float(len(used_j)),
        "budget_periods_over": float(np.count_nonzero(over_j)),
        "budget_excess_j": float(over_j.max(initial=0.0)),
        "budget_beyond_s": max(run.end_s - float(edges[-1]), 0.0),
    }


def budget_lines(notes: Mapping[str, float]) -> list[str]:
    """The same for people; nothing where all periods were kept."""
    from wattline.analysis.summary import energy_text, time_text

    found = []
    if notes.get("budget_periods_over"):
        found.append(
            f"{notes['budget_periods_over']:.0f} of {notes['budget_periods']:.0f} periods drew "
            f"more than their energy budget, by up to {energy_text(notes['budget_excess_j'])}: "
            "jobs were running when a period began, or ran longer than requested"
        )
    if notes.get("budget_beyond_s"):
        found.append(f"the run went on for {time_text(notes['budget_beyond_s'])} after the last "
                     "planned period, without a budget, for jobs that no period had room for")
    return found
