"""Multifactor order with fair-share by joules: who used less of its share goes first.

The fair-share factor is that of `wattline.account.fairshare`: 2^(-effective usage / share), the
usage in joules, faded with a half-life, over a tree of accounts. Usage counts every joule from
when it was drawn, of running jobs too, so a burst of jobs is ordered while it runs.

What each account used is kept in `numbers` from place `first` on: usage of each account, its
factor, the time of it, and then of each job the joules that were charged.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from wattline.model.kernel import implement, kernel
from wattline.policies.contract import keys_change, order_told, queue_key
from wattline.policies.state import BLOCK, State

LN_2 = 0.6931471805599453


class EnergyShare(NamedTuple):
    """Weights of the factors, each in [0, 1], and the account tree as arrays.

    `parent`, `share` and `norm_share` are of the accounts; `order` lists them parents first;
    `account` is the leaf of each user by code.
    """

    parent: Any
    share: Any
    norm_share: Any
    order: Any
    account: Any
    fair: float = 1.0
    age: float = 0.0
    size: float = 0.0
    age_max_s: float = 604800.0
    half_life_s: float = 604800.0
    first: int = 0


def numbers_needed(order: EnergyShare, jobs: int) -> int:
    """Room in `numbers` that the order needs from its first place on."""
    return 2 * len(order.parent) + 1 + jobs


@implement(keys_change, EnergyShare)
@kernel
def _changes(st: State, order: EnergyShare) -> bool:
    """Called once before each sorting: bring usage and factors up to now."""
    _charge_running(st, order)
    _refresh_factors(st, order)
    return True


@implement(queue_key, EnergyShare)
@kernel
def _key(st: State, order: EnergyShare, job: int) -> float:
    clock = st.clock[0]
    accounts = order.parent.size
    account = _account_of(st, order, job)
    factor = st.numbers[order.first + accounts + account]
    age = min((clock.now_s - st.jobs[job].submit_s) / order.age_max_s, 1.0)
    size = st.live[job].units / clock.units
    return float(-(order.fair * factor + order.age * age + order.size * size))


@implement(order_told, EnergyShare)
@kernel
def _told(st: State, order: EnergyShare, job: int) -> None:
    """A job ended: its last joules count too."""
    _fade(st, order)
    _charge(st, order, job, st.live[job].energy_j)


@kernel
def _charge(st: State, order: EnergyShare, job: int, drawn_j: float) -> None:
    """Charge a job's account with what it drew by now and was not charged for yet."""
    charged = order.first + 2 * order.parent.size + 1 + job
    account = _account_of(st, order, job)
    st.numbers[order.first + account] += drawn_j - st.numbers[charged]
    st.numbers[charged] = drawn_j


@kernel
def _account_of(st: State, order: EnergyShare, job: int) -> int:
    user = max(st.jobs[job].user, 0)
    return int(order.account[user])


@kernel
def _fade(st: State, order: EnergyShare) -> None:
    """Forget of all usage what the time since the last call lets forget."""
    clock = st.clock[0]
    last = order.first + 2 * order.parent.size
    passed_s = clock.now_s - st.numbers[last]
    if passed_s > 0.0:
        kept = 2.0 ** (-passed_s / order.half_life_s)
        for account in range(order.parent.size):
            st.numbers[order.first + account] *= kept
    st.numbers[last] = clock.now_s


@kernel
def _charge_running(st: State, order: EnergyShare) -> None:
    """Add what running jobs drew since they were last charged."""
    clock = st.clock[0]
    _fade(st, order)
    for place in range(clock.blocks):
        block = st.blocks[place].order
        for index in range(block * BLOCK, block * BLOCK + st.blocks[block].count):
            job = st.releases[index].job
            live = st.live[job]
            drawn_j = live.energy_j + live.power_w * (clock.now_s - live.updated_s)
            _charge(st, order, job, drawn_j)


@kernel
def _refresh_factors(st: State, order: EnergyShare) -> None:
    """The factor of each account. Users are leaves; `numbers` holds what each leaf used."""
    accounts = order.parent.size
    used = order.first
    factor = order.first + accounts
    everything = 0.0
    for account in range(accounts):
        st.numbers[factor + account] = st.numbers[used + account]
    # Sums of what lies below each account, children before parents.
    for place in range(accounts - 1, -1, -1):
        account = order.order[place]
        if order.parent[account] >= 0:
            st.numbers[factor + order.parent[account]] += st.numbers[factor + account]
        else:
            everything += st.numbers[factor + account]
    scale = 1.0 / everything if everything > 0.0 else 0.0
    # Effective usage, parents first.
    for place in range(accounts):
        account = order.order[place]
        own = st.numbers[factor + account] * scale
        parent = order.parent[account]
        if parent >= 0:
            own += (st.numbers[factor + parent] - own) * order.share[account]
        st.numbers[factor + account] = own
    for account in range(accounts):
        st.numbers[factor + account] = 2.0 ** (
            -st.numbers[factor + account] / order.norm_share[account]
        )
