"""A run that is entered nowhere is answered for as by a ledger that it was entered into."""

from dataclasses import replace

import numpy as np
import pytest
from tests.support.run_maker import fcfs_run, some_jobs

from wattline.account import store
from wattline.account.from_run import entries_of, records_of
from wattline.account.ledger import GROUPS, Chosen, Ledger
from wattline.account.run_ledger import RUN_ID, RunLedger
from wattline.account.store import Store
from wattline.advice.account import account_run
from wattline.model.run import EventKind


def eventful(seed):
    """A run whose jobs are paused, resumed, slowed and requeued as if at random."""
    run = fcfs_run(some_jobs(40), placed=True)
    rng = np.random.default_rng(seed)
    log, size = run.events, len(run.events)
    kinds = np.array([EventKind.START, EventKind.RESUME, EventKind.PAUSE, EventKind.END,
                      EventKind.REQUEUE, EventKind.RATE])
    kind = np.where(rng.random(size) < 0.5, log.kind, rng.choice(kinds, size))
    job = np.where((kind == EventKind.RATE) & (rng.random(size) < 0.5), -1, log.job)
    return replace(run, events=replace(log, kind=kind, job=job))


@pytest.mark.parametrize("seed", range(5))
def test_all_answers_are_those_of_a_store(seed):
    run = eventful(seed) if seed else fcfs_run(some_jobs(40), placed=True)
    here = RunLedger(entries_of(run), {"left_out": {}, "assumed": []})
    with Store("sqlite://") as opened:
        there = Ledger(opened)
        there.add("run", records_of(run))
        assert here.submissions(RUN_ID) == there.submissions(RUN_ID)
        assert here.steps_of(RUN_ID) == there.steps_of(RUN_ID)
        assert list(here.steps_of(RUN_ID)) == list(there.steps_of(RUN_ID))
        for one, other in zip(here.power_rows(RUN_ID), there.power_rows(RUN_ID), strict=True):
            np.testing.assert_array_equal(one, other)
        for chosen in (Chosen(), Chosen(job_ids=[1, 3, 99]), Chosen(users=["ada", "nobody"]),
                       Chosen(start_s=5000.0, end_s=9000.0), Chosen(accounts=["nobody"])):
            mine, its = here.jobs_of(RUN_ID, chosen), there.jobs_of(RUN_ID, chosen)
            assert [list(job.items()) for job in mine] == [list(job.items()) for job in its]
            for by in GROUPS:
                mine_in_all = here.totals(RUN_ID, by, chosen)
                its_in_all = there.totals(RUN_ID, by, chosen)
                assert [(t.name, t.jobs) for t in mine_in_all] == [
                    (t.name, t.jobs) for t in its_in_all]
                assert [(t.node_s, t.energy_j) for t in mine_in_all] == [
                    pytest.approx((t.node_s, t.energy_j), rel=1e-12) for t in its_in_all]
        for column, asked in (("user", ["ada", "nobody"]), ("job_id", [1, 99]), ("user", [])):
            assert here.unknown(RUN_ID, column, asked) == there.unknown(RUN_ID, column, asked)


def test_a_run_is_put_into_no_store_where_none_is_asked_for(monkeypatch):
    def opened(*args):
        raise AssertionError("a store was opened")

    monkeypatch.setattr(store, "create_engine", opened)
    found = account_run(fcfs_run(some_jobs(5)), by="user", price="0.12")
    assert sum(total["jobs"] for total in found.totals) == 5
