"""Stores that earlier versions wrote, as text: each becomes one of today and loses nothing."""

import sqlite3
from pathlib import Path

import pytest
from tests.support.commands import ok
from tests.support.measured import rows_of

import wattline as wl
from wattline.account import schema
from wattline.account.claim_table import ClaimTable
from wattline.account.ledger import Ledger
from wattline.account.measured.book import MeasuredLedger
from wattline.account.store import Store

OLD = Path(__file__).parent / "old_stores"
# Two jobs on metered nodes, of which one is half metered, and a requeued one that Slurm tells of.
JOBS = """\
JobID|Cluster|User|Account|Partition|State|Start|End|ElapsedRaw|NNodes|AllocCPUS|NodeList|AllocTRES|\
ConsumedEnergyRaw
1|c|ann|phys|p|COMPLETED|2026-10-05T10:00:00|2026-10-05T11:00:00|3600|2|16|n[1-2]|cpu=16,energy=5760000|0
2|c|bob|bio|p|REQUEUED|2026-10-05T10:00:00|2026-10-05T10:30:00|1800|1|8|n3||0
2.batch|c||bio||CANCELLED|2026-10-05T10:00:00|2026-10-05T10:30:00|1800|1|8|n3||540000
2|c|bob|bio|p|COMPLETED|2026-10-05T10:50:00|2026-10-05T11:50:00|3600|1|8|n3||0
2.batch|c||bio||COMPLETED|2026-10-05T10:50:00|2026-10-05T11:50:00|3600|1|8|n3||1080000
3|c|ann|phys|p|COMPLETED|2026-10-05T12:00:00|2026-10-05T13:00:00|3600|1|8|n1||0
"""
POWER = "time,node,watts\n" + "".join(f"{1791194400 + 60 * at},n1,800\n" for at in range(240))


@pytest.fixture(params=[1, 2, 3])
def old(request, tmp_path):
    """The version of a store, and where it lies."""
    path = tmp_path / "old.db"
    with sqlite3.connect(path) as connection:
        connection.executescript((OLD / f"version_{request.param}.sql").read_text())
    connection.close()
    return request.param, path


def test_a_store_of_each_version_says_so_and_becomes_one_of_today(old):
    number, path = old
    with Store(path) as store:
        assert schema.migrate(store) == number
        assert schema.migrate(store) == schema.LATEST
        Ledger(store)
        MeasuredLedger(store)


def test_runs_and_claims_stay(old):
    _, path = old
    with Store(path) as store:
        ledger = Ledger(store)
        jobs = ledger.jobs_of(ledger.run_of("run")["id"])
        assert [(job["user"], job["energy_j"]) for job in jobs] == [("1", 6e4), ("2", 6e4)]
        assert {job["asked_frequency"] for job in jobs} == {""}
        assert {claim.application for claim in ClaimTable(store).load()} == {"CG.A"}


def test_what_was_measured_has_the_joules_that_it_would_have_today(old, tmp_path, capsys):
    number, path = old
    for name, text in (("jobs", JOBS), ("power", POWER)):
        (tmp_path / name).write_text(text)
    words = ("--zone", "UTC", "--cluster", "c", *(("--idle-w", "120") if number == 3 else ()))
    ok(capsys, "account", "import", tmp_path / "jobs", tmp_path / "power", "--store",
       tmp_path / "new.db", *words)
    if number > 1:
        found = wl.account_show(path, by="account", zone="UTC")
        assert {row["key"]: row["energy_j"] for row in found.rows} == {
            "phys": 5.76e6 + 2.88e6, "bio": 1.62e6}
    # What steps ended as was not kept before: the same file again tells it.
    ok(capsys, "account", "import", tmp_path / "jobs", tmp_path / "power", "--store", path, *words)
    with Store(path) as store, Store(tmp_path / "new.db") as new:
        assert rows_of(store) == rows_of(new)


def test_a_bill_finds_the_lives_that_slurm_tells_of_by_an_index(old):
    _, path = old
    with Store(path) as store:
        schema.migrate(store)
        with store.engine.connect() as connection:
            plan = connection.exec_driver_sql(
                "EXPLAIN QUERY PLAN SELECT count(*) FROM measured_life "
                "WHERE source = 'series' AND told_j > 0").fetchall()
    assert "ix_measured_life_told" in str(plan)
