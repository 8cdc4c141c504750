"""Samples come back to the last bit, and any order of imports leaves the same rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select
from tests.support.examples import costing

from wattline.account.measured.records import Kind, Series
from wattline.account.measured.sample_codec import decode, encode
from wattline.account.measured.series_store import DAY_S, enter_series, read_days
from wattline.account.measured.tables import series as series_table
from wattline.account.store import Store
from wattline.model.errors import InputError, WattlineError

values = st.one_of(
    st.floats(allow_nan=True, allow_infinity=False).map(lambda x: x + 0.0),
    st.integers(0, 5000).map(lambda x: x / 10), st.integers(0, 2**53).map(float))


@given(st.lists(st.tuples(st.integers(0, 86_400_000_000), values), min_size=1, max_size=60,
                unique_by=lambda each: each[0]))
def test_samples_come_back_to_the_last_bit(drawn) -> None:
    drawn.sort(key=lambda each: each[0])
    time_us = np.array([each[0] for each in drawn], dtype=np.int64)
    value = np.array([each[1] for each in drawn], dtype=np.float64)
    times, back = decode(encode(time_us, value))
    assert times.tolist() == time_us.tolist()
    assert np.array_equal(back, value, equal_nan=True)
    assert np.array_equal(back[~np.isnan(value)].view(np.uint64),
                          value[~np.isnan(value)].view(np.uint64))


def test_a_day_of_samples_takes_less_than_three_bytes_each() -> None:
    random = np.random.default_rng(1)
    time_us = np.arange(8640, dtype=np.int64) * 10_000_000
    watts = np.round(300 + 20 * random.standard_normal(8640), 1)
    counter = np.cumsum(np.round(3000 + 200 * random.standard_normal(8640)))
    watts[random.random(8640) < 0.01] = np.nan
    assert len(encode(time_us, watts)) < 3 * 8640
    assert len(encode(time_us, counter)) < 3 * 8640


def test_broken_bytes_are_said_and_no_crash() -> None:
    packed = encode(np.arange(5, dtype=np.int64), np.arange(5.0))
    for broken in (b"", packed[:10], packed[:-3], b"\x09" + packed[1:]):
        with pytest.raises(WattlineError, match="samples"):
            decode(broken)


def series(times, watts, **more) -> Series:
    return Series("c", "n1", more.pop("kind", Kind.WATTS), np.array(times, dtype=float),
                  np.array(watts, dtype=float), **more)


def rows(store: Store) -> list[tuple]:
    table = series_table.c
    with store.engine.begin() as connection:
        return sorted(map(tuple, connection.execute(select(
            table.cluster, table.entity, table.meter, table.kind, table.day, table.interval_s,
            table.samples))), key=str)


def test_a_series_is_kept_by_day_and_read_back() -> None:
    with Store("sqlite://") as store, store.engine.begin() as connection:
        found = enter_series(connection, [series([DAY_S - 10, DAY_S, DAY_S + 10], [1, np.nan, 3])])
        assert found.touched.days == {("c", "n1"): {0, 1}}
        assert (found.samples, found.new) == (3, 3)
        days = read_days(connection, "c", "n1", 0, 1)[("", Kind.WATTS)]
        assert days[0].time_s.tolist() == [DAY_S - 10]
        assert days[1].value.tolist()[1] == 3
        again = enter_series(connection, [series([DAY_S - 10, DAY_S], [1, np.nan])])
        assert (again.new, again.touched.days) == (0, {})


def test_a_value_beats_an_empty_one_and_of_two_the_larger_stays() -> None:
    with Store("sqlite://") as store, store.engine.begin() as connection:
        enter_series(connection, [series([0, 10, 20], [5, np.nan, 7])])
        found = enter_series(connection, [series([0, 10, 20], [4, 6, np.nan])])
        assert found.contradictions == 1
        assert "two values" in next(iter(found.mended))
        kept = read_days(connection, "c", "n1", 0, 0)[("", Kind.WATTS)][0]
        assert kept.value.tolist() == [5, 6, 7]


def test_watts_below_zero_and_infinite_ones_are_empty() -> None:
    with Store("sqlite://") as store, store.engine.begin() as connection:
        found = enter_series(connection, [series([0, 1, 2], [-1, np.inf, 3])])
        assert found.impossible == 2
        kept = read_days(connection, "c", "n1", 0, 0)[("", Kind.WATTS)][0]
        assert np.isnan(kept.value).tolist() == [True, True, False]


@pytest.mark.parametrize("times", [[-5.0], [np.nan], [1.7e12]])
def test_what_is_no_unix_time_is_refused(times) -> None:
    with (Store("sqlite://") as store, store.engine.begin() as connection,
          pytest.raises(InputError, match="Unix")):
        enter_series(connection, [series(times, [1.0])])


samples = st.lists(st.tuples(st.integers(0, 3 * DAY_S), st.one_of(st.none(), st.integers(0, 9))),
                   min_size=1, max_size=30)


@costing(15)
@given(samples, st.lists(st.lists(st.integers(0, 29), max_size=30), max_size=5), st.randoms())
def test_any_cut_order_and_repetition_leaves_the_same_rows(drawn, cuts, random) -> None:
    def some(chosen) -> Series:
        return series([each[0] for each in chosen],
                      [np.nan if each[1] is None else each[1] for each in chosen])

    pieces = [[drawn[at] for at in cut if at < len(drawn)] for cut in cuts] + [drawn]
    random.shuffle(pieces)
    with Store("sqlite://") as whole, Store("sqlite://") as cut_up:
        with whole.engine.begin() as connection:
            enter_series(connection, [some(drawn)])
        with cut_up.engine.begin() as connection:
            for piece in pieces:
                enter_series(connection, [some(piece)] if piece else [])
        assert rows(whole) == rows(cut_up)
