"""What files tell of, and what the ledger then has of it: lives by name, meters by their time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sqlalchemy import Connection, Integer, Row, func, or_, select

from wattline.account.measured.bulk import among
from wattline.account.measured.bulk import chunks as numbers
from wattline.account.measured.counting import TOO_LITTLE
from wattline.account.measured.doubts import Twice, apart_said, told_twice
from wattline.account.measured.entities import is_above, node_of
from wattline.account.measured.records import Found, LifeKey, Series, Source
from wattline.account.measured.settling import Job, chunks
from wattline.account.measured.tables import facts, lives, rests, steps
from wattline.account.measured.touched import Entity

Span = tuple[float, float]


@dataclass(frozen=True)
class Scope:
    """The lives, steps and meters of some files, without their figures."""

    lives: frozenset[LifeKey] = frozenset()
    step_jobs: frozenset[Job] = frozenset()
    spans: Mapping[Entity, Span] = field(default_factory=dict)
    """Per node, or meter above nodes, the first and the last instant that it was told of."""
    claimed: Mapping[Job, Span] = field(default_factory=dict)
    """Jobs that series say they are of, each with the time of these."""

    @classmethod
    def of(cls, found: Found) -> Scope:
        spans: dict[Entity, Span] = {}
        for series in found.series:
            if series.time_s.size:
                _widen(spans, (series.cluster, _owner(series)), _span(series))
        claimed: dict[Job, Span] = {}
        for (cluster, _), span in spans.items() if found.job else ():
            _widen(claimed, (cluster, found.job), span)
        # A start that was guessed may be known by now.
        keys = {life.key for life in found.lives} | {
            LifeKey(life.key.cluster, life.key.label, life.other_start_s) for life in found.lives
            if life.guessed and life.other_start_s is not None}
        return cls(frozenset(keys),
                   frozenset((step.cluster, step.label) for step in found.steps), spans, claimed)

    def __or__(self, other: Scope) -> Scope:
        spans = dict(self.spans)
        for entity, span in other.spans.items():
            _widen(spans, entity, span)
        claimed = dict(self.claimed)
        for job, span in other.claimed.items():
            _widen(claimed, job, span)
        return Scope(self.lives | other.lives, self.step_jobs | other.step_jobs, spans, claimed)


def _owner(series: Series) -> str:
    return series.entity if is_above(series.entity) else node_of(series.entity)


def _span(series: Series) -> Span:
    return float(np.min(series.time_s)), float(np.max(series.time_s))


def _widen(spans: dict[Entity, Span], entity: Entity, span: Span) -> None:
    first, last = spans.get(entity, span)
    spans[entity] = min(first, span[0]), max(last, span[1])


def known(connection: Connection, scope: Scope) -> dict[str, Any]:
    """What the ledger has of these lives, of those that these meters saw, and of nobody."""
    found = {**_own_ids(connection, scope.lives), **dict.fromkeys(_seen_ids(connection, scope))}
    rows = without = running = aside = 0
    apart: list[Twice] = []
    energy_j = covered_s = node_s = 0.0
    jobs = set()
    for life in _listed(connection, found):
        whole_s = max(1, life.nodes) * max(0.0, float(life.until_s) - float(life.start_s))
        jobs.add((life.cluster, life.label))
        rows += life.facts
        energy_j += life.energy_j or 0.0
        without += life.energy_j is None
        running += life.runs
        twice = told_twice(life.label, life.source, life.energy_j, life.told_j, life.coverage)
        apart += [twice] if twice else []
        aside += life.quality.endswith(TOO_LITTLE)
        node_s += whole_s
        covered_s += whole_s * (life.coverage or 0.0)
    return {"jobs": len(jobs), "lives": len(found), "rows": rows, "energy_j": energy_j,
            "covered_s": covered_s, "node_s": node_s, "without_joules": without,
            "apart": len(apart), "doubts": (apart_said(apart),) if apart else (),
            "running": running, "set_aside": aside,
            "waiting_steps": _waiting(connection, scope.step_jobs),
            "unknown_jobs": tuple(_unknown(connection, scope.claimed)),
            **_nobody(connection, scope.spans)}


def _unknown(connection: Connection, claimed: Mapping[Job, Span]) -> Iterator[str]:
    """The jobs of series that nobody has told of: without them their joules are nobody's."""
    for (cluster, job), (first_s, last_s) in sorted(claimed.items()):
        until_s = func.coalesce(lives.c.end_s, lives.c.seen_s, lives.c.start_s)
        query = select(lives.c.id).where(
            lives.c.cluster == cluster, or_(lives.c.label == job, lives.c.job_id == int(job)),
            lives.c.start_s <= last_s, until_s >= first_s)
        if connection.execute(query.limit(1)).first() is None:
            yield job


def _own_ids(connection: Connection, keys: frozenset[LifeKey]) -> dict[int, None]:
    found: dict[int, None] = {}
    for cluster, labels in chunks({(key.cluster, key.label) for key in keys}):
        for life_id, label, start_s in connection.execute(
                select(lives.c.id, lives.c.label, lives.c.start_s).where(
                    lives.c.cluster == cluster, lives.c.label.in_(labels))):
            if LifeKey(cluster, label, int(start_s)) in keys:
                found[int(life_id)] = None
    return found


def _seen_ids(connection: Connection, scope: Scope) -> Iterator[int]:
    """Lives with joules from these meters at the time that was told of."""
    for (cluster, node), (first_s, last_s) in sorted(scope.spans.items()):
        if not is_above(node):
            yield from connection.scalars(
                select(facts.c.life_id).join(lives, lives.c.id == facts.c.life_id).where(
                    facts.c.node == node, facts.c.source == str(Source.SERIES),
                    facts.c.start_s <= last_s, facts.c.end_s > first_s,
                    lives.c.cluster == cluster).distinct())


def _listed(connection: Connection, ids: Mapping[int, None]) -> list[Row[Any]]:
    """In a fixed order, so that sums are the same to the last bit."""
    until_s = func.coalesce(lives.c.end_s, lives.c.seen_s, lives.c.start_s).label("until_s")
    names = ("id", "cluster", "label", "start_s", "energy_j", "coverage", "nodes", "source",
             "told_j", "quality")
    told = [lives.c[name] for name in names]
    found: list[Any] = []
    for some in numbers(ids):
        query = select(*told, until_s, lives.c.end_s.is_(None).cast(Integer).label("runs"),
                       func.count(facts.c.id).label("facts")).outerjoin(
            facts, facts.c.life_id == lives.c.id).where(among(lives.c.id, some)).group_by(
            *told, lives.c.end_s, lives.c.seen_s)
        found += [row for row in connection.execute(query) if row.id in ids]
    return sorted(found, key=lambda row: (row.cluster, row.label, row.start_s))


def _waiting(connection: Connection, jobs: Iterable[Job]) -> int:
    """How many steps of these jobs began before every life of their job."""
    waiting = 0
    for cluster, labels in chunks(jobs):
        first = select(lives.c.label, func.min(lives.c.start_s).label("start_s")).where(
            lives.c.cluster == cluster, lives.c.label.in_(labels)).group_by(
            lives.c.label).subquery()
        query = select(func.count()).select_from(
            steps.outerjoin(first, steps.c.label == first.c.label)).where(
            steps.c.cluster == cluster, steps.c.label.in_(labels),
            (first.c.start_s.is_(None)) | (steps.c.start_s < first.c.start_s))
        waiting += int(connection.execute(query).scalar() or 0)
    return waiting


def _nobody(connection: Connection, spans: Mapping[Entity, Span]) -> dict[str, float | None]:
    """What these nodes' meters saw in the hours told of, and of it what no job held."""
    names = ("metered_j", "idle_j", "unattributed_j")
    sums: dict[str, float | None] = dict.fromkeys(names)
    for (cluster, node), (first_s, last_s) in sorted(spans.items()):
        if is_above(node):
            continue
        for row in connection.execute(
                select(*(rests.c[name] for name in names)).where(
                    rests.c.cluster == cluster, rests.c.entity == node,
                    rests.c.start_s <= last_s, rests.c.end_s > first_s)
                .order_by(rests.c.start_s)).mappings():
            sums = {name: (sums[name] or 0.0) + float(row[name]) for name in names}
    return sums
