"""What is said of an energy budget: which period drew more, which job did it, by how much."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from wattline.analysis.summary import energy_text, time_text
from wattline.model.run import Run

MOST_NAMES = 10
"""So many jobs are named in a sentence; tables and `metrics.json` name all."""


def budget_lines(run: Run) -> list[str]:
    """A sentence for each period that drew more, and what else must be known of the budget."""
    found = run.budget
    if not found:
        return []
    lines = [_over(run, found, over) for over in found["over"]]
    drew_more = sum(row["energy_j"] > row["budget_j"] * (1 + 1e-6)
                    for row in found.get("by_period", ()) if "charged_j" in row)
    if drew_more:
        lines.append(f"{drew_more:,} of {found['periods']:,} periods drew more than their energy "
                     "budget for jobs that an earlier period was charged with (carry = charge-now)")
    planned = found.get("planned")
    if planned is not None and planned < found["periods"]:
        lines.append(f"prices are known for {planned:,} of {found['periods']:,} periods of the "
                     f"energy budget; later ones are planned like period {planned:,}")
    return lines


def budget_rows(run: Run) -> Iterator[tuple[str, str, str, float, str]]:
    """Period, job, energy in words and in joules, and reason of all that is named."""
    for over in run.budget.get("over", ()):
        period = f"{over['period']} ({energy_text(over['excess_j'])} over)"
        for job in over["jobs"]:
            energy_j = job["above_idle_j"]
            yield period, _job(job), f"{energy_text(energy_j)} above idle", energy_j, job["why"]
    for job in run.budget.get("no_room", ()):
        why = (f"{job['state']}: no period has room, the most that one gives is "
               f"{energy_text(job['gives_j'])} above idle")
        yield "none", _job(job), f"{energy_text(job['needs_j'])} above idle", job["needs_j"], why


def _over(run: Run, found: Mapping[str, Any], over: Mapping[str, Any]) -> str:
    names = [f"{_job(job)} ({energy_text(job['above_idle_j'])} above idle; {job['why']})"
             for job in over["jobs"]]
    who = _listed(names) if names else "no job that was carried over or ran too long"
    what = "was charged with" if "charged_j" in over else "drew"
    energy_j = over.get("charged_j", over["energy_j"])
    return (f"period {over['period']} of {found['periods']} (from "
            f"{time_text(over['start_s'] - run.start_s)} on) {what} {energy_text(energy_j)}, "
            f"{energy_text(over['excess_j'])} more than its energy budget: {who}")


def _job(job: Mapping[str, Any]) -> str:
    again = f" (restart {job['restart']})" if job["restart"] else ""
    return f"job {job['job_id']}{again}"


def _listed(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more:,} more" if more > 0 else "")
