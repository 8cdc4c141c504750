"""Part of predicted starts that come true: `python scripts/start_calibration.py LOG.swf NODES`.

At instants spread over a log every job that waits is asked about, as `wattline advise start` does,
and its start in the simulation of the whole log is the truth.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np

import wattline as wl
from wattline.advice.futures.candidates import CURRENT, NamedChanges
from wattline.advice.futures.policy import planned
from wattline.advice.futures.running import candidate_of, stand_at

SAMPLES, HOUR_S, WEEK_S = 30, 3600.0, 7 * 86400.0


def asked(log: Path, nodes: int, instants: int) -> tuple[np.ndarray, np.ndarray]:
    """Of each waiting job of each instant its drawn waits from then on, and the true one."""
    ready = planned(None, {"trace": str(log), "machine": wl.Machine(nodes=nodes)}, False)
    truth_s = ready.run().schedule.start_s
    first_s, last_s = ready.jobs.submit_s[[0, -1]]
    drawn, true = [], []
    for at_s in first_s + np.linspace(0.1, 0.9, instants) * (last_s - first_s):
        now = stand_at(ready, float(at_s), WEEK_S, "last-week")
        waiting = now.moment.waiting
        one = candidate_of(now, NamedChanges(CURRENT, {}))
        starts = np.array([each.start_s[waiting] for each in one.runs(now.draws(SAMPLES, 1))])
        drawn.append(np.nan_to_num(starts - at_s, nan=np.inf).T)
        true.append(truth_s[now.moment.log_row[waiting]] - at_s)
    return np.concatenate(drawn), np.concatenate(true)


def main() -> None:
    log, nodes = Path(sys.argv[1]), int(sys.argv[2])
    warnings.simplefilter("ignore", wl.WattlineWarning)
    drawn, true = asked(log, nodes, int(sys.argv[3]) if len(sys.argv) > 3 else 100)
    if not len(true):
        sys.exit(f"{log.name}: at none of the instants a job waits")
    low, high = (np.quantile(drawn, part, axis=1, method="inverted_cdf") for part in (0.1, 0.9))
    print(f"{log.name}: {len(true)} waiting jobs; of true starts {np.mean(true < low):.0%} "
          "before the range, "
          f"{np.mean((low <= true) & (true <= high)):.0%} in it, {np.mean(true > high):.0%} after")
    said = (drawn <= HOUR_S).mean(axis=1)
    for least, below in ((0.9, 1.01), (0.5, 0.9), (0.1, 0.5), (0.0, 0.1)):
        rows = (said >= least) & (said < below)
        if rows.any():
            print(f"  within an hour with {least:.0%} or more: {rows.sum()} jobs, said "
                  f"{said[rows].mean():.0%}, did {np.mean(true[rows] <= HOUR_S):.0%}")


if __name__ == "__main__":
    main()
