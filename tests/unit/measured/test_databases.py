"""The measured ledger on real servers: the same rows, and writers that wait for each other."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import func, select
from tests.support import mariadb, postgresql
from tests.support.commands import status_of
from tests.support.measured import rows_of
from tests.unit.account.test_mariadb import said_by
from tests.unit.measured.test_from_sacct import DUMP, HEAD, line

import wattline as wl
from wattline.account import schema
from wattline.account.measured.book import MeasuredLedger
from wattline.account.measured.from_sacct import read_sacct
from wattline.account.measured.tables import lives
from wattline.account.store import Store
from wattline.model.errors import WattlineError

pytestmark = pytest.mark.servers

NASTY = [line("8", User="Ann", energy=5), line("9", User="żółw", JobName="'\";--", energy=1 / 3),
         line(str(2**63 - 1), energy=2)]


@pytest.fixture(scope="module")
def maria():
    with mariadb.server() as found:
        yield found


@pytest.fixture(scope="module")
def postgres():
    with postgresql.server() as found:
        yield found


@pytest.fixture(params=["sqlite", "maria", "postgres"])
def url(request, tmp_path):
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/s.db"
        return
    found = request.getfixturevalue(request.param)
    yield found
    with Store(found) as opened:
        opened.metadata.drop_all(opened.engine)


def found_in(*lines):
    return read_sacct("\n".join([HEAD, *lines, ""]).encode(), "dump", zone="UTC")


def test_every_database_has_the_same_rows_to_the_last_bit(url):
    with Store(url) as store, Store("sqlite://") as memory:
        for each in (store, memory):
            ledger = MeasuredLedger(each)
            ledger.enter(found_in(*DUMP[5:], *NASTY))
            ledger.enter(found_in(*DUMP))
        assert rows_of(store) == rows_of(memory)


def test_runs_are_kept_alike_too(url):
    with Store(url) as store, Store("sqlite://") as memory:
        assert said_by(store) == said_by(memory)


def test_the_commands_take_the_url(url, tmp_path, capsys):
    dump = tmp_path / "dump.txt"
    dump.write_text("\n".join([HEAD, *DUMP, ""]))
    words = ("--store", url, "--zone", "UTC")
    assert status_of("account", "import", dump, *words) == 0
    for by in ("user", "node", "class"):
        assert status_of("account", "show", "--by", by, "-j", "100,400.0", "-S",
                         "2026-10-05T10:30", *words) == 0
    assert status_of("account", "bill", "--period", "2026-10", "--price", "0.1", *words) == 0
    assert status_of("account", "job", "400", "--store", url) == 0
    assert "quality told by Slurm for steps" in capsys.readouterr().out


WRITER = """
import sys
from tests.unit.measured.test_databases import many
from wattline.account.measured.book import MeasuredLedger
from wattline.account.store import Store
with Store(sys.argv[1]) as store:
    ledger = MeasuredLedger(store)
    print("ready", flush=True)
    sys.stdin.readline()
    for part in range(5):
        ledger.enter(many(int(sys.argv[2]), 100 + part))
"""


def many(first, count):
    """So many jobs; those of two writers overlap."""
    return found_in(*(line(str(first + number), energy=first + number + 1)
                      for number in range(count)))


def writer(url, first):
    return subprocess.Popen([sys.executable, "-c", WRITER, url, str(first)], text=True,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def test_two_writers_at_once_both_succeed(url):
    both = [writer(url, first) for first in (1000, 1050)]  # the tables are made at once too
    for each in both:
        assert each.stdout.readline() == "ready\n"
    for each in both:
        each.stdin.write("go\n")
        each.stdin.flush()
    for each in both:
        each.communicate(timeout=120)
        assert each.returncode == 0
    with Store(url) as store, store.session() as session:
        count, joules = session.execute(select(func.count(), func.sum(lives.c.energy_j))).one()
    assert (count, joules) == (154, sum(range(1001, 1155)))


def test_tables_made_by_many_at_once_are_there_for_all(url):
    def opened(_: int) -> int | None:
        with Store(url) as store:
            MeasuredLedger(store)
            with store.session() as session:
                return session.scalar(select(schema.version.c.version))

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(opened, range(6))) == [schema.LATEST] * 6


def test_a_writer_that_is_killed_leaves_nothing_half(url):
    with Store(url) as store:
        MeasuredLedger(store).enter(many(1, 50))
        before = rows_of(store)
    for pause_s in (0.0, 0.02, 0.05, 0.1):
        killed = writer(url, 5000)
        assert killed.stdout.readline() == "ready\n"
        killed.stdin.write("go\n")
        killed.stdin.flush()
        time.sleep(pause_s)
        os.kill(killed.pid, signal.SIGKILL)
        killed.communicate()
    with Store(url) as store:
        ledger = MeasuredLedger(store)
        with store.session() as session:
            kept = session.scalar(select(func.count()).select_from(lives))
        # Whole files or none of them: 50 jobs, and those of 100 to 104 more.
        assert kept in (50, *range(150, 155))
        for part in range(5):
            ledger.enter(many(5000, 100 + part))
        ledger.enter(many(1, 50))
        after = rows_of(store)
    assert [row for row in after[0] if row in before[0]] == before[0]
    assert len(after[0]) == 154


def test_a_store_that_stays_busy_is_told_of_in_one_line(tmp_path):
    with Store(tmp_path / "s.db") as store:
        MeasuredLedger(store)
        with Store(f"sqlite:///{tmp_path}/s.db?timeout=0.05", create=False) as late:
            ledger = MeasuredLedger(late)
            with store.session() as session:
                session.execute(lives.delete())
                with pytest.raises(WattlineError, match="another program writes to it") as told:
                    ledger.enter(many(1, 1))
        assert "\n" not in str(told.value)
        assert MeasuredLedger(store).is_empty()


def test_a_store_that_cannot_be_written_is_told_of_in_one_line(tmp_path, capsys):
    dump = tmp_path / "dump.txt"
    dump.write_text("\n".join([HEAD, *DUMP, ""]))
    with Store(tmp_path / "s.db") as store:
        MeasuredLedger(store).enter(many(1, 1))
        before = rows_of(store)
    read_only = f"sqlite:///file:{tmp_path}/s.db?mode=ro&uri=true"
    assert status_of("account", "import", dump, "--store", read_only) in (1, 2)
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "readonly" in err
    assert status_of("account", "show", "--store", f"sqlite:///{tmp_path}/s.db", "--by",
                     "user") == 0
    with Store(tmp_path / "s.db") as store:
        assert rows_of(store) == before


def test_a_full_disk_costs_one_line_and_changes_nothing(tmp_path):
    with Store(tmp_path / "s.db") as store:
        ledger = MeasuredLedger(store)
        ledger.enter(many(1, 10))
        before = rows_of(store)
        pages = store.engine.connect().exec_driver_sql("PRAGMA page_count").scalar()
        # SQLite says the same of a file that may not grow as of a disk that is full.
        with store.engine.connect() as connection:
            connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(WattlineError, match="disk is full") as told:
            ledger.enter(many(1000, 5000))
        assert "\n" not in str(told.value)
        assert rows_of(store) == before


@pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
def test_every_database_answers_and_forgets_alike(url, tmp_path):
    with Store(url) as store:
        with store.engine.begin() as connection:  # as a store of version 3 has it
            MeasuredLedger(store)
            connection.exec_driver_sql("ALTER TABLE measured_step DROP COLUMN state")
            connection.execute(schema.version.update().values(version=3))
        MeasuredLedger(store).enter(found_in(*DUMP))
    step = wl.account_show(url, jobs=["400.0"], by="account")
    assert (step.jobs, step.total_j) == (1, 0.8e6)
    listed = wl.account_show(url, jobs=["200"]).rows
    assert [(row["state"], row["restart"]) for row in listed] == [("REQUEUED", 0), ("COMPLETED", 1)]
    assert {each["state"] for row in listed for each in row["steps"]} == {"CANCELLED", "COMPLETED"}
    by_class = wl.account_show(url, by="class", classes={"p": "xeon"})
    assert [(row["key"], row["jobs"]) for row in by_class.rows] == [("xeon", 6)]
    prices = tmp_path / "prices.csv"
    prices.write_text("Datetime (UTC),Price (EUR/kWh)\n" + "".join(
        f"2026-10-05 {hour:02d}:00,0.36\n" for hour in range(24)))
    bill = wl.account_bill(url, "2026-10-05T00:30..2026-10-05T23:30", price=prices, zone="UTC")
    assert bill.money == pytest.approx(bill.jobs_j * 0.36 / 3.6e6)
    assert wl.account_forget(url, jobs=["100"], yes=True).energy_j == 5.76e6
    assert wl.account_show(url, by="account").total_j == 11.73e6 - 5.76e6
