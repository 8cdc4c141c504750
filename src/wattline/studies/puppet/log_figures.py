"""How a log behaves: bursts, days that differ, sizes, and whether large jobs run longer."""

from __future__ import annotations

import numpy as np

from wattline.model.jobs import JobTable

DAY_S = 86400.0
LARGE = 8192 / 49_152
"""Part of the machine from which a job is called large."""

MIRA = {
    "jobs": 22508.0, "days": 126.4, "variation of gaps": 3.61, "median gap (s)": 98.0,
    "variation of daily load": 0.67, "most of a day's load": 3.03, "size and time": 0.16,
    "median size (nodes)": 512.0, "large jobs (%)": 6.6, "their work (%)": 65.9,
    "whole machine (jobs)": 63.0, "median run (min)": 60.8, "95 % of runs below (h)": 6.2,
    "run over request": 0.61,
}
"""The same of a public log of Mira (2018, 49,152 nodes), measured by these functions."""


def log_figures(jobs: JobTable, nodes: int) -> dict[str, float]:
    """Named as people would ask for them; variation is the deviation over the mean."""
    submit_s = jobs.submit_s - jobs.submit_s[0]
    gaps_s = np.diff(submit_s)
    work = jobs.procs * jobs.run_s
    load = np.bincount((submit_s // DAY_S).astype(np.int64), work) / (nodes * DAY_S)
    large = jobs.procs >= LARGE * nodes
    together = np.corrcoef(np.log(jobs.procs), np.log(np.maximum(jobs.run_s, 1.0)))[0, 1]
    return {
        "jobs": float(len(jobs)),
        "days": float(submit_s[-1] / DAY_S),
        "variation of gaps": float(gaps_s.std() / gaps_s.mean()),
        "median gap (s)": float(np.median(gaps_s)),
        "variation of daily load": float(load.std() / load.mean()),
        "most of a day's load": float(load.max()),
        "size and time": float(together),
        "median size (nodes)": float(np.median(jobs.procs)),
        "large jobs (%)": float(100 * large.mean()),
        "their work (%)": float(100 * work[large].sum() / work.sum()),
        "whole machine (jobs)": float((jobs.procs == nodes).sum()),
        "median run (min)": float(np.median(jobs.run_s) / 60),
        "95 % of runs below (h)": float(np.quantile(jobs.run_s, 0.95) / 3600),
        "run over request": float(np.mean(jobs.run_s / jobs.requested_s)),
    }
