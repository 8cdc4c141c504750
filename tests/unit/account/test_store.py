"""The store creates what is missing, undoes what fails, and names what is wrong with a URL."""

import pytest
from sqlalchemy import Column, Integer, MetaData, Table, select
from sqlalchemy.dialects import mysql, postgresql, sqlite
from sqlalchemy.schema import CreateIndex, CreateTable

from wattline.account import claim_table, ledger
from wattline.account.store import Store, shown_url, store_url
from wattline.model.errors import InputError

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
    assert {"claim", "ledger_job", "ledger_power"} <= {table.name for table in tables}
    for table in tables:
        statement = str(CreateTable(table).compile(dialect=dialect))
        assert statement.lstrip().startswith("CREATE TABLE")
        for index in table.indexes:
            CreateIndex(index).compile(dialect=dialect)
