"""Orders of operators: shown, confirmed, journalled, done; and nothing else is."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.asking import Asking
from tests.support.demos import KeptDemo

from wattline.model.errors import InputError
from wattline.web.act_journal import ActJournal
from wattline.web.app import create_app
from wattline.web.confirming import VALID_S, Confirmations
from wattline.web.serving import open_source, serve
from wattline.web.settings import Settings
from wattline.web.sources.shape import Act

LOWER = {"action": "set_cap", "value": {"watts": 55_000}}


def applied(demo: Asking, wanted: dict[str, Any]) -> Any:
    shown = demo.post("/api/operator/preview", wanted).json()
    return demo.post("/api/operator/apply", {**wanted, "confirm": shown["confirm"]})


def test_a_lower_cap_changes_what_is_to_come_and_not_what_was(tmp_path: Path) -> None:
    source = KeptDemo(speed=0.0, jobs=200)
    demo = Asking(create_app(source, Settings(journal=tmp_path / "actions.jsonl")))
    before, past = demo.get("/api/now"), demo.get("/api/history", points=10_000)
    assert before["power_w"] > 55_000
    said = demo.post("/api/operator/preview", LOWER).json()
    assert f"{(before['power_w'] - 55_000) / 1e3:.4g} kW above" in said["consequences"][0]
    assert "would start later" in said["consequences"][1]
    assert demo.get("/api/now")["cap_w"] == before["cap_w"]
    done = demo.post("/api/operator/apply", {**LOWER, "confirm": said["confirm"]})
    assert done.status_code == 200
    after = demo.get("/api/now")
    assert after["cap_w"] == 55_000 >= after["power_w"]
    order = after["decisions"][0]
    assert (order["who"], order["text"]) == ("local", "a cap of 55 kW")
    kept = demo.get("/api/history", points=10_000)
    upto = sum(time_s < before["time_s"] for time_s in past["time_s"]) - 1
    assert kept["time_s"][:upto] == past["time_s"][:upto]
    assert kept["power_w"][:upto] == past["power_w"][:upto]
    lines = [json.loads(line) for line in (tmp_path / "actions.jsonl").read_text().splitlines()]
    assert [(line["who"], line["action"], line["outcome"]) for line in lines] == [
        ("local", "set_cap", "asked"), ("local", "set_cap", "done")]
    assert all(line["time_s"] > 1e9 for line in lines)
    assert demo.get("/api/operator/journal")["lines"] == lines[::-1]


def test_a_cap_that_cannot_be_kept_is_an_alarm() -> None:
    demo = Asking(create_app(KeptDemo(speed=0.0, jobs=200)))
    assert demo.get("/api/now")["alarms"] == []
    said = demo.post("/api/operator/preview", {"action": "set_cap", "value": 45_000}).json()
    assert "cannot be kept at once" in said["consequences"][1]
    applied(demo, {"action": "set_cap", "value": 45_000})
    now = demo.get("/api/now")
    alarm, = now["alarms"]
    assert alarm["level"] == "critical"
    assert alarm["text"].endswith("above the cap of 45 kW")
    assert alarm["text"].split(" above")[0] in said["consequences"][1]
    assert alarm["since_s"] == pytest.approx(now["time_s"], rel=0, abs=1e-3)


def test_a_reservation_holds_and_can_be_withdrawn() -> None:
    demo = Asking(create_app(KeptDemo(speed=0.0, jobs=60)))
    cap_w = demo.get("/api/now")["cap_w"]
    wanted = {"action": "reserve", "value": {"watts": 5000, "duration_s": 3600, "name": "crane"}}
    assert applied(demo, wanted).status_code == 200
    now = demo.get("/api/now")
    assert now["cap_w"] == cap_w - 5000
    kept, = now["reservations"]
    assert (kept["name"], kept["watts"]) == ("crane", 5000)
    assert kept["end_s"] - kept["start_s"] == 3600
    twice = demo.post("/api/operator/preview", wanted)
    assert twice.status_code == 422
    assert "'crane' already" in twice.json()["error"]
    assert applied(demo, {"action": "unreserve", "value": {"name": "crane"}}).status_code == 200
    assert demo.get("/api/now")["cap_w"] == cap_w


def test_a_reservation_that_is_withdrawn_ends_then_and_was_there_before() -> None:
    passed_s = [0.0]
    source = KeptDemo(speed=1.0, jobs=200, monotonic=lambda: passed_s[0])
    demo = Asking(create_app(source))
    crane = {"action": "reserve", "value": {"watts": 15_000, "duration_s": 40_000, "name": "crane"}}
    withdrawn = {"action": "unreserve", "value": {"name": "crane"}}
    assert applied(demo, crane).status_code == 200
    passed_s[0] += 1234.567
    source.turn()
    now, past, bill = demo.get("/api/now"), demo.get("/api/history", points=10_000), source.bill(
        "user", None)
    assert now["cap_w"] == 55_000
    assert applied(demo, withdrawn).status_code == 200
    after = demo.get("/api/now")
    assert (after["time_s"], after["cap_w"], after["reservations"]) == (now["time_s"], 70_000, [])
    kept = demo.get("/api/history", points=10_000)
    upto = sum(time_s < now["time_s"] - 1e-6 for time_s in past["time_s"])
    for name in ("time_s", "power_w", "cap_w", "queued"):
        assert kept[name][:upto] == past[name][:upto]
    for was, line in zip(bill.lines, source.bill("user", None).lines, strict=True):
        assert (line.name, line.energy_j) == (was.name, pytest.approx(was.energy_j, rel=1e-9))
    again = demo.post("/api/operator/preview", withdrawn)
    assert again.json()["error"] == "there is no reservation 'crane'; there is none"
    assert applied(demo, crane).status_code == 200  # the name is free again
    assert demo.get("/api/now")["cap_w"] == 55_000


def test_no_order_changes_a_joule_that_was_used() -> None:
    source = KeptDemo(speed=0.0, jobs=200)
    every = np.arange(200)

    def used_j() -> np.ndarray:
        return source.shown.index.energy_at(source.shown.moment(), every)

    before_j, total_j = used_j(), source.energy_j()
    ends_s = source.shown.index.end_s
    for act in (Act("set_cap", {"watts": 55_000}), Act("reserve", {
            "watts": 5000, "duration_s": 7200, "name": "crane"}), Act("unreserve", {
            "name": "crane"}), Act("set_cap", {"watts": None})):
        source.apply(act, "ann")
        assert used_j() == pytest.approx(before_j, rel=1e-9)
        assert source.energy_j() == pytest.approx(total_j, rel=1e-9)
    assert not np.array_equal(source.shown.index.end_s, ends_s)


def test_an_order_that_fails_is_journalled_with_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    source = KeptDemo(speed=0.0, jobs=60)
    demo = Asking(create_app(source))
    token = demo.post("/api/operator/preview", LOWER).json()["confirm"]

    def broken(act: Act, who: str) -> None:
        raise ZeroDivisionError("/a/path/of/the/server")

    monkeypatch.setattr(source, "apply", broken)
    with pytest.raises(ZeroDivisionError):
        demo.post("/api/operator/apply", {**LOWER, "confirm": token})
    last, first = demo.get("/api/operator/journal")["lines"]
    assert (first["outcome"], last["outcome"]) == ("asked", "failed")
    assert last["said"] == ("the server failed (ZeroDivisionError); this is a mistake of its own")


def test_without_a_confirmation_of_this_very_action_nothing_is_done() -> None:
    demo = Asking(create_app(KeptDemo(speed=0.0, jobs=60)))
    token = demo.post("/api/operator/preview", LOWER).json()["confirm"]
    other = {"action": "set_cap", "value": {"watts": 56_000}}
    for wanted, confirm in ((other, token), (LOWER, ""), (LOWER, "1.2.3"), (LOWER, token[:-1])):
        refused = demo.post("/api/operator/apply", {**wanted, "confirm": confirm})
        assert refused.status_code == 422
    assert demo.get("/api/now")["cap_w"] == 70_000
    assert demo.post("/api/operator/apply", {**LOWER, "confirm": token}).status_code == 200
    again = demo.post("/api/operator/apply", {**LOWER, "confirm": token})
    assert "has been used" in again.json()["error"]


def test_a_confirmation_is_of_one_user_and_of_two_minutes() -> None:
    now_s = [1000.0]
    confirmations = Confirmations(lambda: now_s[0])
    act = Act("set_cap", {"watts": 1.0})
    with pytest.raises(InputError, match="not of this action"):
        confirmations.take(act, "bob", confirmations.make(act, "ann"))
    token = confirmations.make(act, "ann")
    now_s[0] += VALID_S + 2
    with pytest.raises(InputError, match="older than 120 s"):
        confirmations.take(act, "ann", token)


@pytest.mark.parametrize("wanted", [
    {"action": "explode", "value": 1}, {"action": "set_cap", "value": -5},
    {"action": "set_cap", "value": {"watts": "many"}}, {"action": "set_cap", "value": {"volts": 1}},
    {"action": "reserve", "value": {"watts": 5}}, {"action": "unreserve", "value": {"name": ""}},
    {"action": "unreserve", "value": {"name": "nobody"}}, {"action": "set_cap", "value": True},
    {"action": "reserve", "value": {"watts": 5, "duration_s": 1e300}}, {"value": 1},
    {"action": "set_mode", "value": {"mode": "auto"}}, {"action": "set_mode", "value": None},
    {"action": "set_mode", "value": {"mode": "guard"}},
])
def test_what_cannot_be_meant_is_refused_in_one_sentence(wanted: dict[str, Any]) -> None:
    demo = Asking(_APP)
    refused = demo.post("/api/operator/preview", wanted)
    assert refused.status_code in (404, 422)
    assert refused.json()["error"]


_APP = create_app(KeptDemo(speed=0.0, jobs=40))


def test_what_cannot_be_journalled_is_not_done(tmp_path: Path) -> None:
    settings = Settings(journal=tmp_path / "missing" / "actions.jsonl")
    demo = Asking(create_app(KeptDemo(speed=0.0, jobs=60), settings))
    refused = applied(demo, LOWER)
    assert refused.status_code == 503
    assert "nothing was done" in refused.json()["error"]
    assert str(tmp_path) not in refused.text
    assert demo.get("/api/now")["cap_w"] == 70_000


def test_a_run_that_is_over_takes_no_orders() -> None:
    demo = Asking(create_app(_APP.state.source.shown))
    refused = demo.post("/api/operator/preview", LOWER)
    assert refused.status_code == 422
    assert "over" in refused.json()["error"]


def test_the_journal_of_actions_is_its_owners_alone(tmp_path: Path) -> None:
    journal = ActJournal(tmp_path / "acts.jsonl")
    journal.asked("ann", Act("cap", {"watts": 1.0}))
    assert (tmp_path / "acts.jsonl").stat().st_mode & 0o777 == 0o600


def test_a_server_that_is_started_again_knows_what_was_ordered_before(tmp_path: Path) -> None:
    path = tmp_path / "acts.jsonl"
    before = Asking(create_app(KeptDemo(speed=0.0, jobs=40), Settings(journal=path)))
    assert applied(before, LOWER).status_code == 200
    with path.open("a") as file:
        file.write('{"time_s": 12.0, "who": "half a l')
    after = Asking(create_app(KeptDemo(speed=0.0, jobs=40), Settings(journal=path)))
    lines = after.get("/api/operator/journal")["lines"]
    assert [line["outcome"] for line in lines] == ["done", "asked"]
    assert lines == before.get("/api/operator/journal")["lines"]


def test_what_was_done_is_said_to_be_done_where_the_journal_breaks_then(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "acts.jsonl"
    path.parent.mkdir()
    source = KeptDemo(speed=0.0, jobs=40)
    app = create_app(source, Settings(journal=path))
    apply = source.apply

    def breaking(act: Act, who: str) -> Any:
        path.unlink()
        path.parent.rmdir()
        return apply(act, who)

    source.apply = breaking  # type: ignore[method-assign]
    demo = Asking(app)
    done = applied(demo, LOWER)
    assert done.status_code == 200
    assert "cannot be written" in done.json()["remarks"][-1]
    assert str(tmp_path) not in done.text
    assert demo.get("/api/now")["cap_w"] == 55_000


def test_a_value_that_was_forgotten_lifts_no_cap() -> None:
    demo = Asking(_APP)
    assert demo.post("/api/operator/preview", {"action": "set_cap"}).status_code == 422
    assert demo.post("/api/operator/preview", {"action": "set_cap", "value": None}).status_code == (
        200)


def test_a_journal_that_cannot_be_written_is_found_out_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        serve(demo=True, journal=tmp_path / "missing" / "acts.jsonl")


@pytest.mark.parametrize("speed", [math.nan, math.inf, -1.0])
def test_a_speed_is_a_number(speed: float) -> None:
    for given in ({"demo": True}, {"run": "nowhere"}):
        with pytest.raises(InputError, match="speed is"):
            open_source(speed=speed, **given)  # type: ignore[arg-type]


def test_a_reservation_without_a_name_is_given_one_that_is_said() -> None:
    demo = Asking(create_app(KeptDemo(speed=0.0, jobs=60)))
    wanted = {"action": "reserve", "value": {"watts": 5000, "duration_s": 3600}}
    shown = demo.post("/api/operator/preview", wanted).json()["consequences"]
    assert shown[-1] == "it is called reserved-1"
    assert applied(demo, wanted).json()["said"].endswith("it is called reserved-1")
    assert [each["name"] for each in demo.get("/api/now")["reservations"]] == ["reserved-1"]
    applied(demo, {"action": "unreserve", "value": {"name": "reserved-1"}})
    assert demo.get("/api/now")["reservations"] == []


@pytest.mark.parametrize("wanted", [
    {"action": "set_cap", "value": 1}, {"action": "set_cap", "value": 31_000},
    {"action": "reserve", "value": {"watts": 40_000, "duration_s": 3600, "in_s": 7200}},
])
def test_a_cap_below_idle_power_is_refused_as_scenarios_refuse_it(wanted: dict[str, Any]) -> None:
    refused = Asking(_APP).post("/api/operator/preview", wanted)
    assert refused.status_code == 422
    assert "idle nodes alone draw" in refused.json()["error"]
