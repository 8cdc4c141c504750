"""Records of a run on shared nodes with one thing changed: the judge names the rule.

Two nodes of 4 CPUs and a GPU (100 W idle, 10 W a CPU, 50 W the GPU) and a third in a partition of
its own. Job 1 has node n0, job 2 half of n1, job 3 the other half from 100 s on, and job 4 waits
until 600 s.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.support.shared import limits, machine, requests
from tests.support.shared_judged import coded

from wattline.model.run import PowerBound
from wattline.model.signal import Signal
from wattline.shared_nodes.machine import SUSPEND, Reservations
from wattline.shared_nodes.outages import Outages
from wattline.shared_nodes.outcome import KILLED
from wattline.shared_nodes.requests import AFTER, AFTERANY, AFTEROK
from wattline.shared_nodes.rules import Rules
from wattline.shared_nodes.simulate import simulate_shared

PROMPT = Rules(kill_late_s=0.0)
ENFORCED = replace(PROMPT, enforce_limits=True)
FIRST = np.zeros(4, np.int64)
"""All four jobs ask for the first expression of features."""
Changes = dict[str, Any]


def site() -> tuple[Any, Any, Any]:
    on = machine(3, gpus=1, partitions=[[0, 1], [2]], licence_names=("l",), licences=np.array([1]))
    asked = requests(
        on, {"tasks": 4, "min_nodes": 1}, {"tasks": 2, "gpus": 1, "licences": [1]},
        {"tasks": 2, "submit_s": 100.0}, {"tasks": 4, "min_nodes": 1, "submit_s": 120.0})
    return on, asked, simulate_shared(on, asked, PROMPT)


def with_column(found: Any, name: str, row: int, value: float) -> Any:
    column = getattr(found, name).copy()
    column[row] = value
    return replace(found, **{name: column})


def test_the_run_that_is_changed_here_is_as_it_says() -> None:
    on, asked, found = site()
    assert found.allocation_node.tolist() == [0, 1, 1, 0]
    assert found.start_s[:3].tolist() == [0.0, 0.0, 100.0]
    assert 600.0 <= found.start_s[3] < 610.0
    assert coded(on, asked, PROMPT, found) == []


RECORDS: dict[str, tuple[str, int, float, str]] = {
    "a start before the submission": ("start_s", 2, 90.0, "shared.outcomes"),
    "no outcome": ("state", 0, 0, "shared.outcomes"),
    "an end after the work is done": ("end_s", 1, 700.0, "shared.run-times"),
    "an end before the work is done": ("end_s", 1, 500.0, "shared.run-times"),
    "killed at its limit": ("state", 1, KILLED, ""),
    "a node of another partition": ("allocation_node", 1, 2, "shared.nodes"),
    "fewer CPUs than asked for": ("allocation_cpus", 0, 3, "shared.amounts"),
    "more CPUs than the node has": ("allocation_cpus", 1, 4, "shared.capacity"),
    "more memory than the node has": ("allocation_memory_mb", 1, 999, "shared.capacity"),
    "more watts than parts draw": ("allocation_w", 0, 50.0, "shared.watts"),
    "joules that nothing drew": ("energy_j", 0, 1e5, "shared.energy-of-jobs"),
    "a machine that draws less": ("event_power_w", 0, 300.0, "shared.power"),
    "a stay that outlasts its job": ("allocation_from_s", 0, -5.0, "shared.stays"),
}


@pytest.mark.parametrize("name", RECORDS)
def test_a_changed_record_is_found(name: str) -> None:
    on, asked, found = site()
    column, row, value, code = RECORDS[name]
    codes = {each for each, _ in coded(on, asked, PROMPT, with_column(found, column, row, value))}
    assert code in codes if code else codes == set()


def test_a_job_killed_at_half_its_limit_is_found() -> None:
    on, asked, found = site()
    short = replace(with_column(found, "state", 0, KILLED),
                    end_s=np.where(np.arange(4) == 0, 300.0, found.end_s))
    said = dict(coded(on, asked, PROMPT, short))
    assert said["shared.time-limits"] == "job 1 was killed before its time limit"


def test_suspensions_of_a_job_that_overlap_are_found() -> None:
    """Jobs 2 and 3, of a higher tier, have the node of job 1 from 103 to 703 s and from 803 to
    1,403 s. The first of the suspensions is said to end at 900 s."""
    on = machine(1, partitions=[[0], [0]])
    on = replace(on, partitions=replace(on.partitions, tier=np.array([1, 2]),
                                        preempt_mode=np.array([SUSPEND, 0])))
    whole = {"tasks": 4, "min_nodes": 1}
    asked = requests(on, {**whole, "limit_s": 1200.0}, *(
        {**whole, "submit_s": at_s, "partition": 1} for at_s in (103.0, 803.0)))
    rules = replace(PROMPT, preempt="partition")
    found = simulate_shared(on, asked, rules)
    assert found.gap_from_s.tolist() == [103.0, 803.0]
    assert coded(on, asked, rules, found) == []
    longer = with_column(found, "gap_to_s", 0, 900.0)
    assert ("shared.suspensions", "job 1 has suspensions that overlap") in coded(
        on, asked, rules, longer)


def judged(**changed: Any) -> set[str]:
    """The rules that the run breaks on another site, or with other requests."""
    on, asked, found = site()
    rules = changed.pop("rules", PROMPT)
    on = replace(on, **changed.pop("machine", {}))
    asked = replace(asked, **changed.pop("asked", {}))
    return {code for code, _ in coded(on, asked, rules, found, changed.pop("cap", None), **changed)}


def kept(start_s: float) -> Reservations:
    nodes = np.array([[True, False, False]])
    flag = np.zeros(1, bool)
    return Reservations(("r",), nodes, np.array([start_s]), np.array([2000.0]), np.array([2000.0]),
                        flag, flag)


def after(kind: int, awaited: int, delay_s: float = 0.0) -> Any:
    on, _, _ = site()
    return requests(on, {}, {}, {}, {"after": [(kind, [awaited], delay_s)]}).dependencies


def outage(start_s: float, drain: bool) -> Outages:
    return Outages(np.array([0]), np.array([start_s]), np.array([5000.0]), np.array([drain]))


def limited(**given: Any) -> Changes:
    on, _, _ = site()
    return {"qos": replace(on.qos, limits=limits(1, 5, **given))}


def owned(**given: Any) -> Changes:
    on, _, _ = site()
    tree = on.associations
    return {"associations": replace(tree, limits=limits(len(tree.parent), 5, **given))}


SITES: dict[str, tuple[Changes, Changes, str]] = {
    "a feature that the node lacks": (
        {"asked": {"features": FIRST, "feature_masks": np.array([[1, 1, 0]], bool)}},
        {"asked": {"features": FIRST, "feature_masks": np.array([[1, 0, 0]], bool)}},
        "shared.nodes"),
    "a node that is drained": (
        {"outages": outage(700.0, True)}, {"outages": outage(50.0, True)}, "shared.nodes"),
    "a node that is down": (
        {"outages": outage(1300.0, False)}, {"outages": outage(300.0, False)}, "shared.nodes"),
    "a reservation of others": (
        {"machine": {"reservations": kept(1300.0)}}, {"machine": {"reservations": kept(300.0)}},
        "shared.reservations"),
    "a job that waits for another": (
        {"asked": {"dependencies": after(AFTERANY, 0)}},
        {"asked": {"dependencies": after(AFTERANY, 2)}}, "shared.dependencies"),
    "a job that waits a while after the start of another": (
        {"asked": {"dependencies": after(AFTER, 0, 600.0)}},
        {"asked": {"dependencies": after(AFTER, 0, 660.0)}}, "shared.dependencies"),
    "a job that waits for a good end": (
        {"asked": {"dependencies": after(AFTEROK, 0)}},
        {"asked": {"dependencies": after(AFTEROK, 0), "exit_ok": np.zeros(4, bool)}},
        "shared.dependencies"),
    "an array with a limit": (
        {"asked": {"array": np.zeros(4, np.int64), "array_limit": np.full(4, 3)}},
        {"asked": {"array": np.zeros(4, np.int64), "array_limit": np.full(4, 2)}},
        "shared.arrays"),
    "licences": (
        {"machine": {"licences": np.array([1])}}, {"machine": {"licences": np.array([0])}},
        "shared.licences"),
    "GrpTRES of a QOS": (
        {"rules": ENFORCED, "machine": limited(group_tres=(0, 0, 8))},
        {"rules": ENFORCED, "machine": limited(group_tres=(0, 0, 7))}, "shared.limits"),
    "MaxJobsPerUser of a QOS": (
        {"rules": ENFORCED, "machine": limited(user_jobs=(0, 3))},
        {"rules": ENFORCED, "machine": limited(user_jobs=(0, 2))}, "shared.limits"),
    "MaxTRESPerAccount of a QOS": (
        {"rules": ENFORCED, "machine": limited(account_tres=(0, 2, 2))},
        {"rules": ENFORCED, "machine": limited(account_tres=(0, 2, 1))}, "shared.limits"),
    "GrpJobs of an account": (
        {"rules": ENFORCED, "machine": owned(group_jobs=(1, 3))},
        {"rules": ENFORCED, "machine": owned(group_jobs=(1, 2))}, "shared.limits"),
    "MaxJobs of a user": (
        {"rules": ENFORCED, "machine": owned(max_jobs=(2, 3))},
        {"rules": ENFORCED, "machine": owned(max_jobs=(2, 2))}, "shared.limits"),
    "MaxTRES of a job": (
        {"rules": ENFORCED, "machine": limited(job_tres=(0, 0, 4))},
        {"rules": ENFORCED, "machine": limited(job_tres=(0, 0, 3))}, "shared.limits-per-job"),
    "MaxWall": (
        {"rules": ENFORCED, "machine": limited(job_wall_s=(0, 600))},
        {"rules": ENFORCED, "machine": limited(job_wall_s=(0, 540))}, "shared.time-limits"),
    "a cap": (  # 300 W idle, 40 W of job 1, 70 W of job 2, 20 W of job 3
        {"cap": Signal.constant(430.0, "W")}, {"cap": Signal.constant(429.0, "W")}, "shared.cap"),
    "a limit of a rack": (  # 100 W idle, 70 W and 20 W
        {"bounds": [PowerBound("r", 190.0, 100.0, np.array([1]))]},
        {"bounds": [PowerBound("r", 189.0, 100.0, np.array([1]))]}, "shared.bounds"),
    "a limit of a feed": (  # half of 190 W
        {"bounds": [PowerBound("f", 95.0, 50.0, np.array([1]), np.array([0.5]))]},
        {"bounds": [PowerBound("f", 94.0, 50.0, np.array([1]), np.array([0.5]))]},
        "shared.bounds"),
    "a machine of more nodes": (  # then job 4 had one at once
        {}, {"asked": {"partitions": np.array([[True, False]] * 3 + [[False, True]])}},
        "shared.waiting"),
}


@pytest.mark.parametrize("name", SITES)
def test_a_run_is_held_to_its_site(name: str) -> None:
    kept_by, broken_by, code = SITES[name]
    copy: Callable[[Changes], Changes] = dict
    assert judged(**copy(kept_by)) == set()
    assert code in judged(**copy(broken_by))


def requeued() -> tuple[Any, Any, Any]:
    """Job 1 loses n0, with its GPU, to an outage from 100 s on, and runs again on n1."""
    on = machine(2, gpus=1)
    asked = requests(on, {"tasks": 2, "gpus": 1, "requeue": True})
    return on, asked, simulate_shared(on, asked, PROMPT, outages=outage(100.0, False))


DEVICES: dict[str, tuple[Changes, list[str]]] = {
    "as it was": ({}, []),
    "more than the node has": ({"left_gres": np.array([[2]])}, ["shared.capacity", "shared.watts"]),
    "fewer than it asks for": ({"left_gres": np.array([[0]])}, ["shared.amounts", "shared.watts"]),
    "other watts": ({"left_w": np.array([60.0])},  # 20 W of two CPUs and 50 W of the GPU
                    ["shared.watts", "shared.energy-of-jobs", "shared.power"]),
}


@pytest.mark.parametrize("name", DEVICES)
def test_devices_of_a_run_that_was_lost_are_judged_too(name: str) -> None:
    on, asked, found = requeued()
    assert found.left_gres.tolist() == [[1]]
    changes, codes = DEVICES[name]
    said = coded(on, asked, PROMPT, replace(found, **changes), outages=outage(100.0, False))
    assert sorted({code for code, _ in said}) == sorted(codes)


def test_a_folder_without_devices_of_lost_runs_is_judged_without_them() -> None:
    on, asked, found = requeued()
    none = replace(found, left_gres=np.zeros((0, 1), np.int64), left_w=np.array([60.0]))
    said = coded(on, asked, PROMPT, none, outages=outage(100.0, False))
    assert "shared.watts" not in {code for code, _ in said}
    assert said
