"""Which groups count a job, and under which limits: what limits.py reads.

resource_limits.html: "Partition QOS limit, Job QOS limit, User association, Account association(s),
Root/Cluster association": where a QOS sets a limit, the same limit of the next is not looked at.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from wattline.shared_nodes.machine import NO_LIMIT, NODE, IntArray, SharedLimits, SharedMachine
from wattline.shared_nodes.same_rows import same_rows

Key = tuple[int, int, int]
"""Partition's QOS, job's QOS, association; -1 for none."""


@dataclass(frozen=True, eq=False)
class Membership:
    """One group that counts a job, and the limits that hold for it there."""

    key: tuple[str, int, int]
    tres: IntArray
    jobs: int
    submit: int

    @property
    def limits_running(self) -> bool:
        return bool((self.tres < NO_LIMIT).any() or self.jobs < NO_LIMIT)


@dataclass(eq=False)
class Memberships:
    """Flat tables, one row per membership; `first` says where those of each class begin."""

    groups: dict[tuple[str, int, int], int] = field(default_factory=dict)
    first: list[int] = field(default_factory=lambda: [0])
    group: list[int] = field(default_factory=list)
    tres: list[IntArray] = field(default_factory=list)
    jobs: list[int] = field(default_factory=list)
    submit: list[int] = field(default_factory=list)

    last: list[int] = field(default_factory=list)
    """Per class: those from its first to this one limit what runs."""
    job_tres: list[IntArray] = field(default_factory=list)
    """Per class: what one job may have."""

    def add(self, rows: list[Membership]) -> None:
        """A class: all its memberships, those that limit what runs first."""
        for row in sorted(rows, key=lambda row: not row.limits_running):
            self.group.append(self.groups.setdefault(row.key, len(self.groups)))
            self.tres.append(row.tres)
            self.jobs.append(row.jobs)
            self.submit.append(row.submit)
        self.last.append(self.first[-1] + sum(row.limits_running for row in rows))
        self.first.append(len(self.group))


@dataclass(frozen=True, eq=False)
class JobLimits:
    """Limits that a single job keeps or breaks by itself."""

    tres: IntArray
    wall_s: IntArray


def memberships(machine: SharedMachine, keys: list[Key]) -> tuple[Memberships, JobLimits]:
    found = Memberships()
    resources = machine.resources
    tres = np.full((len(keys), resources), NO_LIMIT)
    wall = np.full(len(keys), NO_LIMIT)
    for row, key in enumerate(keys):
        found.add(_class(machine, key))
        tres[row], wall[row] = _job_limits(machine, key)
        found.job_tres.append(tres[row])
    return found, JobLimits(tres, wall)


def most_nodes_of_a_job(
    machine: SharedMachine, part_qos: IntArray, qos: IntArray, association: IntArray
) -> tuple[IntArray, IntArray]:
    """For jobs with these rows: by MaxTRES=node= and MaxNodes, and by limits on several jobs too.

    No job has more nodes than a whole group may have: a range of nodes ends there
    (acct_policy_get_max_nodes of Slurm's acct_policy.c).
    """
    if not len(qos):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    number, first = same_rows(part_qos, qos, association)
    keys = [(int(part_qos[row]), int(qos[row]), int(association[row])) for row in first]
    alone = np.array([_job_limits(machine, key)[0][NODE] for key in keys], dtype=np.int64)
    shared = np.array([min(int(row.tres[NODE]) for row in _class(machine, key)) for key in keys],
                      dtype=np.int64)
    return alone[number], np.minimum(alone, shared)[number]


def longest_of_a_job_s(
    machine: SharedMachine, part_qos: IntArray, qos: IntArray, association: IntArray
) -> IntArray:
    """MaxWall of jobs with these rows; NO_LIMIT where none holds."""
    tables = (machine.qos.limits, machine.associations.limits)
    if not len(qos) or not any((limits.job_wall_s < NO_LIMIT).any() for limits in tables):
        return np.full(len(qos), NO_LIMIT)
    number, first = same_rows(part_qos, qos, association)
    return np.array([_job_limits(machine, (int(part_qos[row]), int(qos[row]),
                                           int(association[row])))[1] for row in first],
                    dtype=np.int64)[number]


def _first_set(values: list[IntArray]) -> list[IntArray]:
    """Of the same limit in order of precedence only the first that is set is left."""
    left = []
    is_set = np.zeros_like(values[0], dtype=bool)
    for value in values:
        left.append(np.where(is_set, NO_LIMIT, value))
        is_set = is_set | (value < NO_LIMIT)
    return left


def _chain(machine: SharedMachine, association: int) -> list[int]:
    """The association and all above it."""
    found = []
    while association >= 0:
        found.append(association)
        association = int(machine.associations.parent[association])
    return found


def _row(limits: SharedLimits, name: str, row: int) -> IntArray:
    if row < 0:
        shape = getattr(limits, name).shape[1:]
        return np.full(shape, NO_LIMIT)
    return np.asarray(getattr(limits, name)[row], dtype=np.int64)


def _class(machine: SharedMachine, key: Key) -> list[Membership]:
    found: list[Membership] = []
    part_qos, job_qos, association = key
    order = [part_qos, job_qos] if part_qos != job_qos else [job_qos]
    order = [row for row in order if row >= 0]
    chain = _chain(machine, association)
    user = int(machine.associations.user[association]) if association >= 0 else -1
    account = int(machine.associations.account[association]) if association >= 0 else -1
    scopes = (("group", "qos", -1), ("user", "qos-user", user),
              ("account", "qos-account", account))
    above = {}
    for scope, name, who in scopes:
        tres = _first_set([_row(machine.qos.limits, f"{scope}_tres", row) for row in order]
                          or [np.full(machine.resources, NO_LIMIT)])
        jobs = _first_set([_row(machine.qos.limits, f"{scope}_jobs", row) for row in order]
                          or [np.asarray(NO_LIMIT)])
        submit = _first_set([_row(machine.qos.limits, f"{scope}_submit", row) for row in order]
                            or [np.asarray(NO_LIMIT)])
        for place, row in enumerate(order):
            found.append(Membership((name, row, who), tres[place], int(jobs[place]),
                                    int(submit[place])))
        above[scope] = (np.min(tres, axis=0), int(np.min(jobs)), int(np.min(submit)))
    limits = machine.associations.limits
    for level, row in enumerate(chain):
        own = np.where(above["group"][0] < NO_LIMIT, NO_LIMIT, _row(limits, "group_tres", row))
        most_jobs, most_submit = int(NO_LIMIT), int(NO_LIMIT)
        if above["group"][1] >= NO_LIMIT:
            most_jobs = int(_row(limits, "group_jobs", row))
        if above["group"][2] >= NO_LIMIT:
            most_submit = int(_row(limits, "group_submit", row))
        if level == 0 and above["user"][1] >= NO_LIMIT:
            most_jobs = min(most_jobs, _inherited(limits.max_jobs, chain))
        if level == 0 and above["user"][2] >= NO_LIMIT:
            most_submit = min(most_submit, _inherited(limits.max_submit, chain))
        found.append(Membership(("association", row, -1), own, most_jobs, most_submit))
    return found


def _inherited(column: IntArray, chain: list[int]) -> int:
    """An association without such a limit has that of the next one above it."""
    return next((int(column[row]) for row in chain if column[row] < NO_LIMIT), int(NO_LIMIT))


def _job_limits(machine: SharedMachine, key: Key) -> tuple[IntArray, int]:
    part_qos, job_qos, association = key
    sources = [(machine.qos.limits, part_qos), (machine.qos.limits, job_qos)]
    sources += [(machine.associations.limits, row) for row in _chain(machine, association)]
    tres = np.full(machine.resources, NO_LIMIT)
    wall = NO_LIMIT
    for limits, row in reversed(sources):
        if row < 0:
            continue
        mine = _row(limits, "job_tres", row)
        tres = np.where(mine < NO_LIMIT, mine, tres)
        mine_s = limits.job_wall_s[row]
        wall = mine_s if mine_s < NO_LIMIT else wall
    return tres, int(wall)
