"""Jobs that are suspended keep their start, and lose exactly the time for which they were."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.examples import costing
from tests.support.shared_judged import findings
from tests.support.shared_random import random_machine, random_requests
from tests.support.thinned import crossed

from wattline.shared_nodes.machine import CANCEL, KEEP, REQUEUE, SUSPEND
from wattline.shared_nodes.outcome import CANCELLED, KILLED, RAN
from wattline.shared_nodes.rules import Rules
from wattline.shared_nodes.simulate import simulate_shared

MODES = {"suspend": SUSPEND, "requeue": REQUEUE, "cancel": CANCEL, "off": KEEP}
KINDS = ("partition", "qos")
ENOUGH = 4
"""Suspensions, to say that there are any."""


def contended(seed: int, kind: str, mode: int) -> tuple[Any, Any, Rules]:
    """A small machine whose second partition, or second QOS, takes nodes from the first."""
    on = random_machine(seed)
    asked = random_requests(on, seed, 40)
    asked = replace(asked, submit_s=np.floor(asked.submit_s / 4.0))
    if kind == "partition":
        parts = replace(on.partitions, preempt_mode=np.array([mode, KEEP]))
        return replace(on, partitions=parts), asked, Rules(preempt="partition", kill_late_s=0.0)
    grace_s = np.array([30 * (seed % 2), 0])
    qos = replace(on.qos, preempts=np.array([[False, False], [True, False]]),
                  preempt_mode=np.array([mode, KEEP]), grace_s=grace_s)
    return replace(on, qos=qos), asked, Rules(preempt="qos", kill_late_s=0.0)


@pytest.mark.parametrize(("mode", "kind"), crossed(list(MODES), KINDS, later=pytest.mark.long))
@costing(600)
@given(seed=st.integers(0, 10_000))
def test_a_run_is_what_lies_between_start_and_end_without_suspensions(
    mode: str, kind: str, seed: int,
) -> None:
    on, asked, rules = contended(seed, kind, MODES[mode])
    found = simulate_shared(on, asked, rules)
    assert findings(on, asked, rules, found) == []
    ran_s = found.end_s - found.start_s - found.suspended_s
    by_itself, killed = found.state == RAN, found.state == KILLED
    np.testing.assert_allclose(ran_s[by_itself], asked.run_s[by_itself], atol=1e-6)
    # Slurm's limits end with whole seconds.
    assert np.all(np.abs(ran_s - asked.limit_s)[killed] <= 1.0)
    assert np.all(ran_s[found.state == CANCELLED] >= 0.0)
    assert mode == "suspend" or not found.suspended_s.any()


def _suspensions(kind: str) -> int:
    suspensions = 0
    for seed in (2, 3, 0, 1):  # as many as it takes: the first two take least
        suspensions += len(simulate_shared(*contended(seed, kind, SUSPEND)).gap_job)
        if suspensions >= ENOUGH:
            break
    return suspensions


@pytest.mark.parametrize("kind", KINDS)
def test_the_machines_of_this_file_do_suspend_jobs(kind: str) -> None:
    assert _suspensions(kind) >= ENOUGH


def test_the_checker_sees_a_suspension_that_is_not_one() -> None:
    on, asked, rules = contended(2, "partition", SUSPEND)
    found = simulate_shared(on, asked, rules)
    assert len(found.gap_job)
    late = replace(found, gap_to_s=found.gap_to_s + 1e6)
    assert any("outside of their runs" in line for line in findings(on, asked, rules, late))
    free = replace(found, suspended_s=np.zeros_like(found.suspended_s))
    assert any("another time" in line for line in findings(on, asked, rules, free))
