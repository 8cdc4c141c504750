"""Many rows at once, where the toolkit's way of one dictionary per row would cost most of the time.

SQLite takes rows as they are; for other databases the toolkit prepares them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, Table, bindparam

AT_ONCE = 500
"""So many numbers in one question: SQLite and others take no more than some thousands."""
DENSE = 4
"""Numbers that lie closer than one in so many are asked for as a range."""

Rows = Sequence[tuple[Any, ...]]


def insert_rows(connection: Connection, table: Table, names: Sequence[str], rows: Rows) -> None:
    """Rows with their values in the order of the names."""
    if not rows:
        return
    if connection.dialect.paramstyle == "qmark":
        marks = ", ".join("?" * len(names))
        connection.exec_driver_sql(
            f"INSERT INTO {table.name} ({', '.join(names)}) VALUES ({marks})", list(rows))
    else:
        connection.execute(table.insert(), [dict(zip(names, row, strict=True)) for row in rows])


def update_rows(connection: Connection, table: Table, names: Sequence[str], rows: Rows) -> None:
    """Rows with their values in the order of the names, and at last the number of each."""
    if not rows:
        return
    if connection.dialect.paramstyle == "qmark":
        changes = ", ".join(f"{name} = ?" for name in names)
        connection.exec_driver_sql(f"UPDATE {table.name} SET {changes} WHERE id = ?", list(rows))
    else:
        keys = [*names, "row_id"]
        connection.execute(table.update().where(table.c.id == bindparam("row_id")),
                           [dict(zip(keys, row, strict=True)) for row in rows])


def chunks(ids: Collection[int]) -> Iterator[list[int]]:
    """Numbers in order, as many at once as one question takes."""
    ordered = sorted(ids)
    for begin in range(0, len(ordered), AT_ONCE):
        yield ordered[begin : begin + AT_ONCE]


def among(column: Column[Any], some: list[int]) -> ColumnElement[bool]:
    """Whether a column is one of these numbers; where they lie close, also one between them."""
    if some[-1] - some[0] < DENSE * len(some):
        return column.between(some[0], some[-1])
    return column.in_(some)
