"""The nets that the command line knows by name, with small workloads to look at."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from wattline.model.errors import InputError
from wattline.petri.net import UNIT, Colour, Net, Page, Place, Transition, put, take
from wattline.petri.puppet import puppet_net
from wattline.petri.puppet_rules import Job, Rules

DEMO_NODES = 8
DEMO_NODE_W = 100.0
DEMO_IDLE_W = 30.0
DEMO_CAP_W = 600.0
LEVELS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)

POLICIES = ("none", "block", "wait", "dvfs")


def demo_jobs() -> list[Job]:
    """Eight jobs on eight nodes that meet the cap, the wait queue and a backfill."""
    return [
        Job(0, 4, 300.0, 600.0, 420.0, 0.0),
        Job(1, 3, 240.0, 300.0, 330.0, 10.0),
        Job(2, 2, 120.0, 180.0, 160.0, 20.0),
        Job(3, 6, 200.0, 400.0, 480.0, 30.0),
        Job(4, 1, 60.0, 60.0, 80.0, 40.0),
        Job(5, 2, 500.0, 900.0, 230.0, 60.0),
        Job(6, 8, 100.0, 200.0, 560.0, 90.0),
        Job(7, 1, 400.0, 400.0, 95.0, 120.0),
    ]


def demo_rules(policy: str, nodes: int = DEMO_NODES, idle_w: float = DEMO_IDLE_W,
               wait_time_s: float = 30_000.0, wait_slots: int = 10,
               latency_s: float = 0.0, *, levels: tuple[float, ...] = LEVELS, alpha: float = 2.0,
               beta: float = 0.5, core_share: float = 0.65, jobs_only: bool = False) -> Rules:
    """The parameters that make the net one of the four methods."""
    if policy not in POLICIES:
        raise InputError(f"power policy is '{policy}'; the net knows {', '.join(POLICIES)}")
    return Rules(
        nodes, idle_w,
        levels=levels if policy == "dvfs" else (1.0,),
        wait_slots=wait_slots if policy == "wait" else 0,
        wait_time_s=wait_time_s,
        alpha=alpha, beta=beta, core_share=core_share, latency_s=latency_s, jobs_only=jobs_only,
    )


def small_cluster() -> Net:
    """Three jobs that differ in colour on a machine of six nodes: the smallest coloured net."""
    jobs = Colour("JOB", int)
    running = Transition("Start", (
        take("Jobs", "n"), take("Nodes", weight="size[n]"), put("Running", "n", delay_s="time[n]"),
    ), at=(250, 120))
    done = Transition("Finish", (
        take("Running", "n"), put("Nodes", weight="size[n]"), put("Done", "n"),
    ), at=(690, 120))
    page = Page("Cluster", places=(
        Place("Jobs", jobs, (1, 2, 3), at=(90, 120)),
        Place("Nodes", UNIT, (6,), at=(480, 260)),
        Place("Running", jobs, at=(480, 120)),
        Place("Done", jobs, at=(870, 120)),
    ), transitions=(running, done))
    size = {1: 2, 2: 3, 3: 4}
    time_s = {1: 30.0, 2: 20.0, 3: 10.0}
    return Net("cluster", page, {"size": size, "time": time_s},
               "Three jobs of 2, 3 and 4 nodes on a machine of six")


def demo_puppet() -> Net:
    """PuPPET with the demonstration workload, WAIT."""
    return puppet_net(demo_jobs(), demo_rules("wait", wait_time_s=400.0), "fcfs", DEMO_CAP_W)


NETS: Mapping[str, tuple[str, Callable[[], Net]]] = {
    "puppet": ("power capping: batch scheduling, allocation, CPU scaling", demo_puppet),
    "cluster": ("three jobs on six nodes, to learn the notation", small_cluster),
}
