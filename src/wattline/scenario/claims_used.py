"""Effects of claims on a log: whose time and watts are the log's, and whose changed."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from wattline.engine.truth import TrueClaims
from wattline.model.jobs import JobTable
from wattline.model.run import Run
from wattline.policies.configuration.claimed_setup import Options

CHANGED_FROM = 1e-6
"""Relative: a time that differs by less is that of the log."""


def claims_said(options: Options | None, jobs: JobTable) -> tuple[str, ...]:
    """A line for each thing that is to be said of jobs, with how many and the first of them."""
    said: Mapping[str, tuple[int, ...]] = {} if options is None else options.said
    lines = []
    for what, rows in said.items():
        first = ", ".join(str(jobs.job_id[row]) for row in rows[:5])
        lines.append(f"claims: {len(rows):,} job{'' if len(rows) == 1 else 's'}: {what} "
                     f"({first}{', ...' if len(rows) > 5 else ''})")
    return tuple(lines)


def claims_notes(run: Run, work: object) -> tuple[dict[str, float], tuple[str, ...]]:
    """Count the jobs that claims chose for, and those that took another time than logged."""
    if not isinstance(work, TrueClaims) or len(work.time_factor) != len(run.jobs):
        return {}, ()
    from wattline.policies.configuration.claimed import ClaimsMemory

    memory = next(one for one in run.memories.values() if isinstance(one, ClaimsMemory))
    claimed = run.ran & (memory.count[: len(run.jobs)] > 0)
    row = np.where(claimed, memory.first[: len(run.jobs)] + run.schedule.configuration, 0)
    factor = np.where(np.isnan(work.time_factor), 1.0, work.time_factor)
    takes_s = work.true_s[row] * factor if len(work.true_s) else run.jobs.run_s
    takes_s = np.where(claimed & ~np.isnan(work.time_factor), takes_s, run.jobs.run_s)
    changed = claimed & ~np.isclose(takes_s, run.jobs.run_s, rtol=CHANGED_FROM, atol=0.0)
    longer = int((changed & (takes_s > run.jobs.requested_s)
                  & (run.jobs.run_s <= run.jobs.requested_s)).sum())
    notes = {"claims_jobs": float(claimed.sum()), "claims_unknown_jobs": float(
        (run.ran & ~claimed).sum()), "claims_changed_time_jobs": float(changed.sum()),
        "claims_beyond_request_jobs": float(longer)}
    beyond = f", {longer:,} of them a longer one than they asked for" if longer else ""
    return notes, (f"claims chose the node class and setting of {int(claimed.sum()):,} of "
                   f"{int(run.ran.sum()):,} jobs that ran; {int(changed.sum()):,} of them took "
                   f"another time than their log says{beyond}",)
