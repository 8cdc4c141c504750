"""Multifactor order with fair-share by joules: who used less of its share goes first.

The fair-share factor is that of `wattline.account.fairshare`: 2^(-effective usage / share), the
usage in joules, faded with a half-life, over a tree of accounts. Usage counts every joule from
when it was drawn, of running jobs too, so a burst of jobs is ordered while it runs. How often the
queue is sorted makes no difference: what a job drew since it was last charged has faded by then, as
if it was drawn evenly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from wattline.model.jobs import IntArray, JobTable
from wattline.model.kernel import implement, kernel
from wattline.model.promises import NO_ACCOUNT, AccountShares
from wattline.model.signal import FloatArray
from wattline.policies.contract import keys_change, order_told, queue_key
from wattline.policies.memory import Find, Memory
from wattline.policies.state import BLOCK, State
from wattline.policies.traits import Key, account_shares, queue_order

LN_2 = 0.6931471805599453


class ShareMemory(Memory):
    """Joules that each account used, faded up to `faded_s`, and its factor; of jobs the account,
    the joules that it was charged with, and when it was (minus infinity: never)."""

    FIELDS = ("used_j", "factor", "faded_s", "account", "charged_j", "charged_s")
    PER_JOB: ClassVar[Mapping[str, str]] = {"account": "i8", "charged_j": "f8", "charged_s": "f8"}
    used_j: Any
    factor: Any
    faded_s: Any
    account: Any
    charged_j: Any
    charged_s: Any


class EnergyShare(NamedTuple):
    """Weights of the factors, each in [0, 1], and the account tree as arrays.

    `parent`, `share` and `norm_share` are of the accounts; `order` lists them parents first. Behind
    the accounts of the tree comes one for users who are in none (`with_strangers`): what they draw
    counts for nobody, and their factor is 0.
    """

    parent: Any
    share: Any
    norm_share: Any
    order: Any
    memory: ShareMemory
    fair: float = 1.0
    age: float = 0.0
    size: float = 0.0
    age_max_s: float = 604800.0
    half_life_s: float = 604800.0

    @property
    def axis(self) -> Literal["order"]:
        return "order"


STRANGERS = "(no account)"
"""Name of the account of users who are in none of the tree."""


def with_strangers(tree: Any) -> dict[str, Any]:
    """The arrays of a tree of shares, with the account of users who are in none."""
    return {"parent": np.append(tree.parent, -1), "share": np.append(tree.share, 0.0),
            "norm_share": np.append(tree.norm_share, 0.0),
            "order": np.append(tree.order, len(tree.parent))}


def account_of(index: Mapping[str, int], strangers: int) -> Find:
    """The account of each job of a table, by the name of its user; `strangers` is that of users who
    have none."""

    def find(jobs: JobTable, logged: Mapping[str, Any]) -> IntArray:
        return np.array([index.get(jobs.name_of("user", max(int(code), 0)), strangers)
                         for code in jobs.user], dtype=np.int64)

    return find


def by_code(accounts: Sequence[int]) -> Find:
    """The same by the code of the user, where codes are all that is known."""
    table = np.array(accounts, dtype=np.int64)

    def find(jobs: JobTable, logged: Mapping[str, Any]) -> IntArray:
        found: IntArray = table[np.maximum(jobs.user, 0)]
        return found

    return find


def fresh_memory(
    accounts: int, account_of: Find, before_j: Mapping[int, float] | None = None
) -> ShareMemory:
    """Nothing used yet but what accounts used `before_j` the first decision, whenever that is.

    `account_of` says which account each job of a table belongs to.
    """
    used_j = np.zeros(accounts)
    for account, joules in (before_j or {}).items():
        used_j[account] = joules
    faded_s = np.full(1, np.nan if before_j else 0.0)  # NaN: it does not fade before that
    find: dict[str, Find] = {"account": account_of, "charged_s": _never}
    return ShareMemory.start(find, used_j=used_j, factor=np.zeros(accounts), faded_s=faded_s)


def _never(jobs: JobTable, logged: Mapping[str, Any]) -> FloatArray:
    return np.full(len(jobs), -np.inf)


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
    factor = order.memory.factor[order.memory.account[job]]
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
    """Charge a job's account with what it drew by now and was not charged for yet, as far as that
    has not faded since it was drawn."""
    memory = order.memory
    now_s = st.clock[0].now_s
    since_s = memory.charged_s[job]
    since_s = max(since_s, st.live[job].start_s)
    fading = LN_2 * (now_s - since_s) / order.half_life_s
    kept = 1.0
    if fading > 0.0:
        kept = -np.expm1(-fading) / fading
    memory.used_j[memory.account[job]] += (drawn_j - memory.charged_j[job]) * kept
    memory.charged_j[job] = drawn_j
    memory.charged_s[job] = now_s


@kernel
def _fade(st: State, order: EnergyShare) -> None:
    """Forget of all usage what the time since the last call lets forget."""
    clock = st.clock[0]
    memory = order.memory
    passed_s = clock.now_s - memory.faded_s[0]
    if passed_s > 0.0:
        kept = 2.0 ** (-passed_s / order.half_life_s)
        for account in range(order.parent.size):
            memory.used_j[account] *= kept
    memory.faded_s[0] = clock.now_s


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
    """The factor of each account. Users are leaves; `used_j` holds what each leaf used."""
    accounts = order.parent.size
    strangers = accounts - 1
    factor = order.memory.factor
    everything = 0.0
    for account in range(accounts):
        factor[account] = order.memory.used_j[account]
    # Sums of what lies below each account, children before parents.
    for place in range(accounts - 1, -1, -1):
        account = order.order[place]
        if order.parent[account] >= 0:
            factor[order.parent[account]] += factor[account]
        elif account != strangers:
            everything += factor[account]
    scale = 1.0 / everything if everything > 0.0 else 0.0
    # Effective usage, parents first.
    for place in range(accounts):
        account = order.order[place]
        own = factor[account] * scale
        parent = order.parent[account]
        if parent >= 0:
            own += (factor[parent] - own) * order.share[account]
        factor[account] = own
    for account in range(strangers):
        factor[account] = 2.0 ** (-factor[account] / order.norm_share[account])
    factor[strangers] = 0.0


@queue_order.register
def _order(order: EnergyShare) -> Key:
    return Key("energy-share", {
        "fair": order.fair, "age": order.age, "size": order.size, "age_max_s": order.age_max_s,
        "half_life_s": order.half_life_s})


@account_shares.register
def _accounts(
    order: EnergyShare, jobs: JobTable, logged: Mapping[str, Any]
) -> AccountShares:
    """Without the account of users who are in none of the tree: their jobs belong to none."""
    strangers = order.parent.size - 1
    account = np.asarray(order.memory.find["account"](jobs, logged), dtype=np.int64)
    return AccountShares(
        parent=np.array(order.parent[:strangers], dtype=np.int64),
        share=np.array(order.share[:strangers], dtype=np.float64),
        used_j=np.array(order.memory.used_j[:strangers], dtype=np.float64),
        account=np.where(account == strangers, NO_ACCOUNT, account))
