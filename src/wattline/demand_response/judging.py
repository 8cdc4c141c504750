"""Quality of service of every type of job in a run, by its true shortest time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from wattline.demand_response.case import Case
from wattline.grid.qos import TypeQuality, projected_end_s, quality_of
from wattline.model.run import Run
from wattline.model.signal import FloatArray


def judge_types(
    case: Case, run: Run
) -> tuple[tuple[TypeQuality, ...], tuple[FloatArray, ...], tuple[FloatArray, ...]]:
    """Quality of every type by its true shortest time, delays and degradations of its jobs."""
    coming, rows = case.coming_jobs, case.coming_jobs.rows
    end_s = projected_end_s(
        coming.submit_s, run.schedule.start_s[rows], run.schedule.end_s[rows],
        left_s=_left_s(case, run)[rows], time_s_min=coming.time_s, now_s=case.end_s,
        types=coming.types,
    )
    judged = coming.judged
    end_s, time_s = end_s[judged], coming.time_s[judged]
    late_s = end_s - coming.submit_s[judged] - time_s
    values, unfinished = late_s / time_s, end_s > case.end_s
    quality = []
    for job_type, mine in zip(case.workload.types, coming.judged_types, strict=True):
        found = quality_of(
            job_type.name, values[mine], unfinished=int(np.count_nonzero(unfinished[mine])),
            threshold=job_type.threshold,
        )
        if case.mean_quality:
            found = replace(found, by_mean=True)
        quality.append(found)
    delay_s = np.maximum(0.0, late_s)
    worse = delay_s / time_s
    return (tuple(quality), tuple(delay_s[mine] for mine in coming.judged_types),
            tuple(worse[mine] for mine in coming.judged_types))


def _left_s(case: Case, run: Run) -> FloatArray:
    """What is left of each job at full speed.

    What a paused job has done is read off the energy it used: caps lower both.
    """
    time_s = case.jobs.run_s
    with np.errstate(invalid="ignore", divide="ignore"):  # of jobs that no type judges
        done = run.schedule.energy_j / (case.jobs.power_w * time_s)
    left_s: FloatArray = time_s * np.clip(1 - done, 0, 1)
    return left_s
