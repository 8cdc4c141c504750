"""QOS and associations of a machine with shared nodes, from what `sacctmgr` knows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from wattline.scenario.twin.columns import Kinds, limits_row
from wattline.scenario.twin.partitions import mode_of
from wattline.scenario.twin.settings import number
from wattline.scenario.twin.spelling import Spelling
from wattline.scenario.twin.told import Told
from wattline.shared_nodes.machine import (
    NO_LIMIT,
    Associations,
    BoolArray,
    IntArray,
    Qos,
    SharedLimits,
)
from wattline.shared_nodes.preempt_loops import without_circles
from wattline.site import associations as site_accounts
from wattline.site.associations import ROOT
from wattline.site.limits import Written, clock_s, tres_of
from wattline.site.qos import USUAL, QosTable
from wattline.site.qos import Qos as SiteQos

TABLES = {"group_tres": "grptres", "group_tres_minutes": "grptresmins", "user_tres": "maxtrespu",
          "account_tres": "maxtrespa", "job_tres": "maxtres"}
COUNTS = {"group_jobs": "grpjobs", "group_submit": "grpsubmit", "user_jobs": "maxjobspu",
          "user_submit": "maxsubmitpu", "account_jobs": "maxjobspa",
          "account_submit": "maxsubmitpa", "max_jobs": "maxjobs", "max_submit": "maxsubmit"}
TIMES = {"group_wall_s": "grpwall", "job_wall_s": "maxwall"}
_NOT_LIMITS = {"priority", "qos", "defaultqos", "flags", "gracetime", "preempt", "preemptmode",
               "usagefactor"}
_KNOWN = {*TABLES.values(), *COUNTS.values(), *TIMES.values(), *_NOT_LIMITS}
_TO_ACCOUNTS = ("qos", "defaultqos")
_TO_USERS = (*_TO_ACCOUNTS, "maxjobs", "maxsubmit", "maxtres", "maxwall")
"""What an account passes on to the accounts and users in it."""
_NOT_KEPT = {"grptresmins": "no further job starts once so much was used",
             "grpwall": "no further job starts once its jobs have run for so long together"}
_CHANGES = {"preemptexempttime": "jobs cannot be preempted before this time",
            "mintres": "jobs that ask for less wait for ever",
            "maxtresmins": "jobs that could use more by their limits wait for ever",
            "grptresrunmins": "no further job starts while those that run could use so much by "
                              "their limits",
            "maxtrespernode": "no job has more of it on a node",
            "limitfactor": "limits are scaled by it", "usagethres": "jobs below it are refused"}


@dataclass(frozen=True)
class Given:
    """Settings of a QOS or an association, with how and where its file writes them."""

    who: str
    where: str
    settings: Mapping[str, str]
    written: Mapping[str, Written]

    def get(self, key: str) -> str:
        return self.settings.get(key, "")

    def name(self, key: str) -> str:
        """As the file has it."""
        return self.written[key].name if key in self.written else key

    def written_at(self, key: str) -> str:
        """File and line."""
        return self.written[key].where if key in self.written else self.where

    def at(self, key: str) -> str:
        """As messages about a setting begin."""
        return ": ".join(filter(None, (self.written_at(key), self.who)))


@dataclass
class Accounts:
    """Accounts and users as they are put together: those of the site, then those of the log."""

    rows: list[site_accounts.Association] = field(default_factory=list)
    source: str = ""

    @classmethod
    def of(cls, found: site_accounts.Associations | None, cluster: str) -> Accounts:
        if found is None:
            return cls([site_accounts.Association("", ROOT)])
        known = cluster if cluster in found.clusters else ""
        rows = sorted(found.of(known), key=lambda row: bool(row.parent))
        return cls(list(rows), found.source)

    def accounts(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(row.account for row in self.rows))

    def add(self, account: str, user: str) -> None:
        """An account below the root, or a user in one, with one share."""
        if not any(row.account == account and not row.user for row in self.rows):
            self.rows.append(site_accounts.Association("", account, parent=ROOT))
        if user:
            self.rows.append(site_accounts.Association("", account, user, parent=account,
                                                       default=True))


def qos_of(table: QosTable | None, kinds: Kinds, cluster_mode: int, told: Told) -> Qos:
    """One row per QOS; without a table there is `normal` alone."""
    rows = (SiteQos(USUAL),) if table is None or not table.rows else table.rows
    names = tuple(row.name for row in rows)
    listed = [Given(f"QOS '{row.name}'", row.where, row.settings, row.written) for row in rows]
    if table is None:
        told.assumed.append(f"no list of QOS: '{USUAL}' alone, without limits")
    place = {name: at for at, name in enumerate(names)}
    preempts = np.zeros((len(names), len(names)), dtype=np.bool_)
    for row, given in enumerate(listed):
        for name in Spelling(names).listed(given.get("preempt")):
            if name in place:
                preempts[row, place[name]] = True
            else:
                told.contradictions.append(f"{given.where}: {given.who} preempts '{name}', which "
                                           "is no QOS")
        flags = [flag for flag in given.get("flags").split(",") if flag]
        told.not_modelled += [f"{given.where}: {given.who} has the flag {flag}: what it "
                              "changes is left out" for flag in flags
                              if flag.lower() not in ("noreserve", "denyonlimit")]
    return Qos(
        names=names,
        priority=_whole(_count(given, "priority", 0) for given in listed),
        usage_factor=np.array([number(given.get("usagefactor") or "1", "UsageFactor",
                                      given.at("usagefactor")) for given in listed]),
        preempts=_without_circles(preempts, listed, told),
        preempt_mode=_whole(_mode(given, cluster_mode, told) for given in listed),
        grace_s=_whole(_time(given, "gracetime", 0) for given in listed),
        limits=limits_of(listed, kinds, told),
        no_reserve=np.array(["noreserve" in given.get("flags").lower() for given in listed]),
        deny_on_limit=np.array(["denyonlimit" in given.get("flags").lower() for given in listed],
                               dtype=np.bool_),
    )


def _without_circles(preempts: BoolArray, listed: Sequence[Given], told: Told) -> BoolArray:
    """Slurm refuses what would have QOS preempt each other; so does the twin, and says it."""
    kept, refused = without_circles(preempts)
    for circle in refused:
        one, others = listed[circle.one], [listed[row] for row in circle.way[:-1]]
        if not others:
            told.contradictions.append(f"{one.at('preempt')} preempts itself, which Slurm refuses; "
                                       "left out")
            continue
        way = ", which preempts ".join(f"{each.who} ({each.written_at('preempt')})"
                                       for each in others)
        told.contradictions.append(f"{one.at('preempt')} preempts {way}, which preempts it; Slurm "
                                   "refuses such a circle, and the first of these is left out")
    return kept


def associations_of(accounts: Accounts, qos: Sequence[str], kinds: Kinds, told: Told,
                    ) -> Associations:
    """The tree with what each row inherits from the one above it."""
    rows = _with_root(_in_order(accounts.rows))
    names = tuple(dict.fromkeys(row.account for row in rows))
    users = tuple(dict.fromkeys(row.user for row in rows if row.user))
    account_row, user_row = ({name: at for at, name in enumerate(found)}
                             for found in (names, users))
    own = {row.account: at for at, row in enumerate(rows) if not row.user}
    parent = [-1 if not row.parent else own[row.parent] for row in rows]
    listed: list[Given] = []
    for row, above in zip(rows, parent, strict=True):
        listed.append(_with_inherited(row, None if above < 0 else listed[above]))
    place, spelling = {name: at for at, name in enumerate(qos)}, Spelling(qos)
    if rows and not any(given.get("qos") for given in listed):
        told.assumed.append("no account says which QOS it may use: each may use all of them")
    return Associations(
        accounts=names, users=users, account=_whole(account_row[row.account] for row in rows),
        user=_whole(user_row[row.user] if row.user else -1 for row in rows),
        parent=_whole(parent),
        shares=_whole(-1 if row.shares is None else row.shares for row in rows),
        default_qos=_whole(place.get(spelling.of(given.get("defaultqos")), -1)
                           for given in listed),
        allowed_qos=np.array([_may_use(spelling.listed(given.get("qos")), qos)
                              for given in listed], dtype=np.bool_).reshape(len(rows), len(qos)),
        priority=_whole(_count(given, "priority", 0) for given in listed),
        limits=limits_of(listed, kinds, told),
        partition=tuple(row.partition for row in rows),
    )


def accounts_above(associations: Associations) -> dict[str, str]:
    """Each account with the one that it is in; the root is in none."""
    found = {}
    for account, user, parent in zip(associations.account, associations.user,
                                     associations.parent, strict=True):
        if user < 0:
            above = associations.accounts[associations.account[parent]] if parent >= 0 else ""
            found[associations.accounts[account]] = above
    return {name: found.get(name, "") for name in associations.accounts}


def _with_inherited(row: site_accounts.Association, above: Given | None) -> Given:
    """What a row says, and what it has from the one above it."""
    passed_on = _TO_USERS if row.user else _TO_ACCOUNTS
    inherited = {} if above is None else {
        key: value for key, value in above.settings.items() if key in passed_on}
    return Given(row.user or row.account, row.where or "accounts of the log",
                 inherited | dict(row.settings),
                 {**(above.written if above else {}), **row.written})


def _may_use(listed: Sequence[str], qos: Sequence[str]) -> list[bool]:
    """Which QOS; all where none is listed."""
    return [not listed or name in listed for name in qos]


def _with_root(rows: list[site_accounts.Association]) -> list[site_accounts.Association]:
    """slurmdbd makes a user root in every cluster; fair tree counts that user among all others."""
    if not rows or any(row.user == ROOT for row in rows):
        return rows
    return [*rows, replace(rows[0], user=ROOT, parent=rows[0].account, shares=1, settings={})]


def _in_order(rows: Iterable[site_accounts.Association]) -> list[site_accounts.Association]:
    """Each row after the one that it lies in, the root first."""
    by_parent: dict[str, list[site_accounts.Association]] = {}
    for row in rows:
        by_parent.setdefault(row.parent, []).append(row)
    found: list[site_accounts.Association] = []
    seen: set[tuple[str, str, str]] = set()
    todo = list(by_parent.get("", []))
    while todo:
        row = todo.pop(0)
        key = (row.account, row.user, row.partition)
        if key in seen:
            continue
        seen.add(key)
        found.append(row)
        if not row.user:
            todo = [*by_parent.get(row.account, []), *todo]
    return found


def limits_of(listed: Sequence[Given], kinds: Kinds, told: Told) -> SharedLimits:
    """Tables of limits, one row for each."""
    tables: dict[str, IntArray] = {}
    for name, key in TABLES.items():
        rows = []
        for given in listed:
            row, left = limits_row(tres_of(given.get(key), given.at(key)), kinds)
            rows.append(row)
            told.not_modelled += [f"{given.at(key)}: {given.name(key)} of {resource}: "
                                  f"{_why_left(resource)}" for resource in left]
        tables[name] = np.array(rows, dtype=np.int64)
    for name, key in COUNTS.items():
        tables[name] = _whole(_count(given, key, int(NO_LIMIT)) for given in listed)
    for name, key in TIMES.items():
        tables[name] = _whole(_time(given, key, int(NO_LIMIT)) for given in listed)
    for given in listed:
        told.not_modelled += [_said(given, key, _CHANGES.get(key, "a limit"))
                              for key in given.settings if key not in _KNOWN]
        told.not_modelled += [_said(given, key, change)
                              for key, change in _NOT_KEPT.items() if given.get(key)]
    return SharedLimits(**tables)


def _why_left(resource: str) -> str:
    """Why nothing is held against a limit on it."""
    if resource.lower().startswith("gres/"):
        return "no node has it"
    return "jobs are not counted by it, and none waits for it"


def _said(given: Given, key: str, change: str) -> str:
    return f"{given.at(key)}: {given.name(key)}={given.get(key)}: {change}"


def _whole(values: Iterable[int]) -> IntArray:
    return np.array(list(values), dtype=np.int64)


def _count(given: Given, key: str, usual: int) -> int:
    text = given.get(key)
    return int(number(text, given.name(key), given.at(key))) if text else usual


def _time(given: Given, key: str, usual: int) -> int:
    text = given.get(key)
    if not text:
        return usual
    found = clock_s(text, f"{given.at(key)}: {given.name(key)}")
    if key == "gracetime" and text.isdigit():
        return int(text)
    return usual if found is None else found


def _mode(given: Given, cluster_mode: int, told: Told) -> int:
    """Without one of its own a QOS has the cluster's."""
    text = given.get("preemptmode").lower()
    return cluster_mode if text in ("cluster", "") else mode_of(text, given.at("preemptmode"), told)
