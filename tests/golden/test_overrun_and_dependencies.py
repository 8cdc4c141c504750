"""Jobs that exceed their request, and jobs that wait for others."""

from __future__ import annotations

import math

import pytest

from tests.golden.lab import joules, play, spans, table
from tests.support.workloads import compose
from wattline.model.run import Outcome
from wattline.model.signal import Signal
from wattline.policies.admission.block import Block
from wattline.policies.backfill.conservative import Conservative
from wattline.policies.backfill.none import NoBackfill

OVERRUN = table((0, 2, 8, 5), (1, 4, 2), (2, 1, 3), (6, 1, 1))


def test_kill_ends_a_job_at_its_request():
    """A needs 8 s and asked for 5.

        01234567
        ..CCCBBD
        .....BB.
        AAAAABB.
        AAAAABB.
    """
    run = play(OVERRUN, compose(), overrun="kill")
    assert spans(run) == [(0, 5), (5, 7), (2, 5), (7, 8)]
    assert run.schedule.outcome.tolist() == [Outcome.KILLED] + [Outcome.COMPLETED] * 3
    assert joules(run)[0] == 5 * 600


def test_extend_lets_it_run_on_and_the_reservation_slip():
    """Overdue from 5 on, A is expected back at any moment: the shadow time of B is now, D would
    end after it and finds nothing extra. B starts when A really ends.

        01234567890
        ..CCC...BBD
        ........BB.
        AAAAAAAABB.
        AAAAAAAABB.
    """
    run = play(OVERRUN, compose(), overrun="extend")
    assert spans(run) == [(0, 8), (8, 10), (2, 5), (10, 11)]
    assert run.schedule.outcome.tolist() == [Outcome.COMPLETED] * 4
    assert joules(run)[0] == 8 * 600


def test_conservative_keeps_every_reservation_when_jobs_are_killed():
    """At 6, D finds the node beside B (5 to 7) taken: it follows at 7."""
    run = play(OVERRUN, compose(backfill=Conservative()), overrun="kill")
    assert spans(run) == [(0, 5), (5, 7), (2, 5), (7, 8)]


def test_conservative_lets_reservations_slip_only_for_overdue_jobs():
    run = play(OVERRUN, compose(backfill=Conservative()), overrun="extend")
    assert spans(run) == [(0, 8), (8, 10), (2, 5), (10, 11)]


@pytest.mark.parametrize("backfill", [NoBackfill(), Conservative()])
def test_dependencies_and_think_time(backfill):
    """B comes 5 s after A's end, C directly; D's user comes back long after, at 20; E depends on
    D, which has not ended when E is submitted.

        0         1         2
        0123456789012345678901234567
        AAAACC...BBB........DD.EEE
    """
    jobs = table((0, 1, 4), (0, 1, 3), (1, 1, 2), (20, 1, 2), (20, 1, 3),
                 after_job=[-1, 0, 0, 0, 3], think_s=[0, 5, 0, 3, 1])
    run = play(jobs, compose(backfill=backfill))
    assert spans(run) == [(0, 4), (9, 12), (4, 6), (20, 22), (23, 26)]
    assert run.energy_j == 26 * 400 + (4 + 3 + 2 + 2 + 3) * 200


def test_a_dependency_on_a_refused_job_counts_as_fulfilled():
    """Job A needs 4 x 300 W under a cap of 1000 W and never runs; B was to follow it.

    This is the rule for jobs that are left out of a log, too.
    """
    jobs = table((0, 4, 5), (2, 1, 3), (3, 1, 3), after_job=[-1, 0, 0], think_s=[0, 0, 4])
    run = play(jobs, compose(admission=Block()), cap_w=Signal.constant(1000.0, "W"))
    assert math.isnan(run.schedule.start_s[0])
    assert run.schedule.outcome[0] == Outcome.NOT_RUN
    assert spans(run)[1:] == [(2, 5), (3, 6)]
    assert joules(run)[0] == 0
