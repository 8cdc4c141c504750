"""Power of racks in a run, worked out from its log and placement alone."""

from __future__ import annotations

import numpy as np

from wattline.model.run import EventKind, Run


def rack_peaks_w(run: Run, per_rack: int, idle_w: float) -> list[float]:
    """The most that each rack of so many nodes drew; a job's power is equal on its nodes."""
    assert run.placement is not None
    nodes: dict[int, list[int]] = {}
    spans = zip(run.placement.job, run.placement.first, run.placement.count, strict=True)
    for job, first, count in spans:
        nodes.setdefault(int(job), []).extend(range(first, first + count))
    power_w = np.full(run.units, idle_w)
    peak_w = np.zeros(run.units // per_rack)
    log, last_s = run.events, run.start_s
    for row in range(len(log.time_s)):
        if log.time_s[row] > last_s:
            peak_w = np.maximum(peak_w, power_w.reshape(-1, per_rack).sum(axis=1))
        last_s = log.time_s[row]
        kind, job = int(log.kind[row]), int(log.job[row])
        if kind in (EventKind.START, EventKind.RESUME) or (kind == EventKind.RATE and job >= 0):
            power_w[nodes[job]] = log.value[row] / len(nodes[job])
        elif kind == EventKind.RATE:  # all jobs at another level
            busy = power_w != idle_w
            power_w[busy] = np.nan
        elif kind in (EventKind.END, EventKind.PAUSE):
            power_w[nodes[job]] = idle_w
    return [float(peak) for peak in peak_w]
