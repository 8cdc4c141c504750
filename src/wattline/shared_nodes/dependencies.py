"""What jobs wait for before they may be scheduled, as tables; depending.py has the rules."""

from __future__ import annotations

from typing import Any

import numpy as np

from wattline.shared_nodes.requests import Dependencies, Requests
from wattline.shared_nodes.state_waiting import Wait


def dependencies_of(requests: Requests) -> Dependencies:
    """What was asked for; without any, tables without rows."""
    if requests.dependencies is not None:
        return requests.dependencies
    jobs = len(requests.submit_s)
    none = np.zeros(0, np.int64)
    return Dependencies(none, none, np.zeros(0), np.zeros(1, np.int64), none,
                        np.zeros(jobs, bool), np.full(jobs, -1), np.zeros(jobs, bool))


def wait_columns(found: Dependencies) -> dict[str, Any]:
    """Columns of the table of asks."""
    jobs = len(found.any_of)
    waits = np.bincount(found.job, minlength=jobs)
    tells = np.bincount(found.awaited, minlength=jobs)
    return {"first_wait": np.cumsum(waits) - waits, "waits": waits, "any_wait": found.any_of,
            "kill_wait": found.kill, "first_told": np.cumsum(tells) - tells, "tolds": tells,
            "namesakes": found.namesakes}


def wait_arrays(found: Dependencies) -> dict[str, Any]:
    """Conditions, who is told of each job, and the jobs of each user and name in their order."""
    wait: Any = Wait.table(len(found.job))
    wait["job"], wait["kind"], wait["delay_s"] = found.job, found.kind, found.delay_s
    wait["first"], wait["count"], wait["due_s"] = found.first[:-1], np.diff(found.first), -1.0
    condition = np.repeat(np.arange(len(found.job)), np.diff(found.first))
    groups = int(found.namesakes.max(initial=-1)) + 1
    inside = np.flatnonzero(found.namesakes >= 0)
    order = inside[np.argsort(found.namesakes[inside], kind="stable")]
    sizes = np.bincount(found.namesakes[inside], minlength=groups)
    return {
        "wait": wait, "awaited": found.awaited.astype(np.int64),
        "told_wait": condition[np.argsort(found.awaited, kind="stable")].astype(np.int64),
        "namesake_job": order.astype(np.int64),
        "namesake_next": (np.cumsum(sizes) - sizes).astype(np.int64),
        "namesake_last": np.cumsum(sizes).astype(np.int64),
        "namesakes_running": np.zeros(groups, np.int64),
    }
