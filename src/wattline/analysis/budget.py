"""What is said of an energy budget that was not kept: which period, which job, by how much."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from wattline.analysis.summary import energy_text, time_text
from wattline.model.run import Run

MOST_NAMES = 10
"""So many jobs are named in a sentence; tables and `metrics.json` name all."""


def budget_lines(run: Run) -> list[str]:
    """A sentence for each period that drew more, and one for the jobs without a budget."""
    found = run.budget
    if not found:
        return []
    lines = [_over(run, found, over) for over in found["over"]]
    if found["beyond_s"]:
        lines.append(f"the run went on for {time_text(found['beyond_s'])} after the last planned "
                     "period, where no budget holds")
    if found["without"]:
        names = [f"{_job(job)} ({energy_text(job['energy_j'])}, from "
                 f"{time_text(job['start_s'] - run.start_s)} on)" for job in found["without"]]
        lines.append("no period had room for " + _listed(names) + ", which started without a "
                     "budget after the last planned period")
    return lines


def budget_rows(run: Run) -> Iterator[tuple[str, str, str, float, str]]:
    """Period, job, energy in words and in joules, and reason of all that is named."""
    for over in run.budget.get("over", ()):
        period = f"{over['period']} ({energy_text(over['excess_j'])} over)"
        for job in over["jobs"]:
            energy_j = job["above_idle_j"]
            yield period, _job(job), f"{energy_text(energy_j)} above idle", energy_j, job["why"]
    for job in run.budget.get("without", ()):
        energy_j = job["energy_j"]
        yield "none", _job(job), energy_text(energy_j), energy_j, "no period had room for it"


def _over(run: Run, found: Mapping[str, Any], over: Mapping[str, Any]) -> str:
    names = [f"{_job(job)} ({energy_text(job['above_idle_j'])} above idle; {job['why']})"
             for job in over["jobs"]]
    who = _listed(names) if names else "no job that was carried over or ran too long"
    return (f"period {over['period']} of {found['periods']} (from "
            f"{time_text(over['start_s'] - run.start_s)} on) drew {energy_text(over['energy_j'])}, "
            f"{energy_text(over['excess_j'])} more than its energy budget: {who}")


def _job(job: Mapping[str, Any]) -> str:
    again = f" (restart {job['restart']})" if job["restart"] else ""
    return f"job {job['job_id']}{again}"


def _listed(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more:,} more" if more > 0 else "")
