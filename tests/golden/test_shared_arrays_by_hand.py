"""An array is submitted as a whole: with room for too few of its tasks none of them is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.support.shared import limits, machine, requests
from wattline.shared_nodes.outcome import REASONS, REFUSED
from wattline.shared_nodes.rules import Rules
from wattline.shared_nodes.simulate import simulate_shared


def _limited(**given: Any) -> Any:
    on = machine(3)
    return replace(on, qos=replace(on.qos, limits=limits(1, on.resources, **given)))


@pytest.mark.parametrize(("tasks", "before", "ran"), [
    (2, 0, True), (3, 0, False), (1, 1, True), (2, 1, False)])
def test_an_array_over_the_limit_on_submissions_is_refused_whole(
    tasks: int, before: int, ran: bool
) -> None:
    """A user may have two jobs submitted."""
    on = _limited(user_submit=(0, 2))
    asked = requests(on, *({} for _ in range(before)),
                     *({"submit_s": 1.0, "array": 0} for _ in range(tasks)),
                     {"submit_s": 2.0, "association": 3})
    found = simulate_shared(on, asked, Rules(enforce_limits=True))
    assert np.isfinite(found.start_s).tolist() == [True] * before + [ran] * tasks + [True]
    if not ran:
        assert all(found.state[before:before + tasks] == REFUSED)
        assert REASONS[found.reason[before]] == "over a limit on submissions"


def test_two_arrays_in_one_second_count_one_after_the_other() -> None:
    on = _limited(user_submit=(0, 3))
    asked = requests(on, *({"array": 0} for _ in range(2)), *({"array": 1} for _ in range(2)), {})
    found = simulate_shared(on, asked, Rules(enforce_limits=True))
    assert np.isfinite(found.start_s).tolist() == [True, True, False, False, True]


@pytest.mark.parametrize(("most", "ran"), [(4, True), (3, False)])
def test_an_array_needs_room_among_all_jobs(most: int, ran: bool) -> None:
    """slurm.conf: MaxJobCount. Slurm takes a job where there are fewer with it."""
    on = machine(3)
    asked = requests(on, *({"array": 0} for _ in range(3)))
    found = simulate_shared(on, asked, Rules(max_job_count=most))
    assert np.isfinite(found.start_s).tolist() == [ran] * 3
