"""One line of the scheduler is wrong, and the run alone gives it away."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.support.shared import machine, requests
from tests.support.shared_budgeted import joules
from tests.support.shared_judged import coded
from tests.support.wrong_code import wrong_line

from wattline.model.kernel import PLAIN
from wattline.model.run import PowerBound
from wattline.model.signal import Signal
from wattline.shared_nodes.machine import CANCEL, SUSPEND
from wattline.shared_nodes.rules import Rules
from wattline.shared_nodes.simulate import simulate_shared

pytestmark = pytest.mark.skipif(not PLAIN, reason="what is compiled cannot be replaced")
PROMPT = Rules(kill_late_s=0.0)
NODE: dict[str, Any] = {"tasks": 4, "min_nodes": 1}
"""A node of 4 CPUs with 100 W when idle, 140 W with this job, for 600 s unless said."""
STARTING = "wattline.shared_nodes.starting"


def codes(on: Any, asked: Any, rules: Rules, **more: Any) -> set[str]:
    """The rules that the judge finds broken."""
    cap, given = more.get("cap"), {name: each for name, each in more.items() if name != "cap"}
    found = simulate_shared(on, asked, rules, cap=cap, **given)
    return {code for code, _ in coded(on, asked, rules, found, cap, **given)}


def two_feeds() -> tuple[Any, Any, Any]:
    """Three nodes hang on two feeds with half of their watts on each: 150 W of each are idle.

    With 180 W on a feed, jobs may add 60 W to the nodes: one whole node (40 W) and two CPUs more.
    """
    on = machine(3)
    share = np.array([0.5, 0.5, 0.5])
    feeds = [PowerBound(name, 180.0, 150.0, np.array([0, 1, 2]), share) for name in ("a", "b")]
    asked = requests(on, {**NODE, "run_s": 100.0, "limit_s": 120.0},
                     {"tasks": 2, "submit_s": 5.0, "run_s": 3000.0, "limit_s": 3000.0},
                     {**NODE, "submit_s": 10.0}, {**NODE, "submit_s": 20.0})
    return on, asked, feeds


@pytest.mark.parametrize(("wrong", "code"), [
    ("st.row_w[row]", "shared.bounds"), ("0.0", "shared.waiting")])
def test_a_job_that_leaves_gives_each_feed_its_share_back(wrong: str, code: str) -> None:
    """The whole watts where a half of them lies there let too much start; none, nothing any more.
    """
    on, asked, feeds = two_feeds()
    assert codes(on, asked, PROMPT, bounds=feeds) == set()
    with wrong_line("wattline.shared_nodes.bounds.leave_row",
                    "st.row_w[row] * st.part_share[index]", wrong):
        assert code in codes(on, asked, PROMPT, bounds=feeds)


def sleeping(**changed: Any) -> Rules:
    return replace(PROMPT, suspend_time_s=100.0, resume_timeout_s=300.0, **changed)


def test_joules_of_a_job_count_from_when_its_nodes_are_up() -> None:
    """The first job wakes its node, which is up at 300 s: it may draw 40 W for 300 s, 12,000 J. The
    second, for the node that is awake, is asked for the 600 s until it may be over, as if that had
    to boot: 24,000 J. Of 37,000 J there are enough. Counted from 5 s on, the first would take
    23,800 J, too, and 40 J less with each second: the second had to wait until 275 s.
    """
    on = machine(2)
    short = {**NODE, "run_s": 300.0, "limit_s": 300.0}
    asked = requests(on, {**short, "required": 0}, {**short, "submit_s": 5.0, "required": 1},
                     node_masks=[[True, False], [False, True]])
    budget = joules(on, 37_000.0, 2_000.0)
    rules = sleeping(asleep_first=("n0",), suspend_excluded=("n1",))
    assert codes(on, asked, rules, budget=budget) == set()
    with wrong_line("wattline.shared_nodes.joules._promised_j", "max(from_s, live.up_s)",
                    "from_s"):
        assert codes(on, asked, rules, budget=budget) == {"shared.waiting"}


def preempting(mode: int) -> Any:
    """Partition 1 has a higher tier, and takes nodes from partition 0."""
    on = machine(3, partitions=[[0, 1], [0, 1], [2]])
    return replace(on, partitions=replace(on.partitions, tier=np.array([1, 2, 1]),
                                          preempt_mode=np.array([mode, 0, 0])))


def test_a_job_that_leaves_while_its_nodes_boot_takes_its_watts_along() -> None:
    """Two nodes sleep when a job wakes them at 500 s; at 510 s another takes them from it.

    The cap of 430 W has room for one of the two, beside a third node of 140 W. Where the watts of
    the first stay among those of nodes that boot, they are taken from those that the machine draws.
    """
    on = preempting(CANCEL)
    both = {"tasks": 8, "min_nodes": 2, "run_s": 300.0, "limit_s": 300.0}
    asked = requests(on, {**NODE, "run_s": 3000.0, "limit_s": 3000.0, "partition": 2},
                     {**both, "submit_s": 500.0},
                     {**both, "submit_s": 510.0, "partition": 1})
    rules, cap = sleeping(preempt="partition"), Signal.constant(430.0, "W")
    assert codes(on, asked, rules, cap=cap) == set()
    with wrong_line(f"{STARTING}.stop_job", "if live.boots != 0:", "if live.boots > 1:"):
        assert "shared.power" in codes(on, asked, rules, cap=cap)


def test_what_a_job_ran_before_a_suspension_is_part_of_its_limit() -> None:
    """It needs 2,000 s of which its limit allows 600, and is suspended when it ran for 300 s."""
    on = preempting(SUSPEND)
    asked = requests(on, {**NODE, "tasks": 8, "min_nodes": 2, "run_s": 2_000.0},
                     {**NODE, "tasks": 8, "min_nodes": 2, "run_s": 60.0, "limit_s": 60.0,
                      "submit_s": 300.0, "partition": 1})
    rules = replace(PROMPT, preempt="partition")
    assert codes(on, asked, rules) == set()
    with wrong_line("wattline.shared_nodes.overtime.killed_at",
                    "st.ask[job].limit_s - st.live[job].held_s", "st.ask[job].limit_s"):
        assert codes(on, asked, rules) == {"shared.time-limits"}


def test_a_start_that_delays_the_first_of_the_queue_is_found() -> None:
    """Job 2 waits for both nodes until the limit of job 1 at 600 s. Job 3 may last until 1,500 s on
    the free node: where nothing is kept for job 2, it starts at 300 s.
    """
    on = machine(2)
    asked = requests(on, NODE, {**NODE, "tasks": 8, "min_nodes": 2, "submit_s": 10.0},
                     {**NODE, "submit_s": 300.0, "run_s": 1200.0, "limit_s": 1200.0})
    assert codes(on, asked, PROMPT) == set()
    with wrong_line("wattline.shared_nodes.spans.hold_picked",
                    "add_span(st, node, begin_s, end_s)",
                    "add_span(st, node, begin_s + 1e5, end_s + 1e5)"):
        assert codes(on, asked, PROMPT) == {"shared.backfill"}


CASES: dict[str, tuple[str, str, str, str]] = {
    "a node given beyond its CPUs": (
        f"{STARTING}._take_node", "st.cpus_free[node] -= cpus", "st.cpus_free[node] -= cpus // 2",
        "shared.capacity"),
    "memory that is not taken": (
        f"{STARTING}._take_node", "st.memory_free[node] -= memory",
        "st.memory_free[node] -= 0", "shared.capacity"),
    "a job that is killed too early": (
        "wattline.shared_nodes.overtime.killed_at", "+ st.ask[job].limit_s",
        "+ st.ask[job].limit_s / 2", "shared.time-limits"),
    "a job that ends late": (
        f"{STARTING}._set_end", "live.ready_s + live.left_s", "live.ready_s + live.left_s + 5.0",
        "shared.run-times"),
    "joules of half the time": (
        f"{STARTING}.stop_job", "* (clock.now_s - live.stretch_s)",
        "* (clock.now_s - live.stretch_s) / 2", "shared.energy-of-jobs"),
    "watts that stay": (
        f"{STARTING}.stop_job", "clock.power_w -= live.watts", "clock.power_w -= 0.9 * live.watts",
        "shared.power"),
    "watts of CPUs": (
        "wattline.shared_nodes.power.node_watts", "* ask.load", "* ask.load * 1.1",
        "shared.watts"),
    "a cap that is not asked": (
        "wattline.shared_nodes.cap.stays_under_cap", "cap_at(st, clock.now_s) + ROUNDING_W",
        "cap_at(st, clock.now_s) + 30.0", "shared.cap"),
    "a cap that is never used": (
        "wattline.shared_nodes.cap.stays_under_cap", "cap_at(st, clock.now_s) + ROUNDING_W",
        "cap_at(st, clock.now_s) - 30.0", "shared.waiting"),
    "licences that are not given back": (
        f"{STARTING}.stop_job",
        "st.licence_free[licence] += st.need_licence[job * rules.licences + licence]",
        "st.licence_free[licence] += 0", "shared.waiting"),
    "licences that are not taken": (
        f"{STARTING}.start_job", "st.licence_free[licence] -= st.need",
        "st.licence_free[licence] -= 0 * st.need", "shared.licences"),
    "devices that are not taken": (
        f"{STARTING}._take_devices", "st.gres_free[node * kinds + kind] -= count",
        "st.gres_free[node * kinds + kind] -= 0", "shared.capacity"),
}


def site_for(name: str) -> tuple[Any, Any, Any]:
    """Two nodes with 4 CPUs, 1,000 MB and a GPU; the jobs queue for what the case is about."""
    licensed = "licence" in name
    on = machine(2, gpus=1, licence_names=("l",), licences=np.array([3 if licensed else 99]))
    jobs = [{"tasks": 2 if "devices" in name else 1 + row % 3, "submit_s": 20.0 * row,
             "limit_s": 600.0, "run_s": 300.0 + 400.0 * (row % 2),
             "licences": [1 + row % 2 if licensed else 0], "gpus": int("devices" in name),
             "memory_per_cpu_mb": 400 if "memory" in name else 10} for row in range(12)]
    return on, requests(on, *jobs), Signal.constant(250.0, "W") if "cap" in name else None


@pytest.mark.parametrize("name", CASES)
def test_a_wrong_line_is_found(name: str) -> None:
    on, asked, cap = site_for(name)
    assert codes(on, asked, PROMPT, cap=cap) == set()
    place, right, wrong, code = CASES[name]
    with wrong_line(place, right, wrong):
        assert code in codes(on, asked, PROMPT, cap=cap)
