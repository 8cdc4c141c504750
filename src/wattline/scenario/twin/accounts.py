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
from wattline.shared_nodes.machine import NO_LIMIT, Associations, IntArray, Qos, SharedLimits
from wattline.site import associations as site_accounts
from wattline.site.associations import ROOT
from wattline.site.limits import clock_s, tres_of
from wattline.site.qos import USUAL, QosTable

TABLES = {"group_tres": "grptres", "group_tres_minutes": "grptresmins", "user_tres": "maxtrespu",
          "account_tres": "maxtrespa", "job_tres": "maxtres"}
COUNTS = {"group_jobs": "grpjobs", "group_submit": "grpsubmit", "user_jobs": "maxjobspu",
          "user_submit": "maxsubmitpu", "account_jobs": "maxjobspa",
          "account_submit": "maxsubmitpa", "max_jobs": "maxjobs", "max_submit": "maxsubmit"}
TIMES = {"group_wall_s": "grpwall", "job_wall_s": "maxwall"}
_NOT_LIMITS = {"priority", "qos", "defaultqos", "flags", "gracetime", "preempt", "preemptmode",
               "usagefactor"}
_KNOWN = {*TABLES.values(), *COUNTS.values(), *TIMES.values(), *_NOT_LIMITS}
_NOT_KEPT = {"grptresmins": "no further job starts once so much was used",
             "grpwall": "no further job starts once its jobs have run for so long together"}
_CHANGES = {"preemptexempttime": "jobs cannot be preempted before this time",
            "limitfactor": "limits are scaled by it", "usagethres": "jobs below it are refused"}


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
    rows = () if table is None else table.rows
    names = tuple(row.name for row in rows) or (USUAL,)
    settings = [row.settings for row in rows] or [{}]
    where = [row.where for row in rows] or [""]
    if table is None:
        told.assumed.append(f"no list of QOS: '{USUAL}' alone, without limits")
    place = {name: at for at, name in enumerate(names)}
    preempts = np.zeros((len(names), len(names)), dtype=np.bool_)
    for row, given in enumerate(settings):
        for name in Spelling(names).listed(given.get("preempt", "")):
            if name in place:
                preempts[row, place[name]] = True
            else:
                told.contradictions.append(f"{where[row]}: QOS '{names[row]}' preempts '{name}', "
                                           "which is no QOS")
        flags = [flag for flag in given.get("flags", "").split(",") if flag]
        told.not_modelled += [f"{where[row]}: QOS '{names[row]}' has the flag {flag}: what it "
                              "changes is left out" for flag in flags
                              if flag.lower() not in ("noreserve", "denyonlimit")]
    return Qos(
        names=names,
        priority=_whole(_count(given, "priority", 0, at) for given, at in zip(
            settings, where, strict=True)),
        usage_factor=np.array([number(given.get("usagefactor", "1"), "UsageFactor", at)
                               for given, at in zip(settings, where, strict=True)]),
        preempts=preempts,
        preempt_mode=_whole(_mode(given, at, cluster_mode, told) for given, at in zip(
            settings, where, strict=True)),
        grace_s=_whole(_time(given, "gracetime", 0, at) for given, at in zip(
            settings, where, strict=True)),
        limits=limits_of(settings, where, kinds, told),
        no_reserve=np.array(["noreserve" in given.get("flags", "").lower()
                             for given in settings]),
        deny_on_limit=np.array(["denyonlimit" in given.get("flags", "").lower()
                                for given in settings], dtype=np.bool_),
    )


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
    settings: list[Mapping[str, str]] = []
    for row, above in zip(rows, parent, strict=True):
        inherited = {} if above < 0 else {key: value for key, value in settings[above].items()
                                          if (key in ("qos", "defaultqos", "maxjobs", "maxsubmit",
                                                     "maxtres", "maxwall") and row.user)
                                          or key in ("qos", "defaultqos")}
        settings.append(inherited | dict(row.settings))
    place, spelling = {name: at for at, name in enumerate(qos)}, Spelling(qos)
    if rows and not any(given.get("qos") for given in settings):
        told.assumed.append("no account says which QOS it may use: each may use all of them")
    where = [f"{accounts.source or 'accounts of the log'}: {row.user or row.account}"
             for row in rows]
    return Associations(
        accounts=names, users=users, account=_whole(account_row[row.account] for row in rows),
        user=_whole(user_row[row.user] if row.user else -1 for row in rows),
        parent=_whole(parent),
        shares=_whole(-1 if row.shares is None else row.shares for row in rows),
        default_qos=_whole(place.get(spelling.of(given.get("defaultqos", "")), -1)
                           for given in settings),
        allowed_qos=np.array([_may_use(spelling.listed(given.get("qos", "")), qos)
                              for given in settings], dtype=np.bool_).reshape(len(rows), len(qos)),
        priority=_whole(_count(given, "priority", 0, at) for given, at in zip(
            settings, where, strict=True)),
        limits=limits_of(settings, where, kinds, told),
        partition=tuple(row.partition for row in rows),
    )


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


NODES = 2
"""The column of nodes in tables of limits."""
OF_SEVERAL = ("group_tres", "user_tres", "account_tres")
EACH_JOBS_NODES = "a node on which several of the jobs run counts for each of them, in Slurm once"


def limits_of(settings: Sequence[Mapping[str, str]], where: Sequence[str], kinds: Kinds,
              told: Told) -> SharedLimits:
    """Tables of limits, one row per mapping."""
    tables: dict[str, IntArray] = {}
    for name, key in TABLES.items():
        rows = []
        for given, at in zip(settings, where, strict=True):
            row, left = limits_row(tres_of(given.get(key, ""), at), kinds)
            rows.append(row)
            told.not_modelled += [f"{at}: {key} of {resource}: no node has it"
                                  for resource in left]
            if name in OF_SEVERAL and row[NODES] < NO_LIMIT:
                told.not_modelled.append(f"{at}: {key}=node={row[NODES]}: {EACH_JOBS_NODES}")
        tables[name] = np.array(rows, dtype=np.int64)
    for name, key in COUNTS.items():
        tables[name] = _whole(_count(given, key, int(NO_LIMIT), at)
                              for given, at in zip(settings, where, strict=True))
    for name, key in TIMES.items():
        tables[name] = _whole(_time(given, key, int(NO_LIMIT), at)
                              for given, at in zip(settings, where, strict=True))
    for given, at in zip(settings, where, strict=True):
        told.not_modelled += [f"{at}: {key}={given[key]}: {_CHANGES.get(key, 'a limit')}"
                              for key in given if key not in _KNOWN]
        told.not_modelled += [f"{at}: {key}={given[key]}: {change}"
                              for key, change in _NOT_KEPT.items() if given.get(key)]
    return SharedLimits(**tables)


def _whole(values: Iterable[int]) -> IntArray:
    return np.array(list(values), dtype=np.int64)


def _count(given: Mapping[str, str], key: str, usual: int, where: str) -> int:
    return int(number(given[key], key, where)) if given.get(key) else usual


def _time(given: Mapping[str, str], key: str, usual: int, where: str) -> int:
    if not given.get(key):
        return usual
    found = clock_s(given[key], where)
    if key == "gracetime" and given[key].isdigit():
        return int(given[key])
    return usual if found is None else found


def _mode(given: Mapping[str, str], where: str, cluster_mode: int, told: Told) -> int:
    """Without one of its own a QOS has the cluster's."""
    text = given.get("preemptmode", "").lower()
    return cluster_mode if text in ("cluster", "") else mode_of(text, where, told)
