"""The common part of the runs of a case is made once, and no run leaves traces in it."""

from __future__ import annotations

import gc
import pickle
from typing import Any

import numpy as np
import pytest

from wattline.demand_response import beginning
from wattline.demand_response.building import case_of
from wattline.demand_response.case import Case
from wattline.demand_response.reading import read_contract
from wattline.demand_response.run import ContractRun, run_contract
from wattline.grid.market import Bid

TYPES = [{"name": name, "nodes": 1, "time_s_min": time_s, "time_s_max": 1.5 * time_s,
          "power_w_max": 250, "power_w_min": 200, "threshold": 5}
         for name, time_s in (("short", 40), ("long", 90))]
SHORT: dict[str, Any] = {
    "types": TYPES, "servers": 10, "power_w_idle": 100, "duration": "3m", "warmup": "1m",
    "check": 0, "cycle_s": 5, "utilisation": 0.9, "seed": 2}
OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {}, "standby": {"standby": True}, "paused": {"preempt": True, "standby": True},
    "wrong labels": {"mislabelled": 0.5, "feedback": True}, "asleep": {"sleep": True},
    "late": {"latency": "10s"}, "qoscap": {"policy": "qoscap"},
}
BIDS = (Bid(1700.0, 300.0, (0.7, 0.3)), None, Bid(1600.0, 400.0, (0.2, 0.8), 0.5),
        Bid(1700.0, 300.0, (0.7, 0.3)))


def made(option: str) -> Case:
    return case_of(read_contract(None, SHORT | OPTIONS[option]))


def held(run: ContractRun) -> list[Any]:
    return [run.settlement, run.quality, run.weights, run.run.energy_j,
            *(array.tobytes() for array in (run.run.events.power_w, run.run.schedule.start_s,
                                            np.asarray(run.desk.trace), *run.delays_s))]


@pytest.mark.parametrize("option", OPTIONS)
def test_runs_are_those_of_a_case_that_was_never_run(
    option: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One after the other on one case, and each on a case of its own whose books are not kept."""
    case = made(option)
    found = [held(run_contract(case, bid)) for bid in BIDS]
    assert beginning.beginning_of(case).opening is not None
    monkeypatch.setattr(beginning, "MOST_JOBS", 0)
    for bid, ours in zip(BIDS, found, strict=True):
        own = made(option)
        assert held(run_contract(own, bid)) == ours
        assert beginning.beginning_of(own).opening is None
    assert found[0] == found[3] != found[1]


def test_what_was_made_goes_with_the_case_and_not_to_other_processes() -> None:
    case = made("plain")
    known = len(beginning._known)
    run_contract(case, BIDS[0])
    assert len(beginning._known) == known + 1
    sent = pickle.dumps(case)
    assert b"JobTable" in sent
    assert b"Mould" not in sent
    assert b"Beginning" not in sent
    del case
    gc.collect()
    assert len(beginning._known) == known
