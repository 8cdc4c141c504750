"""Times without an offset mean the same wherever the machine that reads them stands."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import timedelta, timezone
from pathlib import Path

import pytest

from wattline.live.slurm.reading import moment_s
from wattline.model.run_clock import parse_time, unix_s
from wattline.network.counter_files import _moment
from wattline.traces.convert import _timestamp
from wattline.traces.tariffs import read_tariff

JULY_S = 1_782_864_000.0
"""2026-07-01T00:00:00 in UTC: 20,635 days of 86,400 s."""


@pytest.fixture(params=["UTC", "Europe/Berlin", "Asia/Kolkata", "Australia/Lord_Howe"])
def _standing(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Two hours, five and a half, and in July ten and a half from UTC."""
    with monkeypatch.context() as here:
        here.setenv("TZ", request.param)
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("_standing")
def test_prices_and_intensities_by_dates_are_of_utc(tmp_path: Path) -> None:
    path = tmp_path / "prices.csv"
    path.write_text("datetime,price (EUR/kWh)\n2026-07-01T00:00:00,0.36\n"
                    "2026-07-01T01:00:00,0.72\n2026-07-01T04:00:00+02:00,1.08\n")
    assert read_tariff(path, unix=True).time_s.tolist() == [
        JULY_S, JULY_S + 3600.0, JULY_S + 7200.0]
    path.write_text(path.read_text().replace("datetime", "Datetime (UTC)"))
    tokyo = timezone(timedelta(hours=9))  # the head of the column says otherwise
    assert read_tariff(path, unix=True, zone=tokyo).time_s[0] == JULY_S
    begun = read_tariff(path, start="2026-07-01T01:00:00")
    assert begun.at(0.0) * 3.6e6 == pytest.approx(0.72)
    assert begun.time_s.tolist() == [-3600.0, 0.0, 3600.0]


@pytest.mark.usefixtures("_standing")
def test_dates_of_fields_counters_tables_and_of_slurm_are_of_utc() -> None:
    assert unix_s(parse_time("2026-07-01T00:00:00")) == JULY_S
    assert unix_s(parse_time("2026-07-01T00:00:00+05:30")) == JULY_S - 19_800.0
    moment_s.cache_clear()
    assert moment_s("2026-07-01T00:00:00") == JULY_S
    assert _moment("counters.csv", "time", "2026-07-01T00:00:00") == JULY_S
    assert _timestamp("2026-07-01T00:00:00", 1.0) == (JULY_S, True)
    assert _timestamp("2026-07-01T00:00:00Z", 1.0) == (JULY_S, False)
