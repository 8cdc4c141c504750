"""A price or a carbon intensity as one figure or as a table, the same in every command."""

import pytest

from wattline.model.errors import InputError
from wattline.model.signal import Signal
from wattline.traces.rates import carbon_from, end_note, price_from

PRICES = "time_s,price (USD/MWh)\n0,36\n3600,72\n"
GRAMS = "time_s,carbon intensity (gCO2/kWh)\n0,360\n3600,720\n"


@pytest.mark.parametrize(("text", "per_kwh", "unit"), [
    ("0.12", 0.12, "/J"), ("0.12EUR", 0.12, "EUR/J"), ("0.12 eur/kWh", 0.12, "EUR/J"),
    ("80EUR/MWh", 0.08, "EUR/J"), ("0.2$", 0.2, "$/J"), ("$0.2", 0.2, "$/J"),
    ("€0.12", 0.12, "€/J"), ("EUR 80/MWh", 0.08, "EUR/J"), ("-0.01", -0.01, "/J"),
])
def test_one_price_is_of_a_kwh_unless_it_says_otherwise(text, per_kwh, unit):
    found = price_from(text)
    assert found.unit == unit
    assert found.at(0) * 3.6e6 == pytest.approx(per_kwh)


@pytest.mark.parametrize("text", ["300", "300g/kWh", "300 gCO2/kWh"])
def test_carbon_is_grams_per_kwh(text):
    assert carbon_from(text).at(0) * 3.6e6 == pytest.approx(300)


def test_tables_are_read_and_not_taken_for_one_another(tmp_path):
    prices, grams = tmp_path / "p.csv", tmp_path / "g.csv"
    prices.write_text(PRICES)
    grams.write_text(GRAMS)
    assert price_from(str(prices)).value == pytest.approx([1e-8, 2e-8])
    assert carbon_from(str(grams)).value == pytest.approx([1e-4, 2e-4])
    with pytest.raises(InputError, match="has carbon intensities; give it with carbon"):
        price_from(str(grams))
    with pytest.raises(InputError, match="has prices; give it with price"):
        carbon_from(str(prices))


@pytest.mark.parametrize("text", ["cheap", "nan", "1e999", "", "gone", "€0.12€"])
def test_what_is_no_price_is_told_what_one_looks_like(text):
    with pytest.raises(InputError, match=r"price: .* like 0\.12 or 0\.12EUR"):
        price_from(text)


def test_a_comma_is_named():
    with pytest.raises(InputError, match=r"write 0\.12EUR, with a point"):
        price_from("0,12EUR")
    with pytest.raises(InputError, match=r"a table that is there$"):
        price_from("dear,very")


def test_a_table_that_ends_too_early_is_named():
    table = Signal.from_steps([(0, 1.0), (3600, 2.0)])
    assert end_note("p.csv", table, 7200) == ""
    assert end_note("p.csv", table, 7201).startswith("p.csv ends 02:00:00 after the beginning")
    assert end_note("0.12", Signal.constant(1.0), 1e9) == ""


def test_an_accumulated_signal_has_the_integrals_between_its_times():
    table = Signal.from_steps([(10, 1.0), (20, 3.0), (50, 2.0)])
    edges = [-5.0, 12.0, 20.0, 49.0, 80.0]
    sums = table.accumulated(edges)
    for first in range(5):
        for last in range(first, 5):
            assert sums[last] - sums[first] == pytest.approx(
                table.integral(edges[first], edges[last]))


@pytest.mark.parametrize("text", ["0.12XYZ", "0.12kwh", "3abc/kWh"])
def test_three_letters_that_are_no_currency_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="is no currency; write its code, like"):
        price_from(text)
