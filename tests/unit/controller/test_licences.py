"""How many watts Slurm may give away as licences where it starts the jobs."""

from __future__ import annotations

import math
from dataclasses import replace

from wattline.controller.licences import allowed_w
from wattline.live.slurm.reading import SlurmJob


def job(label: str, state: str, nodes: int, watts: int, priority: int = 1) -> SlurmJob:
    where = tuple(f"n{label}{number}" for number in range(nodes)) if state == "RUNNING" else ()
    return SlurmJob(label, int(label), 0, state, nodes, 1, 60.0, math.nan, math.nan, 0.0,
                    node_list=where, priority=priority, licenses={"watts": watts})


def test_nodes_without_jobs_draw_too() -> None:
    assert allowed_w([], 6, 90.0, 1000.0) == 460.0
    assert allowed_w([job("1", "RUNNING", 2, 500)], 6, 90.0, 1000.0) == 640.0
    bare = replace(job("1", "RUNNING", 2, 500), licenses={})
    assert allowed_w([bare], 6, 90.0, 1000.0, active_w=300.0) == 1000.0 - 4 * 90 - 2 * 300


def test_a_job_takes_idle_nodes_with_it_so_that_what_fits_can_start() -> None:
    """Two nodes at 250 W beside four idle ones draw 860 W of 1,000."""
    assert allowed_w([job("1", "PENDING", 2, 500)], 6, 90.0, 1000.0) == 640.0


def test_the_first_that_fits_in_slurms_order_counts() -> None:
    jobs = [job("1", "PENDING", 1, 200, priority=5), job("2", "PENDING", 3, 600, priority=7),
            job("3", "PENDING", 6, 2000, priority=9)]
    assert allowed_w(jobs, 6, 90.0, 1000.0) == 730.0
    assert allowed_w(jobs[:1], 6, 90.0, 1000.0) == 550.0


def test_whatever_starts_by_it_the_machine_stays_under_the_cap() -> None:
    waiting = [job(str(number), "PENDING", 1 + number % 3, 150 * (1 + number % 3) + 10 * number,
                   priority=100 - number) for number in range(9)]
    running: list[SlurmJob] = []
    while True:
        allowed = allowed_w([*running, *waiting], 8, 90.0, 1500.0)
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
