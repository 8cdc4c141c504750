"""Contracts that follow events from a file, and curtailments counted from a baseline."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from tests.support.thinned import crossed
from tests.unit.grid.test_event_file import made_2b, made_3

import wattline as wl
from wattline.cli.main import cli
from wattline.demand_response import offer
from wattline.demand_response.building import case_of
from wattline.demand_response.offer import AUTO_RULES
from wattline.demand_response.reading import read_contract
from wattline.demand_response.remarks import remarks
from wattline.grid.curtailment import Curtailment, load_of_days
from wattline.grid.market import Bid
from wattline.grid.programme import BaselineTerms, programme
from wattline.model.progress import silent
from wattline.model.signal import Signal

TYPE = {"name": "one", "nodes": 1, "time_s_min": 60, "time_s_max": 90, "power_w_max": 250,
        "power_w_min": 200, "threshold": 5}
SHORT: dict[str, Any] = {
    "types": [TYPE], "servers": 10, "power_w_idle": 100, "duration": "20m", "warmup": "5m",
    "check": 0, "cycle_s": 10, "bid": (1500, 200)}
pytestmark = pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WATTLINE_PLAIN", "1")


def kept(folder: Path, *events: Any) -> Path:
    file = folder / "events.json"
    file.write_text(json.dumps(list(events)))
    return file


def billed_anew(folder: Path) -> float:
    """The bill by the rows of power.csv alone."""
    cost = 0.0
    with (folder / "power.csv").open(encoding="utf-8") as file:
        for text in csv.DictReader(file):
            row = {key: float(value) for key, value in text.items()}
            error_w = abs(row["power_w"] - row["average_w"] - row["signal"] * row["reserve_w"])
            rate = (row["energy_price"] * row["billed_w"] - row["reserve_price"] * row["reserve_w"]
                    + row["error_price"] * error_w * (row["reserve_w"] > 0))
            cost += rate * (row["end_s"] - row["start_s"]) / 3.6e6 - row["credit"]
    return cost


def test_prices_of_events_are_the_energy_price_of_the_bill(tmp_path: Path) -> None:
    file = kept(tmp_path, made_2b(value=0.7, signal="ELECTRICITY_PRICE", kind="price",
                                  start_s=300.0),
                made_3("two", [{"type": "PRICE", "values": [-0.2]}], start="12:15"))
    plain = wl.regulate(**SHORT)
    found = wl.regulate(**SHORT, events=str(file), events_begin="2026-07-01T12:00:00Z")
    folder = found.save(tmp_path / "run")
    # 1,500 W: five minutes at 0.1, ten at 0.7, five at -0.2, where it was 0.1 throughout.
    more = 1.5 * ((0.7 - 0.1) * 10 + (-0.2 - 0.1) * 5) / 60
    assert found.figures["cost"] - plain.figures["cost"] == pytest.approx(more)
    assert billed_anew(folder) == pytest.approx(found.figures["cost"])
    assert found.figures["events"]["followed"] == ["one", "two"]
    assert found.figures["events"]["prices"]
    assert found.figures["events"]["usual_w"] == 10 * 250.0  # no usual cap: the highest power


def priced_in(currency: str, name: str, start: str = "12:00") -> dict[str, Any]:
    made = made_3(name, [{"type": "PRICE", "values": [0.7]}], start=start)
    made["payloadDescriptors"][0]["currency"] = currency
    return made


def test_prices_of_two_currencies_are_not_added_up(tmp_path: Path) -> None:
    begin = {"events_begin": "2026-07-01T12:00:00Z"}
    both = kept(tmp_path, priced_in("USD", "one"), priced_in("JPY", "two", "12:10"))
    found = wl.regulate(**SHORT, events=str(both), **begin).figures
    assert (found["currency"], found["events"]["followed"]) == ("USD", ["one"])
    assert "in JPY, where the bill is in USD" in found["events"]["not_followed"][0]
    signals = made_2b(value=0.7, signal="ELECTRICITY_PRICE", kind="price")
    first, second = (signals["event_signals"][0] | {"measurement": {
        "name": "currencyPerKWh", "unit": unit}} for unit in ("EUR", "JPY"))
    one = kept(tmp_path, signals | {"event_signals": [first, second]})
    found = wl.regulate(**SHORT, events=str(one), **begin).figures
    assert found["currency"] == "EUR"
    assert "in JPY, where the bill is in EUR" in found["events"]["not_followed"][0]


def test_a_price_in_another_currency_than_the_programme_pays_in_is_not_followed(
    tmp_path: Path,
) -> None:
    given = SHORT | {"programme": "pjm-regd", "events_begin": "2026-07-01T12:00:00Z"}
    found = wl.regulate(**given, events=str(kept(tmp_path, priced_in("EUR", "one")))).figures
    assert found["events"]["followed"] == []
    assert "in EUR, where the bill is in USD" in found["events"]["not_followed"][0]
    assert (found["currency"], found["events"]["prices"]) == ("USD", False)
    paid = wl.regulate(**given, events=str(kept(tmp_path, priced_in("USD", "one")))).figures
    assert paid["cost"] > found["cost"]


def test_what_holds_in_the_warm_up_alone_is_no_contract(tmp_path: Path) -> None:
    cap = made_2b(value=1200.0, start_s=-240.0, last="PT3M", told_s=-3600.0)
    file = kept(tmp_path, cap, priced_in("USD", "price", "11:56") | {"intervals": [
        {"payloads": [{"type": "PRICE", "values": [0.7]}], "intervalPeriod": {
            "start": "2026-07-01T11:56:00Z", "duration": "PT3M"}}]})
    found = wl.regulate(**SHORT | {"bid": "range"}, events=str(file),
                        events_begin="2026-07-01T12:00:00Z")
    assert found.run.case.limit_w is None
    assert found.decision is not None  # a bid is chosen, as there is no cap
    assert found.figures["events"]["outside"] == ["one", "price"]
    assert not found.figures["events"]["prices"]
    assert found.figures["currency"] is None


def test_a_cap_of_an_event_holds_in_regulate_and_simulate(tmp_path: Path) -> None:
    kept(tmp_path, made_2b(value=1200.0, start_s=300.0, last="PT10M"), made_2b("bad", -1.0))
    scenario = tmp_path / "site.toml"
    scenario.write_text("""
[trace]
generate = "workload"
[[trace.parameters.types]]
name = "one"
nodes = 1
time_s_min = 60
time_s_max = 90
power_w_max = 250
power_w_min = 200
threshold = 50
[machine]
nodes = 10
node_idle_w = 100
[policy]
regulation = { name = "aqa", preempt = true }
[contract]
duration = "20m"
warmup = "5m"
cycle_s = 5
events = "events.json"
events_begin = "2026-07-01T12:00:00Z"
""")
    said = CliRunner().invoke(cli, ["simulate", str(scenario), "--no-folder", "--json"],
                              catch_exceptions=False)
    found = json.loads(said.stdout)
    events = found["events"]
    assert (events["limited_s"], events["limit_w_lowest"]) == (600.0, 1200.0)
    assert events["met"]
    assert found["participates"]
    assert "asks for -1 W" in events["not_followed"][0]
    run = wl.regulate(scenario).run
    start_s = 300.0 + 300.0
    inside = run.actual_w.integral(start_s + 5, start_s + 600) / 595
    before = run.actual_w.integral(start_s - 300, start_s) / 300
    assert inside <= 1200.0 < before
    text = CliRunner().invoke(cli, ["regulate", str(scenario)], catch_exceptions=False).stdout
    assert "a cap of events holds for 10 min" in text


def test_a_usual_cap_holds_where_no_event_does_and_a_bid_is_not_chosen_beside_it(
    tmp_path: Path,
) -> None:
    file = str(kept(tmp_path, made_2b(value=1.0, signal="SIMPLE", kind="level", start_s=300.0)))
    given = SHORT | {"bid": "auto", "events": file, "events_begin": "2026-07-01T12:00:00Z",
                     "events_cap": "1500W"}
    found = wl.regulate(**given)
    said = found.figures["events"]
    assert (said["limited_s"], said["limit_w_lowest"]) == (1200.0, 1350.0)
    assert found.figures["reason"].startswith("no bid is chosen beside the caps of events")
    with pytest.raises(wl.InputError, match="no bid is chosen"):
        wl.bid(**{name: value for name, value in given.items() if name != "bid"})


@pytest.mark.parametrize("usual", [None, "1500W"])
def test_a_short_event_that_is_broken_is_a_violation_beside_a_long_usual_cap(
    tmp_path: Path, usual: str | None,
) -> None:
    file = kept(tmp_path, made_2b(value=900.0, start_s=600.0, last="PT10S"))  # idle: 1,000 W
    given = SHORT | {"bid": "auto", "events": str(file), "events_begin": "2026-07-01T12:00:00Z"}
    found = wl.regulate(**given | ({} if usual is None else {"events_cap": usual})).figures
    events = found["events"]
    assert events["while_lowered"]["limited_s"] == 10.0
    assert events["while_lowered"]["exceed_share"] == 1.0
    assert events["while_usual"]["limited_s"] == (0.0 if usual is None else 1190.0)
    assert events["while_usual"]["exceed_share"] <= 0.01
    assert not events["met"]
    assert any(line.startswith("events: the power is above the cap for 100.0%")
               for line in found["violations"])
    assert not any(line.startswith("the usual cap") for line in found["violations"])


@pytest.mark.parametrize("limit", ["cap", "curtailment"])
def test_a_rule_for_a_given_bid_is_judged_by_the_limit_too(tmp_path: Path, limit: str) -> None:
    more: dict[str, Any] = {"curtailment": {"start": "5m", "duration": "10m", "share": 0.9}}
    if limit == "cap":
        file = kept(tmp_path, made_2b(value=900.0, start_s=300.0))
        more = {"events": str(file), "events_begin": "2026-07-01T12:00:00Z"}
    found = wl.regulate(**SHORT | more | {"policy": "auto", "bid": (1500, 450)}).figures
    broken = [line for line in found["violations"] if "the power is above the" in line]
    assert broken
    assert "meets all constraints" not in found["reason"]
    assert found["violations"][0] in found["reason"]


@pytest.mark.parametrize(("limit", "more"), crossed(
    ["cap", "curtailment"], [{}, {"preempt": True}, {"sleep": True, "preempt": True}],
    later=pytest.mark.long))
def test_without_a_bid_auto_takes_the_rule_that_fails_least_beside_a_limit(
    tmp_path: Path, limit: str, more: dict[str, Any]
) -> None:
    given: dict[str, Any] = SHORT | {"bid": "auto", "seed": 4, "utilisation": 0.9} | more
    if limit == "cap":
        file = kept(tmp_path, made_2b(value=1100.0, start_s=300.0))
        given |= {"events": str(file), "events_begin": "2026-07-01T12:00:00Z"}
    else:
        given |= {"curtailment": {"start": "5m", "duration": "10m", "share": 0.4}}
    alone = {rule: wl.regulate(**given | {"policy": rule}).figures for rule in AUTO_RULES}
    found = wl.regulate(**given | {"policy": "auto"}).figures
    assert found["policy"] in AUTO_RULES
    mine, (other,) = alone[found["policy"]], [alone[r] for r in AUTO_RULES if r != found["policy"]]
    assert (found["cost"], found["violations"]) == (mine["cost"], mine["violations"])
    assert not mine["violations"] or other["violations"]
    assert f"policy {found['policy']}: the run " in found["reason"]
    assert ("what would help is not searched for" in found["reason"]) == bool(mine["violations"])


def test_a_rule_that_is_tried_counts_its_curtailment_from_its_own_load() -> None:
    given = SHORT | {"programme": "emergency", "duration": "35m", "warmup": "10m",
                     "bid": (1400, 150), "utilisation": 0.8, "cycle_s": 20,
                     "types": [TYPE | {"time_s_min": 120, "time_s_max": 180}],
                     "curtailment": {"start": "20m", "duration": "10m", "share": 0.2}}
    alone = {rule: case_of(read_contract(None, given | {"policy": rule})) for rule in AUTO_RULES}
    auto = read_contract(None, given | {"policy": "auto"})
    bid = Bid(1400.0, 150.0)
    assert alone["aqa"].baseline_w != alone["qoscap"].baseline_w, "nothing is compared"
    for rule, mine in alone.items():
        assert offer._under_rule(auto, case_of(auto), rule).baseline_w == mine.baseline_w
    made = offer.make_offer(auto, case_of(auto), silent)
    assert made.case.baseline_w == alone[made.case.policy].baseline_w
    assert made.bid == bid


def test_weights_beside_the_caps_of_events_are_those_that_were_given(tmp_path: Path) -> None:
    past = made_2b("past", told_s=-86_400.0, start_s=-80_000.0)
    file = str(kept(tmp_path, made_2b(value=1200.0, start_s=300.0), past))
    other = TYPE | {"name": "two"}
    found = wl.regulate(**SHORT | {"bid": "auto", "types": [TYPE, other], "weights": (0.75, 0.25)},
                        events=file, events_begin="2026-07-01T12:00:00Z")
    assert found.figures["weights"] == {"one": 0.75, "two": 0.25}
    assert found.figures["events"]["followed"] == ["one"]
    assert found.figures["events"]["outside"] == ["past"]


def test_a_curtailment_beyond_the_contract_is_said_in_the_contract_s_own_time() -> None:
    event = {"start": "15m", "duration": "10m", "notice": "1m"}
    with pytest.raises(wl.InputError, match="ends 1500 s after the contract's start, and the "
                                            "contract lasts 1200 s; raise duration"):
        wl.regulate(**SHORT | {"bid": "auto"}, curtailment=event)


def test_events_need_the_clock_time_of_the_contract(tmp_path: Path) -> None:
    file = str(kept(tmp_path, made_2b()))
    with pytest.raises(wl.InputError, match="say when the contract begins"):
        wl.regulate(**SHORT, events=file)
    with pytest.raises(wl.InputError, match="has no zone"):
        wl.regulate(**SHORT, events=file, events_begin="2026-07-01T12:00:00")


def test_a_reduction_is_paid_and_its_lack_charged_by_hand() -> None:
    # An hour of 100 kW, an event of three: 75, 80 and 110 kW drawn, 25 kW promised.
    power_w = Signal(np.array([0.0, 3600.0, 7200.0, 10_800.0]),
                     np.array([100e3, 75e3, 80e3, 110e3]), "W")
    terms, event = programme("emergency"), Curtailment(3600.0)
    told_w = terms.told_w(power_w, 0.0, 14_400.0)
    baseline_w, words = terms.baseline.counted_w(told_w, event, 1.0, 0.0)
    assert (baseline_w, words) == (100e3, "the load in 60 min before it was heard of")
    found = terms.reductions(told_w, event, baseline_w)
    # 0.025 MWh at 500; 0.020 at 500 less 0.005 at 500; nothing less 0.025 at 500.
    assert [period.credit for period in found] == pytest.approx([12.5, 7.5, -12.5])
    assert [period.score for period in found] == pytest.approx([1.0, 0.8, 0.0])


def test_the_baseline_of_days_is_the_mean_of_the_highest() -> None:
    days = np.array([40.0, 90.0, 10.0, 70.0, 50.0, 80.0, 20.0, 60.0, 30.0, 100.0])
    power_w = Signal(86400.0 * np.arange(11), np.append(days, 5.0), "W")
    event = Curtailment(10 * 86400.0 + 3600.0)
    assert load_of_days(power_w, event, 10, 5, 0.0) == pytest.approx(80.0)
    assert load_of_days(power_w, event, 10, 5, 6 * 86400.0) is None  # four days are left
    terms = BaselineTerms(rule="days")
    few, words = terms.counted_w(power_w, event, 1.0, 6 * 86400.0)
    assert (few, words) == (pytest.approx(5.0 / 6 * 5 + 100.0 / 6),
                            "the load in 60 min before it was heard of")


def test_an_emergency_is_settled_and_its_bill_can_be_worked_out_anew(tmp_path: Path) -> None:
    given = SHORT | {"programme": "emergency", "duration": "50m", "bid": "auto", "servers": 20,
                     "policy": "aqa", "preempt": True, "curtailment": {
                         "start": "20m", "share": 0.1, "duration": "20m", "notice": "5m"}}
    found = wl.regulate(**given)
    folder = found.save(tmp_path / "run")
    kept_, terms = found.figures["curtailment"], found.figures["programme"]
    assert terms["credit_in_cost"]
    assert billed_anew(folder) == pytest.approx(found.figures["cost"])
    # Counted anew: the window before the notice reaches to the start of the warm-up.
    power_w = found.run.actual_w
    told_w = Signal(60.0 * np.arange(55), power_w.sample(60.0 * np.arange(55)))
    baseline_w = told_w.integral(0.0, 1200.0) / 1200.0
    assert kept_["baseline_w"] == pytest.approx(baseline_w)
    assert kept_["limit_w"] == pytest.approx(0.9 * baseline_w)
    # And what it reduced, by the power of the run alone, in the 20 minutes of the event.
    mean_w = power_w.integral(1500.0, 2700.0) / 1200.0
    assert kept_["power_w_mean"] == pytest.approx(mean_w)
    assert kept_["reduction_w"] == pytest.approx(baseline_w - mean_w)
    assert kept_["promised_w"] == pytest.approx(0.1 * baseline_w)
    assert kept_["baseline_from"] == "the load in 60 min before it was heard of"
    assert kept_["least"] == terms["least_score"] == programme("emergency").judged.least
    assert kept_["idle_w"] == 20 * 100.0
    within = (power_w.time_s > 1500.0) & (power_w.time_s < 2700.0)
    steps_w = np.append(power_w.sample(np.array([1500.0])), power_w.value[within])
    assert kept_["power_w_peak"] == steps_w.max()
    over = Signal(power_w.time_s, np.maximum(power_w.value - 0.9 * baseline_w, 0.0))
    assert kept_["exceed_energy_j"] == pytest.approx(over.integral(1500.0, 2700.0))
    counted = min(1.0, (baseline_w - told_w.integral(1500.0, 2700.0) / 1200.0)
                  / (0.1 * baseline_w))
    assert counted > 0
    promised_mwh = 0.1 * baseline_w * 1200.0 / 3.6e9
    assert terms["credit"] == pytest.approx(promised_mwh * (500 * counted - 500 * (1 - counted)))
    assert found.figures["participates"]
    assert found.figures["constraints_met"] is not None


def test_the_least_share_of_the_programme_judges_a_curtailment(tmp_path: Path) -> None:
    """Nine tenths of the load cannot be saved: met only where the file asks for nothing."""
    met = []
    for least in (0.0, 0.99):
        file = tmp_path / f"mine{least}.toml"
        file.write_text(
            'title = "x"\nsource = "x"\ndate = "x"\nsimplified = "x"\n'
            f'[judged]\nrule = "limit"\nleast = {least}\n[curtailment]\nstart = "5m"\n'
            'share = 0.9\nduration = "5m"\nnotice = "1m"\n')
        found = wl.regulate(**SHORT | {"bid": "auto", "programme": str(file)})
        met.append(found.figures["curtailment"]["met"])
    assert met == [True, False]


def test_what_is_not_judged_is_said() -> None:
    found = wl.regulate(**SHORT | {"duration": "1s", "cycle_s": 1, "programme": "fcr"})
    said = " ".join(found.figures["assumed"])
    assert "there is no quality of service to judge" in said
    assert "full_hz and deadband_hz of the programme have no effect" in said


def test_what_has_no_effect_beside_caps_of_events_is_said_and_not_beside_their_prices(
    tmp_path: Path,
) -> None:
    given = SHORT | {"bid": "auto", "policy": "auto", "rounds": 5, "check": 3, "forecast": 2,
                     "hold": 0.5, "latency": "5s", "below_idle": True, "standby": True,
                     "events_begin": "2026-07-01T12:00:00Z"}
    cap = str(kept(tmp_path, made_2b(value=1200.0, start_s=300.0)))
    said = remarks(read_contract(None, given | {"events": cap}))
    for name in ("rounds", "check", "forecast", "hold", "latency", "below_idle", "standby"):
        assert any(line.startswith(f"{name} has no effect: beside") for line in said), name
    assert not any(line.startswith("policy auto takes") for line in said)
    price = str(kept(tmp_path, priced_in("USD", "one")))
    assert remarks(read_contract(None, given | {"events": price})) == []


def test_a_bid_that_a_cap_keeps_from_its_target_names_the_cap(tmp_path: Path) -> None:
    cap = str(kept(tmp_path, made_2b(value=1100.0, start_s=0.0, last="PT20M")))
    found = wl.regulate(**SHORT, events=cap, events_begin="2026-07-01T12:00:00Z").figures
    assert "with the power held down by the limit, too little work" in found["violations"][0]
    assert found["bound"]["reason"] == "a limit is kept, which the bound does not know"
    free = wl.regulate(**SHORT | {"bid": (2300, 200)}).figures
    assert "held down by the limit" not in free["violations"][0]
