"""`wattline openadr --price`: the usual price, as one figure or as a table with dates."""

from __future__ import annotations

from pathlib import Path

import pytest

from wattline.cli.openadr import _prices
from wattline.model.errors import InputError

TABLE = """Datetime (UTC),Price (EUR/MWh)
2026-07-01T12:00:00,100
2100-07-01T13:00:00,200
2100-07-01T14:00:00,50
"""
NOON_S = 1782907200.0  # of 2026-07-01


def prices(tmp_path: Path, text: str) -> str:
    (tmp_path / "usual.csv").write_text(text)
    return str(tmp_path / "usual.csv")


def test_one_price_holds_at_any_time_in_the_currency_that_it_names(tmp_path: Path) -> None:
    found = _prices(tmp_path / "kept.csv", "0.12EUR", "")
    assert found is not None
    assert found.currency == "EUR"
    assert [found.usual.at(time_s) for time_s in (0.0, NOON_S)] == pytest.approx([0.12, 0.12])
    named = _prices(tmp_path / "kept.csv", "0.12", "USD")
    assert named is not None
    assert named.currency == "USD"


def test_a_table_holds_by_its_dates_per_kwh(
    tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    found = _prices(tmp_path / "kept.csv", prices(tmp_path, TABLE), "")
    assert found is not None
    assert found.currency == "EUR"
    assert found.usual.at(NOON_S + 1) == pytest.approx(0.1)
    assert found.usual.at(4118156000.0) == pytest.approx(0.05)  # after its end the last one
    assert "usual prices are known until 2100-07-01T15:00Z" in capsys.readouterr().out


def test_what_cannot_be_meant_is_said(tmp_path: Path) -> None:
    table = prices(tmp_path, TABLE)
    kept = tmp_path / "kept.csv"
    for price, currency, said in (
        (table, "USD", "currency is USD, and price is in EUR"),
        ("cheap", "", "neither the price of a kWh"),
        (str(tmp_path / "none.csv"), "", "there is no such file"),
    ):
        with pytest.raises(InputError, match=said):
            _prices(kept, price, currency)
    with pytest.raises(InputError, match="are both"):
        _prices(Path(table), table, "")
    with pytest.raises(InputError, match="are no dates"):
        _prices(kept, prices(tmp_path, "time_s,price (EUR/kWh)\n0,1\n10,2\n"), "")
    over = TABLE.replace("2100", "2026")
    with pytest.raises(InputError, match="its prices are over"):
        _prices(kept, prices(tmp_path, over), "")
