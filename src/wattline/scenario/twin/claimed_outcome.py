"""What came of claims in a run of a twin: which classes jobs got, and whom that cost its limit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from wattline.model.run import Run
from wattline.scenario.twin.asked import Counter
from wattline.scenario.twin.claims import ClaimedJobs
from wattline.shared_nodes.machine import IntArray
from wattline.shared_nodes.outcome import KILLED, Schedule
from wattline.shared_nodes.requests import Requests

ANY_CLASS = "no class of node that claims know of has room for it alone: it ran as logged on any"
LATE = ("killed at its limit, which it kept in the log: by its claims it is slower on the class "
        "that it got")


def with_classes(run: Run, found: Schedule, requests: Requests, claimed: ClaimedJobs) -> Run:
    """A job's configuration is its class, counted from 1; 0 where claims did not choose."""
    chosen, kinds = found.option, claimed.options.kind
    kind = np.where(chosen >= 0, kinds[np.maximum(chosen, 0)] if kinds.size else 0, -1)
    kind = np.where(run.ran, kind, -1)
    by_class = np.bincount(kind[kind >= 0], minlength=len(claimed.classes))
    notes = {f"claims_{name}_jobs": float(count)
             for name, count in zip(claimed.classes, by_class, strict=True)}
    notes["claims_best_class_jobs"] = float(_on_best(chosen, kind, claimed).sum())
    return replace(run, schedule=replace(run.schedule, configuration=kind + 1),
                   notes={**run.notes, **notes},
                   remarks=(*run.remarks, *_said(run, found, requests, claimed, kind)))


def _on_best(chosen: IntArray, kind: IntArray, claimed: ClaimedJobs) -> np.ndarray:
    """Jobs on the class that has the best of all their options."""
    first = claimed.options.first[:-1]
    best = np.full(len(kind), -2)
    has = np.flatnonzero(np.diff(claimed.options.first) > 0)
    best[has] = claimed.options.kind[first[has]]
    return np.asarray(kind == best)


def _said(run: Run, found: Schedule, requests: Requests, claimed: ClaimedJobs,
          kind: IntArray) -> tuple[str, ...]:
    counts = ", ".join(f"{name} {int((kind == row).sum()):,}"
                       for row, name in enumerate(claimed.classes))
    said = [f"claims chose the node class of {int((kind >= 0).sum()):,} jobs: {counts}; "
            f"{int(_on_best(found.option, kind, claimed).sum()):,} of them got the one that is "
            "best for them"]
    by_job = Counter()
    has = np.diff(claimed.options.first) > 0
    for row in np.flatnonzero(run.ran & has & (kind < 0)).tolist():
        by_job.note(ANY_CLASS, requests.job_ids[row])
    late = (found.state == KILLED) & (kind >= 0) & (run.jobs.run_s < run.jobs.requested_s)
    for row in np.flatnonzero(late).tolist():
        by_job.note(LATE, requests.job_ids[row])
    return (*said, *(f"claims: {line}" for line in by_job.lines()))
