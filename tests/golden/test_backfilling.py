"""FCFS, EASY and conservative backfilling, worked out by hand."""

from __future__ import annotations

import pytest

from tests.golden.lab import idle_and_busy_j, joules, play, spans, table
from tests.support.workloads import compose
from wattline.policies.backfill.conservative import Conservative
from wattline.policies.backfill.none import NoBackfill
from wattline.policies.order.largest import Largest
from wattline.policies.order.sjf import Sjf
from wattline.policies.order.wfp import Wfp

both_ways = pytest.mark.both_ways  # with EASY alone: each other composition would be compiled
FCFS = compose(backfill=NoBackfill())
EASY = compose()
CONSERVATIVE = compose(backfill=Conservative())
ALL = {"none": FCFS, "easy": EASY, "conservative": CONSERVATIVE}


def test_fcfs_lets_nobody_pass():
    """B needs the whole machine and waits for A; C would fit at 2 and waits behind B.

        0123456789
        ....BB...
        ....BB...
        AAAABB...
        AAAABBCCC
    """
    run = play(table((0, 2, 4), (1, 4, 2), (2, 1, 3)), FCFS)
    assert spans(run) == [(0, 4), (4, 6), (6, 9)]
    assert joules(run) == [2400, 2400, 900]
    # 9 s of 400 W, and 8 + 8 + 3 busy node-seconds of 200 W.
    assert run.energy_j == 3600 + 3800 == idle_and_busy_j(run)


@both_ways
def test_easy_lets_a_job_end_exactly_at_the_shadow_time():
    """The same with C asking for 2 s: it ends at 4, the shadow time of B, and delays nobody.

        0123456
        ..CCBB
        ....BB
        AAAABB
        AAAABB
    """
    run = play(table((0, 2, 4), (1, 4, 2), (2, 1, 2)), EASY)
    assert spans(run) == [(0, 4), (4, 6), (2, 4)]
    assert run.energy_j == 6 * 400 + (8 + 8 + 2) * 200


@both_ways
def test_easy_keeps_a_job_back_that_ends_a_second_too_late():
    """With 3 s C would end at 5, and B leaves no node over: it waits, as without backfilling."""
    run = play(table((0, 2, 4), (1, 4, 2), (2, 1, 3)), EASY)
    assert spans(run) == [(0, 4), (4, 6), (6, 9)]


@both_ways
def test_easy_gives_extra_nodes_away_once():
    """B needs 3 of 4 nodes at 10, so one is extra. C takes it for long; D, as long, finds none
    left although a node is free; E ends at 10 and needs no extra node.

        0         1         2         3
        0123456789012345678901234567890123456
        ....EEEEEEBBBBBDDDDDDDDDDDDDDDDDDDD
        ..CCCCCCCCCCCCCCCCCCCC.............
        AAAAAAAAAABBBBB....................
        AAAAAAAAAABBBBB....................
    """
    run = play(table((0, 2, 10), (1, 3, 5), (2, 1, 20), (3, 1, 20), (4, 1, 6)), EASY)
    assert spans(run) == [(0, 10), (10, 15), (2, 22), (15, 35), (4, 10)]
    assert joules(run) == [6000, 4500, 6000, 6000, 1800]
    assert run.energy_j == 35 * 400 + (20 + 15 + 20 + 20 + 6) * 200


@both_ways
def test_easy_moves_the_reservation_forward_when_a_job_ends_early():
    """A asked for 10 s and took 5. B was promised 10 and gets 5.

        0123456789
        .....BBBBB
        .....BBBBB
        AAAAABBBBB
        AAAAA.....
    """
    run = play(table((0, 2, 5, 10), (1, 3, 5)), EASY)
    assert spans(run) == [(0, 5), (5, 10)]


DELAYED = table((0, 3, 10), (1, 2, 10), (2, 2, 10), (3, 1, 15))


@both_ways
def test_easy_may_delay_the_second_in_the_queue():
    """B has the reservation (10, 2 nodes, 2 extra). D takes an extra node and C, which has no
    reservation, waits for it.

        0         1         2
        0123456789012345678901234567
        ...DDDDDDDDDDDDDDD
        AAAAAAAAAA........CCCCCCCCCC
        AAAAAAAAAABBBBBBBBCC........   (C on the nodes of A and D)
        AAAAAAAAAABBBBBBBB..
    """
    assert spans(play(DELAYED, EASY)) == [(0, 10), (10, 20), (18, 28), (3, 18)]


def test_conservative_delays_nobody():
    """C has a reservation at 10 too, so D finds no room before 20.

        0         1         2         3
        01234567890123456789012345678901234
        ..........CCCCCCCCCC
        AAAAAAAAAACCCCCCCCCC
        AAAAAAAAAABBBBBBBBBB
        AAAAAAAAAABBBBBBBBBBDDDDDDDDDDDDDDD
    """
    run = play(DELAYED, CONSERVATIVE)
    assert spans(run) == [(0, 10), (10, 20), (10, 20), (20, 35)]
    assert run.energy_j == 35 * 400 + (30 + 20 + 20 + 15) * 200


def test_conservative_reconsiders_in_the_order_of_start():
    """Planned at 0: A until 10, C until 8 beside it, B at 10 on all nodes, D at 15.

    A ends at 3. In the order of start: B moves from 10 to 8 (C holds two nodes until then); D finds
    five seconds of two nodes before B, too few, and moves from 15 to 13. Had D gone first, it
    would have taken the nodes at 3 and pushed B back: never later is the rule.

        0         1         2
        0123456789012345678901234
        CCCCCCCCBBBBB
        CCCCCCCCBBBBB
        AAA.....BBBBBDDDDDDDDDDDD
        AAA.....BBBBBDDDDDDDDDDDD
    """
    run = play(table((0, 2, 3, 10), (0, 4, 5), (0, 2, 8), (0, 2, 12)), CONSERVATIVE)
    assert spans(run) == [(0, 3), (8, 13), (0, 8), (13, 25)]
    assert joules(run) == [1800, 6000, 4800, 7200]


def test_conservative_starts_in_the_middle_of_nowhere():
    """A reservation may fall due when nothing else happens: D's at 6, behind B's early end.

    A holds 2 nodes for 6 s by its request and ends at 6; B and C hold the others in turn.
    """
    run = play(table((0, 2, 4, 6), (0, 2, 2, 5), (0, 4, 1, 1), (0, 1, 3, 3)), CONSERVATIVE)
    # At 0: A until 6, B until 5, C at 6, D at 0? no node is free: D at 5 would meet C at 6, so 7.
    # At 2 B ends: C stays at 6 (A), D (1 node, 3 s) fits 2 to 5.
    # At 4 A ends: nothing runs but D until 5; C moves to 5.
    assert spans(run) == [(0, 4), (0, 2), (5, 6), (2, 5)]


@pytest.mark.parametrize(
    ("order", "starts"),
    [
        # B asks for 9 s, C for 3 s, D for 6 s; sizes 4, 3, 4. All wait for A until 10.
        (Sjf(), [0, 19, 10, 13]),  # C 10-13, D 13-19, B 19-28
        (Largest(), [0, 10, 25, 19]),  # B 10-19, D 19-25, C 25
        # At 10: B 4 x (9/9)^3 = 4, C 3 x (8/3)^3 = 57, D 4 x (7/6)^3 = 6.4: C first.
        # At 13: B 4 x (12/9)^3 = 9.5, D 4 x (10/6)^3 = 18.5: D 13-19, then B.
        (Wfp(), [0, 19, 10, 13]),
    ],
)
def test_orders(order, starts):
    run = play(table((0, 4, 10), (1, 4, 9), (2, 3, 3), (3, 4, 6)), compose(order=order))
    assert run.schedule.start_s.tolist() == starts


@pytest.mark.parametrize("name", ALL)
def test_ties_go_by_the_row_and_ends_come_before_submissions(name):
    """A ends at 5 when C is submitted: its nodes are free for C. B and D are submitted together
    at 0 beside A, and the earlier row goes first."""
    run = play(table((0, 2, 5), (0, 2, 7), (0, 2, 3), (5, 2, 2)), ALL[name])
    # The third job (row 2) waits since 0 and takes A's nodes at 5; row 3 follows at 7 with B's.
    assert spans(run) == [(0, 5), (0, 7), (5, 8), (7, 9)]


@pytest.mark.parametrize("name", ALL)
def test_a_job_of_no_length_takes_no_time(name):
    run = play(table((0, 4, 0), (0, 4, 3), (0, 4, 0)), ALL[name])
    assert spans(run) == [(0, 0), (0, 3), (3, 3)]
    assert run.energy_j == 3 * 1200
