"""Conservative backfilling where the cap falls below what a waiting job needs, for good."""

from __future__ import annotations

import math
import random
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.golden.lab import NODE, table
from tests.support.workloads import compose
from wattline.engine.prepare import Rules
from wattline.engine.simulate import simulate
from wattline.model.machine import Machine
from wattline.model.signal import Signal
from wattline.policies.admission.block import Block
from wattline.policies.admission.wait import Wait
from wattline.policies.backfill.conservative import Conservative

LONGEST_S = 20.0


@contextmanager
def in_finite_time() -> Iterator[None]:
    """Fails where a simulation has no end, instead of waiting for it."""

    def fail(*_: object) -> None:
        raise AssertionError("the simulation does not end")

    before = signal.signal(signal.SIGPROF, fail)
    signal.setitimer(signal.ITIMER_PROF, LONGEST_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


def starts(jobs, cap: Signal, admission) -> list[float]:
    with in_finite_time():
        run = simulate(jobs, Machine.uniform(4, NODE),
                       compose(backfill=Conservative(), admission=admission), Rules(cap_w=cap))
    return run.schedule.start_s.tolist()


def test_a_job_that_blocks_all_for_ever_ends_the_simulation() -> None:
    jobs = table((0, 1, 10), (1, 4, 5), (2, 2, 5), (3, 1, 20))
    cap = Signal.from_steps([(0, 1200.0), (5, 700.0)], "W")
    found = starts(jobs, cap, Block())
    assert found[0] == 0.0
    assert found[2] == 2.0
    assert math.isnan(found[1])
    assert math.isnan(found[3])


@pytest.mark.parametrize("seed", range(20))
def test_every_run_ends_wherever_the_cap_falls(seed: int) -> None:
    drawn = random.Random(seed)
    steps = [(0, 1200.0)]
    for _ in range(drawn.randint(1, 3)):
        steps.append((steps[-1][0] + drawn.randint(1, 12), drawn.choice((450.0, 600.0, 900.0))))
    cap = Signal.from_steps(steps, "W")
    jobs = table(*sorted((drawn.randint(0, 12), drawn.randint(1, 4), drawn.randint(1, 20))
                         for _ in range(drawn.randint(3, 8))))
    least_w = min(watts for _, watts in steps)
    for admission in (Block(), Wait(drawn.choice((2.0, 15.0, 40.0)), drawn.randint(1, 3))):
        found = starts(jobs, cap, admission)
        if least_w == 900.0 and isinstance(admission, Block):
            # Two nodes at work and two idle ones draw 800 W: only larger jobs may wait for ever.
            assert not any(math.isnan(at_s) for at_s, units in zip(found, jobs.procs, strict=True)
                           if units <= 2 and jobs.procs.max() <= 2)
