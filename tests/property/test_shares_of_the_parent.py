"""Fairshare=parent: users that stand as their account does, accounts that are not there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.support.shared import RESOURCES, limits, machine, requests

from wattline.shared_nodes.fairshare import share_fairly
from wattline.shared_nodes.machine import Associations
from wattline.shared_nodes.prepare import make_books
from wattline.shared_nodes.rules import CLASSIC, FAIR_TREE, MULTIFACTOR, Priority, Rules

ROOT, LAB, INNER, ANN, BOB, CAT, DAN = range(7)
"""Accounts lab (60 shares) and inner (in lab) and users ann, bob in lab, cat in inner, dan below
the root with 40 shares."""


def factors(rule: str, shares: dict[int, int], usage: dict[int, float]) -> np.ndarray:
    on = machine(1, partitions=[[0]])
    on = replace(on, partitions=replace(on.partitions, allowed_accounts=np.ones((1, 3), bool)))
    given = {ROOT: 1, LAB: 60, INNER: 1, ANN: 1, BOB: 1, CAT: 1, DAN: 40} | shares
    tree = Associations(
        accounts=("root", "lab", "inner"), users=("ann", "bob", "cat", "dan"),
        account=np.array([0, 1, 2, 1, 1, 2, 0]), user=np.array([-1, -1, -1, 0, 1, 2, 3]),
        parent=np.array([-1, ROOT, LAB, LAB, LAB, INNER, ROOT]),
        shares=np.array([given[row] for row in range(7)]), default_qos=np.zeros(7, np.int64),
        allowed_qos=np.ones((7, 1), bool), priority=np.zeros(7, np.int64),
        limits=limits(7, RESOURCES))
    on = replace(on, associations=tree)
    rules = Rules(priority=Priority(kind=MULTIFACTOR, fairshare=1000, fairshare_rule=rule))
    books = make_books(on, requests(on, {}), rules, None, None, 0.0)
    for row, used in usage.items():
        while row >= 0:
            books.assoc_usage[row] += used
            row = int(books.assoc_parent[row])  # noqa: PLW2901
    share_fairly(books)
    return np.array(books.assoc_factor)


@pytest.mark.parametrize("rule", [CLASSIC, FAIR_TREE])
def test_users_of_the_parents_shares_stand_alike_whatever_they_used(rule: str) -> None:
    usage = {ANN: 900.0, BOB: 10.0, DAN: 300.0}
    apart = factors(rule, {}, usage)
    assert apart[ANN] < apart[BOB]
    alike = factors(rule, {ANN: -1, BOB: -1}, usage)
    assert alike[ANN] == alike[BOB]
    # As lab stands against dan: 60 of 100 shares and three quarters of the usage.
    assert alike[ANN] < alike[DAN]


def test_a_user_of_the_parents_shares_has_the_factor_of_its_account() -> None:
    found = factors(CLASSIC, {ANN: -1}, {ANN: 900.0, DAN: 300.0})
    assert found[ANN] == found[LAB]
    # Three quarters of the usage, and 60 % of the rest with its sibling, over 60 % of the shares.
    assert found[LAB] == pytest.approx(2.0 ** -(0.9 / 0.6))


@pytest.mark.parametrize("rule", [CLASSIC, FAIR_TREE])
def test_what_lies_in_an_account_of_the_parents_shares_lies_in_the_account_above(
    rule: str
) -> None:
    """Cat in inner competes with ann and bob alone; as their sibling each has a third."""
    usage = {ANN: 100.0, BOB: 100.0, CAT: 100.0, DAN: 10.0}
    found = factors(rule, {INNER: -1}, usage)
    assert found[ANN] == found[BOB] == found[CAT]
    apart = factors(rule, {INNER: 2}, usage)  # inner has half of lab, and cat all of that
    assert apart[CAT] > apart[ANN]
