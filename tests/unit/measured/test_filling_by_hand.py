"""Gaps of a node's meter, filled by the mean of what was measured there, worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import create_engine, select

from wattline.account.measured.filling import fill_by_mean
from wattline.account.measured.records import Source
from wattline.account.measured.tables import facts, lives, metadata


def row(table: Any, **given: Any) -> dict[str, Any]:
    """A row with nothing in the columns that must have something."""
    needed = {column.name for column in table.columns
              if not column.nullable and column.name not in ("id", "source", "quality")}
    texts = {"cluster", "label", "user", "account", "partition", "application", "node_class",
             "state", "node_list", "alloc_tres", "asked_frequency", "step", "node"}
    return {name: "" if name in texts else 0 for name in needed} | given


def test_a_gap_is_filled_by_the_mean_of_a_node_and_once_however_often_it_is_asked_for() -> None:
    """A job of 100 s. Of n1 80 s are measured, 600 J and 200 J: a quarter of both is added, 200 J.
    n2 was measured all the time, n3 never."""
    engine = create_engine("sqlite://")
    measured = [("n1", 0, 600.0, 60.0), ("n1", 60, 200.0, 20.0), ("n2", 0, 500.0, 100.0),
                ("n3", 0, 0.0, 0.0)]
    with engine.begin() as connection:
        metadata.create_all(connection)
        connection.execute(lives.insert(), [row(lives, id=1, start_s=0, end_s=100.0)])
        connection.execute(facts.insert(), [
            row(facts, life_id=1, node=node, source=str(Source.SERIES), start_s=start_s,
                energy_j=energy_j, covered_s=covered_s, counts=True)
            for node, start_s, energy_j, covered_s in measured])
        for _ in range(3):
            fill_by_mean(connection, [1])
            found = connection.execute(select(facts.c.energy_j, facts.c.filled_j)
                                       .order_by(facts.c.id)).all()
            assert [tuple(each) for each in found] == [
                pytest.approx((750.0, 150.0)), pytest.approx((250.0, 50.0)), (500.0, 0.0),
                (0.0, 0.0)]
