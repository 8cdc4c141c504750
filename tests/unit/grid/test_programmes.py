"""Programmes of grid operators: what their signals mean, how they score, what they pay."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import wattline as wl
from wattline.demand_response.building import case_of, level_of
from wattline.demand_response.choosing import problem_of
from wattline.demand_response.pooling import simulator
from wattline.demand_response.reading import contract_of, read_contract
from wattline.grid.bidding.exhaustive import exhaustive_bid
from wattline.grid.market import Bid, Contract
from wattline.grid.programme import SHIPPED, programme
from wattline.model.signal import Signal

TIMES_S = 10.0 * np.arange(360)
LEVEL = Signal(TIMES_S, np.sin(TIMES_S / 200.0))
CONTRACT = Contract.fixed(Bid(1000.0, 100.0))
TYPE = {"name": "one", "nodes": 1, "time_s_min": 60, "time_s_max": 90, "power_w_max": 250,
        "power_w_min": 200, "threshold": 5}
SHORT = {"types": [TYPE], "servers": 10, "power_w_idle": 100, "duration": "4m", "warmup": "0s",
         "check": 0, "cycle_s": 2}


def power(level: np.ndarray) -> Signal:
    return Signal(TIMES_S, 1000.0 + 100.0 * level, "W")


def score(name: str, response: np.ndarray) -> float:
    return programme(name).score(power(response), CONTRACT, LEVEL, 0.0, 3600.0)


def test_every_shipped_programme_says_where_it_is_from_and_what_is_simplified() -> None:
    for name in SHIPPED:
        found = programme(name)
        assert found.source
        assert found.date
        assert found.simplified
        assert 0 < found.judged.least <= 1


def test_a_positive_signal_of_generators_asks_a_load_for_less() -> None:
    given = Signal(np.array([0.0, 4.0]), np.array([0.5, -1.0]))
    assert programme("pjm-regd").level(given).value.tolist() == [-0.5, 1.0]


def test_a_set_point_of_one_direction_activates_the_product_that_it_is_for() -> None:
    given = Signal(np.array([0.0, 4.0, 8.0]), np.array([0.0, 0.5, 1.0]))
    assert programme("afrr-up").level(given).value.tolist() == [0.0, -0.5, -1.0]
    assert programme("afrr-down").level(given).value.tolist() == [0.0, 0.5, 1.0]
    for name in ("afrr-up", "afrr-down"):
        with pytest.raises(wl.InputError, match=r"the reserve, 0 to 1; it is -0\.3 at 4 s"):
            programme(name).level(Signal(np.array([0.0, 4.0]), np.array([0.5, -0.3])))


def test_a_signed_set_point_calls_only_the_direction_that_is_offered(tmp_path: Path) -> None:
    path = tmp_path / "both.toml"
    path.write_text('title = "ours"\nsource = "us"\ndate = "2026"\nsimplified = "all"\n[signal]\n'
                    'sign = "generation"\nproduct = "down"\n[judged]\nrule = "band"\nleast = 0.9\n')
    given = Signal(np.array([0.0, 4.0]), np.array([0.5, -1.0]))
    assert programme(str(path)).level(given).value.tolist() == [0.0, 1.0]


def test_a_share_of_the_reserve_needs_a_direction(tmp_path: Path) -> None:
    path = tmp_path / "which.toml"
    path.write_text('title = "ours"\nsource = "us"\ndate = "2026"\nsimplified = "all"\n[signal]\n'
                    'sign = "activation"\n[judged]\nrule = "band"\nleast = 0.9\n')
    with pytest.raises(wl.InputError, match='needs a product "up" or "down"'):
        programme(str(path))


def test_a_droop_turns_frequency_into_a_level() -> None:
    hertz = Signal(4.0 * np.arange(5), np.array([0.005, 0.11, -0.11, 0.5, -0.5]))
    assert programme("fcr").level(hertz).value == pytest.approx([0.0, 0.55, -0.55, 1.0, -1.0])


def test_the_score_of_pjm_is_one_for_a_response_without_delay_or_error() -> None:
    assert score("pjm-regd", LEVEL.value) == pytest.approx(1.0)
    assert score("pjm-regd", -LEVEL.value) < 0.5


def test_pjm_takes_the_delay_at_which_correlation_and_delay_together_score_most() -> None:
    quick = Signal(TIMES_S, np.random.default_rng(1).uniform(-1, 1, TIMES_S.size))
    late = np.concatenate((np.zeros(12), quick.value[:-12]))
    found = programme("pjm-regd").score(power(late), CONTRACT, quick, 0.0, 3600.0)
    # Only two minutes later does anything go with a signal that jumps: correlation 1, delay 0.6.
    assert found == pytest.approx((1.0 + 0.6) / 3, abs=0.03)
    # A slow sine goes with itself at a shorter delay nearly as well, which then scores more.
    slow = np.concatenate((np.full(12, LEVEL.value[0]), LEVEL.value[:-12]))
    error = float(np.abs(slow - LEVEL.value).mean() / np.abs(LEVEL.value).mean())
    assert score("pjm-regd", slow) > (1.0 + 0.6 + 1.0 - error) / 3 + 0.02


def test_pjm_compares_slopes_where_the_signal_stands_still() -> None:
    still = Signal(TIMES_S, np.full(TIMES_S.size, 0.5))
    there = programme("pjm-regd").score(power(still.value), CONTRACT, still, 0.0, 3600.0)
    assert there == pytest.approx(1.0)
    half = programme("pjm-regd").score(power(0.5 * still.value), CONTRACT, still, 0.0, 3600.0)
    assert half == pytest.approx((1.0 + 1.0 + 0.5) / 3)


def test_pjm_gives_a_response_that_never_moves_nothing_for_being_prompt() -> None:
    assert score("pjm-regd", np.zeros(TIMES_S.size)) == pytest.approx(0.0)


@pytest.mark.filterwarnings("error")
def test_a_contract_shorter_than_the_longest_delay_has_a_score_too() -> None:
    found = programme("pjm-regd").score(power(LEVEL.value), CONTRACT, LEVEL, 0.0, 120.0)
    assert found == pytest.approx(1.0)


def test_a_band_counts_the_time_inside_it() -> None:
    off = LEVEL.value + np.where(TIMES_S < 900.0, 0.2, 0.05)
    assert score("fcr", off) == pytest.approx(0.75, abs=0.01)


def test_credits_are_for_reserve_score_and_mileage() -> None:
    found = programme("pjm-regd")
    moved = float(np.abs(np.diff(LEVEL.value)).sum())
    expected = 2.0 * 0.9 * (51.95 + moved / 5.0 * 1.45)
    assert found.credit(2.0, 0.9, LEVEL, 1.0) == pytest.approx(expected)


def test_a_contract_is_judged_by_its_programme(tmp_path: Path) -> None:
    asked = SHORT | {"bid": (1500, 200)}
    plain, judged = (wl.regulate(**asked, **more).figures
                     for more in ({}, {"programme": "pjm-regd"}))
    assert plain["programme"] is None
    assert plain["score"] == pytest.approx(1 - plain["tracking"]["exceed_share"])
    assert judged["score"] == judged["tracking"]["score"]
    terms = judged["programme"]
    assert terms["sites_needed"] == 500  # of 200 W, for 100 kW
    assert terms["credit"] > 0
    failed = [line for line in judged["violations"] if line.startswith("score: ")]
    assert bool(failed) == (judged["score"] < 0.75)
    assert not [line for line in judged["violations"] if line.startswith("tracking: ")]


@pytest.mark.parametrize(("minimum_w", "sites"), [
    (100_000.0, 498), (402.0, 2), (403.0, 3), (202.0, 2), (201.0, None), (0.0, None)])
def test_so_many_sites_are_needed_that_together_they_reach_the_least_offer(
    tmp_path: Path, minimum_w: float, sites: int | None
) -> None:
    """Each of 201 W: 497 of them have 99,897 W of 100 kW, 498 have 100,098 W."""
    path = tmp_path / "mine.toml"
    path.write_text('title = "ours"\nsource = "us"\ndate = "2026"\nsimplified = "all"\n'
                    f'[judged]\nrule = "band"\nleast = "90%"\n[terms]\nminimum_w = {minimum_w}\n'
                    '[payment]\ncurrency = "EUR"\ncapability_per_mwh = 10\n')
    found = wl.regulate(**SHORT | {"bid": (1500, 201), "programme": str(path)}).figures
    terms = found["programme"]
    assert (terms["minimum_w"], found["reserve_w"]) == (minimum_w, 201.0)
    assert terms["sites_needed"] == sites
    assert terms["least_score"] == 0.9
    period, = terms["periods"]  # of four minutes
    assert (period["start_s"], period["end_s"]) == (0.0, 240.0)
    assert period["reserve_mwh"] == pytest.approx(201e-6 * 4 / 60)
    assert period["credit"] == pytest.approx(10 * period["reserve_mwh"] * period["score"])


def test_an_emergency_brings_its_event_and_is_scored_by_its_limit() -> None:
    scenario = read_contract(None, {"types": [TYPE], "servers": 10, "power_w_idle": 100,
                                    "cycle_s": 20, "programme": "emergency"})
    contract = contract_of(scenario)
    assert contract.curtailment is not None
    assert (contract.curtailment.start, contract.duration) == (3600, 5 * 3600)
    assert case_of(scenario).limit_w is not None
    own = {"start": "10m", "duration": "20m", "share": 0.1, "notice": "5m"}
    given = contract_of(read_contract(None, {"programme": "emergency", "curtailment": own}))
    assert given.curtailment is not None
    assert given.curtailment.start == 600


def test_ones_own_programme_is_a_file_and_a_wrong_name_says_which_there_are(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('title = "ours"\nsource = "us"\ndate = "2026"\nsimplified = "all"\n'
                    '[signal]\nsign = "generation"\n[judged]\nrule = "band"\nleast = "90%"\n')
    contract = contract_of(read_contract(None, {"programme": str(path), "signal": "s.csv"}))
    assert level_of(contract, Signal.constant(0.25)).value.tolist() == [-0.25]
    with pytest.raises(wl.InputError, match="there are: pjm-regd"):
        wl.regulate(**SHORT, bid=(1500, 200), programme="pjm")
    path.write_text('title = "ours"\n')
    with pytest.raises(wl.InputError, match=r"mine2\.toml"):
        programme(str(path.rename(tmp_path / "mine2.toml")))


@pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
def test_a_programme_s_credit_is_in_the_bill_unless_the_contract_prices_reserve_itself() -> None:
    asked = SHORT | {"bid": (1500, 200), "programme": "fcr", "standby": True}
    energy = {"energy": 0.2}
    done = wl.regulate(**asked, prices=energy)
    found = done.figures
    terms = found["programme"]
    assert terms["credit_in_cost"]
    assert terms["credit"] == pytest.approx(found["score"] * 15.0 * 200e-6 * 4 / 60)
    assert found["cost"] == pytest.approx(
        0.2 * done.run.settlement.energy_kwh - terms["credit"])
    assert done.run.settlement.energy_kwh != pytest.approx(1.5 * 4 / 60, abs=1e-6)
    assert found["currency"] == "EUR"
    assert [line for line in found["assumed"] if "price" in line] == []
    own = wl.regulate(**asked, prices=energy | {"reserve": 0.1}).figures
    assert not own["programme"]["credit_in_cost"]
    assert "price of reserve" in own["programme"]["not_in_cost"]
    other = wl.regulate(**asked, prices=energy | {"currency": "USD"}).figures
    assert "priced in USD" in other["programme"]["not_in_cost"]


def test_a_score_too_low_earns_nothing_and_penalties_are_charged() -> None:
    found = programme("pjm-regd")
    assert found.credit(2.0, 0.2, LEVEL, 1.0) == 0.0
    pays = found.payment.model_copy(update={"penalty_per_mwh": 10.0})
    strict = found.model_copy(update={"payment": pays})
    assert strict.credit(2.0, 0.2, LEVEL, 1.0) == pytest.approx(-2.0 * 0.8 * 10.0)
    lost = found.credit(2.0, 0.9, LEVEL, 1.0) - strict.credit(2.0, 0.9, LEVEL, 1.0)
    assert lost == pytest.approx(2.0 * 0.1 * 10.0)


@pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
def test_the_search_takes_the_reserve_that_the_programme_pays_for(tmp_path: Path) -> None:
    def reserve_w(pays: float) -> float:
        path = tmp_path / f"pays{pays:g}.toml"
        path.write_text('title = "ours"\nsource = "us"\ndate = "2026"\nsimplified = "all"\n'
                        '[judged]\nrule = "band"\nleast = 0.5\nwidth = 0.9\n'
                        f'[payment]\ncapability_per_mwh = {pays}\n')
        case = case_of(read_contract(None, SHORT | {
            "programme": str(path), "standby": True, "policy": "tracking",
            "bid": "exhaustive", "prices": {"energy": 0.1}, "cycle_s": 5}))
        # A coarser grid than that of a contract: the ends of it are far enough apart.
        found = exhaustive_bid(problem_of(case), simulator(case), averages=3, reserves=4)
        assert found.bid is not None
        return found.bid.reserve_w

    poor, rich = reserve_w(1.0), reserve_w(5000.0)
    assert poor < rich  # for which it buys more energy than the poor one is worth


@pytest.mark.parametrize(("terms", "words"), [
    ('[judged]\nrule = "limit"\nleast = 0.9\n', "judges a curtailment"),
    ('[signal]\nkind = "frequency"\ndeadband_hz = 0.2\n[judged]\nrule = "band"\nleast = 0.9\n',
     "deadband_hz is 0.2 and full_hz 0.2")])
def test_terms_that_could_not_judge_are_refused(terms: str, words: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('title = "x"\nsource = "x"\ndate = "x"\nsimplified = "x"\n' + terms)
    with pytest.raises(wl.InputError, match=words):
        programme(str(file))


@pytest.mark.parametrize(("section", "words"), [
    ("[terms]\nsettlement_s = 0.05", "settlement_s"),
    ("[terms]\ntelemetry_s = 0.05", "telemetry_s"),
    ('[curtailment]\nstart = 0\nshare = 0\nduration = 60\nnotice = 0', "share"),
    ('[curtailment]\nstart = 0\nshare = 1\nduration = 60\nnotice = 0', "share"),
])
def test_terms_that_no_market_has_are_refused_with_their_file(
    tmp_path: Path, section: str, words: str
) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('title = "x"\nsource = "x"\ndate = "x"\nsimplified = "x"\n'
                    f'[judged]\nrule = "error"\nleast = 0.5\n{section}\n')
    with pytest.raises(wl.InputError, match=rf"mine\.toml: .*{words}"):
        programme(str(file))
    file.write_text(file.read_text().replace("0.05", "0.1").replace("share = 0", "share = 0.1")
                    .replace("share = 1\n", "share = 0.9\n"))
    programme.cache_clear()
    assert programme(str(file)).title == "x"
