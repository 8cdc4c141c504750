"""The regulation policies on short contracts: what they promise, compiled and plain alike."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.unit.grid import plain_contracts

pytestmark = pytest.mark.compiled  # all of them run the plain contracts, for comparison

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def plain() -> dict[str, Any]:
    """All contracts without compilation, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.unit.grid.plain_contracts"], cwd=ROOT, check=True,
        capture_output=True, text=True, env={**os.environ, "WATTLINE_PLAIN": "1"},
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("name", [n for n in plain_contracts.CASES if n != "aqa nodes"])
def test_compiled_and_plain_runs_are_equal(name: str, plain: dict[str, Any]) -> None:
    fields, bid = plain_contracts.CASES[name]
    compiled = plain_contracts.described(
        plain_contracts.run_contract(plain_contracts.case(**fields), bid)
    )
    for column, value in compiled.items():
        assert value == pytest.approx(plain[name][column], rel=1e-9, abs=1e-9), column


def test_servers_are_never_overcommitted(plain: dict[str, Any]) -> None:
    assert all(found["busy_most"] <= 35 for found in plain.values())


def test_every_policy_follows_the_target_with_work_at_hand(plain: dict[str, Any]) -> None:
    for name in ("aqa", "tracking", "qoscap", "energyqare"):
        assert plain[name]["error"] < 0.25, name
    assert plain["tracking"]["error"] <= plain["energyqare"]["error"] + 0.02


def test_standby_jobs_fill_a_lack_of_work(plain: dict[str, Any]) -> None:
    assert plain["aqa standby"]["standby_share"] > 0.05
    assert plain["aqa standby"]["energy_kwh"] > 0
    assert plain["aqa"]["standby_share"] == 0


def test_caps_slow_running_jobs(plain: dict[str, Any]) -> None:
    assert plain["aqa"]["rates"] > 0
    starts, ends = np.array(plain["aqa"]["starts"]), np.array(plain["aqa"]["ends"])
    ran = ends > 0
    jobs = plain_contracts.case("aqa").jobs
    stretch = (ends - starts)[ran] / jobs.run_s[ran]
    assert stretch.min() >= 1 - 1e-9
    longest = jobs.requested_s[ran] / jobs.run_s[ran]
    assert np.all(stretch <= longest + 1e-9)
    assert stretch.max() > 1.01


def test_preemption_follows_a_target_that_caps_alone_cannot(plain: dict[str, Any]) -> None:
    assert plain["tracking long"]["pauses"] == 0
    assert plain["tracking preempt"]["pauses"] > 0
    assert plain["tracking preempt"]["resumes"] > 0
    assert plain["tracking preempt"]["error"] < 0.95 * plain["tracking long"]["error"]


def test_feedback_corrects_wrong_profiles(plain: dict[str, Any]) -> None:
    assert plain["aqa wrong feedback"]["error"] < plain["aqa wrong"]["error"]


def test_choosing_nodes_changes_nothing_but_the_map(plain: dict[str, Any]) -> None:
    assert plain["aqa nodes"]["ends"] == pytest.approx(plain["aqa"]["ends"])


def test_a_limit_is_kept_without_a_bid(plain: dict[str, Any]) -> None:
    assert plain["limit"]["power_w_most"] <= 8000 + 1e-6


def test_adaptive_contract_bids_for_its_first_hour_by_the_warm_up(plain: dict[str, Any]) -> None:
    assert 0 < plain["qoscap adaptive"]["error"] < 0.25
