"""The store creates what is missing, undoes what fails, and names what is wrong with a URL."""

import pytest
from sqlalchemy import Column, Integer, MetaData, Table, select
from sqlalchemy.dialects import mysql, postgresql, sqlite
from sqlalchemy.schema import CreateIndex, CreateTable

from wattline.account import claim_table, ledger
from wattline.account.store import Store, shown_url, store_url
from wattline.model.errors import InputError, WattlineError

numbers = Table("numbers", MetaData(), Column("value", Integer, primary_key=True))


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "test.db") as opened:
        numbers.metadata.create_all(opened.engine)
        yield opened


def values(store):
    with store.session() as session:
        return list(session.scalars(select(numbers.c.value)))


def test_rows_come_back_from_the_file(store):
    store.insert(numbers, [{"value": 3}, {"value": 5}])
    store.close()
    with Store(store.url) as again:
        assert values(again) == [3, 5]


def write_and_fail(store):
    with store.session() as session:
        session.execute(numbers.insert(), [{"value": 1}])
        raise RuntimeError("the caller changed its mind")


def test_a_failed_transaction_leaves_nothing(store):
    with pytest.raises(RuntimeError, match="changed its mind"):
        write_and_fail(store)
    assert values(store) == []


def test_a_path_is_an_sqlite_file():
    assert store_url("runs/ledger.db") == "sqlite:///runs/ledger.db"


def test_the_password_is_not_shown():
    assert "secret" not in shown_url("postgresql+psycopg://me:secret@host/wattline")


@pytest.mark.parametrize("url", ["nosuch://host/x", "://", " "])
def test_a_bad_url_is_named_with_a_right_one(url):
    with pytest.raises(InputError, match="sqlite:///"):
        Store(url)


def test_an_unreachable_file_is_named(tmp_path):
    with pytest.raises(InputError, match="cannot open the store"):
        Store(tmp_path / "no" / "such" / "folder.db")


@pytest.mark.parametrize("dialect", [mysql.dialect(), postgresql.dialect(), sqlite.dialect()])
def test_all_tables_can_be_made_by_each_database(dialect):
    assert ledger.metadata is claim_table.metadata
    tables = [*ledger.metadata.tables.values()]
    assert {"application_claim", "ledger_job", "ledger_power"} <= {table.name for table in tables}
    for table in tables:
        statement = str(CreateTable(table).compile(dialect=dialect))
        assert statement.lstrip().startswith("CREATE TABLE")
        for index in table.indexes:
            CreateIndex(index).compile(dialect=dialect)


def test_a_store_that_another_program_holds_is_waited_for_and_then_told_in_one_line(store):
    with Store(store.url) as other, other.session() as holding:
        holding.execute(numbers.insert(), [{"value": 1}])
        with Store(f"{store.url}?timeout=0.05", create=False) as late:
            with pytest.raises(WattlineError, match="another program writes to it") as told:
                late_write(late)
            assert "\n" not in str(told.value)
    assert values(store) == [1]
    with store.engine.connect() as connection:
        waits_ms = connection.exec_driver_sql("PRAGMA busy_timeout").scalar()
    assert waits_ms == 60_000


def late_write(store):
    with store.session() as session:
        session.execute(numbers.insert(), [{"value": 2}])


def test_numbers_of_jobs_may_be_those_of_a_federation_or_higher():
    for table in (ledger.jobs, ledger.steps, ledger.power):
        text = str(CreateTable(table).compile(dialect=mysql.dialect()))
        assert "job_id BIGINT" in text
