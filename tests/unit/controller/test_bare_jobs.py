"""Jobs without watts where Slurm starts them: set aside before they start, and said once."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest
from tests.unit.controller.test_modes import OneSlurm
from tests.unit.controller.test_shared_watching import PARTS

from wattline.controller.bare_jobs import (
    ASIDE_S,
    BareJobs,
    on_free_cpus,
    on_free_nodes,
    parts_w,
)
from wattline.controller.configuration import SiteConfig
from wattline.controller.licences import allowed_w
from wattline.controller.node_power import NodePower
from wattline.controller.serving import serving
from wattline.live.slurm.reading import SlurmJob, SlurmNode

JOB = SlurmJob("7", 7, 0, "PENDING", 2, 2, 300.0, math.nan, math.nan, 0.0, partition="batch",
               reason="Priority", priority=5)
NAMES = [f"n{number}" for number in range(1, 7)]
NODES = [SlurmNode(name, ("idle",), 1, ("batch", "sub") if name == "n6" else ("batch",))
         for name in NAMES]


def coming(*jobs: SlurmJob, nodes: list[SlurmNode] = NODES, partitions: tuple[str, ...] = (),
           now_s: float = 100.0) -> list[str]:
    bare = BareJobs([], partitions)
    return [job.label for job in bare.coming(jobs, on_free_nodes(nodes, jobs, NAMES), now_s)]


@pytest.mark.parametrize(("change", "may"), [
    ({}, True), ({"reason": "None"}, True), ({"reason": "Resources"}, True),
    ({"reason": "Licenses"}, False), ({"reason": "Dependency"}, False),
    ({"reason": "BeginTime"}, False), ({"priority": 0}, False), ({"state": "RUNNING"}, False),
    ({"licenses": {"watts": 600}}, False), ({"licenses": {"matlab": 1}}, True),
    ({"eligible_s": 101.0}, False), ({"eligible_s": 99.0}, True), ({"nodes": 7}, False),
    ({"nodes": 2, "most_nodes": 9}, True), ({"partition": "sub"}, False),
    ({"partition": "sub", "nodes": 1}, True), ({"partition": "other"}, False),
    ({"required_nodes": ("n3",)}, True), ({"required_nodes": ("x3",)}, False),
])
@pytest.mark.parametrize("named", [False, True])
def test_only_what_slurm_could_start_at_once_is_set_aside(
    change: dict[str, object], may: bool, named: bool
) -> None:
    partitions = ("batch", "sub") if named else ()
    assert coming(replace(JOB, **change), partitions=partitions) == (["7"] if may else [])
    assert coming(replace(JOB, **change), partitions=("elsewhere",)) == []


def test_free_nodes_are_given_once_by_priority() -> None:
    first, second, third = (replace(JOB, label=label, job_id=int(label), nodes=nodes,
                                    priority=priority)
                            for label, nodes, priority in (("1", 4, 1), ("2", 4, 9), ("3", 2, 3)))
    assert coming(first, second, third) == ["2", "3"]
    runs = replace(JOB, label="4", state="RUNNING", node_list=("n1",))
    assert coming(first, second, third, runs) == ["2"], "one of five is left"
    drained = [*NODES[:4], *(replace(node, states=("idle", "drain")) for node in NODES[4:])]
    assert coming(second, third, nodes=drained) == ["2"]


def test_what_does_not_start_for_long_keeps_watts_from_nobody_until_it_could_not() -> None:
    bare, free = BareJobs([]), on_free_nodes(NODES, (), NAMES)
    none = on_free_nodes((), (), NAMES)
    for now_s, fitting, found in (
            (0.0, free, 1), (ASIDE_S, free, 1), (ASIDE_S + 1.0, free, 0), (500.0, free, 0),
            (501.0, none, 0), (502.0, free, 1), (503.0 + ASIDE_S, free, 0)):
        assert len(bare.coming([JOB], fitting, now_s)) == found, now_s


def test_shared_nodes_have_room_by_cpus_and_watts_by_parts() -> None:
    there = sum(each.cpus for each in PARTS.nodes.values())
    half = replace(JOB, nodes=1, cpus=there // 2)
    jobs = [replace(half, label=str(number), job_id=number) for number in (1, 2, 3)]
    found = BareJobs([]).coming(jobs, on_free_cpus(PARTS, (), ()), 0.0)
    assert [job.label for job in found] == ["1", "2"]
    assert parts_w(PARTS, found) == 2 * PARTS.asked_w(there // 2, {})
    runs = replace(half, state="RUNNING", node_list=(PARTS.names[0],))
    assert len(BareJobs([]).coming(jobs, on_free_cpus(PARTS, [runs], ()), 0.0)) == 1
    assert BareJobs([]).coming(jobs, on_free_cpus(PARTS, (), PARTS.names), 0.0) == []
    # Of one that is half elsewhere, half of the CPUs.
    apart = replace(half, cpus=there, state="RUNNING", node_list=(PARTS.names[0], "x1"))
    assert len(BareJobs([]).coming(jobs, on_free_cpus(PARTS, [apart], ()), 0.0)) == 1


@pytest.mark.parametrize("seed", range(40))
def test_whatever_starts_beside_them_the_machine_stays_under_the_cap(seed: int) -> None:
    draw = random.Random(seed)
    nodes, idle_w, active_w, cap_w = 8, 90.0, 300.0, draw.uniform(1500.0, 2500.0)
    bare = draw.randint(0, 3)
    waiting = [replace(JOB, label=str(number), nodes=wide, licenses={"watts": wide * watts})
               for number in range(7)
               for wide, watts in [(draw.randint(1, 3), draw.randint(90, 400))]]
    power = NodePower.alike((f"n{number}" for number in range(nodes)), idle_w, active_w)
    allowed = allowed_w(waiting, power, cap_w, coming=bare)
    for taken in range(1 << len(waiting)):
        started = [each for place, each in enumerate(waiting) if taken >> place & 1]
        used_w = sum(each.licenses["watts"] for each in started)
        busy = bare + sum(each.nodes for each in started)
        if busy <= nodes and used_w <= allowed and started:
            assert idle_w * (nodes - busy) + active_w * bare + used_w <= cap_w + 1e-6


def test_in_guard_mode_a_job_without_watts_is_counted_before_it_runs_and_said_when_it_does(
    site: SiteConfig, slurm: OneSlurm
) -> None:
    said: list[str] = []
    with serving(site, act=True, mode="guard") as here:
        here.listeners = (*here.listeners, lambda cycle: said.extend(cycle.remarks))
        here.cycle()
        idle = slurm.commands.allowed()
        slurm.submit("1", nodes=1, comment="", priority=9, reason="None")
        here.cycle()
        assert slurm.commands.allowed() == idle - (site.node_active_w - site.node_idle_w)
        slurm.run("1", "n1")
        for _ in range(3):
            here.cycle()
        assert slurm.commands.allowed() == idle - (site.node_active_w - site.node_idle_w)
    assert [line for line in said if "without watts" in line] == [
        f"job 1 runs without watts (-L watts:N): no licence kept a start back, and "
        f"{site.node_active_w:,.0f} W count on each node"]


FULL = replace(JOB, label="1", state="RUNNING", node_list=tuple(NAMES[:4]),
               licenses={"watts": 800})


@pytest.mark.parametrize(("others", "free", "nodes"), [
    ([], 0, None),
    ([JOB], 0, 2),
    ([JOB, replace(JOB, label="8", nodes=3)], 0, 2),
    ([JOB, replace(JOB, label="8", nodes=3)], 1, 5),
    ([replace(JOB, most_nodes=9)], 0, 4),
    ([replace(JOB, reason="Dependency")], 0, None),
    ([JOB, replace(JOB, label="8", nodes=3, licenses={"watts": 600})], 2, 2),
    ([JOB, replace(JOB, label="8", nodes=2, licenses={"watts": 600})], 2, None),
    ([JOB, replace(JOB, label="8", nodes=2, licenses={"watts": 600}, priority=0)], 2, 2),
])
def test_what_starts_at_the_tick_of_an_end_is_known_before(
    others: list[SlurmJob], free: int, nodes: int | None
) -> None:
    found = BareJobs([]).at_an_end([FULL, *others], free, 100.0)
    assert found == (None if nodes is None else (FULL, nodes))
    assert BareJobs([]).at_an_end(others, free, 100.0) is None, "nothing runs"


def test_on_a_full_machine_licences_are_those_of_the_moment_after_its_end(
    site: SiteConfig, slurm: OneSlurm
) -> None:
    """Under 900 W, four nodes: beside one without watts (300 W) and two idle ones 420 W are left
    for licences; while the first job runs nothing could start anyway."""
    with serving(site, act=True, mode="guard") as here:
        slurm.submit("1", nodes=4, comment="", licenses={"watts": 800}, priority=9)
        slurm.run("1", "n1", "n2", "n3", "n4")
        slurm.submit("3", nodes=1, comment="", licenses={"watts": 300}, priority=3,
                     reason="Priority")
        here.cycle()
        before = slurm.commands.allowed()
        slurm.submit("2", nodes=1, comment="", priority=5, reason="Priority")
        here.cycle()
        after = slurm.commands.allowed()
    assert before > 800
    assert 300 <= after < 600, "one job of 300 W beside that without, not two"


def test_many_are_said_in_one_line() -> None:
    notes: list[str] = []
    runs = [replace(JOB, label=str(number), state="RUNNING", node_list=("n1",))
            for number in range(1, 9)]
    bare = BareJobs(notes)
    for jobs in (runs[:7], runs[:7], runs, []):
        bare.say(jobs, NAMES, "so much counts")
    assert [line.partition(" without")[0] for line in notes] == [
        "jobs 1, 2, 3, 4, 5 and 2 more run", "job 8 runs"]
    bare.say([replace(runs[0], node_list=("x1",))], NAMES, "so much counts")
    assert len(notes) == 2
