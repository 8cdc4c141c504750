"""Quality of service of every type of job in a run, by its true shortest time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from wattline.demand_response.case import Case
from wattline.grid.qos import TypeQuality, judge, projected_end_s
from wattline.model.run import Run
from wattline.model.signal import FloatArray


def judge_types(
    case: Case, run: Run
) -> tuple[tuple[TypeQuality, ...], tuple[FloatArray, ...], tuple[FloatArray, ...]]:
    """Quality of every type by its true shortest time, delays and degradations of its jobs."""
    quality, delays, degradations = [], [], []
    start_s, left_s = run.schedule.start_s, _left_s(case, run)
    for kind, job_type in zip(case.judged_kinds, case.workload.types, strict=True):
        rows, submit_s, time_s = kind.rows, kind.submit_s, kind.time_s
        end_s = projected_end_s(
            submit_s, start_s[rows], run.schedule.end_s[rows],
            left_s=left_s[rows], time_s_min=time_s, now_s=case.end_s,
        )
        if kind.mine is not None:
            submit_s, time_s, end_s = submit_s[kind.mine], time_s[kind.mine], end_s[kind.mine]
        found = judge(
            job_type.name, submit_s, end_s,
            time_s_min=time_s, threshold=job_type.threshold, now_s=case.end_s,
        )
        if case.mean_quality:
            over = float(found.mean >= job_type.threshold)
            found = replace(found, violation_share=over, limit=0.5)
        quality.append(found)
        delays.append(np.maximum(0.0, end_s - submit_s - time_s))
        degradations.append(delays[-1] / time_s)
    return tuple(quality), tuple(delays), tuple(degradations)


def _left_s(case: Case, run: Run) -> FloatArray:
    """What is left of each job at full speed.

    What a paused job has done is read off the energy it used: caps lower both.
    """
    time_s = case.jobs.run_s
    with np.errstate(invalid="ignore", divide="ignore"):  # of jobs that no type judges
        done = run.schedule.energy_j / (case.jobs.power_w * time_s)
    left_s: FloatArray = time_s * np.clip(1 - done, 0, 1)
    return left_s
