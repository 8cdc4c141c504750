"""The fair-share factor of each user's association, between 0 and 1.

fair_tree.html: siblings are ordered by their part of the shares over their part of the usage; users
are ranked depth first, and a user's factor is the rank over the number of users. Ties share a rank.
priority_multifactor.html and slurm.conf, FairShareDampeningFactor (classic): 2^(-U/S/d), with the
effective usage U, which an association shares with its siblings.
fair_tree.html and priority_multifactor.html, Fairshare=parent: such a user stands where the account
stands; what lies in such an account is treated as if it lay in the account above.
"""

from __future__ import annotations

import numpy as np

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.state import Books


@kernel_part
def share_fairly(st: Books) -> None:
    """Work out `assoc_factor` from the usage of now."""
    if st.rules[0].fair_tree != 0:
        _fair_tree(st)
    else:
        _classic(st)


@kernel_part
def _classic(st: Books) -> None:
    whole = st.assoc_usage[0]
    for index in range(len(st.assoc_by_depth)):
        association = st.assoc_by_depth[index]
        parent = st.assoc_parent[association]
        used = 0.0
        if whole > 0.0:
            used = st.assoc_usage[association] / whole
        if parent >= 0 and st.assoc_part[association] < 0.0:
            st.assoc_level[association] = st.assoc_level[parent]
            st.assoc_factor[association] = st.assoc_factor[parent]
            continue
        if parent >= 0:
            used += (st.assoc_level[parent] - used) * st.assoc_part[association]
        st.assoc_level[association] = used
        norm = st.assoc_norm[association]
        factor = 0.0
        if norm > 0.0:
            factor = 2.0 ** (-used / norm / st.rules[0].dampening)
        st.assoc_factor[association] = factor


@kernel_part
def _fair_tree(st: Books) -> None:
    for association in range(len(st.assoc_parent)):
        parent = st.assoc_parent[association]
        level = np.inf
        if parent >= 0 and st.assoc_usage[association] > 0.0:
            level = (st.assoc_part[association]
                     / (st.assoc_usage[association] / st.assoc_usage[parent]))
        if st.assoc_part[association] == 0.0:
            level = 0.0
        if parent >= 0 and st.assoc_part[association] < 0.0:
            level = st.assoc_level[parent]
        st.assoc_level[association] = level
    _sort_users(st)
    count = len(st.users_order)
    rank = count
    for place in range(count):
        user = st.users_order[place]
        if place > 0 and _compare(st, st.users_order[place - 1], user) != 0:
            rank = count - place
        st.assoc_factor[user] = rank / count


@kernel_part
def _compare(st: Books, one: int, other: int) -> int:
    """1 where the first user comes before the second, -1 where after it, 0 where neither."""
    first, second = one, other
    while st.assoc_depth[first] > st.assoc_depth[second]:
        first = st.assoc_parent[first]
    while st.assoc_depth[second] > st.assoc_depth[first]:
        second = st.assoc_parent[second]
    while st.assoc_parent[first] != st.assoc_parent[second]:
        first = st.assoc_parent[first]
        second = st.assoc_parent[second]
    if st.assoc_level[first] == st.assoc_level[second]:
        first, second = one, other
    if st.assoc_level[first] > st.assoc_level[second]:
        return 1
    if st.assoc_level[first] < st.assoc_level[second]:
        return -1
    return 0


@kernel_part
def _sort_users(st: Books) -> None:
    """A stable merge sort, best first; from one time to the next the order mostly stays."""
    count = len(st.users_order)
    width = 1
    while width < count:
        for low in range(0, count - width, 2 * width):
            middle = low + width
            if _compare(st, st.users_order[middle], st.users_order[middle - 1]) > 0:
                _merge_users(st, low, middle, min(middle + width, count))
        width *= 2


@kernel_part
def _merge_users(st: Books, low: int, middle: int, high: int) -> None:
    left, right = low, middle
    for place in range(low, high):
        take_left = right >= high
        if not take_left and left < middle:
            take_left = _compare(st, st.users_order[right], st.users_order[left]) <= 0
        if take_left:
            st.users_scratch[place] = st.users_order[left]
            left += 1
        else:
            st.users_scratch[place] = st.users_order[right]
            right += 1
    for place in range(low, high):
        st.users_order[place] = st.users_scratch[place]
