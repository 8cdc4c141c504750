"""Fair-share by joules: an account tree with shares, and usage that fades with a half-life.

The rule is that of Slurm's classic fair-share factor with joules in place of core seconds. With
u the account's fraction of all usage of its siblings and s its share among them, the effective
usage is u_eff = u + (u_eff of the parent - u) * s, and the factor 2^(-u_eff / s): 1 for who used
nothing, 1/2 for who used just its share, falling towards 0.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from wattline.model.errors import InputError
from wattline.model.jobs import IntArray
from wattline.model.reading import read_toml
from wattline.model.signal import FloatArray
from wattline.site.associations import ROOT, Association

TOLERANCE = 1e-6


@dataclass(frozen=True)
class Account:
    """An account or a user: its share counts in proportion to those of its siblings."""

    name: str
    share: float | None
    """None: it has none of its own, stands where its parent stands, and its siblings do not
    share with it (Slurm's `Fairshare=parent`)."""
    parent: str = ""
    partition: str = ""
    """Of a user that has a share of its own in one partition."""


@dataclass(frozen=True)
class Standing:
    """Where an account or a user stands at some time."""

    name: str
    parent: str
    partition: str
    share: float
    """Of the whole machine: the product of the shares down to it."""
    usage_j: float
    """What it and those below it used, faded."""
    usage: float
    """The same as a fraction of all."""
    effective: float
    factor: float


class ShareTree:
    """Accounts in a tree, users as its leaves.

    `users` are leaves that may be in several accounts, and be called like one; `defaults` is the
    account that a user's jobs are charged to which name none.
    """

    def __init__(self, accounts: Iterable[Account], users: Iterable[Account] = (),
                 defaults: Mapping[str, str] | None = None) -> None:
        accounts, users = tuple(accounts), tuple(users)
        self.accounts = (*accounts, *users)
        self.index: dict[str, int] = {each.name: at for at, each in enumerate(accounts)}
        self.user_index = {(each.name, each.parent, each.partition): at
                           for at, each in enumerate(users, start=len(accounts))}
        self.keys_of: dict[str, list[tuple[str, str, str]]] = {}
        for key in self.user_index:
            self.keys_of.setdefault(key[0], []).append(key)
        self.defaults = defaults or {}
        _check(accounts, users, self.index)
        self.above: IntArray = np.array(
            [self.index.get(account.parent, -1) for account in self.accounts], dtype=np.int64
        )
        self.order = _top_down(self.above)
        self.own = own = np.array([a.share is not None for a in self.accounts], dtype=np.bool_)
        self.parent = _sharing_parent(self.above, own, self.order)
        self.share: FloatArray = np.array([1.0 if a.share is None else a.share
                                           for a in self.accounts], dtype=np.float64)
        sums = np.zeros(len(self.accounts) + 1)
        np.add.at(sums, self.parent[own], self.share[own])  # the last is of those at the top
        self.share[own] /= np.where(sums > 0, sums, 1.0)[self.parent[own]]
        self.norm_share = self.share.copy()
        for at in self.order:
            if self.parent[at] >= 0:
                self.norm_share[at] *= self.norm_share[self.parent[at]]

    @classmethod
    def flat(cls, users: Sequence[str]) -> ShareTree:
        """Equal shares for all users."""
        if not users:
            raise InputError("fair-share needs at least one user")
        return cls(Account(user, 1.0 / len(users)) for user in users)

    @property
    def leaves(self) -> tuple[str, ...]:
        inner = set(self.parent.tolist())
        return tuple(a.name for at, a in enumerate(self.accounts) if at not in inner)

    def leaf(self, user: str, account: str = "", partition: str = "") -> Hashable | None:
        """What `standings` knows a user's jobs by, None where the tree has no such user.

        Where there are associations, the one of the account, and of the partition if it has one of
        its own; of a job that names no account the user's default, or only one.
        """
        if not self.user_index:
            return user if user in self.index else None
        account = account or self.defaults.get(user, "")
        above = "" if account == ROOT else account
        mine = [key for key in self.keys_of.get(user, []) if not account or key[1] == above]
        exact = [key for key in mine if key[2] == partition] or [key for key in mine if not key[2]]
        return exact[0] if len(exact) == 1 else None

    def standings(self, usage_j: Mapping[Any, float]) -> list[Standing]:
        """The standing of all accounts, given what each leaf used."""
        total = np.zeros(len(self.accounts))
        places: dict[Any, int] = {**self.index, **self.user_index}
        for name, drawn_j in usage_j.items():
            if name not in places:
                raise InputError(f"user '{name}' is in no account of the share tree")
            if not drawn_j >= 0:
                raise InputError(f"the usage of '{name}' is {drawn_j} J, must be >= 0")
            total[places[name]] += drawn_j
        for at in reversed(self.order):
            if self.above[at] >= 0:
                total[self.above[at]] += total[at]
        everything = total[self.above < 0].sum()
        used = total / everything if everything > 0 else np.zeros_like(total)
        effective, factor = self._factors(used)
        return [
            Standing(a.name, a.parent, a.partition, float(self.norm_share[at]), float(total[at]),
                     float(used[at]), float(effective[at]), float(factor[at]))
            for at, a in enumerate(self.accounts)
        ]

    def _factors(self, used: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Effective usage and factor of each from its part of all usage."""
        # Who stands where the whole machine stands has used what was used in all.
        effective = np.where((self.parent < 0) & ~self.own, float(used.any()), used)
        for at in self.order:
            if self.parent[at] >= 0:
                effective[at] = used[at] + (
                    effective[self.parent[at]] - used[at]) * self.share[at]
        none = self.norm_share <= 0  # who has no share has no claim
        share = np.where(none, 1.0, self.norm_share)
        return effective, np.where(none, 0.0, np.exp2(-effective / share))


def decay(half_life_s: float, elapsed_s: float) -> float:
    """What is left of a usage after some time."""
    if not half_life_s > 0:
        raise InputError(f"half_life_s is {half_life_s}, must be above 0")
    return math.exp2(-elapsed_s / half_life_s)


def usage_at(
    time_s: float, user: Sequence[Any], start_s: FloatArray, end_s: FloatArray,
    energy_j: FloatArray, *, half_life_s: float,
) -> dict[Any, float]:
    """Faded joules of each user at a time; each joule fades from when it was drawn.

    A job draws evenly while it runs, so its contribution is the exact integral of its power
    times the fading; a job that still runs counts with what it drew so far.
    """
    if not half_life_s > 0:
        raise InputError(f"half_life_s is {half_life_s}, must be above 0")
    rate = math.log(2) / half_life_s if math.isfinite(half_life_s) else 0.0
    used: dict[Any, float] = {}
    for name, start, end, joules in zip(user, start_s, end_s, energy_j, strict=True):
        until = min(end, time_s)
        if not until > start:
            continue
        power_w = joules / (end - start)
        if rate * (until - start) < 1e-9:
            drawn = power_w * (until - start) * math.exp(-rate * (time_s - until))
        else:
            drawn = power_w / rate * (math.exp(-rate * (time_s - until))
                                      - math.exp(-rate * (time_s - start)))
        used[name] = used.get(name, 0.0) + float(drawn)
    return used


def read_shares(path: Path) -> ShareTree:
    """A share tree from a TOML file of `[[account]]` tables: name, share, parent."""
    tables = read_toml(path).get("account")
    if not isinstance(tables, list) or not tables:
        raise InputError(f"{path}: no [[account]] table; each has name, share and parent")
    try:
        return ShareTree(_account(table) for table in tables)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def association_tree(rows: Iterable[Association]) -> ShareTree:
    """The share tree of a cluster's associations.

    The root account is left out: Slurm takes the usage of what lies directly in it as it is.
    """
    rows = tuple(rows)

    def node(row: Association, name: str) -> Account:
        above = "" if row.parent == ROOT else row.parent
        return Account(name, None if row.shares is None else float(row.shares), above,
                       row.partition)

    return ShareTree((node(row, row.account) for row in rows
                      if not row.user and row.account != ROOT),
                     (node(row, row.user) for row in rows if row.user),
                     {row.user: row.account for row in rows if row.default})


def uneven(tree: ShareTree) -> list[str]:
    """Of which accounts the shares add up neither to 1 nor to 100: they count in proportion."""
    sums: dict[str, float] = {}
    for account in tree.accounts:
        sums[account.parent] = sums.get(account.parent, 0.0) + (account.share or 0.0)
    return [f"the shares below '{parent or 'the root'}' add up to {total:g}; they count in "
            "proportion" for parent, total in sums.items()
            if min(abs(total - 1.0), abs(total / 100.0 - 1.0)) > TOLERANCE]


def _account(table: Mapping[str, Any]) -> Account:
    if not isinstance(table, Mapping):
        raise InputError(f"account is {table!r}, must be a table with name, share and parent")
    share = table.get("share")
    if not isinstance(share, (int, float)) or isinstance(share, bool):
        raise InputError(f"account '{table.get('name', '?')}': share is {share!r}, not a number")
    if not share > 0:
        raise InputError(f"account '{table.get('name', '?')}': share is {share}, must be > 0")
    return Account(str(table.get("name", "")), float(share), str(table.get("parent", "")))


def _check(accounts: Sequence[Account], users: Sequence[Account],
           index: Mapping[str, int]) -> None:
    if len(index) < len(accounts):
        seen: set[str] = set()
        again = next(a.name for a in accounts if a.name in seen or seen.add(a.name))  # type: ignore[func-returns-value]
        raise InputError(f"account '{again}' is listed twice")
    for account in (*accounts, *users):
        if not account.name:
            raise InputError("an account needs a name")
        if account.share is not None and not (math.isfinite(account.share) and account.share >= 0):
            raise InputError(f"account '{account.name}': share is {account.share}, must be >= 0")
        if account.parent and account.parent not in index:
            raise InputError(f"account '{account.name}': its parent '{account.parent}' is unknown")


def _sharing_parent(above: IntArray, own: npt.NDArray[np.bool_], order: IntArray) -> IntArray:
    """The next account above with shares of its own: who has none passes its siblings on to it."""
    found = above.copy()
    for at in order:
        parent = above[at]
        if parent >= 0 and not own[parent]:
            found[at] = found[parent]
    return found


def _top_down(parent: IntArray) -> IntArray:
    """Parents before their children; a circle is refused."""
    order: list[int] = []
    placed = {-1}
    while len(order) < parent.size:
        ready = [at for at in range(parent.size) if at not in placed and parent[at] in placed]
        if not ready:
            raise InputError("the accounts are their own parents in a circle")
        order.extend(ready)
        placed.update(ready)
    return np.array(order, dtype=np.int64)
