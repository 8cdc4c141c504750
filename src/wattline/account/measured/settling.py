"""What follows from what was told: the facts of lives, and which of their sources counts.

Computed anew for every life of a job that was touched, because a life that is told late may take
steps from another.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from sqlalchemy import Connection, bindparam, delete, func, select, update

from wattline.account.measured.records import Life, Source, StepSeen
from wattline.account.measured.rows import life_of, step_of
from wattline.account.measured.slurm_facts import (
    Fact,
    node_seconds,
    slurm_facts,
    steps_by_life,
)
from wattline.account.measured.tables import facts, lives, steps

CHUNK = 400
"""Names in one question: SQLite takes no more than 999 values in some builds."""
ENOUGH = 0.5
"""From this share of a life's node-seconds on, meters are believed before Slurm."""
QUALITY: Mapping[str, str] = {
    Source.SERIES: "measured at the nodes", Source.SLURM_JOB: "told by Slurm for the job",
    Source.SLURM_STEPS: "told by Slurm for steps", "": "unknown",
}
Job = tuple[str, str]
"""Cluster and label."""


def settle(connection: Connection, jobs: Collection[Job]) -> None:
    """Compute the Slurm facts of these jobs anew, and decide what counts."""
    for cluster, labels in chunks(jobs):
        rows = connection.execute(select(lives).where(
            lives.c.cluster == cluster, lives.c.label.in_(labels))).mappings().all()
        seen = connection.execute(select(steps).where(
            steps.c.cluster == cluster, steps.c.label.in_(labels))).mappings().all()
        ids = [int(row["id"]) for row in rows]
        connection.execute(delete(facts).where(
            facts.c.life_id.in_(ids),
            facts.c.source.in_([str(Source.SLURM_JOB), str(Source.SLURM_STEPS)])))
        entered = [{"life_id": life_id, "counts": False, **fact}
                   for life_id, fact in _facts(rows, [step_of(row) for row in seen])]
        if entered:
            connection.execute(facts.insert(), entered)
        choose(connection, {int(row["id"]): life_of(row) for row in rows})


def choose(connection: Connection, chosen: Mapping[int, Life]) -> None:
    """Decide for each of these lives which source counts, and keep what follows from it."""
    ids = list(chosen)
    for at in range(0, len(ids), CHUNK):
        part = ids[at : at + CHUNK]
        sums: dict[int, dict[str, tuple[float, float]]] = {life_id: {} for life_id in part}
        # A row of a single step is only to be looked at.
        query = select(facts.c.life_id, facts.c.source, func.sum(facts.c.energy_j),
                       func.sum(facts.c.covered_s)).where(
            facts.c.life_id.in_(part), facts.c.step == "").group_by(
            facts.c.life_id, facts.c.source)
        for life_id, source, energy_j, covered_s in connection.execute(query):
            sums[int(life_id)][str(source)] = float(energy_j), float(covered_s)
        settled = [_settled(life_id, chosen[life_id], sums[life_id]) for life_id in part]
        connection.execute(
            update(lives).where(lives.c.id == bindparam("key")).values(
                energy_j=bindparam("joules"), coverage=bindparam("covered"),
                source=bindparam("believed"), quality=bindparam("how")), settled)
        _mark(connection, settled)


def _settled(
    life_id: int, life: Life, sums: Mapping[str, tuple[float, float]]
) -> dict[str, Any]:
    whole_s = node_seconds(life)
    covered = {source: min(1.0, covered_s / whole_s) if whole_s else 1.0
               for source, (_, covered_s) in sums.items()}
    believed = next((source for source in _order(covered) if source in sums), "")
    return {"key": life_id, "joules": sums[believed][0] if believed else None,
            "covered": covered.get(believed, 0.0), "believed": believed,
            "how": QUALITY[believed]}


def _order(covered: Mapping[str, float]) -> list[str]:
    """The sources, those believed first coming first."""
    told = [str(Source.SLURM_JOB), str(Source.SLURM_STEPS)]
    metered = [str(Source.SERIES)]
    return metered + told if covered.get(Source.SERIES, 0.0) >= ENOUGH else told + metered


def _mark(connection: Connection, settled: Iterable[Mapping[str, Any]]) -> None:
    """Mark the rows that count."""
    by_source: dict[str, list[int]] = {}
    everyone = []
    for each in settled:
        by_source.setdefault(each["believed"], []).append(each["key"])
        everyone.append(each["key"])
    connection.execute(update(facts).where(
        facts.c.life_id.in_(everyone), facts.c.counts.is_(True)).values(counts=False))
    for source, ids in by_source.items():
        if source:
            connection.execute(update(facts).where(
                facts.c.life_id.in_(ids), facts.c.source == source,
                facts.c.step == "").values(counts=True))


def _facts(
    rows: Sequence[Mapping[Any, Any]], seen: Sequence[StepSeen]
) -> Iterator[tuple[int, Fact]]:
    own: dict[str, list[StepSeen]] = {}
    for step in seen:
        own.setdefault(step.label, []).append(step)
    by_label = sorted(rows, key=lambda row: (row["label"], row["start_s"]))
    for label, group in groupby(by_label, key=lambda row: str(row["label"])):
        told = {int(row["id"]): life_of(row) for row in group}
        belonging = steps_by_life(told.values(), own.get(label, []))
        for life_id, life in told.items():
            for fact in slurm_facts(life, belonging.get(life.key.start_s, [])):
                yield life_id, fact


def chunks(jobs: Iterable[Job]) -> Iterator[tuple[str, list[str]]]:
    """Jobs by cluster, so many at a time, in a fixed order."""
    for cluster, group in groupby(sorted(jobs), key=lambda job: job[0]):
        labels = [label for _, label in group]
        for at in range(0, len(labels), CHUNK):
            yield cluster, labels[at : at + CHUNK]
