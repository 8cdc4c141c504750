"""Days of a log with long jobs: the rows of the study, and its fixed bid by search."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from wattline.demand_response.run import run_contract
from wattline.grid.market import Bid
from wattline.studies.regulation import long_jobs as study


def steady_log(path: Path) -> Path:
    """Four days in which jobs of ten hours keep 14 of 16 nodes busy, one a node."""
    lines = ["; MaxNodes: 16"]
    for number in range(int(4 * 86400 * 14 / 36000)):
        submit_s = int(number * 36000 / 14)
        fields = [number + 1, submit_s, 0, 36000, 1, -1, -1, 1, 72000, -1, 1, 1, 1, 1, 1, 1, -1, -1]
        lines.append(" ".join(map(str, fields)))
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.compiled
def test_every_policy_is_judged_with_every_bidding(tmp_path: Path) -> None:
    path = steady_log(tmp_path / "log.swf")
    told: list[float] = []
    rows = study.long_jobs(
        path, [0.0], seed=1, signal_file="", workers=1, progress=told.append
    )
    assert [(r.policy, r.bidding) for r in rows] == [
        (p, b) for p in study.POLICIES for b in study.BIDDING
    ]
    assert told[-1] == 1.0
    assert all(r.day == study.WARMUP_DAYS for r in rows)
    # Hours of load that never changes: bidding anew every hour follows it.
    adaptive = next(r for r in rows if (r.policy, r.bidding) == ("qoscap", "adaptive"))
    assert adaptive.met
    assert adaptive.saving > 0


@pytest.mark.compiled
def test_the_searched_bid_is_that_of_a_full_machine(tmp_path: Path) -> None:
    case = study.day_case(steady_log(tmp_path / "log.swf"), 0.0, 1, "")
    bid = study._searched(replace(case, policy="qoscap"))
    assert bid is not None
    load = case.workload
    assert bid.average_w > load.range.power_w_min + 0.7 * (
        load.power_w_mean - load.range.power_w_min
    )


@pytest.mark.compiled
def test_degradations_are_by_the_time_of_each_job(tmp_path: Path) -> None:
    case = study.day_case(steady_log(tmp_path / "log.swf"), 0.0, 1, "")
    # Times of their own within the type: half of the jobs take two hours less.
    short = case.jobs.run_s - 7200.0 * (np.arange(len(case.jobs)) % 2)
    case = replace(case, policy="qoscap", jobs=case.jobs.with_columns(run_s=short))
    found = run_contract(case, Bid(1700.0, 200.0))
    assert found.quality[0].mean > 0
    assert found.degradations[0].mean() == pytest.approx(found.quality[0].mean)
