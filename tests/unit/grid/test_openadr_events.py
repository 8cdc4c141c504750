"""OpenADR events as the cap of the site: overlapping, late, changed, cancelled, malformed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import wattline as wl
from wattline.grid.events import REMEMBERED_S, CapStep, EventBook, GridEvent, PriceStep
from wattline.grid.openadr2b_events import event_of
from wattline.live.openadr import CapWriter, PriceFile
from wattline.model.signal import Signal
from wattline.traces.tariffs import read_tariff

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
NOW_S = NOON.timestamp()


def event(name: str = "one", value: Any = 6000.0, *, version: int = 0, status: str = "far",
          signal: str = "LOAD_DISPATCH", kind: str = "setpoint", start_s: float = 0.0,
          last_s: float = 600.0) -> dict[str, Any]:
    return {
        "event_descriptor": {"event_id": name, "modification_number": version,
                             "event_status": status},
        "active_period": {"dtstart": NOON + timedelta(seconds=start_s)},
        "event_signals": [{"signal_name": signal, "signal_type": kind, "intervals": [
            {"duration": timedelta(seconds=last_s), "signal_payload": value}]}],
    }


def writer(tmp_path: Path) -> CapWriter:
    return CapWriter(tmp_path / "cap", EventBook(10_000.0))


def test_the_file_has_the_cap_while_the_event_lasts_and_the_usual_one_after(tmp_path: Path) -> None:
    mine = writer(tmp_path)
    assert mine.hear(event(start_s=60), NOW_S) == "optIn"
    assert mine.file.read_text() == "10000\n"
    for after_s, cap in ((60, "6000\n"), (659, "6000\n"), (660, "10000\n")):
        mine.update(NOW_S + after_s)
        assert mine.file.read_text() == cap


def test_of_overlapping_events_the_lowest_cap_holds_and_none_is_above_the_usual() -> None:
    book = EventBook(10_000.0)
    for name, cap_w in (("a", 7000.0), ("b", 5000.0), ("c", 20_000.0)):
        assert book.take(GridEvent(name, 0, (CapStep(0.0, 100.0, cap_w),)), 0.0) == ""
    assert book.cap_w(50.0) == 5000.0
    book.take(GridEvent("b", 1, (), cancelled=True), 50.0)
    assert book.cap_w(50.0) == 7000.0
    book.take(GridEvent("a", 1, (), cancelled=True), 50.0)
    assert book.cap_w(50.0) == 10_000.0


def test_a_later_version_replaces_an_event_and_an_older_one_is_refused(tmp_path: Path) -> None:
    mine = writer(tmp_path)
    assert mine.hear(event(version=1, value=6000.0), NOW_S) == "optIn"
    assert mine.hear(event(version=0, value=3000.0), NOW_S) == "optOut"
    assert mine.book.cap_w(NOW_S) == 6000.0
    assert mine.hear(event(version=2, value=8000.0), NOW_S) == "optIn"
    assert mine.book.cap_w(NOW_S) == 8000.0


def test_the_same_version_with_other_content_is_followed_and_said(tmp_path: Path) -> None:
    mine, said = writer(tmp_path), []
    mine.say = said.append
    for value in (6000.0, 6000.0, 3000.0):
        assert mine.hear(event(value=value), NOW_S) == "optIn"
    assert mine.book.cap_w(NOW_S) == 3000.0
    assert [line for line in said if "again" in line] == [
        "event one: version 0 is told again with other content; what was told last holds"]


def test_an_event_that_is_cancelled_holds_no_more_even_if_it_comes_again(tmp_path: Path) -> None:
    mine = writer(tmp_path)
    mine.hear(event(), NOW_S)
    assert mine.hear(event(version=1, status="cancelled"), NOW_S) == "optIn"
    assert mine.file.read_text() == "10000\n"
    assert mine.hear(event(), NOW_S) == "optOut"


def test_of_a_late_event_the_rest_is_followed_and_one_that_is_over_is_refused(
    tmp_path: Path,
) -> None:
    mine = writer(tmp_path)
    assert mine.hear(event(start_s=-300), NOW_S) == "optIn"
    assert mine.file.read_text() == "6000\n"
    assert mine.hear(event("two", start_s=-900), NOW_S) == "optOut"


@pytest.mark.parametrize(("value", "signal", "kind", "cap_w"), [
    (2.0, "SIMPLE", "level", 7500.0), (0.4, "LOAD_CONTROL", "x-loadControlCapacity", 4000.0)])
def test_levels_and_shares_are_of_the_usual_cap(
    value: float, signal: str, kind: str, cap_w: float
) -> None:
    found = event_of(event(value=value, signal=signal, kind=kind), 10_000.0)
    assert [step.cap_w for step in found.steps] == [cap_w]


@pytest.mark.parametrize(("measured", "cap_w"), [
    (None, 9.0), ({"name": "powerReal", "unit": "W", "scale": "none"}, 9.0),
    ({"name": "powerReal", "unit": "W", "scale": "k"}, 9000.0), ({"scale": "M"}, 9e6)])
def test_a_set_point_is_in_watts_times_its_scale(
    measured: dict[str, Any] | None, cap_w: float
) -> None:
    given = event(value=9.0)
    given["event_signals"][0]["measurement"] = measured
    assert [step.cap_w for step in event_of(given, 10_000.0).steps] == [cap_w]


@pytest.mark.parametrize(("measured", "words"), [
    ({"name": "powerReal", "unit": "W", "scale": "kilo"}, "the scale kilo, where there are p, n"),
    ({"name": "powerApparent", "unit": "VA", "scale": "k"},
     "powerApparent in VA, where powerReal in W is followed"),
    ({"name": "customUnit", "unit": "kW"}, "customUnit in kW")])
def test_a_set_point_that_is_no_power_in_watts_is_refused(
    measured: dict[str, Any], words: str
) -> None:
    given = event(value=9.0)
    given["event_signals"][0]["measurement"] = measured
    with pytest.raises(wl.InputError, match=words):
        event_of(given, 10_000.0)


def test_a_price_is_taken_by_its_scale_and_refused_where_that_is_none_of_the_standard() -> None:
    given = event(value=30.0, signal="ELECTRICITY_PRICE", kind="price")
    measured = {"name": "currencyPerKWh", "unit": "USD", "scale": "c"}
    given["event_signals"][0]["measurement"] = measured
    assert [each.price for each in event_of(given, 10_000.0).prices] == pytest.approx([0.3])
    measured["scale"] = "h"
    with pytest.raises(wl.InputError, match="the scale h"):
        event_of(given, 10_000.0)


def test_an_interval_of_no_length_lasts_till_it_is_cancelled(tmp_path: Path) -> None:
    mine = writer(tmp_path)
    mine.hear(event(last_s=0), NOW_S)
    assert mine.book.cap_w(NOW_S + 1e6) == 6000.0


@pytest.mark.parametrize("wrong", [
    {}, event(value=float("nan")), event(value=-1.0), event(value="much"), event(last_s=-5),
    event(signal="ELECTRICITY_PRICE", kind="price"), event(value=7, signal="SIMPLE", kind="level"),
    event() | {"event_signals": []}])
def test_what_makes_no_sense_is_refused_and_leaves_the_cap(
    tmp_path: Path, wrong: dict[str, Any]
) -> None:
    mine, said = writer(tmp_path), []
    mine.say = said.append
    mine.update(NOW_S)
    assert mine.hear(wrong, NOW_S) == "optOut"
    assert mine.file.read_text() == "10000\n"
    assert said[-1].startswith("optOut: ")


def test_a_price_beside_a_level_does_not_keep_the_cap_from_falling(tmp_path: Path) -> None:
    mine, said = writer(tmp_path), []
    mine.say = said.append
    given = event(value=2.0, signal="SIMPLE", kind="level")
    given["event_signals"] += event(value=0.3, signal="ELECTRICITY_PRICE", kind="price")[
        "event_signals"]
    assert mine.hear(given, NOW_S) == "optIn"
    assert mine.file.read_text() == "7500\n"
    assert "not followed of an event that is: prices of event one" in said


def test_a_price_is_followed_where_a_table_of_prices_is_kept(tmp_path: Path) -> None:
    mine, table = writer(tmp_path), tmp_path / "prices.csv"
    mine.prices = PriceFile(table, Signal.constant(0.1), "USD")
    mine.update(NOW_S)
    priced = event(value=0.3, signal="ELECTRICITY_PRICE", kind="price", start_s=60)
    assert mine.hear(priced, NOW_S) == "optIn"
    for after_s in (60, 61, 660):
        mine.update(NOW_S + after_s)
    assert table.read_text().splitlines() == [
        "Datetime (UTC),Price (USD/kWh)", "2026-07-01T12:00:00+00:00,0.1",
        "2026-07-01T12:01:00+00:00,0.3", "2026-07-01T12:11:00+00:00,0.1"]
    read = read_tariff(table)
    assert read.value * 3.6e6 == pytest.approx([0.1, 0.3, 0.1])
    assert mine.file.read_text() == "10000\n"


def test_usual_prices_may_change_by_themselves(tmp_path: Path) -> None:
    mine, table = writer(tmp_path), tmp_path / "prices.csv"
    mine.prices = PriceFile(table, Signal([NOW_S - 60, NOW_S + 120], [0.1, 0.2]), "EUR")
    mine.update(NOW_S)
    priced = event(value=0.3, signal="ELECTRICITY_PRICE", kind="price", start_s=60, last_s=30)
    assert mine.hear(priced, NOW_S) == "optIn"
    for after_s in (60, 90, 119, 120, 121):
        mine.update(NOW_S + after_s)
    assert [line.split(",")[1] for line in table.read_text().splitlines()[1:]] == [
        "0.1", "0.3", "0.1", "0.2"]


def test_of_prices_that_overlap_the_one_told_last_holds() -> None:
    book = EventBook(10_000.0)
    for name, price in (("a", 0.3), ("b", 0.2)):
        book.take(GridEvent(name, 0, (), prices=(PriceStep(0.0, 100.0, price),)), 0.0)
    assert book.price(50.0) == 0.2
    book.take(GridEvent("a", 0, (), prices=(PriceStep(0.0, 100.0, 0.3),)), 10.0)
    assert book.price(50.0) == 0.2  # told again unchanged: still the earlier one
    book.take(GridEvent("b", 1, (), cancelled=True), 50.0)
    assert (book.price(50.0), book.price(100.0)) == (0.3, None)


def test_a_price_that_cannot_be_followed_takes_nothing_from_a_cap_beside_it(
    tmp_path: Path,
) -> None:
    mine, said = writer(tmp_path), []
    mine.say = said.append
    mine.prices = PriceFile(tmp_path / "p.csv", Signal.constant(0.1), "USD")
    given = event(value=2.0, signal="SIMPLE", kind="level")
    price = event(value=0.3, signal="ELECTRICITY_PRICE", kind="price")["event_signals"][0]
    given["event_signals"].append(price | {"measurement": {"name": "currencyPerKWh",
                                                           "unit": "EUR"}})
    assert mine.hear(given, NOW_S) == "optIn"
    assert mine.file.read_text() == "7500\n"
    assert ("not followed of an event that is: ELECTRICITY_PRICE price (in EUR, where the bill is "
            "in USD)") in said


@pytest.mark.parametrize(("said", "answer"), [
    (True, "optOut"), ("true", "optOut"), ("yes", "optOut"),
    (False, "optIn"), ("false", "optIn"), (None, "optIn")])
def test_a_test_event_moves_no_cap(tmp_path: Path, said: object, answer: str) -> None:
    mine, told = writer(tmp_path), []
    mine.say = told.append
    mine.update(NOW_S)
    given = event(value=2.0, signal="SIMPLE", kind="level")
    given["event_descriptor"]["test_event"] = said
    assert mine.hear(given, NOW_S) == answer
    assert mine.file.read_text() == ("7500\n" if answer == "optIn" else "10000\n")
    assert any("event one is a test" in line for line in told) == (answer == "optOut")


def test_prices_are_followed_in_the_currency_that_is_named_first(tmp_path: Path) -> None:
    def priced(name: str, value: float, unit: str | None) -> dict[str, Any]:
        made = event(value=value, signal="ELECTRICITY_PRICE", kind="price")
        made["event_descriptor"]["event_id"] = name
        made["event_signals"][0]["measurement"] = {"name": "currencyPerKWh", "unit": unit}
        return made

    mine, said = writer(tmp_path), []
    mine.say = said.append
    mine.prices = PriceFile(tmp_path / "p.csv", Signal.constant(0.1))
    answers = [mine.hear(priced(*told), NOW_S) for told in (
        ("unnamed", 0.2, None), ("first", 0.3, "EUR"), ("other", 9.0, "USD"), ("same", 0.4, "eur"))]
    assert answers == ["optIn", "optIn", "optOut", "optIn"]
    assert mine.book.price(NOW_S + 1) == 0.4
    assert sum("prices are followed in EUR from now on: event first" in line for line in said) == 1
    assert any("in USD, where the bill is in EUR" in line for line in said)


def test_a_cancelled_event_is_forgotten_when_nobody_can_mean_it_any_more() -> None:
    book = EventBook(10_000.0)
    for number in range(50):
        book.take(GridEvent(str(number), 0, (CapStep(0.0, 100.0, 5000.0),)), 0.0)
        book.take(GridEvent(str(number), 1, (), cancelled=True), 0.0)
    book.forget_past(1000.0)
    assert book.take(GridEvent("7", 0, (CapStep(0.0, 5000.0, 5000.0),)), 1000.0) != ""
    book.forget_past(REMEMBERED_S + 1.0)
    assert book.known == {}


def test_an_event_that_cannot_be_read_is_an_input_error() -> None:
    with pytest.raises(wl.InputError, match="without a name cannot be read: event_id is missing"):
        event_of({"event_descriptor": {}}, 1000.0)
    given = event()
    del given["active_period"]
    with pytest.raises(wl.InputError, match="event one cannot be read: active_period is missing"):
        event_of(given, 1000.0)
