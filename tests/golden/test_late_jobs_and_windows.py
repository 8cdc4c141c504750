"""A reservation that never gets all of its nodes gives back those alone that it had."""

from __future__ import annotations

import pytest

from tests.golden.lab import play, spans, table
from tests.support.workloads import compose
from wattline.model.reservation import Reservation
from wattline.policies.backfill.conservative import Conservative
from wattline.policies.backfill.none import NoBackfill


@pytest.mark.parametrize("backfill", [compose().backfill, Conservative(), NoBackfill()])
def test_a_reservation_that_an_overdue_job_keeps_from_its_nodes_ends_with_what_it_had(backfill):
    """A asks for 8 s and takes 30. The reservation, of all four nodes from 10 on, has two of them
    until 15: then B has those two, and C, of all four, waits for A.

        0         1         2         3
        0123456789012345678901234567890123456
        ..........#####BBBBBBBBBB.....CCCCC
        ..........#####BBBBBBBBBB.....CCCCC
        AAAAAAAAAAAAAAAAAAAAAAAAAAAAAACCCCC
        AAAAAAAAAAAAAAAAAAAAAAAAAAAAAACCCCC
    """
    run = play(table((0, 2, 30, 8), (1, 2, 10), (2, 4, 5)), compose(backfill=backfill),
               reservations=(Reservation(10, 5, nodes=4),), overrun="extend")
    assert spans(run) == [(0, 30), (15, 25), (30, 35)]
