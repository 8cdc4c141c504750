"""A small scenario for every choice of every axis, and for settings that make it remember.

`CASES` names them `axis.choice` or `axis.choice, variant`; a test of `every` sees that none of
the installed choices is left out.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from wattline.model.jobs import JobTable
from wattline.policies.declaration import AXES
from wattline.policies.placement.network.placements import PLACEMENTS
from wattline.policies.registry import built_in
from wattline.scenario.build import Plan, plan
from wattline.scenario.load import changed, validate
from wattline.traces import Trace

CLASSES = [
    {"name": "xeon", "count": 8, "cores": 1, "idle_w": 30.0, "active_w": 90.0},
    {"name": "odroid-c2", "count": 8, "cores": 1, "idle_w": 2.0, "active_w": 6.0, "speed": 0.4},
]
MIXED = [
    {"name": "new", "count": 8, "cores": 1, "idle_w": 90.0, "active_w": 300.0},
    {"name": "old", "count": 8, "cores": 1, "idle_w": 40.0, "active_w": 350.0, "speed": 0.7},
]
"""Both draw so much that a cap is felt, and neither is the one that draws least."""
NODES = {"machine.nodes": 16, "machine.node_idle_w": 90.0, "machine.node_active_w": 300.0,
         "machine.nodes_per_rack": 4}
CAP = {"power.cap": "3kW"}
"""Eleven busy nodes of sixteen: it is felt."""
PLAN = {"power.cap.watts": 3000.0}
MOLDABLE = {"trace": "BT-MZ", "power.cap": "3500W", "machine.node_idle_w": 70.0}
"""Idle nodes draw less than the applications' tables at their lowest caps."""
NETWORK = {"machine.nodes": 20, "network.topology": "dragonfly", "network.nodes_per_router": 2,
           "network.routers_per_group": 2, "network.groups": 5,
           "network.node_traffic_gbit_s": 8.0, "network.communication_share": 0.5}
"""Few routers, whose pairs take plain Python long, and jobs that hold each other up."""
SMALL = {"machine.nodes": 16}
"""Points at which more nodes would draw all power idle."""
RACKS = {"name": "bounded", "limits": {"rack0": "1000W", "rack1": 900.0, "site": "4kW"}}

FEEDS = {"name": "bounded", "views": str(Path(__file__).with_name("feeds.toml"))}


def _budget(**more: Any) -> dict[str, Any]:
    return {"policy.power": {"name": "budget", "energy": "9MJ", "period": "1h", **more}}


def _adaptive(**more: Any) -> dict[str, Any]:
    return {"policy.power": {"name": "adaptive", **more}}


CASES: dict[str, dict[str, Any]] = {
    **{f"order.{name}": {"policy.order": name}
       for name in ("fcfs", "sjf", "largest", "wfp", "multifactor", "energy-share")},
    "order.multifactor, shares": {"policy.order": {"name": "multifactor", "share": 5.0},
                                  "shares": {"ada": 8.0, "bob": 1.0}},
    **{f"backfill.{name}": {"policy.backfill": name} for name in ("none", "easy", "conservative")},
    "backfill.easy, reservation": {
        "reservations": [{"start_s": 400.0, "duration_s": 300.0, "nodes": 9}]},
    "backfill.conservative, moldable": MOLDABLE | {
        "policy.backfill": "conservative", "policy.configure": "adaptive"},
    "power.none": {},
    **{f"power.{name}": CAP | {"policy.power": name} for name in ("block", "wait", "dvfs")},
    "power.block, low cap": SMALL | {"power.cap": "1900W", "policy.power": "block"},
    "power.block, moldable": MOLDABLE | {"policy.power": "block", "policy.configure": "naive"},
    "power.watts": CAP | {"policy.power": "watts"},
    "power.lending": MOLDABLE | {"policy.configure": "naive", "policy.power": "lending"},
    "power.adaptive": PLAN | _adaptive(),
    "power.adaptive, idle": PLAN | _adaptive(strategy="idle"),
    "power.adaptive, shut": PLAN | _adaptive(strategy="shut"),
    "power.adaptive, mix": PLAN | _adaptive(strategy="mix"),
    "power.adaptive, own frequencies": PLAN | _adaptive(cpu_freq="1600000-2000000"),
    "power.adaptive, logged frequencies": PLAN | _adaptive() | {"trace": "frequencies"},
    "power.adaptive, following": PLAN | _adaptive(follow_cap=True) | {
        "power.cap.changes": [{"at": 300, "watts": 2200.0}, {"at": 900, "watts": 3200.0}]},
    "power.adaptive, ramp": PLAN | {"power.cap.change_rate_w_per_s": 5.0} | _adaptive(),
    "power.adaptive, window": PLAN | _adaptive() | {
        "power.cap.reservations": [{"start_s": 300.0, "duration_s": 400.0, "watts": 900.0}]},
    "power.budget": PLAN | _budget(),
    "power.budget, mix": PLAN | _budget(strategy="mix"),
    "power.budget, charged": SMALL | PLAN | _budget(
        period="500s", energy="0.9MJ", carry="charge-now", no_room="hold"),
    "power.budget, saved": SMALL | PLAN | _budget(
        period="500s", energy="0.9MJ", unspent="carry"),
    "configure.requested": {},
    **{f"configure.{name}": MOLDABLE | {"policy.configure": name}
       for name in ("traditional", "fixed", "naive", "adaptive")},
    "configure.claims": {"trace": "npb", "machine.classes": CLASSES, "policy.configure": "claims",
                         "policy.placement": "claims"},
    "order.claims": {"trace": "npb", "machine.classes": CLASSES, "policy.order": "claims",
                     "policy.configure": "claims", "policy.placement": "claims"},
    "placement.claims": {"trace": "npb", "machine.classes": CLASSES, "policy.placement": "claims",
                         "policy.configure": {"name": "claims", "objective": "edp:1",
                                              "caution": 1.0, "patience": 1.0}},
    "placement.counted": {},
    "placement.first-fit": {"policy.placement": "first-fit"},
    "placement.first-fit, classes": {"machine.classes": MIXED, "policy.placement": "first-fit"},
    "placement.varied": MOLDABLE | {"policy.configure": "naive",
                                    "policy.placement": {"name": "varied", "caps": "fitted"}},
    "placement.bounded": {"policy.placement": RACKS},
    "placement.bounded, feeds": NODES | {"policy.placement": FEEDS},
    **{f"placement.{name}": NETWORK | {"policy.placement": name} for name in PLACEMENTS},
}


def every() -> set[str]:
    """All choices of this package, as `axis.choice`; contracts have cases of their own."""
    return {f"{axis}.{name}" for axis, named in built_in().items() if axis in AXES
            for name in named}


def planned(case: str, seed: int = 1, count: int = 30, **fields: Any) -> Plan:
    """The plan of a case for random jobs; few on a network, whose flows take plain Python long."""
    given = CASES[case] | fields
    jobs = min(count, 12) if "network.groups" in given else count
    kind = str(given.pop("trace", ""))
    machine = {} if "machine.classes" in given else NODES
    made = validate(changed({"name": case, "trace": {"file": "made"}}, machine | given), case)
    return plan(made, trace(kind, seed, jobs), allow_code=True)


def trace(kind: str = "", seed: int = 1, count: int = 30) -> Trace:
    """Jobs of 1 to 12 nodes with early ends, from three users; `kind` says what they run."""
    random = np.random.default_rng(seed)
    run_s = random.integers(50, 400, count).astype(np.float64)
    names = {"BT-MZ": ("BT-MZ", "SPhot"), "npb": ("EP.A", "CG.A")}.get(kind, ("app",))
    procs = random.integers(1, 7 if kind == "npb" else 13, count)
    own_w = np.where(random.random(count) < 0.5, np.nan, random.integers(150, 320, count) * procs)
    jobs = JobTable.build(
        # The benchmarks take seconds, whatever the log says.
        submit_s=np.cumsum(random.integers(0, 2 if kind == "npb" else 40, count)),
        run_s=run_s,
        requested_s=run_s * random.integers(1, 4, count),
        procs=procs,
        user=random.integers(0, 3, count),
        application=random.integers(0, len(names), count),
        power_w=None if kind else own_w,
        names={"user": ("ada", "bob", "chi"), "application": names},
    )
    logged = {}
    if kind == "frequencies":
        low = random.choice([1.2e9, 1.6e9, 2.0e9], count)
        logged = {"frequency_hz_min": low, "frequency_hz_max": low + 4e8}
    return Trace(jobs, source="made", logged=logged)
