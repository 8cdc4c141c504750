"""What is asked of the measured ledger: joules by name, in a period, of some jobs; and the meters.

A row that crosses the end of the period is cut in proportion to its time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from sqlalchemy import (
    ColumnElement,
    Connection,
    Integer,
    Select,
    Table,
    and_,
    case,
    cast,
    distinct,
    false,
    func,
    literal,
    literal_column,
    or_,
    select,
    true,
)

from wattline.account.measured.doubts import Twice, told_twice
from wattline.account.measured.quarters import HOUR_S
from wattline.account.measured.records import Source
from wattline.account.measured.summing import sums_across, sums_inside
from wattline.account.measured.tables import facts, lives, steps
from wattline.account.store import Store
from wattline.model.errors import InputError
from wattline.model.signal import FloatArray
from wattline.site.slurm_energy import hosts_of

BY = ("user", "account", "partition", "application", "class", "node")
Number = ColumnElement[Any]
_FAR_S = 1e15
"""Before and after all times."""


@dataclass(frozen=True)
class Conditions:
    """Conditions that must all hold; empty ones hold for every job."""

    jobs: tuple[str, ...] = ()
    """As Slurm prints them: `12` (with all its tasks or parts), `300_1`, `12+0`, a step `12.0`."""
    users: tuple[str, ...] = ()
    accounts: tuple[str, ...] = ()
    clusters: tuple[str, ...] = ()
    start_s: float | None = None
    end_s: float | None = None
    classed: bool | None = None
    """Whether a class of node was told for it; None for both."""


@dataclass(frozen=True)
class Total:
    """What belongs to one name."""

    name: str
    jobs: int = 0
    lives: int = 0
    energy_j: float = 0.0
    idle_j: float = 0.0
    covered_s: float = 0.0
    node_s: float = 0.0
    without_joules: int = 0

    @property
    def coverage(self) -> float | None:
        """The share of node-seconds of which the joules are known; None where there are none."""
        return min(1.0, self.covered_s / self.node_s) if self.node_s > 0 else None


UNTIL_S: Number = func.coalesce(lives.c.end_s, lives.c.seen_s, lives.c.start_s)


def totals(
    store: Store, by: str, asked: Conditions, classes: Mapping[str, str] | None = None,
    node_classes: Mapping[str, str] | None = None,
) -> list[Total]:
    """Joules by name, most first.

    `classes` has the class of nodes of a partition's jobs, `node_classes` that of each node, which
    counts before it.
    """
    if by not in BY:
        raise InputError(f"by is '{by}'; totals are by one of: {', '.join(BY)}")
    if by == "class" and (classes or node_classes):
        return _by_class(store, asked, classes or {}, node_classes or {})
    if by == "node":
        return _by_host(store, asked, lambda host, partition: host)
    name = lives.c["node_class" if by == "class" else by]
    first = -_FAR_S if asked.start_s is None else asked.start_s
    last = _FAR_S if asked.end_s is None else asked.end_s
    of_steps = any("." in job for job in asked.jobs)
    whole = lives.c.nodes * _overlap_s(lives.c.start_s, UNTIL_S, asked)
    counts = select(
        name, lives.c.cluster, func.count(distinct(lives.c.label)), func.count(),
        func.sum(whole), func.sum(case((lives.c.energy_j.is_(None), 1), else_=0)),
        *sums_inside(first, last),
    ).where(within(lives.c.start_s, UNTIL_S, asked), _chosen(asked)).group_by(
        name, lives.c.cluster)
    found: dict[str, Total] = {}
    with store.session() as session:
        for key, _, jobs, number, node_s, without, *figures in session.execute(counts):
            energy_j, idle_j, covered_s = (0.0 if of_steps else float(each) for each in figures)
            found[key] = _plus(found.get(key, Total(key)), Total(
                key, int(jobs), int(number), energy_j, idle_j, covered_s, float(node_s),
                int(without)))
        connection = session.connection()
        # Joules of steps are those of their own rows.
        others = _summed_by(connection, name, asked) if of_steps else sums_across(
            connection, name, first, last, _chosen(asked))
        for key, cut_figures in others.items():
            found[key] = _plus(found.get(key, Total(key)), Total(key, 0, 0, *cut_figures))
    return _sorted(found.values())


def _by_class(
    store: Store, asked: Conditions, classes: Mapping[str, str], node_classes: Mapping[str, str]
) -> list[Total]:
    """What was told of a job's nodes counts before the class of its nodes, or its partition."""
    found: dict[str, Total] = {}
    told = totals(store, "class", replace(asked, classed=True))
    others = replace(asked, classed=False)
    if node_classes:
        told += _by_host(store, others, lambda host, partition: (
            node_classes.get(host) or classes.get(partition, "")))
    else:
        told += [replace(total, name=classes.get(total.name, ""))
                 for total in totals(store, "partition", others)]
    for total in told:
        found[total.name] = _plus(found.get(total.name, Total(total.name)), total)
    return _sorted(found.values())


def _plus(one: Total, other: Total) -> Total:
    return Total(one.name, *(getattr(one, field.name) + getattr(other, field.name)
                             for field in fields(Total)[1:]))


def _summed_by(
    connection: Connection, name: Number, asked: Conditions
) -> dict[Any, tuple[float, float, float]]:
    return {key: (float(energy_j), float(idle_j), float(covered_s)) for
            key, energy_j, idle_j, covered_s in connection.execute(_summed(asked, name))}


@dataclass(frozen=True, eq=False)
class Spread:
    """Joules by name and stretch of time, in order."""

    names: list[str]
    start_s: FloatArray
    end_s: FloatArray
    energy_j: FloatArray


def spread(store: Store, by: str, asked: Conditions, *, even_in_hours: bool = False) -> Spread:
    """Joules by name and stretch of time, cut to the period.

    `even_in_hours` says that nothing depends on when in an hour they were: rows within one hour
    are then added up by the database, which is most of them, as series are cut at hours.
    """
    name = lives.c["node_class" if by == "class" else by]
    begin: Number = facts.c.start_s
    end: Number = facts.c.end_s
    whole: Number = literal(0)
    with store.session() as session:
        connection = session.connection()
        if even_in_hours:
            hour = hour_of(connection, facts.c.start_s)
            one_hour = and_(facts.c.end_s <= HOUR_S * (hour + 1), *inside_period(facts, asked))
            begin = case((one_hour, HOUR_S * hour), else_=begin)
            end = case((one_hour, HOUR_S * (hour + 1)), else_=end)
            whole = case((one_hour, 1), else_=0)
        keys = [name, begin.label("begins_s"), end.label("ends_s"), whole.label("whole")]
        rows = connection.execute(select(*keys, func.sum(facts.c.energy_j)).join(
            lives, facts.c.life_id == lives.c.id).where(
            _counting(asked), within(facts.c.start_s, facts.c.end_s, asked)).group_by(
            name, "begins_s", "ends_s", "whole")).all()
    return _cut_rows(sorted(tuple(row) for row in rows), asked)


def _cut_rows(rows: list[tuple[Any, ...]], asked: Conditions) -> Spread:
    """What lies in the period; rows within an hour of it do already, wherever they are in it."""
    names = [str(row[0]) for row in rows]
    start_s, end_s, whole, energy_j = (
        np.array([float(row[at]) for row in rows]) for at in (1, 2, 3, 4))
    first = start_s if asked.start_s is None else np.maximum(start_s, asked.start_s)
    last = end_s if asked.end_s is None else np.minimum(end_s, asked.end_s)
    length_s = end_s - start_s
    part = np.where(length_s > 0, (last - first) / np.where(length_s > 0, length_s, 1.0), 1.0)
    return Spread(names, first, last, energy_j * np.where(whole > 0, 1.0, part))


def hour_of(connection: Connection, time_s: Number) -> Number:
    """Whole hours of Unix time; not every SQLite has floor, and elsewhere a cast rounds."""
    hours = time_s / literal_column(str(HOUR_S))
    return cast(hours, Integer) if connection.dialect.name == "sqlite" else func.floor(hours)


def inside_period(table: Table, asked: Conditions) -> list[ColumnElement[bool]]:
    """Rows that lie in the period as a whole."""
    found = []
    if asked.start_s is not None:
        found.append(table.c.start_s >= asked.start_s)
    if asked.end_s is not None:
        found.append(table.c.end_s <= asked.end_s)
    return found


def cut(
    start_s: float, end_s: float, energy_j: float, asked: Conditions
) -> tuple[float, float, float]:
    """The part of a stretch that lies in the period."""
    first = start_s if asked.start_s is None else max(start_s, asked.start_s)
    last = end_s if asked.end_s is None else min(end_s, asked.end_s)
    return first, last, energy_j * ((last - first) / (end_s - start_s) if end_s > start_s else 1.0)


def life_rows(store: Store, asked: Conditions) -> list[dict[str, Any]]:
    """The lives that were there at some time of the period, in order.

    `restart` says how many lives of the same job the ledger has before each.
    """
    before = lives.alias("before")
    restart = select(func.count()).where(
        before.c.cluster == lives.c.cluster, before.c.label == lives.c.label,
        before.c.start_s < lives.c.start_s).correlate(lives).scalar_subquery()
    query = select(lives, restart.label("restart")).where(
        within(lives.c.start_s, UNTIL_S, asked), _chosen(asked)).order_by(
        lives.c.cluster, lives.c.start_s, lives.c.label)
    with store.session() as session:
        return [dict(row) for row in session.execute(query).mappings()]


def lives_asked(asked: Conditions) -> ColumnElement[bool]:
    """The lives that were there at some time of the period and that the conditions choose."""
    return and_(within(lives.c.start_s, UNTIL_S, asked), _chosen(asked))


def contradicted(store: Store, asked: Conditions) -> list[Twice]:
    """The lives of the period whose meters and whose Slurm disagree."""
    told = (lives.c.label, lives.c.source, lives.c.energy_j, lives.c.told_j, lives.c.coverage)
    query = select(*told).where(
        lives.c.source == str(Source.SERIES), lives.c.told_j > 0,
        within(lives.c.start_s, UNTIL_S, asked), _chosen(asked)).order_by(
        lives.c.cluster, lives.c.start_s, lives.c.label)
    with store.session() as session:
        return [found for row in session.execute(query) if (found := told_twice(*row))]


def crossing(store: Store, asked: Conditions) -> int:
    """How many lives cross an end of the period and have one figure for all of their time."""
    across = [and_(lives.c.start_s < edge, edge < UNTIL_S)
              for edge in (asked.start_s, asked.end_s) if edge is not None]
    return _told_by_slurm(store, asked, or_(false(), *across))


def unseen(store: Store, asked: Conditions) -> int:
    """How many lives of the period have their joules from Slurm, and not from a meter."""
    return _told_by_slurm(store, asked, within(lives.c.start_s, UNTIL_S, asked))


def _told_by_slurm(store: Store, asked: Conditions, condition: ColumnElement[bool]) -> int:
    told = [str(Source.SLURM_JOB), str(Source.SLURM_STEPS)]
    query = select(func.count()).select_from(lives).where(
        condition, lives.c.source.in_(told), _chosen(asked))
    with store.session() as session:
        return int(session.scalar(query) or 0)


def _by_host(
    store: Store, asked: Conditions, name_of: Callable[[str, str], str]
) -> list[Total]:
    """Joules by what a node, and the partition of the job on it, are called.

    What no source tells apart by node is divided among the job's nodes alike.
    """
    found: dict[str, list[float]] = {}
    jobs: dict[str, set[tuple[str, str]]] = {}
    hosts: dict[int, tuple[list[str], str]] = {}
    for row in life_rows(store, asked):
        own = hosts_of(row["node_list"]) if row["node_list"] else [""]
        hosts[row["id"]] = own, row["partition"]
        first, last, _ = cut(row["start_s"], _until(row), 0.0, asked)
        names = [name_of(host, row["partition"]) for host in own]
        for name in names:
            sums = found.setdefault(name, [0.0, 0.0, 0.0, 0.0, 0, 0])
            sums[3] += max(0.0, last - first) * (row["nodes"] / len(own))
        for name in set(names):
            found[name][4] += 1
            found[name][5] += row["energy_j"] is None
            jobs.setdefault(name, set()).add((row["cluster"], row["label"]))
    with store.session() as session:
        for life_id, node, *figures in session.execute(
                _summed(asked, facts.c.life_id, facts.c.node)):
            own, partition = hosts.get(int(life_id), ([""], ""))
            named = [node] if node else own
            for host in named:
                sums = found.setdefault(name_of(host, partition), [0.0, 0.0, 0.0, 0.0, 0, 0])
                for at, figure in enumerate(figures):
                    sums[at] += float(figure) / len(named)
    return _sorted(
        Total(name, len(jobs.get(name, ())), int(lived), energy_j, idle_j, covered_s, node_s,
              int(without))
        for name, (energy_j, idle_j, covered_s, node_s, lived, without) in found.items())


def _until(row: dict[str, Any]) -> float:
    return float(next(row[name] for name in ("end_s", "seen_s", "start_s")
                      if row[name] is not None))


def _sorted(found: Iterable[Total]) -> list[Total]:
    return sorted(found, key=lambda total: (-total.energy_j, total.name))


def _summed(asked: Conditions, *names: Number) -> Select[Any]:
    """Joules, idle joules and node-seconds of the facts that count."""
    part = part_of(facts.c.start_s, facts.c.end_s, asked)
    return select(*names, *(func.sum(facts.c[name] * part)
                            for name in ("energy_j", "idle_j", "covered_s"))).join(
        lives, facts.c.life_id == lives.c.id).where(
        _counting(asked), within(facts.c.start_s, facts.c.end_s, asked)).group_by(*names)


def _counting(asked: Conditions) -> ColumnElement[bool]:
    """Which facts count: those of whole jobs, and those of steps that were asked for by name."""
    others = _of_names(asked)
    if not asked.jobs:
        # Nearly all facts count: by the index of those that do, each would be looked up singly.
        return and_(func.coalesce(facts.c.counts, false()), others)
    whole = [text for text in asked.jobs if "." not in text]
    found = [and_(facts.c.counts.is_(True), _is_job(text)) for text in whole]
    for text in asked.jobs:
        job, dot, step = text.partition(".")
        if dot and job not in whole:
            found.append(and_(facts.c.step == step, _is_job(job), believed_of_steps()))
    return and_(or_(false(), *found), others)


def believed_of_steps() -> ColumnElement[bool]:
    """Which joules of a step count: the meters' where its job's are theirs, else Slurm's."""
    other = facts.alias("other")
    metered = and_(lives.c.source == str(Source.SERIES), select(other.c.id).where(
        other.c.life_id == facts.c.life_id, other.c.step == facts.c.step,
        other.c.source == str(Source.SERIES)).correlate(facts).exists())
    return (facts.c.source == str(Source.SERIES)) == metered


def steps_asked(asked: Conditions) -> ColumnElement[bool]:
    """The steps of the lives that are asked for: those that are named, else all."""
    if not asked.jobs:
        return true()
    found = []
    for text in asked.jobs:
        job, dot, step = text.partition(".")
        found.append(and_(_is_job(job), facts.c.step == step) if dot else _is_job(job))
    return or_(false(), *found)


def _chosen(asked: Conditions) -> ColumnElement[bool]:
    others = _of_names(asked)
    if not asked.jobs:
        return others
    return and_(or_(false(), *(_has_step(text) for text in asked.jobs)), others)


def _has_step(text: str) -> ColumnElement[bool]:
    """The lives of a job, and where a step is named, those that have it."""
    job, dot, step = text.partition(".")
    if not dot:
        return _is_job(job)
    there = select(steps.c.id).where(
        *(steps.c[name] == lives.c[name] for name in ("cluster", "label")), steps.c.step == step,
        steps.c.start_s >= lives.c.start_s, steps.c.start_s <= UNTIL_S).correlate(lives)
    return and_(_is_job(job), there.exists())


def _of_names(asked: Conditions) -> ColumnElement[bool]:
    wanted = ((lives.c.user, asked.users), (lives.c.account, asked.accounts),
              (lives.c.cluster, asked.clusters))
    told = [] if asked.classed is None else [
        lives.c.node_class != "" if asked.classed else lives.c.node_class == ""]
    return and_(literal(1) == literal(1), *told, *(column.in_(list(names)) for column, names in
                                                   wanted if names))


def _is_job(text: str) -> ColumnElement[bool]:
    """A number stands for the job, its tasks and its parts, and for a task's raw number."""
    if not re.fullmatch(r"[0-9]{1,20}([_+][0-9]{1,20})?", text):
        raise InputError(f"-j: '{text}' is not a job; write it like 12, 300_1, 12+0 or 12.0")
    if not text.isdecimal():
        return lives.c.label == text
    found = [lives.c.label == text, lives.c.label.startswith(f"{text}_", autoescape=True),
             lives.c.label.startswith(f"{text}+", autoescape=True)]
    if int(text) < 2**63:
        found.append(lives.c.job_id == int(text))
    return or_(*found)


def within(start_s: Number, end_s: Number, asked: Conditions) -> ColumnElement[bool]:
    """Whether something of it lies in the period; what has no length belongs where it begins."""
    found: list[ColumnElement[bool]] = [literal(1) == literal(1)]
    if asked.end_s is not None:
        found.append(start_s < asked.end_s)
    if asked.start_s is not None:
        found.append(or_(end_s > asked.start_s, start_s >= asked.start_s))
    return and_(*found)


def _overlap_s(start_s: Number, end_s: Number, asked: Conditions) -> Number:
    first, last = start_s, end_s
    if asked.start_s is not None:
        first = case((start_s < asked.start_s, asked.start_s), else_=start_s)
    if asked.end_s is not None:
        last = case((end_s > asked.end_s, asked.end_s), else_=end_s)
    return last - first


def part_of(start_s: Number, end_s: Number, asked: Conditions) -> Number:
    """The share of a row that lies in the period."""
    if asked.start_s is None and asked.end_s is None:
        return literal(1.0)
    return case((end_s > start_s, _overlap_s(start_s, end_s, asked) / (end_s - start_s)),
                else_=1.0)
