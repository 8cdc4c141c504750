"""Reservations of nodes and of watts, steps of a cap, refused jobs, levels of frequency."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.golden.lab import joules, play, spans, table
from tests.support.workloads import compose
from wattline.model.reservation import Reservation
from wattline.model.run import EventKind, Outcome
from wattline.model.signal import Signal
from wattline.policies.admission.block import Block
from wattline.policies.admission.dvfs import Dvfs
from wattline.policies.backfill.conservative import Conservative
from wattline.policies.backfill.none import NoBackfill

WINDOW = (Reservation(start_s=10, duration_s=5, nodes=4, name="upgrade"),)


@pytest.mark.parametrize("backfill", [compose().backfill, Conservative()])
def test_jobs_are_planned_around_a_reservation(backfill):
    """B asks for 12 s and would run into it at 10: it starts after it. C ends just in time.

        0         1         2
        0123456789012345678901234567
        ..CCCCCCCC#####
        ..CCCCCCCC#####
        AAAAAAAA..#####BBBBBBBBBBBB
        AAAAAAAA..#####BBBBBBBBBBBB
    """
    run = play(table((0, 2, 8), (1, 2, 12), (2, 2, 8)), compose(backfill=backfill),
               reservations=WINDOW)
    assert spans(run) == [(0, 8), (15, 27), (2, 10)]
    # Reserved nodes idle: 27 s of 400 W, and the busy node-seconds.
    assert run.energy_j == 27 * 400 + (16 + 24 + 16) * 200


def test_without_backfilling_the_queue_waits_for_the_end_of_the_reservation():
    """B may not start before the reservation, and C not before B.

        0         1         2
        0123456789012345678901234567
        ..........#####CCCCCCCC
        ..........#####CCCCCCCC
        AAAAAAAA..#####BBBBBBBBBBBB
        AAAAAAAA..#####BBBBBBBBBBBB
    """
    run = play(table((0, 2, 8), (1, 2, 12), (2, 2, 8)), compose(backfill=NoBackfill()),
               reservations=WINDOW)
    assert spans(run) == [(0, 8), (15, 27), (15, 23)]


def test_a_reservation_of_some_nodes_leaves_the_others():
    """Two of four nodes are kept from 4 to 8. A (2 nodes, 10 s) starts at once on the others; B
    (2 nodes, 3 s) fits before it; C (1 node, 6 s) does not and waits for 8."""
    run = play(table((0, 2, 10), (0, 2, 3), (1, 1, 6)), compose(),
               reservations=(Reservation(4, 4, nodes=2),))
    assert spans(run) == [(0, 10), (0, 3), (8, 14)]


@pytest.mark.parametrize("backfill", [compose().backfill, Conservative()])
def test_an_overdue_job_delays_a_reservation(backfill):
    """A asked for 8 s and takes 12. The reservation has two nodes from 10 on and the others from
    12 on; it ends at 15 all the same, and B starts then.

        0         1         2
        0123456789012345678901234
        ..CCCCCCCC#####
        ..CCCCCCCC#####
        AAAAAAAAAAAA###BBBBBBBBBB
        AAAAAAAAAAAA###BBBBBBBBBB
    """
    run = play(table((0, 2, 12, 8), (1, 2, 10), (2, 2, 8)), compose(backfill=backfill),
               reservations=WINDOW, overrun="extend")
    assert spans(run) == [(0, 12), (15, 25), (2, 10)]
    marks = run.events.time_s[run.events.kind == EventKind.RESERVATION]
    assert marks.tolist() == [10, 15]


def test_reserved_watts_lower_the_cap_while_they_are_kept():
    """The cap is 1000 W, less 400 W from 5 to 10. Two busy nodes draw 800 W, one 600 W.

        0         1
        0123456789012
        AAAABBB...DDD
        AAAABBBCC.DDD

    B starts at 4 under the full cap and stands 200 W above the lower one for two seconds: BLOCK
    stops starts, not jobs. C starts at 7 at exactly 600 W; D would need 800 W and waits for 10.
    """
    run = play(table((0, 2, 4), (4, 2, 3), (6, 1, 2), (8, 2, 3)), compose(admission=Block()),
               cap_w=Signal.constant(1000.0, "W"), reservations=(Reservation(5, 5, watts=400.0),))
    assert spans(run) == [(0, 4), (4, 7), (7, 9), (10, 13)]
    assert (run.time_above_cap_s, run.energy_above_cap_j) == (2, 400)
    assert run.power_w_peak == 800


def test_time_and_energy_above_a_cap_that_nobody_keeps():
    """800 W under caps of 1000, 500 (from 5 to 8) and 700 W: 3 s x 300 W and 2 s x 100 W."""
    cap = Signal.from_steps([(0, 1000), (5, 500), (8, 700)], "W")
    run = play(table((0, 2, 10)), compose(), cap_w=cap)
    assert (run.time_above_cap_s, run.energy_above_cap_j) == (5, 1100)
    steps = run.events.kind == EventKind.CAP
    assert run.events.time_s[steps].tolist() == [0, 5, 8]
    assert run.events.value[steps].tolist() == [1000, 500, 700]


def test_a_job_that_no_cap_allows_is_refused_and_one_that_a_later_cap_allows_waits():
    """700 W until 50, then 900 W. A (2 nodes, 800 W) waits for 50 and blocks; C (4 nodes, 1200 W)
    is refused at its submission and holds nobody up; B follows A's start in order."""
    cap = Signal.from_steps([(0, 700), (50, 900)], "W")
    run = play(table((0, 2, 5), (1, 1, 5), (2, 4, 5)), compose(admission=Block()), cap_w=cap)
    assert spans(run)[:2] == [(50, 55), (55, 60)]
    assert math.isnan(run.schedule.start_s[2])
    assert run.schedule.outcome.tolist() == [
        Outcome.COMPLETED, Outcome.COMPLETED, Outcome.NOT_RUN]
    assert run.time_above_cap_s == 0


def test_dvfs_slows_all_jobs_while_the_cap_asks_for_it():
    """Half speed takes 0.6 of the power; the cap is 800 W.

    At 0 A draws 800 W with the idle nodes. At 2 B would make it 1000 W; at the lower level the
    machine draws 3 x 300 x 0.6 + 100 = 640 W, so B starts and both go at half speed. A has 8 s of
    work left, B 6. B ends at 14. A, with 2 s left, goes at full speed again and ends at 16.

        0         1
        0123456789012345
        ..bbbbbbbbbbbb
        AAaaaaaaaaaaaaAA
        AAaaaaaaaaaaaaAA
    """
    dvfs = Dvfs(speed=np.array([0.5, 1.0]), power_factor=np.array([0.6, 1.0]))
    run = play(table((0, 2, 10), (2, 1, 6)), compose(admission=dvfs),
               cap_w=Signal.constant(800.0, "W"))
    assert spans(run) == [(0, 16), (2, 14)]
    assert joules(run) == pytest.approx([1200 + 12 * 360 + 1200, 12 * 180], rel=1e-12)
    assert run.energy_j == pytest.approx(2 * 800 + 12 * 640 + 2 * 800, rel=1e-12)
    assert run.time_above_cap_s == 0
