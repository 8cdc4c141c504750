"""The measured ledger: nothing twice, nothing lost, whatever comes first."""

import math
from dataclasses import replace
from itertools import permutations

import pytest
from sqlalchemy import select
from tests.support.measured import rows_of

from wattline.account import schema
from wattline.account.measured.book import MeasuredLedger
from wattline.account.measured.records import Found, Life, LifeKey, Source, StepSeen
from wattline.account.measured.tables import facts, lives
from wattline.account.store import Store
from wattline.model.errors import InputError

T0 = 1_700_000_000
RUNS = Life(LifeKey("c", "7", T0), user="ann", account="phys", state="RUNNING", nodes=2,
            seen_s=T0 + 600.0, energy_j=6e4)
ENDED = replace(RUNS, state="COMPLETED", end_s=T0 + 1000.0, seen_s=math.nan, energy_j=1e5)
AGAIN = replace(ENDED, key=LifeKey("c", "7", T0 + 2000), end_s=T0 + 3000.0, energy_j=math.nan)
STEPS = (StepSeen("c", "7", "batch", T0 + 2000, T0 + 3000.0, "n1", 4e4),
         StepSeen("c", "7", "0", T0 + 2100, T0 + 2900.0, "n[1-2]", 6e4),
         StepSeen("c", "7", "batch", T0, T0 + 1000.0, "n1", 5e4))


@pytest.fixture
def ledger():
    with Store("sqlite://") as store:
        yield MeasuredLedger(store)


def life_rows(ledger):
    with ledger.store.session() as session:
        return session.execute(select(lives).order_by(lives.c.start_s)).mappings().all()


@pytest.mark.parametrize("every", [13, pytest.param(1, marks=pytest.mark.long)])
def test_whatever_order_and_however_often_the_rows_are_the_same(every):
    found = [Found("f", (RUNS,)), Found("f", (ENDED,)), Found("f", (AGAIN,)),
             Found("f", steps=STEPS[:1]), Found("f", steps=STEPS[1:])]
    seen = set()
    for order in list(permutations(found))[::every]:
        with Store("sqlite://") as store:
            book = MeasuredLedger(store)
            for each in (*order, order[0]):
                book.enter(each)
            seen.add(str(rows_of(store)))
    assert len(seen) == 1


def test_a_life_that_ended_beats_one_that_runs_and_joules_only_rise(ledger):
    ledger.enter(Found("f", (ENDED,)))
    ledger.enter(Found("f", (RUNS,)))
    (row,) = life_rows(ledger)
    assert (row["state"], row["end_s"], row["energy_j"]) == ("COMPLETED", T0 + 1000.0, 1e5)


def test_lives_of_a_requeued_job_have_their_own_steps(ledger):
    entered = ledger.enter(Found("f", (ENDED, AGAIN), STEPS))
    first, second = life_rows(ledger)
    assert (first["source"], first["energy_j"], first["coverage"]) == (Source.SLURM_JOB, 1e5, 1.0)
    # n1: batch alone has 40 kJ, more than step 0's half; n2: step 0's half.
    assert (second["source"], second["energy_j"]) == (Source.SLURM_STEPS, 7e4)
    assert second["coverage"] == pytest.approx((1000 + 800) / 2000)
    assert (entered.jobs, entered.lives, entered.energy_j) == (1, 2, 1.7e5)
    with ledger.store.session() as session:
        counted = session.execute(select(facts).where(facts.c.counts)).mappings().all()
    assert sum(row["energy_j"] for row in counted) == 1.7e5
    assert {row["node"] for row in counted} == {"", "n1", "n2"}


def test_steps_wait_for_their_job(ledger):
    assert ledger.enter(Found("f", steps=STEPS)).waiting_steps == 3
    assert ledger.enter(Found("f", (replace(ENDED, energy_j=math.nan), AGAIN))).energy_j == 1.2e5


def test_a_job_without_joules_is_counted_and_not_covered(ledger):
    entered = ledger.enter(Found("f", (replace(ENDED, energy_j=math.nan),)))
    assert (entered.without_joules, entered.covered_s, entered.node_s) == (1, 0.0, 2000.0)


def test_a_running_job_has_its_joules_so_far(ledger):
    entered = ledger.enter(Found("f", (RUNS,)))
    assert (entered.running, entered.energy_j, entered.node_s) == (1, 6e4, 1200.0)


def test_what_is_told_twice_differently_is_counted(ledger):
    assert ledger.enter(Found("f", (ENDED, replace(ENDED, energy_j=2e5)))).disagreeing == 1
    assert life_rows(ledger)[0]["energy_j"] == 2e5


def test_a_file_that_fails_leaves_nothing(ledger, monkeypatch):
    monkeypatch.setattr("wattline.account.measured.book.settle", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        ledger.enter(Found("f", (ENDED,)))
    assert ledger.is_empty()


def test_a_store_of_a_later_version_is_refused_in_one_line(ledger):
    with ledger.store.session() as session:
        session.execute(schema.version.update().values(version=99))
    with pytest.raises(InputError, match="version 99; this program knows those up to "):
        MeasuredLedger(ledger.store)
