"""The number of watts that Slurm may give away as licences where it starts the jobs."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
from tests.unit.controller.test_modes import Licences

from wattline.controller.licences import LicenceNet, allowed_w, unattended_w
from wattline.controller.node_power import NodePower
from wattline.live.slurm.reading import SlurmJob


def job(label: str, state: str, nodes: int, watts: int, priority: int = 1) -> SlurmJob:
    where = tuple(f"n{label}{number}" for number in range(nodes)) if state == "RUNNING" else ()
    return SlurmJob(label, int(label), 0, state, nodes, 1, 60.0, math.nan, math.nan, 0.0,
                    node_list=where, priority=priority, licenses={"watts": watts})


def alike(jobs: Sequence[SlurmJob], nodes: int, active_w: float = 0.0) -> NodePower:
    """So many nodes of 90 W idle, on some of which these jobs run."""
    busy = [name for each in jobs for name in each.node_list]
    return NodePower.alike([*busy, *(f"f{number}" for number in range(nodes - len(busy)))], 90.0,
                           active_w)


def six(jobs: Sequence[SlurmJob], cap_w: float = 1000.0, active_w: float = 0.0) -> float:
    return allowed_w(jobs, alike(jobs, 6, active_w), cap_w)


def test_nodes_without_jobs_draw_too() -> None:
    assert six([]) == 460.0
    assert six([job("1", "RUNNING", 2, 500)]) == 640.0
    bare = replace(job("1", "RUNNING", 2, 500), licenses={})
    assert six([bare], 1000.0, active_w=300.0) == 1000.0 - 4 * 90 - 2 * 300


def test_a_job_takes_idle_nodes_with_it_so_that_what_fits_can_start() -> None:
    """Two nodes at 250 W beside four idle ones draw 860 W of 1,000; at 325 W, 1,010."""
    assert six([job("1", "PENDING", 2, 500)]) >= 500.0
    assert six([job("1", "PENDING", 2, 650)]) < 650.0


def test_the_first_that_lacks_watts_alone_is_let_start() -> None:
    """Six nodes at 160 W draw 960 W of 1,000, which is more than what is safe for all."""
    small, wide = job("1", "PENDING", 1, 400, priority=5), job("2", "PENDING", 6, 960, priority=7)
    safe = six([small, wide])
    assert 400.0 <= safe < 800.0
    assert six([small, replace(wide, reason="Licenses")]) == 960.0
    others = {"watts": 960, "matlab": 1}
    for late in (replace(wide, reason="BeginTime"), replace(wide, reason="Dependency"),
                 replace(wide, reason="Licenses", licenses=others)):
        assert six([small, late]) == safe


def test_a_job_that_may_not_start_yet_lends_its_idle_nodes_to_nobody() -> None:
    """Four nodes at 300 W beside two idle ones draw 1,380 W of 1,300."""
    late = replace(job("1", "PENDING", 5, 600, priority=9), reason="BeginTime")
    small = [job(str(number), "PENDING", 1, 300) for number in range(2, 6)]
    assert 900.0 <= six([late, *small], 1300.0, active_w=300.0) < 1200.0
    # Also where the small ones come before the next look.
    assert six([late], 1300.0, active_w=300.0) < 1200.0


@pytest.mark.parametrize("seed", range(40))
def test_whichever_of_those_that_wait_start_the_machine_stays_under_the_cap(seed: int) -> None:
    draw = random.Random(seed)
    nodes, idle_w, cap_w = 8, 90.0, draw.uniform(800.0, 2500.0)
    waiting = []
    for number in range(8):
        wide = draw.randint(1, 5)
        waiting.append(replace(job(str(number), "PENDING", wide, wide * draw.randint(60, 400)),
                               reason=draw.choice(["Priority", "BeginTime", "None"])))
    running = [job("9", "RUNNING", 1, draw.randint(90, 300))]
    allowed = allowed_w([*running, *waiting], alike(running, nodes), cap_w)
    for taken in range(1 << len(waiting)):
        started = [each for place, each in enumerate(waiting) if taken >> place & 1]
        used = sum(each.licenses["watts"] for each in [*running, *started])
        busy = sum(each.nodes for each in [*running, *started])
        if busy > nodes or used > allowed:
            continue
        drawn_w = idle_w * (nodes - busy) + sum(
            max(each.licenses["watts"], idle_w * each.nodes) for each in [*running, *started])
        assert drawn_w <= cap_w + 1e-6 or not started


def test_whatever_starts_by_it_the_machine_stays_under_the_cap() -> None:
    waiting = [job(str(number), "PENDING", 1 + number % 3, 150 * (1 + number % 3) + 10 * number,
                   priority=100 - number) for number in range(9)]
    running: list[SlurmJob] = []
    while True:
        allowed = allowed_w([*running, *waiting], alike(running, 8), 1500.0)
        used = sum(each.licenses["watts"] for each in running)
        free = 8 - sum(each.nodes for each in running)
        fits = [each for each in waiting
                if each.nodes <= free and used + each.licenses["watts"] <= allowed]
        if not fits:
            break
        waiting.remove(fits[0])
        running.append(job(fits[0].label, "RUNNING", fits[0].nodes, fits[0].licenses["watts"]))
        assert used + fits[0].licenses["watts"] + 90.0 * (free - fits[0].nodes) <= 1500.0
    assert len(running) >= 4


@pytest.mark.parametrize("busy", [0, 3, 8])
@pytest.mark.parametrize("seed", range(10))
def test_while_nobody_looks_no_jobs_that_find_licences_exceed_the_cap(seed: int, busy: int) -> None:
    """Whatever ran when the number was set is over: any others may hold it, on any nodes."""
    draw = random.Random(seed)
    cap_w = draw.uniform(800.0, 2500.0)
    ran = [job(str(number), "RUNNING", 1, 300) for number in range(busy)]
    allowed = unattended_w(ran, alike(ran, 8, 300.0), cap_w)
    assert allowed == cap_w - 8 * 90.0
    for _ in range(20):
        drawn_w, used, free = 8 * 90.0, 0, 8
        while free:
            wide = draw.randint(1, free)
            watts = wide * draw.randint(60, 400)
            if used + watts > allowed:
                break
            drawn_w += max(watts - 90.0 * wide, 0.0)
            used, free = used + watts, free - wide
        assert drawn_w <= cap_w + 1e-6


def test_while_nobody_looks_jobs_without_licences_count_as_usual() -> None:
    bare = replace(job("1", "RUNNING", 2, 500), licenses={})
    over = replace(bare, state="COMPLETED")
    assert unattended_w([bare, over], alike([bare], 6, 300.0), 1300.0) == 1300 - 4 * 90 - 2 * 300


MIXED = NodePower({"a1": 50.0, "a2": 50.0, "a3": 50.0, "b1": 200.0, "b2": 200.0},
                  {"a1": 300.0, "a2": 300.0, "a3": 300.0, "b1": 500.0, "b2": 500.0})
"""Two classes: idle they draw 550 W, and busy 1,900 W."""


def on(label: str, nodes: Sequence[str], watts: int | None) -> SlurmJob:
    return replace(job(label, "RUNNING", 1, 0), node_list=tuple(nodes), nodes=len(nodes),
                   licenses={} if watts is None else {"watts": watts})


def test_each_node_counts_as_its_class_does() -> None:
    assert allowed_w([], MIXED, 1500.0) == 950.0
    assert allowed_w([on("1", ["b1", "b2"], 900)], MIXED, 1500.0) == 1350.0
    assert allowed_w([on("1", ["b1"], None)], MIXED, 1500.0) == 1500.0 - 500.0 - 350.0
    assert allowed_w([on("1", ["b1"], 20)], MIXED, 1500.0) == 20.0 + 950.0
    # Where a job without watts will start nobody knows: on the node that it adds most to.
    assert allowed_w([], MIXED, 1500.0, coming=1) == 1500.0 - 500.0 - 350.0
    assert unattended_w([on("1", ["b1"], None), on("2", ["a1"], 250)], MIXED, 1500.0) == 650.0


@pytest.mark.parametrize("seed", range(40))
def test_whatever_starts_on_whichever_class_the_machine_stays_under_the_cap(seed: int) -> None:
    draw = random.Random(seed)
    names, cap_w = sorted(MIXED.idle_w), draw.uniform(700.0, 1800.0)
    here = [on("9", draw.sample(names, 1), draw.choice([20, 250, None]))]
    waiting = [replace(job(str(number), "PENDING", 1, draw.randint(60, 500)),
                       reason=draw.choice(["Priority", "Licenses"])) for number in range(4)]
    allowed = allowed_w([*here, *waiting], MIXED, cap_w)
    for _ in range(60):
        draw.shuffle(waiting)
        free = [name for name in names if name not in here[0].node_list]
        draw.shuffle(free)
        running = [*here, *(replace(each, node_list=(name,)) for each, name in zip(
            waiting[:draw.randint(1, 4)], free, strict=False))]
        if sum(each.licenses.get("watts", 0) for each in running) > allowed:
            continue
        busy = {name for each in running for name in each.node_list}
        drawn_w = sum(MIXED.idle_w[name] for name in names if name not in busy) + sum(
            max(each.licenses["watts"], MIXED.idle_of(each.node_list)) if each.licenses
            else MIXED.active_of(each.node_list) for each in running)
        assert drawn_w <= cap_w + 1e-6


@pytest.mark.parametrize(("nodes", "here_w"), [
    (("a1", "x1"), 300), (("x1", "x2", "x3"), 0), (("a1", "a2"), 600)])
def test_of_a_job_with_nodes_elsewhere_only_its_part_takes_room(
    nodes: tuple[str, ...], here_w: int
) -> None:
    """Slurm counts all 600 of its licences; those for other nodes are given to it beside."""
    runs = on("1", nodes, 600)
    busy = [name for name in nodes if name in MIXED.idle_w]
    idle_w = 550.0 - 50.0 * len(busy)
    assert allowed_w([runs], MIXED, 1500.0) == 600 + (1500.0 - here_w - idle_w)
    assert unattended_w([runs], MIXED, 1500.0) == 1500.0 - 550.0 + (600 - here_w)
    bare = replace(runs, licenses={})
    assert allowed_w([bare], MIXED, 1500.0) == 1500.0 - 300.0 * len(busy) - idle_w
    assert unattended_w([bare], MIXED, 1500.0) == 1500.0 - 300.0 * len(busy) - idle_w


@pytest.mark.parametrize(("watts", "left"), [
    (-50.0, 0), (0.0, 0), (299.9, 299), (1200.0, 1200), (5000.0, 1200)])
def test_jobs_may_hold_no_more_licences_than_there_are_and_no_fewer_than_none(
    watts: float, left: int
) -> None:
    """Of 1,200; what idle nodes draw above a cap leaves less than nothing."""
    commands = Licences()
    LicenceNet(commands).allow(watts)
    assert commands.allowed() == left
