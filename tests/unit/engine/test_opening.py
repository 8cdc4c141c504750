"""Runs from books that were filled once are those from books of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.support.workloads import compose

from wattline.engine.prepare import Opening, Rules, prepare
from wattline.engine.simulate import simulate
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine, NodeClass
from wattline.model.reservation import Reservation
from wattline.model.signal import Signal
from wattline.policies.placement.first_fit import FirstFit

RANDOM = np.random.default_rng(3)
MACHINE = Machine.uniform(16, NodeClass("node", power_w_idle=50.0, power_w_active=200.0))
JOBS = JobTable.build(submit_s=np.sort(RANDOM.uniform(0, 900, 60)), run_s=RANDOM.uniform(1, 90, 60),
                      procs=RANDOM.integers(1, 9, 60), requested_s=np.full(60, 100.0))
CHOICES: dict[str, dict[str, Any]] = {
    "counted": {},
    "placed": {"choose_nodes": True},
    "capped": {"cap_w": Signal([0.0, 500.0], [2400.0, 1800.0], "W")},
    "reserved": {"reservations": (Reservation(300.0, 200.0, nodes=4),)},
    "together": {"speeds_together": True},
}


@pytest.mark.parametrize("choice", CHOICES)
def test_books_begin_as_if_they_were_opened(choice: str) -> None:
    rules = Rules(**CHOICES[choice])
    opening = Opening(JOBS, MACHINE, rules)
    for _ in range(2):  # the second time too, whatever was written into the first
        fresh, begun = prepare(JOBS, MACHINE, rules), opening.begin(rules)
        for one, other in ((fresh[0], begun[0]), (fresh[1], begun[1]),
                           (fresh[2].ends, begun[2].ends)):
            for name in one.FIELDS:
                assert getattr(one, name).tobytes() == getattr(other, name).tobytes(), name
        for array in (begun[0].live, begun[1].meter, begun[2].ends.heap):
            np.asarray(array).view(np.uint8)[:] = 255


@pytest.mark.parametrize("choice", CHOICES)
def test_any_number_of_runs_are_alike(choice: str) -> None:
    rules = Rules(**CHOICES[choice])
    policy = compose(placement=FirstFit()) if rules.choose_nodes else compose()
    opening = Opening(JOBS, MACHINE, rules)
    alone = simulate(JOBS, MACHINE, policy, rules)
    for _ in range(2):
        found = simulate(JOBS, MACHINE, policy, rules, opening=opening)
        assert found.energy_j == alone.energy_j
        assert np.array_equal(found.schedule.start_s, alone.schedule.start_s)
        assert np.array_equal(found.events.power_w, alone.events.power_w)


@pytest.mark.compiled
@pytest.mark.parametrize("choice", CHOICES)
def test_books_are_opened_without_the_compiler(
    choice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would compile for a second what is called a few times."""
    def compiled(function: object, types: object) -> None:
        raise AssertionError(function)

    monkeypatch.setattr("wattline.model.kernel.is_compiler_loaded", lambda: False)
    monkeypatch.setattr("wattline.model.kernel_code.find", compiled)
    prepare(JOBS, MACHINE, Rules(**CHOICES[choice]))
