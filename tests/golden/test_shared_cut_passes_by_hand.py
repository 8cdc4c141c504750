"""Passes and cycles that end at a limit of their own are followed by the next of their interval."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.shared import machine, requests
from wattline.shared_nodes.rules import Rules
from wattline.shared_nodes.simulate import simulate_shared

ON = machine(3)


def _behind_a_large_job() -> Any:
    """Three of four CPUs of a node stay free while a job of all nodes waits for the others."""
    small = {"limit_s": 300.0, "run_s": 1000.0}
    return requests(
        ON, {"tasks": 8, "min_nodes": 2, "run_s": 590.0},
        {"tasks": 12, "submit_s": 1.0},
        small | {"submit_s": 2.0, "association": 3}, small | {"submit_s": 3.0, "association": 3},
        {"limit_s": 1200.0, "submit_s": 4.0, "association": 4},
        small | {"submit_s": 5.0, "association": 4})


@pytest.mark.parametrize(("limit", "starts_s"), [
    ({}, [30.0, 30.0, 30.0]),
    ({"bf_max_job_start": 1}, [30.0, 60.0, 90.0]),
    ({"bf_max_job_test": 2}, [30.0, 60.0, None]),
    ({"bf_max_job_user": 1}, [30.0, 60.0, None]),
    ({"bf_max_job_assoc": 1}, [30.0, 60.0, None]),
    ({"bf_max_job_part": 2}, [30.0, 60.0, None]),
])
def test_a_cycle_goes_on_where_the_last_one_was_stopped(
    limit: dict[str, int], starts_s: list[float | None],
) -> None:
    """The job of 1200 s cannot start before the large one, and hides the last one from a cycle."""
    found = simulate_shared(ON, _behind_a_large_job(), Rules(bf_interval_s=30.0, **limit))
    for job, start_s in zip((2, 3, 5), starts_s, strict=True):
        assert found.start_s[job] == start_s if start_s else found.start_s[job] > 590.0


@pytest.mark.parametrize(("depth", "starts_s"), [
    ({"partition_job_depth": 2}, [100.0, 100.0, 120.0, 120.0, 180.0, 180.0, 240.0]),
    ({"default_queue_depth": 1}, [100.0, 100.0, 120.0, 120.0, 120.0, 120.0, 120.0]),
])
def test_full_passes_go_on_while_the_last_one_did_not_look_at_all(
    depth: dict[str, int], starts_s: list[float],
) -> None:
    """Eight CPUs are free; a full pass comes every 60 s and looks at two jobs of a partition."""
    asked = requests(ON, {"tasks": 12, "run_s": 100.0}, *(
        {"submit_s": 1.0, "run_s": 1000.0, "limit_s": 3600.0} for _ in starts_s))
    found = simulate_shared(ON, asked, Rules(bf_interval_s=3000.0, **depth))
    assert list(found.start_s[1:]) == starts_s
