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
    kinds = case.jobs.application if case.truth is None else case.truth
    quality, delays, degradations = [], [], []
    for number, job_type in enumerate(case.workload.types):
        rows = np.flatnonzero((kinds == number) & (case.jobs.submit_s < case.end_s))
        submit_s, time_s = case.jobs.submit_s[rows], case.jobs.run_s[rows]
        # What a paused job has done is read off the energy it used: caps lower both.
        done = run.schedule.energy_j[rows] / (case.jobs.power_w[rows] * time_s)
        end_s = projected_end_s(
            submit_s, run.schedule.start_s[rows], run.schedule.end_s[rows],
            left_s=time_s * np.clip(1 - done, 0, 1), time_s_min=time_s, now_s=case.end_s,
        )
        mine = submit_s >= case.judged_s
        submit_s, time_s, end_s = submit_s[mine], time_s[mine], end_s[mine]
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
