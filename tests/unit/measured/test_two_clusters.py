"""Clusters whose nodes have one name, and jobs of which nobody knows the end yet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from sqlalchemy import Connection, select

from wattline.account.measured.attributing import settle
from wattline.account.measured.records import Kind, Series
from wattline.account.measured.series_store import DAY_S, enter_series
from wattline.account.measured.tables import facts, lives, rests
from wattline.account.measured.touched import Touched
from wattline.account.store import Store

T0 = 20_000 * DAY_S


@pytest.fixture
def ledger() -> Iterator[Connection]:
    with Store("sqlite://") as store, store.engine.begin() as connection:
        yield connection


def life(
    connection: Connection, cluster: str, label: str, end_s: float | None = 3600.0,
    seen_s: float | None = None,
) -> Touched:
    """A job alone on n1 from the beginning to so many seconds later."""
    words = ("source", "quality", "alloc_tres", "asked_frequency", "user", "account", "partition",
             "application", "node_class", "state")
    row = dict.fromkeys(words, "") | {
        "cluster": cluster, "label": label, "start_s": T0, "nodes": 1, "cores": 8,
        "end_s": None if end_s is None else T0 + end_s,
        "seen_s": None if seen_s is None else T0 + seen_s, "node_list": "n1"}
    key = connection.execute(lives.insert(), row).inserted_primary_key
    assert key is not None
    return Touched(lives=frozenset(key))


def metered(
    connection: Connection, cluster: str, watts: float, until_s: float = 3600.0
) -> Touched:
    """A reading of n1 each minute."""
    times = T0 + np.arange(0.0, until_s, 60.0)
    given = Series(cluster, "n1", Kind.WATTS, times, np.full(times.size, watts))
    return enter_series(connection, [given]).touched


def energies(connection: Connection) -> dict[tuple[str, str], float]:
    """By cluster and job, from the facts."""
    found: dict[tuple[str, str], float] = {}
    for cluster, label, energy_j in connection.execute(
            select(lives.c.cluster, lives.c.label, facts.c.energy_j)
            .join(facts, facts.c.life_id == lives.c.id)):
        found[cluster, label] = found.get((cluster, label), 0.0) + energy_j
    return found


@pytest.mark.parametrize("order", [("d", "c"), ("c", "d"), ("d", "c", "d")])
def test_a_cluster_that_is_settled_leaves_the_joules_of_another_with_the_same_nodes(
    ledger: Connection, order: Sequence[str]
) -> None:
    """An hour on a node called n1 in each: 100 W x 3,600 s and 200 W x 3,600 s."""
    power_w = {"c": 100.0, "d": 200.0}
    touched = {name: metered(ledger, name, watts) | life(ledger, name, "1")
               for name, watts in power_w.items()}
    for name in order:
        settle(ledger, touched[name])
    assert energies(ledger) == {("c", "1"): 360_000.0, ("d", "1"): 720_000.0}
    told = ledger.execute(select(lives.c.cluster, lives.c.energy_j, lives.c.coverage))
    assert {row.cluster: (row.energy_j, row.coverage) for row in told} == {
        "c": (360_000.0, 1.0), "d": (720_000.0, 1.0)}


def test_the_rest_of_a_node_is_that_of_its_own_cluster(ledger: Connection) -> None:
    """In d the job holds the node for half an hour of the hour: 200 W x 1,800 s are nobody's."""
    c = metered(ledger, "c", 100.0) | life(ledger, "c", "1")
    d = metered(ledger, "d", 200.0) | life(ledger, "d", "1", 1800.0)
    settle(ledger, d)
    settle(ledger, c)
    rest = dict.fromkeys("cd", 0.0)
    for cluster, idle_j, unattributed_j in ledger.execute(
            select(rests.c.cluster, rests.c.idle_j, rests.c.unattributed_j)):
        rest[cluster] += idle_j + unattributed_j
    assert rest == {"c": 0.0, "d": 360_000.0}


def test_a_job_that_runs_is_settled_up_to_where_it_was_last_seen(ledger: Connection) -> None:
    """Its node is metered for two days before the job is told; it was last seen an hour into the
    second day: 300 W x (86,400 + 3,600) s, and not those of its first day alone."""
    settle(ledger, metered(ledger, "c", 300.0, 2.0 * DAY_S))
    settle(ledger, life(ledger, "c", "1", None, seen_s=DAY_S + 3600.0))
    assert energies(ledger) == {("c", "1"): 300.0 * 90_000}


def test_a_job_that_ended_is_settled_to_its_end_and_not_to_where_it_was_seen(
    ledger: Connection
) -> None:
    settle(ledger, metered(ledger, "c", 300.0, 2.0 * DAY_S))
    settle(ledger, life(ledger, "c", "1", DAY_S + 7200.0, seen_s=3600.0))
    assert energies(ledger) == {("c", "1"): 300.0 * 93_600}
