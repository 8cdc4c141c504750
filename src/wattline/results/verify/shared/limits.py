"""Limits of QOS and associations, of arrays and of licences, at every start of a job.

Slurm's resource_limits.html: where a limit is set by the partition's QOS, it is not looked at in
the job's QOS, and where by one of these, not in the association and those above it. A limit on the
nodes of several jobs counts a node once, however many of them run on it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from wattline.model.jobs import IntArray
from wattline.model.signal import FloatArray
from wattline.results.verify._base import Finding, Verdicts
from wattline.results.verify.shared._case import NO_LIMIT, NODE, ROUNDING, Case, Table

_JOBS = -1

Group = tuple[str, int, int]
"""Kind, row of the QOS or association, and the user or account that it counts alone (or -1)."""


@dataclass
class Members:
    """Jobs that one group counts, each with the limits that hold for it there."""

    job: list[int] = field(default_factory=list)
    tres: list[IntArray] = field(default_factory=list)
    jobs: list[int] = field(default_factory=list)


def limit_rows(case: Case, job: int) -> Iterator[tuple[Table, int]]:
    """Tables of limits and the job's row in each, in order of precedence."""
    partition = int(case.outcome.partition[job])
    for row in (
        int(case.partitions.qos[partition]) if partition >= 0 else -1,
        int(case.jobs.qos[job]),
    ):
        if row >= 0:
            yield case.qos_limits, row
    for row in _above(case, int(case.jobs.association[job])):
        yield case.association_limits, row


def _above(case: Case, association: int) -> list[int]:
    """An association and all above it."""
    found = []
    while association >= 0:
        found.append(association)
        association = int(case.associations.parent[association])
    return found


def limits_per_job(case: Case) -> Verdicts:
    """No job has more than MaxTRES of its QOS and associations, or MaxNodes of these."""
    if not case.rules.enforce_limits:
        return
    if not any(
        (case.tables[name].job_tres < NO_LIMIT).any()
        for name in ("qos_limits", "association_limits")
    ):
        return
    held = _held(case, np.flatnonzero(case.is_last))
    for job in np.flatnonzero(case.ran).tolist():
        tables = [limits.job_tres[row] for limits, row in limit_rows(case, job)]
        for column in range(held.shape[1]):
            most = next((int(each[column]) for each in tables if each[column] < NO_LIMIT), NO_LIMIT)
            if held[job, column] > most:
                yield Finding(
                    f"job {case.job_id[job]} has {held[job, column]:g} "
                    f"{_name(case, column)}, where a job may have {most}",
                    int(case.job_id[job]),
                    float(case.start_s[job]),
                )
                return


def limits_at_starts(case: Case) -> Verdicts:
    """Whenever a job starts, its QOS, user, account and associations have no more than they may."""
    if not case.rules.enforce_limits:
        return
    stretches = _stretches(case)
    for group, members in _groups(case).items():
        limit_of = {
            job: (tres, jobs)
            for job, tres, jobs in zip(members.job, members.tres, members.jobs, strict=True)
        }
        mine = np.flatnonzero(np.isin(stretches.job, members.job))
        if not len(mine):
            continue
        counted = {
            _JOBS: np.ones(len(mine)),
            **{column: stretches.tres[mine, column] for column in range(stretches.tres.shape[1])},
        }
        for column, held in counted.items():
            most = np.array(
                [
                    float(limit_of[job][1] if column == _JOBS else limit_of[job][0][column])
                    for job in stretches.job[mine].tolist()
                ]
            )
            if (most >= NO_LIMIT).all():
                continue
            spans = (stretches.from_s[mine], stretches.to_s[mine], held)
            if column == NODE:
                spans = _merged(case, members.job)
            over = _over_at_starts(*spans, stretches.from_s[mine], most)
            if over is None:
                continue
            row, used = over
            job = int(case.job_id[stretches.job[mine[row]]])
            what = "jobs" if column == _JOBS else _name(case, column)
            yield Finding(
                f"{_group_name(case, group)} has {used:g} {what} when job {job} starts, and may "
                f"have {most[row]:g}",
                job,
                float(stretches.from_s[mine[row]]),
            )
            break


def arrays(case: Case) -> Verdicts:
    """No array has more tasks at a time than it allows itself (`%N`)."""
    array, most = case.jobs.array, case.jobs.array_limit
    stretches = _stretches(case)
    for number in np.unique(array[(array >= 0) & (most > 0)]).tolist():
        mine = np.flatnonzero((array == number)[stretches.job] & (most > 0)[stretches.job])
        begin, end = stretches.from_s[mine], stretches.to_s[mine]
        over = _over_at_starts(
            begin, end, np.ones(len(mine)), begin, most[stretches.job[mine]].astype(np.float64)
        )
        if over is not None:
            row, used = over
            job = int(stretches.job[mine[row]])
            yield Finding(
                f"{used:g} tasks of an array run when job {case.job_id[job]} starts, "
                f"which allows {most[job]}",
                int(case.job_id[job]),
                float(begin[row]),
            )
            return


def licences(case: Case) -> Verdicts:
    """No more licences are in use at a time than the cluster has."""
    stretches = _stretches(case)
    for at, name in enumerate(case.licences.names.tolist()):
        mine = np.flatnonzero(case.jobs.licences[stretches.job, at] > 0)
        begin, end = stretches.from_s[mine], stretches.to_s[mine]
        whole = float(case.licences.count[at])
        over = _over_at_starts(
            begin,
            end,
            case.jobs.licences[stretches.job[mine], at].astype(np.float64),
            begin,
            np.full(len(mine), whole),
        )
        if over is not None:
            row, used = over
            job = int(case.job_id[stretches.job[mine[row]]])
            yield Finding(
                f"{used:g} licences {name} are in use when job {job} starts, and there "
                f"are {whole:g}",
                job,
                float(begin[row]),
            )


@dataclass(frozen=True)
class Stretches:
    """From when to when each job held its nodes, and what it held."""

    job: IntArray
    from_s: FloatArray
    to_s: FloatArray
    tres: FloatArray


def _stretches(case: Case) -> Stretches:
    order = np.lexsort((case.given_s, case.stays.job))
    job, given_s = case.stays.job[order], case.given_s[order]
    first = np.flatnonzero((np.diff(job, prepend=-1) != 0) | (np.diff(given_s, prepend=-1) != 0))
    number = np.zeros(len(order), np.int64)
    number[order] = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(order))))
    tres = _held(case, np.arange(len(order)), number, len(first))
    return Stretches(job[first], given_s[first], case.stays.to_s[order][first], tres)


def _held(case: Case, stays: Any, row: Any = None, rows: int = 0) -> FloatArray:
    """Rows x resources: CPUs, memory, nodes and devices of these stays; by job without rows."""
    job = case.stays.job[stays]
    row, rows = (job, case.count) if row is None else (row, rows)
    columns = [case.stays.cpus[stays], case.memory_mb[stays], np.ones(len(job))]
    asked = (case.jobs.gres_per_node + case.jobs.gres_per_job + case.jobs.gres_per_task) > 0
    choices = [(str(name), str(model)) for name, model in case.jobs.gres_choices.reshape(-1, 2)]
    held = np.maximum(case.devices[stays], 0)
    for at, kind in enumerate(case.kinds):  # of a type counts what was asked for by it
        by_type = case.jobs.exclusive.copy()
        if kind in choices:
            by_type |= asked[:, choices.index(kind)]
        columns.append(held[:, at] * by_type[job])
    columns += [
        np.asarray(sum(held[:, at] for at, kind in enumerate(case.kinds) if kind[0] == name))
        for name in case.device_totals()
    ]
    return np.stack([np.bincount(row, column, rows) for column in columns], axis=1)


def _groups(case: Case) -> dict[Group, Members]:
    """All groups with a limit on what runs at once, and the jobs that each counts."""
    found: dict[Group, Members] = {}
    known: dict[tuple[int, int, int], list[tuple[Group, IntArray, int]]] = {}
    for job in np.unique(case.stays.job).tolist():
        partition = int(case.outcome.partition[job])
        if partition < 0:
            continue
        key = (int(case.partitions.qos[partition]), int(case.jobs.qos[job]),
               int(case.jobs.association[job]))
        if key not in known:
            known[key] = _memberships(case, *key)
        for group, tres, most in known[key]:
            members = found.setdefault(group, Members())
            members.job.append(job)
            members.tres.append(tres)
            members.jobs.append(most)
    return {
        group: members
        for group, members in found.items()
        if min(members.jobs) < NO_LIMIT or min(int(each.min()) for each in members.tres) < NO_LIMIT
    }


def limited_jobs(case: Case) -> Any:
    """Jobs that a limit on what runs at once counts; of those that never ran, all of them."""
    found = np.ones(case.count, bool)
    found[np.unique(case.stays.job)] = False
    for members in _groups(case).values():
        found[members.job] = True
    return found


def _memberships(
    case: Case, part_qos: int, job_qos: int, association: int
) -> list[tuple[Group, IntArray, int]]:
    """Groups that count a job with this partition's QOS, own QOS and association, and the limits
    on resources and on jobs that hold for it in each."""
    qos, tree, limits = case.qos_limits, case.associations, case.association_limits
    known = association >= 0
    who = {"group": -1, "user": int(tree.user[association]) if known else -1,
           "account": int(tree.account[association]) if known else -1}
    rows = [row for row in dict.fromkeys((part_qos, job_qos)) if row >= 0]
    found: list[tuple[Group, IntArray, int]] = []
    set_tres = {scope: np.full(limits.group_tres.shape[1], NO_LIMIT) for scope in who}
    set_jobs = dict.fromkeys(who, NO_LIMIT)
    for scope, name in who.items():
        for row in rows:
            tres = np.where(set_tres[scope] < NO_LIMIT, NO_LIMIT, qos.get(f"{scope}_tres")[row])
            most = int(qos.get(f"{scope}_jobs")[row])
            most = NO_LIMIT if set_jobs[scope] < NO_LIMIT else most
            found.append(((f"QOS {scope}", row, name), tres, most))
            set_tres[scope] = np.minimum(set_tres[scope], tres)
            set_jobs[scope] = min(set_jobs[scope], most)
    chain = _above(case, association)
    for level, row in enumerate(chain):
        tres = np.where(set_tres["group"] < NO_LIMIT, NO_LIMIT, limits.group_tres[row])
        most = int(limits.group_jobs[row]) if set_jobs["group"] >= NO_LIMIT else NO_LIMIT
        if level == 0 and set_jobs["user"] >= NO_LIMIT:
            own = (int(limits.max_jobs[above]) for above in chain)
            most = min(most, next((each for each in own if each < NO_LIMIT), NO_LIMIT))
        found.append((("association", row, -1), tres, most))
    return found


def _over_at_starts(
    begin_s: FloatArray, end_s: FloatArray, amount: Any, start_s: FloatArray, most: FloatArray
) -> tuple[int, float] | None:
    """The first start after which the group has more than any start of that time may take it to.

    Several starts of one time have no order, so that the highest of their limits counts.
    """
    lasting = end_s > begin_s
    time_s = np.concatenate((end_s[lasting], begin_s[lasting]))
    change = np.concatenate((-amount[lasting], amount[lasting]))
    order = np.argsort(time_s, kind="stable")
    used = np.cumsum(change[order])
    for at_s in np.unique(start_s).tolist():
        now = np.flatnonzero(start_s == at_s)
        last = int(np.searchsorted(time_s[order], at_s, "right")) - 1
        if last >= 0 and used[last] > most[now].max() + ROUNDING:
            return int(now[0]), float(used[last])
    return None


def _merged(case: Case, members: list[int]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Stretches in which any job of a group is on a node, joined to one for each node."""
    mine = np.flatnonzero(np.isin(case.stays.job, members))
    mine = mine[np.lexsort((case.given_s[mine], case.stays.node[mine]))]
    begin: list[float] = []
    end: list[float] = []
    last = -1
    for stay in mine.tolist():
        node, from_s, to_s = (
            int(case.stays.node[stay]),
            float(case.given_s[stay]),
            float(case.stays.to_s[stay]),
        )
        if node == last and from_s <= end[-1]:
            end[-1] = max(end[-1], to_s)
            continue
        last = node
        begin.append(from_s)
        end.append(to_s)
    return np.array(begin), np.array(end), np.ones(len(begin))


def _name(case: Case, column: int) -> str:
    names = [
        "CPUs",
        "MB",
        "nodes",
        *(":".join(filter(None, kind)) for kind in case.kinds),
        *case.device_totals(),
    ]
    return names[column]


def _group_name(case: Case, group: Group) -> str:
    kind, row, who = group
    tree = case.associations
    if kind == "association":
        user = int(tree.user[row])
        name = f"account {tree.accounts[tree.account[row]]}"
        return name if user < 0 else f"user {tree.users[user]} in {name}"
    of = {
        "QOS group": "",
        "QOS user": f" of user {tree.users[who]}" if who >= 0 else "",
        "QOS account": f" of account {tree.accounts[who]}" if who >= 0 else "",
    }[kind]
    return f"QOS {case.qos.names[row]}{of}"
