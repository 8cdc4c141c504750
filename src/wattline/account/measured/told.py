"""Writing what was told: read what the store has of the same jobs, merge, write the difference.

A job that runs in the hour that comes twice when clocks are set back may be told with the wrong one
of two starts; who knows the run time knows which it was, and then both are one life.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from sqlalchemy import Connection, Table, bindparam, select, update

from wattline.account.measured.merging import (
    disagree,
    merged_life,
    merged_step,
    moved_life,
    moved_step,
)
from wattline.account.measured.records import Life, StepSeen
from wattline.account.measured.rows import life_of, life_row, step_of, step_row
from wattline.account.measured.settling import Job, chunks
from wattline.account.measured.tables import lives, steps

Told = TypeVar("Told", Life, StepSeen)
Key = tuple[Any, ...]


@dataclass
class Change:
    """What was new, and the jobs that it touches."""

    new: int = 0
    changed: int = 0
    disagreeing: int = 0
    touched: set[Job] = field(default_factory=set)


@dataclass(frozen=True)
class _Kind(Generic[Told]):
    """How records of one kind are known, merged and written."""

    table: Table
    key: Callable[[Told], Key]
    """Begins with the cluster and the label of the job."""
    merged: Callable[[Told, Told], Told]
    differ: Callable[[Told, Told], bool]
    moved: Callable[[Told, int], Told]
    row: Callable[[Told], dict[str, Any]]
    record: Callable[[Mapping[Any, Any]], Told]


_LIVES = _Kind(lives, lambda life: (life.key.cluster, life.key.label, life.key.start_s),
               merged_life, disagree, moved_life, life_row, life_of)
_STEPS = _Kind(steps, lambda step: (step.cluster, step.label, step.start_s, step.step),
               merged_step, lambda one, other: False, moved_step, step_row, step_of)


def enter_lives(connection: Connection, found: Iterable[Life]) -> Change:
    return _enter(connection, _LIVES, found)


def enter_steps(connection: Connection, found: Iterable[StepSeen]) -> Change:
    return _enter(connection, _STEPS, found)


def _enter(connection: Connection, kind: _Kind[Told], found: Iterable[Told]) -> Change:
    change = Change()
    told = _together(kind, found, change)
    by_job: dict[Job, list[Key]] = {}
    for key in told:
        by_job.setdefault((key[0], key[1]), []).append(key)
    for cluster, labels in chunks(by_job):
        query = select(kind.table).where(kind.table.c.cluster == cluster,
                                         kind.table.c.label.in_(labels))
        kept = {}
        for row in connection.execute(query).mappings():
            record = kind.record(row)
            kept[kind.key(record)] = int(row["id"]), record
        new, changed = [], []
        known = {key: record for key, (_, record) in kept.items()}
        for key in (key for label in labels for key in by_job[cluster, label]):
            twin = _twin(kind, told[key], known)
            if key not in kept and twin is None:
                new.append(kind.row(told[key]))
                change.touched.add((cluster, key[1]))
                continue
            life_id, before = kept[twin or key]
            change.disagreeing += kind.differ(before, told[key])
            after = kind.row(_merged(kind, before, told[key]))
            if after != kind.row(before):
                changed.append({f"new_{name}": value for name, value in after.items()}
                               | {"key": life_id})
                change.touched.add((cluster, key[1]))
        _write(connection, kind.table, new, changed)
        change.new += len(new)
        change.changed += len(changed)
    return change


def _together(kind: _Kind[Told], found: Iterable[Told], change: Change) -> dict[Key, Told]:
    """The records of one file, those of the same life or step merged."""
    told: dict[Key, Told] = {}
    for record in sorted(found, key=lambda record: record.guessed):
        key = _twin(kind, record, told) or kind.key(record)
        before = told.get(key)
        if before is not None:
            change.disagreeing += kind.differ(before, record)
        told[key] = record if before is None else _merged(kind, before, record)
    return told


def _twin(kind: _Kind[Told], record: Told, known: Mapping[Key, Told]) -> Key | None:
    """The key of a record of the same stay, told with the other start that it may have."""
    own: Key = kind.key(record)
    if record.other_start_s is None or own in known:
        return None
    other: Key = (*own[:2], record.other_start_s, *own[3:])
    if other not in known:
        return None
    # A stay that was over when this one began is another one, of a job that was requeued.
    return other if record.guessed or not known[other].end_s <= own[2] else None


def _merged(kind: _Kind[Told], before: Told, record: Told) -> Told:
    """What both say of one stay, at the start that is not guessed."""
    old, new = kind.key(before)[2], kind.key(record)[2]
    if old != new and record.guessed:
        record = kind.moved(record, old)
    elif old != new:
        before = kind.moved(before, new)
    return kind.merged(before, record)


def _write(
    connection: Connection, table: Table, new: list[dict[str, Any]], changed: list[dict[str, Any]]
) -> None:
    if new:
        connection.execute(table.insert(), new)
    if changed:
        values: dict[str, Any] = {name[4:]: bindparam(name) for name in changed[0] if name != "key"}
        connection.execute(update(table).where(table.c.id == bindparam("key")).values(values),
                           changed)
