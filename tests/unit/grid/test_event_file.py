"""Events from a file, replayed as a site would have heard them."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import wattline as wl
from wattline.grid.event_file import Replayed, read_events, replay
from wattline.model.signal import Signal

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
NOON_S = NOON.timestamp()


def made_2b(name: str = "one", value: Any = 6000.0, *, version: int = 0, status: str = "far",
            signal: str = "LOAD_DISPATCH", kind: str = "setpoint", start_s: float = 0.0,
            last: str = "PT10M", told_s: float = -3600.0) -> dict[str, Any]:
    """As openleadr hands it over, with times as text."""
    return {
        "event_descriptor": {
            "event_id": name, "modification_number": version, "event_status": status,
            "created_date_time": str(NOON + timedelta(seconds=told_s))},
        "active_period": {"dtstart": str(NOON + timedelta(seconds=start_s))},
        "event_signals": [{"signal_name": signal, "signal_type": kind, "intervals": [
            {"duration": last, "signal_payload": value}]}],
    }


def made_3(name: str, payloads: list[dict[str, Any]], *, made: str = "11:00",
           start: str = "12:00", lasts: str = "PT10M") -> dict[str, Any]:
    return {
        "id": name, "modificationDateTime": f"2026-07-01T{made}:00Z",
        "payloadDescriptors": [{"payloadType": "PRICE", "units": "KWH", "currency": "USD"}],
        "intervals": [{"id": 0, "payloads": payloads, "intervalPeriod": {
            "start": f"2026-07-01T{start}:00Z", "duration": lasts}}]}


def replayed(folder: Path, *given: Any, last_s: float = 3600.0) -> Replayed:
    file = folder / "events.json"
    file.write_text(json.dumps(list(given)))
    return replay(read_events(file, 10_000.0), 10_000.0, Signal.constant(0.1), NOON_S,
                  NOON_S + last_s)


def caps(found: Replayed) -> list[tuple[float, float]]:
    assert found.cap_w is not None
    steps = zip(found.cap_w.time_s, found.cap_w.value, strict=True)
    return [(float(time_s), float(cap_w)) for time_s, cap_w in steps]


def test_an_event_is_a_step_down_and_up_again(tmp_path: Path) -> None:
    found = replayed(tmp_path, made_2b(start_s=60, last="0:10:00"))
    assert caps(found) == [(0.0, 10_000.0), (60.0, 6000.0), (660.0, 10_000.0)]
    assert (found.price, found.followed, found.said) == (None, ("one",), ())


def test_a_cancelled_event_holds_until_that_is_told(tmp_path: Path) -> None:
    found = replayed(tmp_path, made_2b(), made_2b(version=1, status="cancelled", told_s=120.0),
                     made_2b(told_s=180.0))
    assert [step for step in caps(found) if step[0] <= 120.0] == [(0.0, 6000.0), (120.0, 10_000.0)]
    assert min(cap_w for time_s, cap_w in caps(found) if time_s >= 120.0) == 10_000.0
    assert found.said == ("event one: version 0 is older than 1",)


def test_of_a_late_event_the_rest_is_followed_and_one_that_is_over_is_refused(
    tmp_path: Path,
) -> None:
    found = replayed(tmp_path, made_2b(told_s=300.0), made_2b("two", told_s=900.0))
    assert [cap_w for time_s, cap_w in caps(found) if time_s in (0.0, 300.0, 600.0)] == [
        10_000.0, 6000.0, 10_000.0]
    assert found.said == ("event two was over before it arrived",)


def test_of_events_that_overlap_the_lowest_cap_holds(tmp_path: Path) -> None:
    found = replayed(tmp_path, made_2b(last="PT20M"), made_2b("two", 2.0, signal="SIMPLE",
                                                              kind="level", start_s=300.0))
    assert found.cap_w is not None
    assert found.cap_w.sample([0.0, 300.0, 1199.0, 1200.0]).tolist() == [6000, 6000, 6000, 10_000]


def test_what_cannot_be_read_is_said_and_changes_nothing(tmp_path: Path) -> None:
    found = replayed(tmp_path, {}, 7, made_2b(value="much"), made_2b("two", -1.0),
                     made_3("three", [{"type": "GHG", "values": [1]}]))
    assert found.cap_w is None
    assert found.said[:3] == (
        "not followed: an event without a name cannot be read: id is missing",
        "not followed: 7 is no event",
        "not followed: event one cannot be read: could not convert string to float: 'much'")
    assert len(found.said) == 5
    assert "asks for -1 W" in " ".join(found.said)


def test_payloads_beside_one_that_is_followed_are_said(tmp_path: Path) -> None:
    found = replayed(tmp_path, made_3("one", [
        {"type": "SIMPLE", "values": [1]}, {"type": "GHG", "values": [3]},
        {"type": "DISPATCH_SETPOINT", "values": [3]}]))
    assert caps(found) == [(0.0, 9000.0), (600.0, 10_000.0)]
    assert found.said == (
        "not followed of event one: the payload GHG",
        "not followed of event one: the unit None of DISPATCH_SETPOINT, where KW or MW is followed")


def test_what_is_told_after_the_end_is_said(tmp_path: Path) -> None:
    found = replayed(tmp_path, made_2b(), made_2b("late", told_s=3600.0, last="PT2H"),
                     made_2b(version=1, status="cancelled", told_s=3700.0))
    assert found.followed == ("one",)
    assert found.said == ("not followed: event late was told after the end of the contract",)


def test_prices_hold_in_their_intervals_and_the_usual_one_beside_them(tmp_path: Path) -> None:
    found = replayed(
        tmp_path, made_2b(value=0.3, signal="ELECTRICITY_PRICE", kind="price", start_s=600.0),
        made_3("two", [{"type": "PRICE", "values": [0.5]}], start="12:15", made="11:30"))
    assert found.cap_w is None
    assert found.price is not None
    assert found.price.sample([0, 600, 899, 900, 1499, 1500]).tolist() == [
        0.1, 0.3, 0.3, 0.5, 0.5, 0.1]


def test_an_event_that_a_later_poll_no_longer_shows_is_cancelled(tmp_path: Path) -> None:
    shown = made_3("one", [{"type": "SIMPLE", "values": [3]}], lasts="PT30M")
    polls = [{"polledDateTime": f"2026-07-01T12:{minute}:00Z", "events": events}
             for minute, events in (("05", [shown]), ("10", [shown]), ("20", []))]
    found = replayed(tmp_path, *polls)
    assert found.cap_w is not None
    assert found.cap_w.sample([0, 299, 300, 1199, 1200]).tolist() == [
        10_000, 10_000, 5000, 5000, 10_000]


def test_a_message_in_xml_is_read_as_the_live_client_reads_it(tmp_path: Path) -> None:
    pytest.importorskip("openleadr")
    from openleadr.messaging import create_message

    given = made_2b(value=2.0, signal="SIMPLE", kind="level", last="PT10M")
    about, signal = given["event_descriptor"], given["event_signals"][0]
    about |= {"created_date_time": NOON - timedelta(hours=1), "market_context": "http://m",
              "priority": 0, "test_event": False}
    signal |= {"signal_id": "s", "intervals": [
        {"dtstart": NOON, "duration": timedelta(minutes=10), "signal_payload": 2.0, "uid": 0}]}
    given |= {"active_period": {"dtstart": NOON, "duration": timedelta(minutes=10)},
              "targets": [{"ven_id": "site"}], "response_required": "always"}
    message = create_message("oadrDistributeEvent", request_id="1", vtn_id="v", events=[given])
    file = tmp_path / "events.xml"
    file.write_text(message)
    found = replay(read_events(file, 10_000.0), 10_000.0, Signal.constant(0.1), NOON_S,
                   NOON_S + 3600.0)
    assert caps(found) == [(0.0, 7500.0), (600.0, 10_000.0)]


@pytest.mark.parametrize(("name", "text", "words"), [
    ("a.json", "{", "no JSON file of events"), ("a.json", "[]", "there are no events"),
    ("a.xml", "<a/>", "no message with events"), ("a.json", '{"events": []}', "no events")])
def test_a_file_of_another_kind_is_refused(
    name: str, text: str, words: str, tmp_path: Path
) -> None:
    pytest.importorskip("openleadr")
    (tmp_path / name).write_text(text)
    with pytest.raises(wl.InputError, match=words):
        read_events(tmp_path / name, 10_000.0)


def test_events_outside_of_the_contract_are_counted_apart_from_those_that_are_followed(
    tmp_path: Path,
) -> None:
    file = tmp_path / "events.json"
    file.write_text(json.dumps([
        made_2b("within", start_s=900), made_2b("warm-up", 5000.0, start_s=60),
        made_2b("across", 7000.0, start_s=300), made_2b("tomorrow", start_s=86_400),
        made_2b("dropped", 4000.0, start_s=1800),
        made_2b("dropped", 4000.0, start_s=1800, version=1, status="cancelled", told_s=1200)]))
    found = replay(read_events(file, 10_000.0), 10_000.0, Signal.constant(0.1), NOON_S,
                   NOON_S + 3600.0, warmup_s=800.0)
    assert set(found.followed) == {"within", "across"}
    assert set(found.outside) == {"warm-up", "tomorrow"}
    assert found.said == ("not followed: event dropped was cancelled or changed before it held",)
    # The warm-up is lived through under its event all the same.
    assert (60.0, 5000.0) in caps(found)


def test_a_version_that_is_told_again_with_other_content_is_said(tmp_path: Path) -> None:
    said = ("event one: version 0 is told again with other content; what was told last holds",)
    found = replayed(tmp_path, made_2b(start_s=60), made_2b(value=4000.0, start_s=60, told_s=-60))
    assert caps(found)[1] == (60.0, 4000.0)
    assert (found.followed, found.said) == (("one",), said)
    assert replayed(tmp_path, made_2b(), made_2b(told_s=-60)).said == ()
    later = made_2b(value=4000.0, version=1, told_s=-60)
    assert replayed(tmp_path, made_2b(), later).said == ()


def test_a_poll_that_shows_other_content_under_the_same_version_is_heard(tmp_path: Path) -> None:
    def poll(minute: int, power_kw: float) -> dict[str, Any]:
        shown = made_3("one", [{"type": "IMPORT_CAPACITY_LIMIT", "values": [power_kw]}])
        shown["payloadDescriptors"] = [{"payloadType": "IMPORT_CAPACITY_LIMIT", "units": "KW"}]
        return {"polledDateTime": f"2026-07-01T12:0{minute}:00Z", "events": [shown]}

    found = replayed(tmp_path, poll(0, 6.0), poll(3, 4.0), poll(4, 4.0))
    assert [cap for cap in caps(found) if cap[0] in (0.0, 180.0)] == [(0.0, 6000.0),
                                                                      (180.0, 4000.0)]
    assert len(found.said) == 1
    assert "is told again with other content" in found.said[0]
