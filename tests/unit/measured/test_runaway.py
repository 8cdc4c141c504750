"""A run that accounting never ended ends with the next one of its job."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import pytest
from sqlalchemy import select
from tests.support.measured import rows_of
from tests.unit.measured.test_stays import KEY, counter

import wattline as wl
from wattline.account.measured.book import MeasuredLedger
from wattline.account.measured.from_sacct import read_sacct
from wattline.account.measured.questions import Conditions
from wattline.account.measured.records import RUNAWAY, Found, Life, LifeKey, Stay
from wattline.account.measured.remarking import too_much, too_much_said
from wattline.account.measured.tables import lives
from wattline.account.store import Store

NEXT = LifeKey(KEY.cluster, KEY.label, KEY.start_s + 250)


def life(key: LifeKey, **more) -> Life:
    return Life(key, **{"job_id": 7, "nodes": 1, "node_list": "n1", "state": "RUNNING", **more})


def told(store: Store) -> list[tuple[str, float | None]]:
    with store.session() as session:
        return [(row.state, None if row.end_s is None else row.end_s - KEY.start_s)
                for row in session.execute(select(lives).order_by(lives.c.start_s))]


@pytest.mark.parametrize(("seen_s", "end_s"), [(16.0, 16.0), (900.0, 250.0)])
def test_a_life_ends_when_it_was_last_seen_and_when_the_next_begins_at_the_latest(seen_s, end_s):
    first = life(KEY, seen_s=KEY.start_s + seen_s)
    second = life(NEXT, state="COMPLETED", end_s=NEXT.start_s + 30.0)
    early = life(KEY, seen_s=KEY.start_s + 3.0)
    rows = []
    for order in permutations((first, second, early)):
        with Store("sqlite://") as store:
            for each in order:
                MeasuredLedger(store).enter(Found("dump", (each,)))
            assert told(store) == [(RUNAWAY, end_s), ("COMPLETED", 280.0)]
            rows.append(rows_of(store))
    assert all(each == rows[0] for each in rows)


def test_an_end_that_is_told_later_counts_and_one_job_after_another_may_run():
    with Store("sqlite://") as store:
        ledger = MeasuredLedger(store)
        entered = ledger.enter(Found("a", (life(KEY, seen_s=KEY.start_s + 16.0), life(NEXT))))
        said, = (each for each in entered.remarks if "accounting never ended" in each)
        assert "job 7" in said
        assert told(store) == [(RUNAWAY, 16.0), ("RUNNING", None)]
        ledger.enter(Found("b", (life(KEY, state="NODE_FAIL", end_s=KEY.start_s + 11.0),)))
        assert told(store)[0] == ("NODE_FAIL", 11.0)
        other = LifeKey(KEY.cluster, "8", KEY.start_s - 99)
        ledger.enter(Found("c", (life(other, seen_s=KEY.start_s + 20.0),)))
        assert told(store)[0] == ("RUNNING", None)


def test_marks_of_the_next_run_are_not_the_energy_of_the_last():
    """n1 draws 100 W; the job that was forgotten was seen for 16 s, its node marked an end at
    232 s, and the next run lasts from 250 s to 280 s."""
    marks = (Stay(KEY, "n1", begin_s=KEY.start_s + 0.4, end_s=KEY.start_s + 232.0),
             Stay(NEXT, "n1", begin_s=NEXT.start_s + 0.4, end_s=NEXT.start_s + 30.4))
    meter = counter("n1", *((at, 100.0 * at) for at in range(0, 600, 2)))
    first = life(KEY, seen_s=KEY.start_s + 16.0)
    second = life(NEXT, state="COMPLETED", end_s=NEXT.start_s + 30.0)
    for order in permutations((Found("x", (first,)), Found("y", (second,)),
                               Found("m", stays=marks), Found("s", series=(meter,)))):
        with Store("sqlite://") as store:
            for each in order:
                MeasuredLedger(store).enter(each)
            with store.session() as session:
                energy = session.scalars(select(lives.c.energy_j).order_by(lives.c.start_s)).all()
            assert energy == pytest.approx([100.0 * 15.6, 3000.0])
            assert too_much(store, Conditions()) == []


def test_a_mark_within_the_next_run_ends_with_its_begin():
    marks = (Stay(KEY, "n1", begin_s=KEY.start_s, end_s=KEY.start_s + 40.0),)
    meter = counter("n1", *((at, 100.0 * at) for at in range(0, 200, 2)))
    near = LifeKey(KEY.cluster, KEY.label, KEY.start_s + 20)
    with Store("sqlite://") as store:
        MeasuredLedger(store).enter(Found(
            "x", (life(KEY, seen_s=KEY.start_s + 16.0),
                  life(near, state="COMPLETED", end_s=near.start_s + 30.0)),
            series=(meter,), stays=marks))
        with store.session() as session:
            energy = session.scalars(select(lives.c.energy_j).order_by(lives.c.start_s)).all()
        assert energy == pytest.approx([2000.0, 3000.0])


def test_energy_above_what_nodes_can_draw_in_that_time_is_an_error_with_a_name(tmp_path):
    path = tmp_path / "site.db"
    meter = counter("n1", *((at, 300.0 * at) for at in range(0, 1000, 2)))
    with Store(path) as store:
        MeasuredLedger(store).enter(Found(
            "x", (life(KEY, seen_s=KEY.start_s + 16.0),), series=(meter,),
            stays=(Stay(KEY, "n1", begin_s=KEY.start_s + 0.4, end_s=KEY.start_s + 732.0),)))
        found, = too_much(store, Conditions())
        assert (found.label, found.most_j) == ("7", pytest.approx(300.0 * 136.0))
        assert found.energy_j == pytest.approx(300.0 * 731.6)
    for answer in (wl.account_bill(path, "2000..2100", zone="UTC"), wl.account_job(7, path),
                   wl.account_show(path)):
        said, = (each for each in answer.remarks if each.startswith("ERROR: jobs with more energy"))
        assert "job 7, 219,480 J" in said
    assert too_much_said([]) == []


def test_accounting_that_says_for_ever_that_it_runs(tmp_path):
    """As sacct tells of the run that slurmctld forgot, and of the two after it."""
    dump = ("JobID|State|Start|End|ElapsedRaw|NNodes|NodeList\n"
            "37|RUNNING|2026-11-18T10:00:00|Unknown|4000|6|n[1-6]\n"
            "37|COMPLETED|2026-11-18T10:04:00|2026-11-18T10:04:30|30|6|n[1-6]\n"
            "37|COMPLETED|2026-11-18T10:06:00|2026-11-18T10:06:30|30|6|n[1-6]\n")
    found = read_sacct(dump.encode(), "dump", zone="UTC", cluster="c")
    with Store("sqlite://") as store:
        entered = MeasuredLedger(store).enter(found)
        with store.session() as session:
            spans = [(row.state, row.end_s - row.start_s) for row in session.execute(
                select(lives).order_by(lives.c.start_s))]
    assert spans == [(RUNAWAY, 240.0), ("COMPLETED", 30.0), ("COMPLETED", 30.0)]
    assert (entered.running, entered.node_s) == (0, 6 * 300.0)
    assert replace(found.lives[0]).state == "RUNNING", "what was told stays what was told"
