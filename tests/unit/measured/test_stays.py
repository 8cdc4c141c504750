"""Stays marked on nodes to the moment: the joules of short jobs, whole seconds or not."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from sqlalchemy import select
from tests.support.measured import rows_of

import wattline as wl
from wattline.account.measured.book import MeasuredLedger
from wattline.account.measured.forgetting import Unwanted, forget_jobs
from wattline.account.measured.records import Found, Kind, Life, LifeKey, Series, Stay
from wattline.account.measured.tables import lives, stays
from wattline.account.store import Store

T = 1_791_194_400
KEY = LifeKey("c", "7", T + 10)


def life(key: LifeKey = KEY, end_s: float = T + 12, nodes: str = "n1", **more) -> Life:
    return Life(key, job_id=int(key.label), state="COMPLETED", nodes=nodes.count("n"), cores=8,
                node_list=nodes, end_s=end_s, **more)


def counter(node: str, *samples: tuple[float, float]) -> Series:
    return Series("c", node, Kind.JOULES, np.array([T + at for at, _ in samples]),
                  np.array([joules for _, joules in samples]), "agent")


# Idle at 100 W; 300 W from 10.5 to 12.5: 600 J, which the job held from 10.4 to 12.7.
DRAWN = counter("n1", (0, 0), (10, 1000), (10.4, 1040), (11, 1200), (12, 1500), (12.7, 1670),
                (13, 1700), (20, 2400))
MARKED = Stay(KEY, "n1", T + 10.4, T + 12.7)


@pytest.fixture
def store():
    with Store("sqlite://") as made:
        yield made


def row(store: Store, label: str = "7"):
    with store.session() as session:
        return session.execute(select(lives).where(lives.c.label == label)).one()


def test_a_job_has_what_its_node_drew_between_its_marks(store) -> None:
    ledger = MeasuredLedger(store)
    ledger.enter(Found("", (life(),), series=(DRAWN,)))
    assert row(store).energy_j == 500.0  # by whole seconds
    ledger.enter(Found("", stays=(MARKED,)))
    found = row(store)
    assert found.energy_j == pytest.approx(630.0)
    assert (found.coverage, found.source) == (pytest.approx(1.0), "series")


@pytest.mark.parametrize("every", [7, pytest.param(1, marks=pytest.mark.long)])
def test_order_pieces_and_repetition_leave_the_same(every) -> None:
    parts = [Found("", (life(),)), Found("", series=(DRAWN,)),
             Found("", stays=(Stay(KEY, "n1", begin_s=T + 10.4),)),
             Found("", stays=(Stay(KEY, "n1", end_s=T + 12.7),))]
    seen = []
    for order in [*permutations(parts)][::every]:
        with Store("sqlite://") as each:
            ledger = MeasuredLedger(each)
            for part in (*order, order[0], order[-1]):
                ledger.enter(part)
            seen.append(rows_of(each))
    assert all(found == seen[0] for found in seen)
    assert seen[0][0][0][-6] == pytest.approx(630.0)


def test_what_jobs_idle_and_meter_have_stays_one_sum(store) -> None:
    """Two jobs on one node in one second of Slurm's: the first has 0 s by its times."""
    second = LifeKey("c", "8", T + 12)
    ledger = MeasuredLedger(store)
    ledger.enter(Found("", (life(end_s=T + 10), life(second, T + 15)), series=(DRAWN,), stays=(
        Stay(KEY, "n1", T + 10.4, T + 11.0), Stay(second, "n1", T + 12.7, T + 16.0))))
    assert row(store).energy_j == pytest.approx(160.0)
    assert row(store).coverage == 1.0
    assert row(store, "8").energy_j == pytest.approx(30.0 + 300.0)
    found = MeasuredLedger(store).enter(Found("", series=(DRAWN,)))
    assert found.metered_j == pytest.approx(2400.0)
    assert found.energy_j + found.idle_j == pytest.approx(2400.0)


def test_jobs_that_share_a_node_share_it_while_both_hold_it(store) -> None:
    other = LifeKey("c", "8", T + 10)
    ledger = MeasuredLedger(store)
    ledger.enter(Found("", (life(), life(other)), series=(DRAWN,), stays=(
        MARKED, Stay(other, "n1", T + 11.0, T + 12.0))))
    assert row(store, "8").energy_j == pytest.approx(150.0)
    assert row(store).energy_j == pytest.approx(630.0 - 150.0)


def test_where_one_side_is_not_marked_slurms_own_time_counts(store) -> None:
    ledger = MeasuredLedger(store)
    ledger.enter(Found("", (life(),), series=(DRAWN,), stays=(
        Stay(KEY, "n1", end_s=T + 12.7),)))
    assert row(store).energy_j == pytest.approx(670.0)
    assert row(store).coverage == pytest.approx(1.0)


def test_a_node_that_was_given_back_is_the_jobs_until_then_and_a_mark_says_it_better(store) -> None:
    ledger = MeasuredLedger(store)
    drawn = [counter(node, *((at, 100.0 * at) for at in range(21))) for node in ("n1", "n2")]
    ledger.enter(Found("", (life(end_s=T + 18, nodes="n1,n2"),), series=tuple(drawn)))
    whole_j = row(store).energy_j
    ledger.enter(Found("", stays=(Stay(KEY, "n2", told_s=T + 12),)))
    assert row(store).energy_j == pytest.approx(whole_j - 600.0)
    assert (row(store).coverage, row(store).source) == (pytest.approx(1.0), "series")
    ledger.enter(Found("", stays=(Stay(KEY, "n2", end_s=T + 12.5),)))
    assert row(store).energy_j == pytest.approx(whole_j - 550.0), "Slurm's seconds are whole"


def test_slurms_joules_of_a_job_that_gave_nodes_back_are_not_of_all_of_it(store) -> None:
    """They count where meters saw less, and say what they leave out."""
    ledger = MeasuredLedger(store)
    half = counter("n2", *((at, 100.0 * at) for at in range(10, 15)))
    ledger.enter(Found("", (life(end_s=T + 18, nodes="n1,n2,n3,n4", energy_j=900.0),),
                       series=(half,), stays=(Stay(KEY, "n4", told_s=T + 12),)))
    assert (row(store).source, row(store).coverage) == ("slurm", 0.75)
    assert row(store).quality.startswith("told by Slurm for the job")
    assert row(store).quality.endswith("without the nodes that it gave back")


def test_forgetting_a_job_forgets_its_stays(store) -> None:
    ledger = MeasuredLedger(store)
    ledger.enter(Found("", (life(), life(LifeKey("c", "8", T + 14), T + 16)), series=(DRAWN,),
                       stays=(MARKED, Stay(LifeKey("c", "8", T + 14), "n1", T + 14.5))))
    with store.session() as session:
        forget_jobs(session.connection(), Unwanted(jobs=("7",)))
        assert session.scalars(select(stays.c.label)).all() == ["8"]


def test_an_older_store_gets_the_table(tmp_path) -> None:
    path = tmp_path / "old.db"
    with Store(path) as old:
        MeasuredLedger(old).enter(Found("", (life(),), series=(DRAWN,)))
        with old.session() as session:
            session.connection().exec_driver_sql("DROP TABLE measured_stay")
            session.connection().exec_driver_sql("UPDATE schema_version SET version = 4")
    with Store(path, create=False) as store:
        MeasuredLedger(store).enter(Found("", stays=(MARKED,)))
        assert row(store).energy_j == pytest.approx(630.0)
    assert wl.account_job("7", path).energy_j == pytest.approx(630.0)


@pytest.mark.parametrize("version", [5, 6])
def test_an_older_store_learns_when_nodes_were_given_back(tmp_path, version) -> None:
    path = tmp_path / "old.db"
    with Store(path) as old:
        MeasuredLedger(old).enter(Found("", (life(),), series=(DRAWN,), stays=(MARKED,)))
        with old.session() as session:
            session.connection().exec_driver_sql("ALTER TABLE measured_stay DROP COLUMN told_s")
            session.connection().exec_driver_sql(f"UPDATE schema_version SET version = {version}")
    with Store(path, create=False) as store:
        MeasuredLedger(store).enter(Found("", (life(nodes="n1,n2"),), stays=(
            Stay(KEY, "n2", told_s=T + 11),)))
        assert row(store).energy_j == pytest.approx(630.0)
        with store.session() as session:
            assert set(session.scalars(select(stays.c.told_s))) == {None, T + 11.0}


@pytest.mark.parametrize(("missing", "stay", "coverage"), [
    (range(12, 19), Stay(KEY, "n1", T + 10, T + 15), 1 / 5),  # it ended in a gap
    (range(8, 12), Stay(KEY, "n1", T + 9, T + 15), 3 / 6),
    (range(8, 14), Stay(KEY, "n1", T + 10, T + 12), 0.0),
    (range(12, 14), Stay(KEY, "n1", T + 10, T + 15), 1.0),  # the gap lies within: all is its own
    (range(0), Stay(KEY, "n1", T + 10.5, T + 12.5), 1.0)])
def test_joules_of_a_gap_in_which_a_job_began_or_ended_are_not_covered(
    store, missing, stay, coverage
) -> None:
    """The counter shows them afterwards, and not who drew them."""
    series = counter("n1", *((at, 100.0 * at) for at in range(40) if at not in missing))
    MeasuredLedger(store).enter(Found("", (life(end_s=T + 12),), series=(series,), stays=(stay,)))
    assert row(store).coverage == pytest.approx(coverage, abs=1e-6)
