"""Fair-share by joules: an account tree with shares, and usage that fades with a half-life.

The rule is that of Slurm's classic fair-share factor with joules in place of core seconds. With
u the account's fraction of all usage of its siblings and s its share among them, the effective
usage is u_eff = u + (u_eff of the parent - u) * s, and the factor 2^(-u_eff / s): 1 for who used
nothing, 1/2 for who used just its share, falling towards 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from wattline.model.errors import InputError
from wattline.model.jobs import IntArray
from wattline.model.reading import read_toml
from wattline.model.signal import FloatArray

TOLERANCE = 1e-6


@dataclass(frozen=True)
class Account:
    """An account or a user: its share is a fraction of its parent's."""

    name: str
    share: float
    parent: str = ""


@dataclass(frozen=True)
class Standing:
    """Where an account stands at some time."""

    name: str
    parent: str
    share: float
    """Of the whole machine: the product of the shares down to it."""
    usage_j: float
    """What it and those below it used, faded."""
    usage: float
    """The same as a fraction of all."""
    effective: float
    factor: float


class ShareTree:
    """Accounts in a tree, users as its leaves."""

    def __init__(self, accounts: Iterable[Account]) -> None:
        self.accounts = tuple(accounts)
        self.index = {account.name: at for at, account in enumerate(self.accounts)}
        _check(self.accounts, self.index)
        self.parent: IntArray = np.array(
            [self.index.get(account.parent, -1) for account in self.accounts], dtype=np.int64
        )
        self.order = _top_down(self.parent)
        self.share: FloatArray = np.array([a.share for a in self.accounts], dtype=np.float64)
        for parent in np.unique(self.parent):
            siblings = self.parent == parent
            self.share[siblings] /= self.share[siblings].sum()
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

    def standings(self, usage_j: Mapping[str, float]) -> list[Standing]:
        """The standing of all accounts, given what each leaf used."""
        total = np.zeros(len(self.accounts))
        for name, drawn_j in usage_j.items():
            if name not in self.index:
                raise InputError(f"user '{name}' is in no account of the share tree")
            if not drawn_j >= 0:
                raise InputError(f"the usage of '{name}' is {drawn_j} J, must be >= 0")
            total[self.index[name]] += drawn_j
        for at in reversed(self.order):
            if self.parent[at] >= 0:
                total[self.parent[at]] += total[at]
        used, effective, factor = factors(total, self.parent, self.share, self.norm_share,
                                          self.order)
        return [
            Standing(a.name, a.parent, float(self.norm_share[at]), float(total[at]),
                     float(used[at]), float(effective[at]), float(factor[at]))
            for at, a in enumerate(self.accounts)
        ]


def factors(
    total_j: FloatArray, parent: IntArray, share: FloatArray, norm_share: FloatArray,
    order: IntArray,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Usage, effective usage and factor of each account from what each used in all."""
    everything = total_j[parent < 0].sum()
    used = total_j / everything if everything > 0 else np.zeros_like(total_j)
    effective = used.copy()
    for at in order:
        if parent[at] >= 0:
            effective[at] = used[at] + (effective[parent[at]] - used[at]) * share[at]
    return used, effective, np.exp2(-effective / norm_share)


def decay(half_life_s: float, elapsed_s: float) -> float:
    """What is left of a usage after some time."""
    if not half_life_s > 0:
        raise InputError(f"half_life_s is {half_life_s}, must be above 0")
    return math.exp2(-elapsed_s / half_life_s)


def usage_at(
    time_s: float, user: Sequence[str], start_s: FloatArray, end_s: FloatArray,
    energy_j: FloatArray, *, half_life_s: float,
) -> dict[str, float]:
    """Faded joules of each user at a time; each joule fades from when it was drawn.

    A job draws evenly while it runs, so its contribution is the exact integral of its power
    times the fading; a job that still runs counts with what it drew so far.
    """
    if not half_life_s > 0:
        raise InputError(f"half_life_s is {half_life_s}, must be above 0")
    rate = math.log(2) / half_life_s if math.isfinite(half_life_s) else 0.0
    used: dict[str, float] = {}
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


def _account(table: Mapping[str, Any]) -> Account:
    if not isinstance(table, Mapping):
        raise InputError(f"account is {table!r}, must be a table with name, share and parent")
    share = table.get("share")
    if not isinstance(share, (int, float)) or isinstance(share, bool):
        raise InputError(f"account '{table.get('name', '?')}': share is {share!r}, not a number")
    return Account(str(table.get("name", "")), float(share), str(table.get("parent", "")))


def _check(accounts: Sequence[Account], index: Mapping[str, int]) -> None:
    if len(index) < len(accounts):
        seen: set[str] = set()
        again = next(a.name for a in accounts if a.name in seen or seen.add(a.name))  # type: ignore[func-returns-value]
        raise InputError(f"account '{again}' is listed twice")
    sums: dict[str, float] = {}
    for account in accounts:
        if not account.name:
            raise InputError("an account needs a name")
        if not (math.isfinite(account.share) and account.share > 0):
            raise InputError(f"account '{account.name}': share is {account.share}, must be > 0")
        if account.parent and account.parent not in index:
            raise InputError(f"account '{account.name}': its parent '{account.parent}' is unknown")
        sums[account.parent] = sums.get(account.parent, 0.0) + account.share
    for parent, total in sums.items():
        # Fractions or per cent: both are common, and nothing else adds up.
        if min(abs(total - 1.0), abs(total / 100.0 - 1.0)) > TOLERANCE:
            raise InputError(
                f"the shares below '{parent or 'the root'}' do not add up: {total:g}, "
                "expected 1 (or 100 for per cent)"
            )


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
