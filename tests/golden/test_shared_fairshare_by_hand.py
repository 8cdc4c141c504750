"""Fair-share factors of users on shared nodes, worked out by hand.

Three users with equal shares are in one account, which used all that was used: its effective usage
is 1. A user's share of the machine is 1/3.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.support.shared import machine, requests
from wattline.shared_nodes.fairshare import share_fairly
from wattline.shared_nodes.prepare import make_books
from wattline.shared_nodes.rules import CLASSIC, FAIR_TREE, MULTIFACTOR, Priority, Rules
from wattline.shared_nodes.simulate import simulate_shared


def factors(rule: str, *used: float, dampening: float = 1.0) -> list[float]:
    """Of the three users, after they used so much."""
    on = machine(1)
    rules = Rules(priority=Priority(kind=MULTIFACTOR, fairshare=1000, fairshare_rule=rule,
                                    dampening=dampening))
    books = make_books(on, requests(on, {}), rules, None, None, 0.0)
    books.assoc_usage[:] = [sum(used), sum(used), *used]
    share_fairly(books)
    return [float(factor) for factor in books.assoc_factor[2:]]


@pytest.mark.parametrize("dampening", [1.0, 5.0])
def test_the_dampening_factor_divides_the_exponent_of_the_classic_factor(dampening: float) -> None:
    """3/4, 1/4 and nothing of all usage are, with siblings, 3/4 + 1/4 x 1/3 = 5/6,
    1/4 + 3/4 x 1/3 = 1/2 and 1/3 of it: 5/2, 3/2 and 1 times the share of 1/3."""
    assert factors(CLASSIC, 300.0, 100.0, 0.0, dampening=dampening) == pytest.approx(
        [2 ** (-2.5 / dampening), 2 ** (-1.5 / dampening), 2 ** (-1.0 / dampening)])


@pytest.mark.parametrize(("used", "ranks"), [
    ((300.0, 100.0, 0.0), [1, 2, 3]), ((0.0, 100.0, 300.0), [3, 2, 1]),
    ((100.0, 100.0, 0.0), [2, 2, 3]), ((0.0, 0.0, 100.0), [3, 3, 1]),
    ((0.0, 0.0, 0.0), [3, 3, 3])])
def test_the_factor_of_the_fair_tree_is_the_rank_over_the_number_of_users(
    used: tuple[float, ...], ranks: list[int]
) -> None:
    """The first of three has 3/3, the last 1/3; those that used the same have the better rank."""
    assert factors(FAIR_TREE, *used) == [rank / 3 for rank in ranks]


@pytest.mark.parametrize(("factor", "expected"), [(1.0, [0, 0, 1200, 600]),
                                                  (0.5, [0, 0, 600, 1200])])
def test_usage_counts_by_the_usage_factor_of_the_qos(factor: float, expected: list[int]) -> None:
    """Until 600 s user 0 has 4 CPUs in QOS 1, user 1 has 3 in QOS 0. At half the factor user 0 is
    charged for 2 a second, and goes before user 1; else after it."""
    on = machine(2, qos=2)
    on = replace(on, qos=replace(on.qos, usage_factor=np.array([1.0, factor])))
    jobs = ({"tasks": 4, "min_nodes": 1, "qos": 1}, {"tasks": 3, "min_nodes": 1, "association": 3},
            {"tasks": 8, "min_nodes": 2, "submit_s": 10.0},
            {"tasks": 8, "min_nodes": 2, "submit_s": 11.0, "association": 3})
    rules = Rules(scheduler="builtin", priority=Priority("multifactor", fairshare=1000))
    found = simulate_shared(on, requests(on, *jobs), rules)
    assert list(found.start_s) == expected
