"""Priorities by age, size and waiting time, worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from tests.golden.lab import play, spans, table
from tests.support.workloads import compose
from wattline.account.fairshare import ShareTree
from wattline.policies.order.multifactor import Multifactor
from wattline.policies.order.wfp import Wfp
from wattline.studies.fairshare.study import energy_share


def starts(order: Any, *rows: tuple, **columns: Any) -> list[float]:
    return [start_s for start_s, _ in spans(play(table(*rows, **columns), compose(order=order)))]


ALL_BUSY = (0, 4, 100)
"""All four nodes, until 100 s."""


def test_age_counts_no_more_than_one_however_long_a_job_has_waited() -> None:
    """B, of one node, is 99 s old at 100 s and C, of four, 70 s. Full after 20 s, both ages are 1:
    C is first with 1 + 1, as B has 1 + 1/4. Without an end to ages B would have 4.95 + 0.25 and C
    3.5 + 1."""
    order = Multifactor(age=1.0, size=1.0, age_max_s=20.0)
    assert starts(order, ALL_BUSY, (1, 1, 10), (30, 4, 10)) == [0, 110, 100]


def test_age_counts_by_its_part_until_it_is_full() -> None:
    """At 100 s B, of two nodes, is 80 s old and C, of three, 40 s. Full after 100 s they have
    0.8 + 2/4 and 0.4 + 3/4: B is first. Full after 200 s they have 0.4 + 2/4 and 0.2 + 3/4, and C
    is. Both do not fit together."""
    rows = (ALL_BUSY, (20, 2, 10), (60, 3, 10))
    assert starts(Multifactor(age_max_s=100.0), *rows) == [0, 100, 110]
    assert starts(Multifactor(age_max_s=200.0), *rows) == [0, 110, 100]


def test_each_factor_counts_by_its_weight() -> None:
    """As above with full ages after 100 s: half the weight of age is as good as twice the time."""
    rows = (ALL_BUSY, (20, 2, 10), (60, 3, 10))
    assert starts(Multifactor(age=0.5, age_max_s=100.0), *rows) == [0, 110, 100]
    assert starts(Multifactor(size=2.0, age_max_s=100.0), *rows) == [0, 110, 100]
    assert starts(Multifactor(size=0.0, age_max_s=100.0), *rows) == [0, 100, 110]


def test_age_beside_fair_shares_by_joules_counts_no_more_than_one() -> None:
    """As with `multifactor`: full after 20 s, both ages are 1, and the size of C decides."""
    order = energy_share(ShareTree.flat(("ann",)), ("ann",))
    order = order._replace(fair=0.0, age=1.0, size=1.0, age_max_s=20.0)
    found = starts(order, ALL_BUSY, (1, 1, 10), (30, 4, 10), user=[0, 0, 0],
                   names={"user": ("ann",)})
    assert found == [0, 110, 100]


@pytest.mark.parametrize(("exponent", "wanted"), [
    (3.0, [0, 100, 110]), (2.0, [0, 110, 100]), (1.0, [0, 110, 100])])
def test_wfp_weighs_the_cube_of_waiting_over_requested_time(
    exponent: float, wanted: list[float]
) -> None:
    """At 100 s B, of one node, has waited nine times what it asks for, and C, of four, five times:
    1 x 729 is more than 4 x 125, but 81 less than 4 x 25, and 9 less than 4 x 5."""
    found = starts(Wfp(exponent), ALL_BUSY, (10, 1, 10), (50, 4, 10))
    assert found == wanted
