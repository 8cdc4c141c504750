"""OpenADR 3 by its REST description: events become the cap, the power a report."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.support.vtn3 import SECRET, Vtn3, vtn3

import wattline as wl
from wattline.cli.main import cli
from wattline.grid.events import EventBook
from wattline.grid.openadr3_events import event3_of
from wattline.live.openadr import CapWriter, PriceFile
from wattline.live.openadr3 import Follower, Server, follow3
from wattline.live.openadr_link import MeasuredPower
from wattline.model.signal import Signal

pytestmark = pytest.mark.waits

NOON_S = datetime(2026, 7, 1, 12, tzinfo=UTC).timestamp()


def event(kind: str = "IMPORT_CAPACITY_LIMIT", value: Any = 6.0, *, units: str | None = "KW",
          start: str = "2026-07-01T12:00:00Z", lasts: str = "PT10M", changed: str = "11:00",
          **more: Any) -> dict[str, Any]:
    return {
        "id": "one", "programID": "program-1", "objectType": "EVENT",
        "createdDateTime": "2026-07-01T11:00:00Z",
        "modificationDateTime": f"2026-07-01T{changed}:00Z",
        "payloadDescriptors": [{"payloadType": kind, "units": units}],
        "intervalPeriod": {"start": start, "duration": lasts},
        "intervals": [{"id": 0, "payloads": [{"type": kind, "values": [value]}]}], **more,
    }


@pytest.fixture
def server() -> Iterator[Vtn3]:
    with vtn3() as found:
        yield found


def follower(server: Vtn3, tmp_path: Path, **more: Any) -> tuple[Follower, list[str]]:
    said: list[str] = []
    writer = CapWriter(tmp_path / "cap", EventBook(10_000.0), say=said.append)
    return Follower(Server(server.url, "site", SECRET), writer, **more), said


def test_an_event_becomes_the_cap_and_is_cancelled_by_being_gone(
    server: Vtn3, tmp_path: Path
) -> None:
    mine, said = follower(server, tmp_path)
    server.put(event())
    mine.look(NOON_S + 5)
    assert mine.writer.file.read_text() == "6000\n"
    mine.look(NOON_S + 6)
    assert said.count("followed: event one") == 1
    server.events.clear()
    mine.look(NOON_S + 7)
    assert mine.writer.file.read_text() == "10000\n"
    assert said[-2:] == ["cancelled: event one", "cap 10000 W"]
    assert server.tokens == 1  # one lasts for an hour


POSTED = {
    "programID": "program-1", "eventName": "limit", "priority": None, "targets": None,
    "payloadDescriptors": [{"payloadType": "IMPORT_CAPACITY_LIMIT", "units": "KW",
                            "currency": None, "objectType": "EVENT_PAYLOAD_DESCRIPTOR"}],
    "reportDescriptors": None, "intervalPeriod": None,
    "intervals": [{"id": 0, "intervalPeriod": {
        "start": "2026-07-01T12:00:00Z", "duration": "PT10M", "randomizeStart": None},
        "payloads": [{"type": "IMPORT_CAPACITY_LIMIT", "values": [6.0]}]}],
}
"""As openadr3-client 2.4.2 posted it to the server of these tests."""


def test_an_event_of_another_program_of_the_standard_is_followed(
    server: Vtn3, tmp_path: Path
) -> None:
    mine, _ = follower(server, tmp_path)
    server.put(POSTED)
    for after_s, cap in ((0, "6000\n"), (599, "6000\n"), (600, "10000\n")):
        mine.look(NOON_S + after_s)
        assert mine.writer.file.read_text() == cap


def test_a_later_version_replaces_an_event_and_one_that_is_over_is_not_followed(
    server: Vtn3, tmp_path: Path
) -> None:
    mine, said = follower(server, tmp_path)
    server.put(event())
    mine.look(NOON_S)
    server.put(event(value=4.0, changed="11:30"))
    mine.look(NOON_S + 1)
    assert mine.writer.file.read_text() == "4000\n"
    server.put(event(lasts="PT1M", changed="11:40"))
    mine.look(NOON_S + 120)
    assert mine.writer.file.read_text() == "10000\n"
    assert "was over before it arrived" in " ".join(said)


def test_other_content_under_the_same_version_is_followed_and_said_once(
    server: Vtn3, tmp_path: Path
) -> None:
    mine, said = follower(server, tmp_path)
    server.put(event())
    mine.look(NOON_S)
    server.put(event(value=4.0))
    for after_s in (1, 2):
        mine.look(NOON_S + after_s)
    assert mine.writer.file.read_text() == "4000\n"
    assert len([line for line in said if "is told again with other content" in line]) == 1


def test_intervals_follow_each_other_and_the_lowest_payload_holds() -> None:
    made = event3_of(event(intervals=[
        {"id": 0, "payloads": [{"type": "SIMPLE", "values": [1]},
                               {"type": "IMPORT_CAPACITY_LIMIT", "values": [5]}]},
        {"id": 1, "payloads": [{"type": "SIMPLE", "values": [3]}]}], lasts="P1DT1H"), 10_000.0)
    assert [step.cap_w for step in made.steps] == [5000.0, 5000.0]
    assert [step.start_s - NOON_S for step in made.steps] == [0.0, 90_000.0]
    forever = event3_of(event(lasts="P9999Y"), 10_000.0)
    assert forever.end_s == float("inf")


def test_prices_have_intervals_of_their_own_and_caps_beside_them() -> None:
    made = event3_of(event(payloadDescriptors=[
        {"payloadType": "PRICE", "units": "KWH", "currency": "USD"}], intervals=[
        {"id": 0, "payloads": [{"type": "PRICE", "values": [0.2]}]},
        {"id": 1, "intervalPeriod": {"start": "2026-07-01T15:00:00Z", "duration": "PT30M"},
         "payloads": [{"type": "PRICE", "values": [0.5]}, {"type": "SIMPLE", "values": [2]}]},
        {"id": 2, "payloads": [{"type": "PRICE", "values": [-0.1]}]}], lasts="PT1H"), 10_000.0)
    assert [(each.start_s - NOON_S, each.end_s - NOON_S, each.price) for each in made.prices] == [
        (0.0, 3600.0, 0.2), (10_800.0, 12_600.0, 0.5), (12_600.0, 16_200.0, -0.1)]
    assert [(step.start_s - NOON_S, step.cap_w) for step in made.steps] == [(10_800.0, 7500.0)]


@pytest.mark.parametrize(("usual", "lasts_s"), [("PT15M", 900.0), (None, 300.0)])
def test_an_interval_without_a_period_lasts_as_long_as_the_event_says(
    usual: str | None, lasts_s: float
) -> None:
    noon = {"start": "2026-07-01T12:00:00Z", "duration": "PT15M"}
    later = {"start": "2026-07-01T12:30:00Z", "duration": "PT5M"}
    payloads = [{"type": "IMPORT_CAPACITY_LIMIT", "values": [5]}]
    made = event3_of(event(
        intervalPeriod=None if usual is None else noon,
        intervals=[{"id": 0, "intervalPeriod": noon, "payloads": payloads},
                   {"id": 1, "intervalPeriod": later, "payloads": payloads},
                   {"id": 2, "payloads": payloads}]), 10_000.0)
    spans = [(each.start_s - NOON_S, each.end_s - each.start_s) for each in made.steps]
    assert spans == [(0.0, 900.0), (1800.0, 300.0), (2100.0, lasts_s)]


@pytest.mark.parametrize(("units", "currency", "said"), [
    ("KW", "USD", "the unit KW of PRICE, where KWH or MWH is followed"),
    ("KWH", "EUR", "a PRICE in EUR, where the bill is in USD")])
def test_a_price_by_another_unit_or_currency_is_not_followed(
    units: str, currency: str, said: str
) -> None:
    given = event("PRICE", 0.2, payloadDescriptors=[
        {"payloadType": "PRICE", "units": units, "currency": currency}])
    with pytest.raises(wl.InputError, match=said):
        event3_of(given, 10_000.0, currency="USD")


def test_a_client_follows_prices_in_the_currency_that_is_named_first(
    server: Vtn3, tmp_path: Path
) -> None:
    def priced(name: str, value: float, currency: str) -> dict[str, Any]:
        return event("PRICE", value, id=name, payloadDescriptors=[
            {"payloadType": "PRICE", "units": "KWH", "currency": currency}])

    mine, said = follower(server, tmp_path)
    mine.writer.prices = PriceFile(tmp_path / "p.csv", Signal.constant(0.1))
    for told in (("one", 0.3, "EUR"), ("two", 9.0, "USD")):
        server.put(priced(*told))
        mine.look(NOON_S + 5)
    assert mine.writer.book.price(NOON_S + 6) == 0.3
    assert any("in USD, where the bill is in EUR" in line for line in said)
    server.events.clear()
    mine.look(NOON_S + 7)
    server.put(priced("three", 8.0, "USD"))  # the first is gone, the bill is as it was
    mine.look(NOON_S + 8)
    assert mine.writer.book.price(NOON_S + 9) is None


def test_prices_per_mwh_and_powers_in_mw_are_converted() -> None:
    made = event3_of(event(payloadDescriptors=[
        {"payloadType": "PRICE", "units": "MWH"},
        {"payloadType": "DISPATCH_SETPOINT", "units": "MW"}], intervals=[
        {"id": 0, "payloads": [{"type": "PRICE", "values": [420]},
                               {"type": "DISPATCH_SETPOINT", "values": [0.006]}]}]), 10_000.0)
    assert [each.price for each in made.prices] == pytest.approx([0.42])
    assert [step.cap_w for step in made.steps] == pytest.approx([6000.0])


def test_what_stands_beside_a_payload_that_is_followed_is_said(
    server: Vtn3, tmp_path: Path
) -> None:
    mine, said = follower(server, tmp_path)
    server.put(event("SIMPLE", 2, intervals=[{"id": 0, "payloads": [
        {"type": "SIMPLE", "values": [2]}, {"type": "GHG", "values": [3]},
        {"type": "IMPORT_CAPACITY_LIMIT", "values": [4]}]}]))
    mine.look(NOON_S)
    assert mine.writer.file.read_text() == "7500\n"
    assert [line for line in said if line.startswith("not followed")] == [
        "not followed of event one: the payload GHG",
        "not followed of event one: the unit None of IMPORT_CAPACITY_LIMIT, where KW or MW is "
        "followed"]


@pytest.mark.parametrize(("wrong", "said"), [
    (event("GHG", 0.2), "has the payload GHG; followed are SIMPLE"),
    (event("SIMPLE", 7), "has the level 7"),
    (event(units=None), "has the unit None"),
    (event(value=-1.0), "must be a finite power above 0 W"),
    (event(start="2026-07-01T12:00:00"), "has no zone"),
    (event(lasts="15 minutes"), "is no duration"),
    (event(lasts="P"), "is no duration"),
    (event(intervals=[]), "has no intervals"),
    ({"id": "one"}, "event one cannot be read: "),
])
def test_what_cannot_be_followed_is_said_and_leaves_the_cap(
    wrong: dict[str, Any], said: str, server: Vtn3, tmp_path: Path
) -> None:
    with pytest.raises(wl.InputError, match=said):
        event3_of(wrong, 10_000.0)
    mine, told = follower(server, tmp_path)
    server.put(wrong)
    mine.look(NOON_S)
    assert said in " ".join(told)
    assert mine.writer.file.read_text() == "10000\n"


def test_the_measured_power_is_reported_while_an_event_holds(
    server: Vtn3, tmp_path: Path
) -> None:
    status = tmp_path / "status.json"
    status.write_text(json.dumps({"time_s": NOON_S, "measured_w": 5321.5}))
    mine, _ = follower(server, tmp_path, name="site",
                       measured=MeasuredPower(status, lambda: NOON_S))
    server.put(event())
    mine.look(NOON_S - 60)
    mine.tell(NOON_S - 60)
    assert server.reports == []
    for after_s in (0, 1):  # once per minute
        mine.tell(NOON_S + after_s)
    report, = server.reports
    assert (report["eventID"], report["programID"], report["clientName"]) == (
        "one", "program-1", "site")
    interval = report["resources"][0]["intervals"][0]
    assert interval["payloads"] == [{"type": "DEMAND", "values": [5.3215]}]
    assert interval["intervalPeriod"]["start"] == "2026-07-01T12:00:00Z"


def test_a_server_that_fails_leaves_the_cap_and_a_wrong_secret_is_said(
    server: Vtn3, tmp_path: Path
) -> None:
    mine, said = follower(server, tmp_path)
    server.put(event())
    mine.look(NOON_S)
    mine.server.url = "http://127.0.0.1:1"
    mine.look(NOON_S + 60)
    assert mine.writer.file.read_text() == "6000\n"
    assert "127.0.0.1:1/events" in said[-1]
    wrong = Follower(Server(server.url, "site", "wrong"), mine.writer)
    with pytest.raises(wl.InputError, match="403"):
        follow3(wrong, lambda: NOON_S)


def test_events_of_another_programme_are_left_alone(server: Vtn3, tmp_path: Path) -> None:
    mine, _ = follower(server, tmp_path, program="program-2")
    server.put(event())
    mine.look(NOON_S)
    assert mine.writer.file.read_text() == "10000\n"


@pytest.mark.parametrize("wrong", [["--standard", "3", "--cert", "x", "--key", "x", "--ca", "x"],
                                   ["--client-id", "site"]])
def test_options_of_the_other_version_are_refused(wrong: list[str], tmp_path: Path) -> None:
    (tmp_path / "x").touch()
    wrong = [str(tmp_path / "x") if word == "x" else word for word in wrong]
    done = CliRunner().invoke(cli, ["openadr", "--vtn", "http://127.0.0.1:1", "--ven", "site",
                                    "--cap", "1kW", "--cap-file", str(tmp_path / "cap"), *wrong])
    assert isinstance(done.exception, wl.InputError)
    assert "needs --standard" in str(done.exception)
