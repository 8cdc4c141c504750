"""Stores that know the statements of each other keep their own rows."""

from __future__ import annotations

from inspect import unwrap
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Column, Integer, MetaData, Table, insert, select
from sqlalchemy.sql.compiler import SQLCompiler
from tests.support.shared_statements import with_known

from wattline.account import store

NUMBERS = Table("numbers", MetaData(), Column("number", Integer))


def kept(engine: Any, number: int) -> list[int]:
    NUMBERS.create(engine)
    with engine.begin() as connection:
        connection.execute(insert(NUMBERS), {"number": number})
    with engine.connect() as connection:
        return list(connection.execute(select(NUMBERS.c.number)).scalars())


@pytest.mark.parametrize("urls", [
    ("sqlite://", "sqlite://"), ("sqlite:///one.db", "sqlite:///two.db"),
    ("sqlite://", "sqlite:///two.db")])
def test_rows_are_their_own_and_statements_are_made_once(
    urls: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made = []
    begin = SQLCompiler.__init__

    def counted(self: Any, *given: Any, **named: Any) -> None:
        made.append(self)
        begin(self, *given, **named)

    monkeypatch.setattr(SQLCompiler, "__init__", counted)
    engine = with_known(unwrap(store._engine))
    one, two = (engine(url) for url in urls)
    assert kept(one, 1) == [1]
    first = len(made)
    assert kept(two, 2) == [2]
    assert first > 0
    assert len([each for each in made[first:] if each.isinsert or each.cache_key]) == 0
    with one.connect() as connection:
        assert list(connection.execute(select(NUMBERS.c.number)).scalars()) == [1]
    for each in (one, two):
        each.dispose()
