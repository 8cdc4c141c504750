"""Prices and carbon intensities per joule, from tables as they are published."""

import pytest
from tests.shared_data import shared

from wattline.model.errors import InputError
from wattline.traces.tariffs import read_tariff

PRICES = "Datetime (UTC),Price (USD/MWh)\n2023-01-01 00:00:00+00:00,36\n2023-01-01 01:00:00,72\n"


def written(tmp_path, text):
    path = tmp_path / "t.csv"
    path.write_text(text)
    return path


def test_a_price_per_joule(tmp_path):
    found = read_tariff(written(tmp_path, PRICES))
    assert list(found.time_s) == [0, 3600]
    assert list(found.value) == pytest.approx([1e-8, 2e-8])


def test_from_another_date(tmp_path):
    found = read_tariff(written(tmp_path, PRICES), start="2023-01-01T00:30:00")
    assert list(found.time_s) == [-1800, 1800]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a,b\n1,2\n", "no column of times"), ("time_s,price\n1,2\n", "per what"),
        ("time_s,weight\n1,2\n", "no column like 'price'"), (PRICES + "x,1\n", "line 4: 'x'"),
        (PRICES + "2023-01-01 02:00:00,\n", "line 4: '' is not a number"),
        (PRICES + "2023-01-01 02:00:00,nan\n", "gap"), ("time_s,price/kWh\n", "at least one row"),
        (PRICES + "5\n", "only 1 columns"), ("time_s,price/kWh\n\n\n", "at least one row"),
    ],
)
def test_bad_tables_are_refused(tmp_path, text, reason):
    with pytest.raises(InputError, match=reason):
        read_tariff(written(tmp_path, text))


def test_two_values_for_one_time_are_refused_and_one_that_stands_twice_is_not(tmp_path):
    first, *rows = PRICES.splitlines()
    twice = read_tariff(written(tmp_path, "\n".join([first, *rows, rows[0]])))
    assert twice.value.tolist() == read_tariff(written(tmp_path, PRICES)).value.tolist()
    other = rows[0].rpartition(",")[0] + ",99999"
    with pytest.raises(InputError, match=r"line 4: there is another value for .* before"):
        read_tariff(written(tmp_path, "\n".join([first, *rows, other])))


@pytest.mark.parametrize("start", ["", "2023-01-01T00:30:00", "2023-01-01T00:00:00",
                                   "2023-01-01T01:00:00"])
def test_a_table_that_has_the_newest_row_first_is_the_same_table(tmp_path, start):
    first, *rows = PRICES.splitlines()
    found = read_tariff(written(tmp_path, "\n".join([first, *reversed(rows)])), start=start)
    usual = read_tariff(written(tmp_path, PRICES), start=start)
    assert found.time_s.tolist() == usual.time_s.tolist()
    assert found.value.tolist() == usual.value.tolist()


def test_a_start_outside_is_refused(tmp_path):
    with pytest.raises(InputError, match="outside"):
        read_tariff(written(tmp_path, PRICES), start="2024-01-01")
    for outside in ("2023-01-01T01:00:01", "2022-12-31T23:59:59"):
        with pytest.raises(InputError, match="outside"):
            read_tariff(written(tmp_path, PRICES), start=outside)


def test_the_public_tables_read():
    price = read_tariff(shared("grid/prices/DE-LU_2023.csv.xz"), start="2023-07-01")
    carbon = read_tariff(shared("grid/carbon/DE-LU_2023.csv.xz"), column="LCA")
    assert len(carbon.time_s) == 8760
    assert carbon.unit == "g/J"
    # Between 0 and 1 kg a kWh; prices between -1 and 1 USD a kWh.
    assert 0 < carbon.value.min() < carbon.value.max() < 1000 / 3.6e6
    assert abs(price.value).max() < 1 / 3.6e6
