"""Which of several sources of a life counts, and what its joules then are."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sqlalchemy import Connection, Row, and_, bindparam, case, func, select

from wattline.account.measured.bulk import among, chunks, update_rows
from wattline.account.measured.records import Source
from wattline.account.measured.tables import facts, lives, stays

WHOLE = 0.95
"""A series that covers at least so much of a life's node-seconds counts before all else."""
TOO_LITTLE = ", its meters cover too little"
GIVEN_BACK = ", without the nodes that it gave back"
BY_TIME = ", parts of steps that overlap by their time"

QUALITY = {str(Source.SERIES): "measured at the nodes",
           str(Source.SLURM_JOB): "told by Slurm for the job",
           str(Source.SLURM_STEPS): "told by Slurm for steps", "": "unknown"}
SETTLED = ("source", "quality", "energy_j", "idle_j", "covered_s", "coverage")


def count_sources(connection: Connection, life_ids: Collection[int]) -> None:
    """Let one source of each of these lives count, and write what follows into the life."""
    for some in chunks(life_ids):
        sums = _sums(connection, some)
        wanted = set(some)
        fewer = _given_back(connection, some)
        settled = [_settled(row, sums.get(row.id, {}), fewer.get(row.id, 0))
                   for row in _rows(connection, some) if row.id in wanted]
        update_rows(connection, lives, SETTLED, settled)
        _mark(connection, settled, sums)


def _settled(row: Any, sums: dict[str, Row[Any]], given_back: int) -> tuple[Any, ...]:
    """The source that counts, how good it is, its figures, and the number of the life."""
    life, nodes, start_s, until_s = row
    node_s = max(1, nodes) * (until_s - start_s)
    # A job that began and ended within a second of Slurm's has no time by which to tell.
    coverage = {source: min(1.0, each.covered_s / node_s) if node_s > 0
                else float(each.energy_j > 0) for source, each in sums.items()}
    if Source.SLURM_JOB in sums:  # told of all nodes that the job had to its end, whatever they are
        coverage[Source.SLURM_JOB] = 1.0 - given_back / max(1, nodes)
    chosen = _chosen(coverage)
    found = sums.get(chosen)
    figures = (None, 0.0, 0.0) if found is None else (
        found.energy_j, found.idle_j, found.covered_s)
    quality = _quality(chosen, sums) + (
        GIVEN_BACK if given_back and chosen == Source.SLURM_JOB else "")
    return (chosen, quality, *figures, coverage.get(chosen, 0.0), life)


def _chosen(coverage: dict[str, float]) -> str:
    """Who knows all of a job is believed before who knows part of it."""
    if coverage.get(Source.SERIES, 0.0) >= WHOLE:
        return str(Source.SERIES)
    known = [source for source in Source if source in coverage]
    return str(max(known, key=lambda source: coverage[source])) if known else ""


def _quality(chosen: str, sums: dict[str, Row[Any]]) -> str:
    found = sums.get(chosen)
    filled = found is not None and found.filled_j > 0
    how = (", gaps filled" if chosen == Source.SERIES else BY_TIME) if filled else ""
    aside = TOO_LITTLE if chosen != Source.SERIES and Source.SERIES in sums else ""
    return QUALITY[chosen] + how + aside


def _rows(connection: Connection, some: list[int]) -> list[Any]:
    table = lives.c
    until_s = func.coalesce(table.end_s, table.seen_s, table.start_s).label("until_s")
    return list(connection.execute(select(table.id, table.nodes, table.start_s, until_s)
                                   .where(among(table.id, some))).all())


def _given_back(connection: Connection, some: list[int]) -> dict[int, int]:
    """How many nodes each of these lives gave back while it ran, by what Slurm says."""
    same = and_(*(stays.c[name] == lives.c[name] for name in ("cluster", "label", "start_s")))
    return {int(life): int(count) for life, count in connection.execute(
        select(lives.c.id, func.count()).join(stays, same).where(
            among(lives.c.id, some), stays.c.told_s.is_not(None)).group_by(lives.c.id))}


def _sums(connection: Connection, some: list[int]) -> dict[int, dict[str, Row[Any]]]:
    """Per life and source what is told of the whole job; what is told of steps never counts."""
    table = facts.c
    counting = func.sum(case((table.counts, 1), else_=0))
    found: dict[int, dict[str, Row[Any]]] = {}
    for row in connection.execute(
            select(table.life_id, table.source, func.sum(table.energy_j).label("energy_j"),
                   func.sum(table.covered_s).label("covered_s"),
                   func.sum(table.filled_j).label("filled_j"),
                   func.sum(table.idle_j).label("idle_j"),
                   func.count().label("rows"),
                   counting.label("counting"))
            .where(among(table.life_id, some), table.step == "")
            .group_by(table.life_id, table.source)).all():
        found.setdefault(row.life_id, {})[row.source] = row
    return found


def _mark(
    connection: Connection, settled: list[tuple[Any, ...]], sums: dict[int, dict[str, Row[Any]]]
) -> None:
    """Which facts count, where that is not so already."""
    table = facts.c
    changed = [
        {"life": life, "of": source, "yes": source == chosen}
        for chosen, *_, life in settled for source, row in sums.get(life, {}).items()
        if row.counting != (row.rows if source == chosen else 0)]
    if changed:
        connection.execute(
            facts.update().where(and_(table.life_id == bindparam("life"),
                                      table.source == bindparam("of"), table.step == ""))
            .values(counts=bindparam("yes")), changed)
