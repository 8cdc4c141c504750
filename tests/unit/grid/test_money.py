"""Every cost has a currency, or the words for not knowing one, and assumed prices are named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.support.contracts import check_ended, contract_text

from wattline.cli.main import cli
from wattline.demand_response.money import NO_CURRENCY, assumed_prices, currency_given
from wattline.demand_response.reading import contract_of, read_contract
from wattline.traces.tariffs import currency_of, read_tariff

CONTRACT = "workload = 'W4'\nduration = '2m'\nbid = [9000, 2400]\n"
ALL_ASSUMED = ("the prices of energy, reserve, error are assumed: 0.1 per kWh; give "
               "[contract.prices] in the scenario")
PRICES = "[prices]\nenergy = 0.1\nreserve = 0.1\nerror = 0.1\n"


def said(*arguments: str) -> str:
    result = CliRunner().invoke(cli, list(arguments), catch_exceptions=False)
    check_ended(result)
    return result.stdout


def scenario(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "c.toml"
    path.write_text(contract_text(text))
    return path


@pytest.mark.parametrize(("prices", "words", "assumed"), [
    ("", "in units of the prices", [ALL_ASSUMED]),
    (PRICES, "in units of the prices", []),
    (PRICES + "currency = 'EUR'\n", "EUR", []),
    ("[prices]\nenergy = 0.2\nreserve = 0.1\ncurrency = 'EUR'\n", "EUR",
     ["the price of error is assumed: 0.1 per kWh; give [contract.prices] in the scenario"]),
])
def test_a_contract_says_its_currency_and_what_prices_it_assumes(
    tmp_path: Path, prices: str, words: str, assumed: list[str]
) -> None:
    path = scenario(tmp_path, CONTRACT + prices)
    found = read_contract(path, {})
    assert (currency_given(contract_of(found)) or NO_CURRENCY) == words
    assert assumed_prices(found) == assumed
    text = said("regulate", str(path))
    assert f" {words}, saving " in text
    for line in assumed:
        assert f"note: {line}" in text
    assert ("assumed" in text) == bool(assumed)
    result = json.loads(said("regulate", str(path), "--json"))
    assert result["currency"] == ("EUR" if words == "EUR" else None)
    assert result["assumed"] == assumed


def test_bids_are_printed_in_the_currency(tmp_path: Path) -> None:
    text = CONTRACT.replace("bid = [9000, 2400]\n", "bid = 'range'\ncycle_s = 10\n")
    path = scenario(tmp_path, text + PRICES + "currency = 'CHF'\n")
    told = said("bid", str(path), "--hours", "1", "--check", "0")
    assert "cost CHF" in told  # the column of the bids tried
    assert " CHF, saving " in told
    assert told.splitlines()[-1].endswith(" CHF")
    result = json.loads(said("bid", str(path), "--check", "0", "--json"))
    assert (result["currency"], result["assumed"]) == ("CHF", [])


@pytest.mark.parametrize(("column", "currency"), [
    ("Price (USD/MWh)", "USD"), ("price_eur/kWh", "EUR"), ("Price [€/MWh]", "€"),
    ("price/kWh", None), ("price (ct/kWh)", None),
])
def test_a_table_of_prices_names_its_currency_in_its_column(
    tmp_path: Path, column: str, currency: str | None
) -> None:
    path = tmp_path / "prices.csv"
    path.write_text(f"time_s,{column}\n0,36\n3600,72\n")
    assert currency_of(read_tariff(path)) == currency


@pytest.mark.parametrize(("column", "words"), [
    ("Price (USD/MWh)", "USD"), ("price/MWh", "in units of the price")])
def test_an_energy_plan_is_priced_in_the_currency_of_its_table(
    tmp_path: Path, column: str, words: str
) -> None:
    path = tmp_path / "prices.csv"
    path.write_text(f"time_s,{column}\n0,36\n3600,72\n")
    options = ["energy", "plan", "--energy", "2MWh", "--period", "2h", "--price", str(path),
               "--nodes", "5040", "--cores", "16", "--node-idle-w", "112", "--node-active-w", "352"]
    text = said(*options)
    assert f" flat, {words}\n" in text
    # The machine is said too: the plan rests on its powers.
    assert "5,040 nodes of 16 cores, each 112 W idle, 352 W active and 0 W off" in text
    assert json.loads(said(*options, "--json"))["currency"] == (words if words == "USD" else None)


def test_a_budget_is_compared_in_the_currency_of_its_table(tmp_path: Path) -> None:
    path = tmp_path / "prices.csv"
    path.write_text("time_s,Price (USD/MWh)\n0,36\n3600,72\n")
    log = tmp_path / "log.swf"
    job = "{} 0 -1 60 {} -1 -1 {} 90 -1 1 1 1 1 1 -1 -1 -1\n"
    log.write_text(job.format(1, 16, 16) + job.format(2, 99, 99))
    result = CliRunner().invoke(cli, [
        "energy", "budget", "--energy", "2kWh", "--period", "2h", "--price", str(path),
        "--trace", str(log), "--nodes", "4", "--cores", "16"], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    assert "cost USD" in result.stdout
    assert "1 job of the log dropped: larger than 4 nodes of 16 cores" in result.stderr
