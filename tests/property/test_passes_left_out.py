"""Passes and backfill cycles that are left out would have started nothing."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.support.examples import costing
from tests.support.shared_waking import schedule, schedule_waking_always

from wattline.model.kernel import PLAIN

SEEDS = st.integers(0, 100_000).filter(lambda seed: seed % 5 != 3)
"""Without reservations of the site: as one comes near, a choice of nodes that failed among more
may succeed among fewer, at a time at which nothing else happens."""


@pytest.mark.skipif(not PLAIN, reason="what is compiled cannot be replaced")
@costing(90)
@given(seed=SEEDS)
@example(seed=39)  # a job that is over its limits with the nodes that it would have
@example(seed=1034)  # backfill starts a job that held others back in main passes
@example(seed=2072)  # new priorities ask for the pass of their own instant, which then counts
def test_a_loop_that_leaves_nothing_out_starts_the_same_jobs(seed: int) -> None:
    assert schedule(seed) == schedule_waking_always(seed)
