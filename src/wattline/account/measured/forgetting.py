"""Taking back what was entered: jobs, or the series of meters, by cluster, number and time."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, delete, func, or_, select, true

from wattline.account.measured import kept_rules
from wattline.account.measured.attributing import settle as settle_series
from wattline.account.measured.bulk import chunks as numbers
from wattline.account.measured.rows import life_of, step_of
from wattline.account.measured.settling import Job, chunks, settle
from wattline.account.measured.slurm_facts import steps_by_life
from wattline.account.measured.tables import facts, lives, series, stays, steps
from wattline.account.measured.touched import Touched
from wattline.account.measured.windows import touched_days


@dataclass(frozen=True)
class Unwanted:
    """Which lives go; conditions that must all hold."""

    cluster: str | None = None
    """The empty one too, which files without a cluster have."""
    jobs: tuple[str, ...] = ()
    """As Slurm prints them; a number with all its tasks and parts, and not a task's raw number."""
    start_s: float | None = None
    end_s: float | None = None
    """Lives that began from the one time on and before the other."""

    ids: tuple[int, ...] | None = None
    """Rows of the ledger."""

    def chosen(self) -> ColumnElement[bool]:
        found: list[ColumnElement[bool]] = [true()]
        if self.cluster is not None:
            found.append(lives.c.cluster == self.cluster)
        if self.ids is not None:
            found.append(lives.c.id.in_(self.ids))
        if self.jobs:
            found.append(or_(*(_is_job(text) for text in self.jobs)))
        if self.start_s is not None:
            found.append(lives.c.start_s >= self.start_s)
        if self.end_s is not None:
            found.append(lives.c.start_s < self.end_s)
        return and_(*found)


def _is_job(text: str) -> ColumnElement[bool]:
    label = lives.c.label
    return or_(label == text, *(label.startswith(f"{text}{mark}", autoescape=True)
                                for mark in ("_", "+") if text.isdecimal()))


@dataclass(frozen=True)
class Going:
    """What goes: jobs with their lives and joules, or days of meters."""

    jobs: int = 0
    lives: int = 0
    energy_j: float = 0.0
    meters: int = 0
    meter_days: int = 0


def jobs_going(connection: Connection, unwanted: Unwanted) -> Going:
    rows = connection.execute(select(lives.c.cluster, lives.c.label, lives.c.energy_j).where(
        unwanted.chosen())).all()
    return Going(len({(row.cluster, row.label) for row in rows}), len(rows),
                 sum(row.energy_j or 0.0 for row in rows))


def meters_going(connection: Connection, cluster: str) -> Going:
    count = select(func.count(series.c.entity.distinct()), func.count()).where(
        series.c.cluster == cluster)
    meters, days = connection.execute(count).one()
    return Going(meters=int(meters), meter_days=int(days))


def forget_jobs(connection: Connection, unwanted: Unwanted) -> None:
    """Delete lives and their steps; what their nodes drew goes to whoever else was there."""
    ids = set(connection.scalars(select(lives.c.id).where(unwanted.chosen())))
    jobs: set[Job] = {(cluster, label) for cluster, label in connection.execute(
        select(lives.c.cluster, lives.c.label).where(unwanted.chosen()).distinct())}
    days = {(cluster, node): frozenset(each)
            for cluster, nodes in touched_days(connection, Touched(lives=frozenset(ids))).items()
            for node, each in nodes.items()}
    _delete_by_id(connection, steps, _steps_of(connection, jobs, ids))
    for some in numbers(ids):
        connection.execute(delete(facts).where(facts.c.life_id.in_(some)))
    for cluster, label, start_s in connection.execute(
            select(lives.c.cluster, lives.c.label, lives.c.start_s).where(
                unwanted.chosen())).all():
        connection.execute(delete(stays).where(
            stays.c.cluster == cluster, stays.c.label == label, stays.c.start_s == start_s))
    _delete_by_id(connection, lives, ids)
    rules = kept_rules.load(connection)
    left = settle(connection, jobs, rules.highest_w)
    settle_series(connection, Touched(days, left), rules)


def _steps_of(connection: Connection, jobs: Collection[Job], ids: Collection[int]) -> set[int]:
    """The numbers of the steps that belong to these lives, or to no life that stays."""
    found: set[int] = set()
    for cluster, labels in chunks(jobs):
        kept = connection.execute(select(lives).where(
            lives.c.cluster == cluster, lives.c.label.in_(labels))).mappings().all()
        told = connection.execute(select(steps).where(
            steps.c.cluster == cluster, steps.c.label.in_(labels))).mappings().all()
        for label in labels:
            own = [row for row in kept if row["label"] == label]
            mine = {_key(step_of(row)): int(row["id"]) for row in told if row["label"] == label}
            by_start = steps_by_life([life_of(row) for row in own],
                                     [step_of(row) for row in told if row["label"] == label])
            stay = {_key(step) for row in own if row["id"] not in ids
                    for step in by_start.get(int(row["start_s"]), [])}
            found.update(number for key, number in mine.items() if key not in stay)
    return found


def _key(step: Any) -> tuple[str, int]:
    return step.step, step.start_s


def forget_meters(connection: Connection, cluster: str) -> None:
    """Delete all samples of a cluster; its jobs have then what Slurm tells."""
    days: dict[tuple[str, str], set[int]] = {}
    for entity, day in connection.execute(select(series.c.entity, series.c.day).where(
            series.c.cluster == cluster)):
        days.setdefault((cluster, entity), set()).add(day)
    connection.execute(delete(series).where(series.c.cluster == cluster))
    settle_series(connection, Touched({key: frozenset(each) for key, each in days.items()}),
                  kept_rules.load(connection))


def _delete_by_id(connection: Connection, table: Any, ids: Collection[int]) -> None:
    for some in numbers(ids):
        connection.execute(delete(table).where(table.c.id.in_(some)))
