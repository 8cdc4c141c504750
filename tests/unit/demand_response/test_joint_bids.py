"""Sites that bid together: planned on hours that might come, tried on others, priced alike."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from tests.support.printed import columns
from tests.unit.grid.test_event_file import made_2b

import wattline as wl
from wattline.cli import bid_together
from wattline.cli.main import cli
from wattline.demand_response import jointly
from wattline.demand_response.building import case_of
from wattline.demand_response.joint_hours import joint_other_hours
from wattline.demand_response.jointly import choose_together, planned_together, same_arrivals
from wattline.demand_response.reading import contract_of, read_contract
from wattline.demand_response.reference import uncontrolled_w
from wattline.grid.bidding import Decision
from wattline.grid.bidding.problem import Trial
from wattline.grid.signals import generate
from wattline.grid.sites import join, options_of

TYPE = {"name": "one", "nodes": 1, "time_s_min": 60, "time_s_max": 90, "power_w_max": 250,
        "power_w_min": 200, "threshold": 5}
SHORT: dict[str, Any] = {
    "types": [TYPE], "servers": 10, "power_w_idle": 100, "duration": "4m", "warmup": "1m",
    "cycle_s": 5, "rounds": 4}
pytestmark = pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WATTLINE_PLAIN", "1")


def site(folder: Path, name: str, *, seed: int = 0, contract: str = "", rule: str = "aqa") -> str:
    path = folder / f"{name}.toml"
    path.write_text(f"""
[trace]
generate = "workload"
seed = {seed}
[[trace.parameters.types]]
name = "one"
nodes = 1
time_s_min = 60
time_s_max = 90
power_w_max = 250
power_w_min = 200
threshold = 5
[machine]
nodes = 10
node_idle_w = 100
[policy]
regulation = "{rule}"
[contract]
duration = "4m"
warmup = "1m"
cycle_s = 5
bid = "range"
{contract}
""")
    return str(path)


def test_a_bid_from_averages_can_be_a_part() -> None:
    cases = {name: case_of(read_contract(None, SHORT | {"seed": seed}))
             for name, seed in (("a", 1), ("b", 2))}
    found = choose_together(cases, dict.fromkeys(cases, "range"))
    tried = [decision.trials for decision in found.decisions.values()]
    assert [len(trials) for trials in tried] == [1, 1]


@pytest.mark.parametrize(("forecast", "hours"), [(0, 2), (3, 1)])
def test_staying_out_is_priced_for_the_time_that_is_planned(
    forecast: int, hours: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bid that costs a little more than the planned time without one is none of the contract."""
    case = case_of(read_contract(None, SHORT | {"duration": "2h", "cycle_s": 60}))
    alone_w = uncontrolled_w(case)
    trial = Trial(alone_w, 200.0, hours * 0.1 * alone_w / 1000.0 * 1.01, True)
    monkeypatch.setattr(jointly, "choose", lambda case, method, **asked: Decision(
        trial.bid, "found", trials=(trial,), power_w_alone=alone_w))
    found = choose_together({"a": case}, {"a": "descent"}, forecast=forecast)
    assert not found.participates
    assert found.joint.reason == "do not participate: staying out is cheaper"
    # And what is then paid is for both hours.
    assert found.cost == pytest.approx(found.runs["a"].settlement.cost)
    assert found.cost > 1.5 * found.joint.cost / hours


def test_what_a_site_draws_that_stays_out_is_no_part_of_the_offer_but_of_the_cost(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two hours of two sites, of which one alone finds a bid, and that of the first hour."""
    cases = {name: case_of(read_contract(None, SHORT | {"duration": "2h", "cycle_s": 60,
                                                        "seed": seed}))
             for name, seed in (("in", 1), ("out", 2))}
    trial = Trial(1500.0, 200.0, 0.01, True)
    decisions = iter([Decision(trial.bid, "found", trials=(trial,)), Decision(None, "none")])
    monkeypatch.setattr(jointly, "choose", lambda case, method, **asked: next(decisions))
    found = choose_together(cases, dict.fromkeys(cases, "descent"))
    assert (found.joint.average_w, found.joint.reserve_w) == (1500.0, 200.0)
    assert found.bill is not None
    stays_out = found.runs["out"].settlement.cost
    assert stays_out > 0
    assert found.cost == pytest.approx(found.bill.cost + stays_out)
    assert found.cost_apart == pytest.approx(found.runs["in"].settlement.cost + stays_out)
    rows = bid_together._result(found)["sites"]
    assert sum(row["cost"] for row in rows.values()) == pytest.approx(found.cost_apart)


def test_energy_that_is_only_put_off_makes_no_joint_bid() -> None:
    later, gains = Trial(800.0, 50.0, 0.082, True), Trial(1000.0, 50.0, 0.097, True)
    assert join({"a": options_of([later], 1000.0, 0.1)}).reserve_w == 0.0
    joint = join({"a": options_of([later, gains], 1000.0, 0.1)})
    assert (joint.average_w, joint.cost) == (1000.0, pytest.approx(0.097))


def test_sites_are_planned_on_hours_that_might_come_where_all_have_such() -> None:
    plain = read_contract(None, SHORT)
    labelled = read_contract(None, SHORT | {"types": [TYPE, TYPE | {"name": "two"}],
                                            "mislabelled": 0.5})
    assert contract_of(planned_together([plain, plain])).forecast == 30
    assert contract_of(planned_together([plain, labelled])).forecast == 0
    own = read_contract(None, SHORT | {"forecast": 3})
    assert contract_of(planned_together([own, plain])).forecast == 3


def test_a_joint_bid_is_tried_on_other_hours_with_other_jobs_at_each_site() -> None:
    cases = {name: case_of(read_contract(None, SHORT | {"seed": 1})) for name in ("a", "b")}
    found = choose_together(cases, dict.fromkeys(cases, "range"))
    if not found.participates:
        pytest.fail(found.joint.reason)
    signal = generate(np.random.default_rng(1), 240.0)
    hours = joint_other_hours(found, 3, seed=1, signals=[signal])
    assert hours.hours == 3
    assert 0 <= hours.met <= 3
    assert (hours.met == 3) == (not hours.fails)
    assert hours.saving[1] < hours.saving[0] < hours.saving[2]


def test_sites_with_the_same_jobs_are_named() -> None:
    one, other = (read_contract(None, SHORT | {"seed": seed}) for seed in (1, 2))
    assert same_arrivals({"a": one, "b": other, "c": one}) == [("a", "c")]


def test_the_command_plans_and_tries_the_joint_bid(tmp_path: Path) -> None:
    argv = ["bid", site(tmp_path, "north"), "--with", site(tmp_path, "south", seed=1),
            "--forecast", "2", "--hold", "0.5", "--check", "2"]
    found = json.loads(CliRunner().invoke(cli, [*argv, "--json"], catch_exceptions=False).stdout)
    assert found["planned_on_hours"] == 2
    assert found["participates"] == (found["other_hours"] is not None)
    if found["participates"]:
        assert found["other_hours"]["hours"] == 2
    said = CliRunner().invoke(cli, argv, catch_exceptions=False).output
    assert "planned on 2 blocks of 4 min that might come" in said
    assert columns(said, "site", "average W", "reserve W") == [
        ("north", "1,750", "750"), ("south", "1,750", "750")]
    assert (found["average_power_w"], found["reserve_w"]) == (3500.0, 1500.0)


def test_what_sites_together_cannot_do_is_refused_or_said(tmp_path: Path) -> None:
    north = site(tmp_path, "north")
    argv = ["bid", north, "--forecast", "0", "--check", "0", "--with"]
    with pytest.raises(wl.InputError, match="site 'auto': of sites that bid together the policy"):
        CliRunner().invoke(cli, [*argv, site(tmp_path, "auto", rule="auto")],
                           catch_exceptions=False)
    same = CliRunner().invoke(cli, [*argv, site(tmp_path, "same", contract="start_share = 0.5")],
                              catch_exceptions=False).output
    assert "sites 'north' and 'same' have the same jobs at the same moments" in same
    assert "wattline: site 'same': start_share has no effect" in same


def test_what_has_no_effect_at_all_sites_is_said_once(tmp_path: Path) -> None:
    own = "start_share = 0.5"
    paths = [site(tmp_path, name, seed=number, contract=own)
             for number, name in enumerate(("north", "south", "west"), 1)]
    (tmp_path / "west.toml").write_text(
        (tmp_path / "west.toml").read_text().replace(own, own + "\nweights = [1.0]"))
    said = CliRunner().invoke(
        cli, ["bid", paths[0], "--forecast", "0", "--check", "0", "--with", paths[1], "--with",
              paths[2]], catch_exceptions=False).output.splitlines()
    shares = [line for line in said if "start_share has no effect" in line]
    assert shares == ["wattline: start_share has no effect: it is chosen with the bid"]
    weights = [line for line in said if "weights have no effect" in line]
    assert weights == [
        "wattline: site 'west': weights have no effect: they are chosen with the bid"]


def test_flags_hold_for_all_sites_or_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, Any] = {}

    def seen(cases: dict[str, Any], methods: dict[str, str], **planning: Any) -> None:
        asked.update(cases=cases, methods=methods)
        raise wl.InputError("seen")

    monkeypatch.setattr(jointly, "choose_together", seen)
    argv = ["bid", site(tmp_path, "north"), "--with", site(tmp_path, "south", seed=1)]
    flags = ["--standby", "--sleep", "--preempt", "--policy", "qoscap", "--latency", "10s",
             "--duration", "5m", "--bid", "heuristic"]
    with pytest.raises(wl.InputError, match="seen"):
        CliRunner().invoke(cli, [*argv, *flags], catch_exceptions=False)
    assert asked["methods"] == {"north": "heuristic", "south": "heuristic"}
    for case in asked["cases"].values():
        assert case.workload.standby is not None
        assert case.sleep is not None
        assert (case.preempt, case.policy, case.latency_s) == (True, "qoscap", 10.0)
        assert case.end_s - case.judged_s == 300.0
    for flag, value in (("--servers", "5"), ("--seed", "3"), ("--level", "tight"),
                        ("--workload", "W2"), ("--pue", "1.2")):
        with pytest.raises(wl.InputError, match=f"{flag} beside --with.*in each site's file"):
            CliRunner().invoke(cli, [*argv, flag, value], catch_exceptions=False)


def test_events_of_another_site_have_no_effect_as_is_said(tmp_path: Path) -> None:
    event = made_2b(value=1200.0, start_s=60.0, last="PT1M")
    (tmp_path / "events.json").write_text(json.dumps([event]))
    other = site(tmp_path, "south", seed=1, contract="""events = "events.json"
events_begin = "2026-07-01T12:00:00Z" """)
    found = CliRunner().invoke(cli, ["bid", site(tmp_path, "north"), "--with", other,
                                     "--forecast", "0", "--check", "0"], catch_exceptions=False)
    assert "site 'south': events has no effect" in found.output
    assert found.exit_code == 0


def test_a_least_reserve_below_zero_is_refused(tmp_path: Path) -> None:
    with pytest.raises(wl.InputError, match="--least-reserve is -5kW; a reserve is 0 W or more"):
        CliRunner().invoke(cli, ["bid", site(tmp_path, "a"), "--least-reserve", "-5kW"],
                           catch_exceptions=False)


def test_a_reserve_below_the_least_offer_is_said(tmp_path: Path) -> None:
    argv = ["bid", site(tmp_path, "a"), "--with", site(tmp_path, "b", seed=1),
            "--forecast", "0", "--check", "0", "--programme", "fcr", "--json"]
    found = json.loads(CliRunner().invoke(cli, argv, catch_exceptions=False).stdout)
    assert found["participates"] == ("least offer of 1,000,000 W" in found["least_offer"])


@pytest.mark.parametrize("least_w", [0.0, 500.0])
@pytest.mark.parametrize(("trials", "why"), [
    ((), "no site has a bid that meets all constraints"),
    ((Trial(1000.0, 50.0, 0.08, False),), "no site has a bid that meets all constraints"),
    ((Trial(1000.0, 50.0, 0.2, True),), "staying out is cheaper"),
])
def test_why_nobody_bids_is_told_apart(
    trials: tuple[Trial, ...], why: str, least_w: float
) -> None:
    joint = join({name: options_of(trials, 1000.0, 0.1) for name in ("a", "b")}, least_w)
    assert (joint.average_w, joint.reserve_w) == (0.0, 0.0)
    most_w = 2 * max((t.reserve_w for t in trials if t.feasible), default=0.0)
    short = f"together the sites offer at most {most_w:.6g} W, {least_w - most_w:.6g} W below"
    assert joint.reason.startswith(f"do not participate: {why if least_w == 0.0 else short}")


def test_who_stays_out_is_told_why_and_where_to_ask(tmp_path: Path) -> None:
    hopeless = site(tmp_path, "small").replace("small.toml", "full.toml")
    Path(hopeless).write_text(Path(site(tmp_path, "small", seed=1)).read_text().replace(
        "threshold = 5", "threshold = 0.0001"))
    said = CliRunner().invoke(cli, ["bid", hopeless, "--least-reserve", "1W", "--forecast", "0",
                                    "--check", "0"], catch_exceptions=False).output
    assert "do not participate: together the sites offer at most 0 W" in said
    assert "  full: " in said
    assert "`wattline bid` for such a site alone says what would help, and its bound" in said
