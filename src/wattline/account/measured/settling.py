"""What follows from what was told: the facts of lives, and which of their sources counts.

Computed anew for every life of a job that was touched, because a life that is told late may take
steps from another.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from sqlalchemy import Connection, delete, select

from wattline.account.measured.bulk import insert_rows
from wattline.account.measured.counting import count_sources
from wattline.account.measured.records import Life, Source, StepSeen
from wattline.account.measured.rows import life_of, step_of
from wattline.account.measured.rules import HIGHEST_W
from wattline.account.measured.slurm_facts import (
    Fact,
    slurm_facts,
    steps_by_life,
)
from wattline.account.measured.tables import facts, lives, steps

CHUNK = 400
"""Names in one question: SQLite takes no more than 999 values in some builds."""
FACT = ("step", "node", "source", "start_s", "end_s", "energy_j", "covered_s", "filled_j", "idle_j")
Job = tuple[str, str]
"""Cluster and label."""


def settle(
    connection: Connection, jobs: Collection[Job], highest_w: float = HIGHEST_W
) -> frozenset[int]:
    """Compute the Slurm facts of these jobs anew, and what counts; returns their lives."""
    settled: set[int] = set()
    for cluster, labels in chunks(jobs):
        rows = connection.execute(select(lives).where(
            lives.c.cluster == cluster, lives.c.label.in_(labels))).mappings().all()
        seen = connection.execute(select(steps).where(
            steps.c.cluster == cluster, steps.c.label.in_(labels))).mappings().all()
        told = {int(row["id"]): life_of(row) for row in rows}
        connection.execute(delete(facts).where(
            facts.c.life_id.in_(told), facts.c.source != str(Source.SERIES)))
        entered = [(life_id, False, *(fact[name] for name in FACT))
                   for life_id, fact in _facts(told, [step_of(row) for row in seen], highest_w)]
        insert_rows(connection, facts, ("life_id", "counts", *FACT), entered)
        count_sources(connection, list(told))
        settled.update(told)
    return frozenset(settled)


def _facts(
    told: Mapping[int, Life], seen: Sequence[StepSeen], highest_w: float
) -> Iterator[tuple[int, Fact]]:
    own: dict[str, list[StepSeen]] = {}
    for step in seen:
        own.setdefault(step.label, []).append(step)
    ordered = sorted(told.items(), key=lambda item: (item[1].key.label, item[1].key.start_s))
    for label, group in groupby(ordered, key=lambda item: item[1].key.label):
        of_job = dict(group)
        belonging = steps_by_life(of_job.values(), own.get(label, []))
        for life_id, life in of_job.items():
            for fact in slurm_facts(life, belonging.get(life.key.start_s, []), highest_w):
                yield life_id, fact


def chunks(jobs: Iterable[Job]) -> Iterator[tuple[str, list[str]]]:
    """Jobs by cluster, so many at a time, in a fixed order."""
    for cluster, group in groupby(sorted(jobs), key=lambda job: job[0]):
        labels = [label for _, label in group]
        for at in range(0, len(labels), CHUNK):
            yield cluster, labels[at : at + CHUNK]
