"""Who waits longer: jobs and users by the change of their waiting time."""

from __future__ import annotations

from typing import Any

import numpy as np

from wattline.model.jobs import IntArray, JobTable
from wattline.model.run import Run

MOST_ROWS = 20
NOTICED_S = 1.0


def who_is_hurt(first: Run, second: Run) -> dict[str, Any]:
    """The jobs and the users that wait longest more in the second run, and how many there are."""
    one, other, said = _same_jobs(first.jobs, second.jobs)
    both = first.ran[one] & second.ran[other]
    lost = int((first.ran[one] & ~second.ran[other]).sum())
    if lost:
        said.append(f"{lost:,} jobs ran in the baseline and never in the variant; how much later "
                    "never is cannot be said, so they are not among the rows")
    one, other = one[both], other[both]
    wait_s = [run.schedule.start_s[rows] - run.jobs.submit_s[rows]
              for run, rows in ((first, one), (second, other))]
    end_s = [run.schedule.end_s[rows] - run.jobs.submit_s[rows]
             for run, rows in ((first, one), (second, other))]
    change_s, later_s = wait_s[1] - wait_s[0], end_s[1] - end_s[0]
    worst = np.argsort(-change_s, kind="stable")[:MOST_ROWS]
    worst = worst[change_s[worst] > NOTICED_S]
    return {
        "jobs": [{"job": int(first.jobs.job_id[one[row]]), "user": _user(first.jobs, one[row]),
                  "nodes": int(first.schedule.nodes[one[row]]),
                  "wait_change_s": float(change_s[row]), "later_s": float(later_s[row])}
                 for row in worst.tolist()],
        "users": _users(first.jobs, first.jobs.user[one], change_s, later_s),
        "hurt": int((later_s > NOTICED_S).sum()), "gained": int((later_s < -NOTICED_S).sum()),
        "lost": lost, "compared": len(one), "remarks": said,
    }


def _same_jobs(one: JobTable, other: JobTable) -> tuple[IntArray, IntArray, list[str]]:
    """Rows of both tables that are the same job: mostly both are the same table."""
    if len(one) == len(other) and bool(
            (one.job_id == other.job_id).all() and (one.restart == other.restart).all()):
        rows = np.arange(len(one))
        return rows, rows, []
    keys = [np.rec.fromarrays([jobs.job_id, jobs.restart]) for jobs in (one, other)]
    unique = [np.unique(key, return_index=True) for key in keys]
    _, left, right = np.intersect1d(unique[0][0], unique[1][0], assume_unique=True,
                                    return_indices=True)
    first, second = unique[0][1][left], unique[1][1][right]
    said = [f"{len(first):,} jobs are in both runs, of {len(one):,} and {len(other):,}; the others "
            "are not compared"]
    return first, second, said


def _user(jobs: JobTable, row: int) -> str:
    code = int(jobs.user[row])
    return jobs.name_of("user", code) if code >= 0 else "unknown"


def _users(jobs: JobTable, user: IntArray, change_s: Any, later_s: Any) -> list[dict[str, Any]]:
    codes, label = np.unique(user, return_inverse=True)
    count = np.bincount(label, minlength=len(codes))
    mean_s = [np.bincount(label, values, len(codes)) / np.maximum(count, 1)
              for values in (change_s, later_s)]
    hurt = np.bincount(label, later_s > NOTICED_S, len(codes)).astype(np.int64)
    worst = np.argsort(-mean_s[0], kind="stable")[:MOST_ROWS]
    return [{"user": jobs.name_of("user", int(codes[row])) if codes[row] >= 0 else "unknown",
             "jobs": int(count[row]), "hurt": int(hurt[row]),
             "wait_change_s": float(mean_s[0][row]), "later_s": float(mean_s[1][row])}
            for row in worst.tolist() if mean_s[0][row] > NOTICED_S]
