"""CPUs by number: held by one job at a time, and as many on a node as the kernel gave."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.support.twin_sites import site, submit

import wattline as wl
from wattline.account.from_run import records_of
from wattline.scenario.twin.placing import placement_of
from wattline.shared_nodes.outcome import Schedule
from wattline.shared_nodes.simulate import simulate_shared


def _schedule(folder: Path) -> tuple[Schedule, object]:
    log = "".join(submit(f"-n {tasks} -t 5", at, run) for tasks, at, run in (
        (3, 0, 100), (5, 0, 50), (2, 10, 200), (4, 60, 60), (16, 70, 30), (1, 80, 0), (8, 90, 40)))
    found = site(folder, log)
    return simulate_shared(found.machine, found.made.requests, found.rules), found.machine


def test_no_cpu_is_held_by_two_jobs_at_a_time(tmp_path: Path) -> None:
    found, machine = _schedule(tmp_path)
    place = placement_of(found, machine)  # type: ignore[arg-type]
    assert place is not None
    held = np.bincount(place.job, place.count, len(found.start_s))
    given = np.bincount(found.allocation_job, found.allocation_cpus, len(found.start_s))
    assert held.tolist() == given.tolist()
    spans = [(found.start_s[job], found.end_s[job], first, first + count)
             for job, first, count in zip(place.job, place.first, place.count, strict=True)]
    for at, (start, end, low, high) in enumerate(spans):
        for other_start, other_end, other_low, other_high in spans[at + 1:]:
            together = max(start, other_start) < min(end, other_end)
            assert not (together and max(low, other_low) < min(high, other_high))


def test_cpus_that_two_jobs_hold_at_once_have_no_place(tmp_path: Path) -> None:
    found, machine = _schedule(tmp_path)
    doubled = replace(found, allocation_cpus=found.allocation_cpus * 0 + 8,
                      start_s=found.start_s * 0, end_s=found.end_s * 0 + 9,
                      allocation_node=found.allocation_node * 0)
    assert placement_of(doubled, machine) is None  # type: ignore[arg-type]


@pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
def test_the_ledger_knows_the_nodes_of_the_example() -> None:
    run = wl.simulate(Path(__file__).parents[3] / "examples" / "twin" / "twin.toml")
    classes = [record.node_class for record in records_of(run)]
    assert classes.count("g01") == 15  # the jobs of the partition gpu
    assert set(classes) == {"b01", "g01"}  # by the first node of each class
