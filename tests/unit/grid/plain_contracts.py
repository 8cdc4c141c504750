"""Runs short contracts and prints what came out; called with and without compilation."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from typing import Any

import numpy as np

from wattline.demand_response.case import Case, mislabelled
from wattline.demand_response.run import ContractRun, run_contract
from wattline.grid.market import Bid
from wattline.grid.signals import generate
from wattline.grid.workloads import poisson_jobs, workload
from wattline.model.signal import Signal

DURATION_S = 200.0


def case(policy: str, name: str = "W4", **fields: Any) -> Case:
    rng = np.random.default_rng(4)
    load = workload(name)
    if fields.pop("standby", False):
        load = load.with_standby()
    # Three times the arrivals, so that a short run has queues.
    load = replace(load, utilisation=1.0)
    jobs = poisson_jobs(load, DURATION_S, rng)
    share = fields.pop("mislabelled", 0.0)
    truth = None
    if share:
        jobs, truth = mislabelled(jobs, len(load.types), share, rng)
    signal = fields.pop("signal", None) or generate(rng, DURATION_S)
    return Case(load, jobs, signal, policy=policy, duration_s=DURATION_S, warmup_s=60.0,
                truth=truth, **fields)


BID = Bid(9500.0, 2500.0)
CASES: dict[str, tuple[dict[str, Any], Bid | None]] = {
    "aqa": ({"policy": "aqa"}, BID),
    "aqa standby": ({"policy": "aqa", "standby": True}, BID),
    "aqa wrong": ({"policy": "aqa", "mislabelled": 0.6}, BID),
    "aqa wrong feedback": ({"policy": "aqa", "mislabelled": 0.6, "feedback": True}, BID),
    "aqa nodes": ({"policy": "aqa", "choose_nodes": True}, BID),
    "tracking": ({"policy": "tracking"}, BID),
    "tracking preempt": ({"policy": "tracking", "name": "W5", "preempt": True,
                          "signal": Signal.from_steps([(0, 1.0), (120, -1.0), (160, 1.0)])},
                         Bid(9500.0, 3500.0)),
    "aqa preempt": ({"policy": "aqa", "name": "W5", "preempt": True,
                     "signal": Signal.from_steps([(0, 1.0), (120, -1.0), (160, 1.0)])},
                    Bid(9500.0, 3500.0)),
    "tracking long": ({"policy": "tracking", "name": "W5",
                       "signal": Signal.from_steps([(0, 1.0), (120, -1.0), (160, 1.0)])},
                      Bid(9500.0, 3500.0)),
    "energyqare": ({"policy": "energyqare"}, BID),
    "qoscap": ({"policy": "qoscap"}, BID),
    "qosg standby feedback": ({"policy": "qosg", "standby": True, "mislabelled": 0.6,
                               "feedback": True}, BID),
    "energyqare preempt": ({"policy": "energyqare", "name": "W5", "preempt": True,
                            "signal": Signal.from_steps([(0, 1.0), (120, -1.0), (160, 1.0)])},
                           Bid(9500.0, 3500.0)),
    "qoscap preempt": ({"policy": "qoscap", "name": "W5", "preempt": True, "standby": True,
                        "signal": Signal.from_steps([(0, 1.0), (120, -1.0), (160, 1.0)])},
                       Bid(9500.0, 3500.0)),
    "qoscap adaptive": ({"policy": "qoscap", "adaptive": True}, None),
    "limit": ({"policy": "aqa", "limit_w": Signal.constant(8000.0)}, None),
}


def described(found: ContractRun) -> dict[str, Any]:
    run = found.run
    done = np.nan_to_num(run.schedule.end_s, nan=-1.0)
    return {
        "ends": done.tolist(),
        "starts": np.nan_to_num(run.schedule.start_s, nan=-1.0).tolist(),
        "energy_kwh": found.settlement.energy_kwh,
        "error": found.tracking.mean,
        "cost": found.settlement.cost,
        "busy_most": int(run.events.busy.max()),
        "power_w_most": float(found.actual_w.sample(np.arange(60, DURATION_S)).max()),
        "pauses": int((run.events.kind == 1).sum()),
        "resumes": int((run.events.kind == 9).sum()),
        "standby_share": found.standby_share,
        "rates": int((run.events.kind == 7).sum()),
        "quality": [q.mean for q in found.quality],
    }


def main(names: list[str]) -> None:
    out = {}
    for name in names or list(CASES):
        fields, bid = CASES[name]
        out[name] = described(run_contract(case(**fields), bid))
    sys.stdout.write(json.dumps(out))


if __name__ == "__main__":
    main(sys.argv[1:])
