"""Times without an offset in logs: of the zone that is asked for, and said."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import wattline as wl
from wattline.model.local_time import FORWARD, TWICE, Moment, in_order, stay, zone_of
from wattline.scenario.load import validate

HEADER = "JobID|Submit|Start|End|ElapsedRaw|NNodes|ReqNodes|Timelimit|State\n"
NOON = 1782900000.0
"""2026-07-01 at noon in Berlin."""


def _log(path: Path, *rows: str) -> Path:
    path.write_text(HEADER + "".join(f"{row}|1|1|2:00:00|COMPLETED\n" for row in rows))
    return path


@pytest.mark.parametrize(("zone", "submit_s", "name"), [
    ("Europe/Berlin", NOON, "Europe/Berlin"), ("UTC", NOON + 7200, "UTC"),
    ("", NOON + 7200, "UTC (zone names another"), ("local", NOON - 7 * 3600, "Asia/Tokyo")])
def test_a_log_is_of_the_zone_that_is_named_and_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, zone: str, submit_s: float, name: str
) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    path = _log(tmp_path / "log", "1|2026-07-01T12:00:00|2026-07-01T12:05:00|"
                "2026-07-01T13:05:00|3600")
    trace = wl.read(path, zone=zone)
    assert trace.jobs.submit_s.tolist() == [submit_s]
    assert any(f"times without an offset are taken as {name}" in line for line in trace.remarks)
    found = wl.simulate(validate({"trace": {"file": str(path), "zone": zone or None},
                                  "machine": {"nodes": 2}}, "test"))
    assert any(f"taken as {name}" in line for line in found.remarks)


def test_offsets_and_unix_times_need_no_zone(tmp_path: Path) -> None:
    path = _log(tmp_path / "log", "1|2026-07-01T12:00:00+02:00|1782900300|"
                "2026-07-01T11:05:00Z|3600")
    for zone in ("", "Asia/Tokyo"):
        trace = wl.read(path, zone=zone)
        assert (trace.jobs.submit_s.tolist(), trace.remarks) == ([NOON], ())


def test_days_on_which_clocks_change_have_a_rule_that_is_said(tmp_path: Path) -> None:
    """Clocks go back on 25 October 2026 in Berlin, at 1:00 UTC, and forward on 29 March."""
    back, forward = 1792890000.0, 1774746000.0
    path = _log(tmp_path / "log",
                "1|2026-10-25T02:50:00|2026-10-25T02:10:00|2026-10-25T03:10:00|3600",
                "2|2026-10-25T02:50:00|2026-10-25T02:55:00|2026-10-25T04:55:00|7200",
                "3|2026-10-25T02:20:00|2026-10-25T02:30:00|2026-10-25T02:40:00|600",
                "4|2026-03-29T02:30:00|2026-03-29T03:40:00|2026-03-29T04:40:00|3600")
    trace = wl.read(path, zone="Europe/Berlin")
    submits = dict(zip(trace.jobs.job_id.tolist(), trace.jobs.submit_s.tolist(), strict=True))
    assert submits[1] == back - 600  # it started in the second hour, 20 minutes later
    assert submits[2] == back - 600
    assert submits[3] == back - 2400
    assert submits[4] == forward + 1800
    waits = dict(zip(trace.jobs.job_id.tolist(), trace.logged["wait_s"].tolist(), strict=True))
    assert waits == {1: 1200.0, 2: 3900.0, 3: 600.0, 4: 600.0}
    said = "\n".join(trace.remarks)
    assert f"{TWICE}: 2" in said  # the submission of the second, all of the third
    assert f"{FORWARD}: 1" in said


def test_samples_in_an_hour_that_comes_twice_go_by_their_order() -> None:
    berlin = zone_of("Europe/Berlin").info
    two = pd.Timestamp("2026-10-25T02:00:00").timestamp()
    steps = np.array([0.0, 1800, 0, 1800, 3600]) + two
    found, guessed, shifted = in_order(steps, berlin)
    assert (np.diff(found).tolist(), guessed, shifted) == ([1800.0] * 4, 0, 0)
    assert in_order(steps[:2], berlin)[1] == 2
    mixed = np.array([1800.0, 0, 1800, 0]) + two  # in no order that a clock has
    assert in_order(mixed, berlin)[0].tolist() == (mixed - 7200).tolist()


def test_a_stay_of_several_hours_takes_the_earlier_one() -> None:
    start, end = Moment((0.0, 3600.0)), Moment((1800.0, 5400.0))
    assert stay(start, end) == pytest.approx((0.0, 1800.0, np.nan, True), nan_ok=True)
    assert stay(start, end, 5400.0, Moment((0.0,))) == (0.0, 5400.0, 0.0, False)
    assert stay(start, end, None, Moment((100.0,))) == (3600.0, 5400.0, 100.0, False)


@pytest.mark.parametrize("file", ["log.csv", "log.parquet"])
def test_a_table_is_of_its_maps_zone_else_of_the_one_named(tmp_path: Path, file: str) -> None:
    frame = pd.DataFrame({"s": ["2026-07-01T12:00:00"], "r": [60], "n": [1]})
    if file.endswith("csv"):
        frame.to_csv(tmp_path / file, index=False)
    else:
        frame.assign(s=pd.to_datetime(frame.s)).to_parquet(tmp_path / file)
    columns = '[columns]\nsubmit_s = "s"\nrun_s = "r"\nrequested_procs = "n"\n'
    (tmp_path / "plain.toml").write_text(columns)
    (tmp_path / "rome.toml").write_text('timezone = "Europe/Rome"\n' + columns)
    for name, zone, submit_s, said in (
            ("plain", "", NOON + 7200, 1), ("plain", "Europe/Berlin", NOON, 1),
            ("rome", "", NOON, 0), ("rome", "Asia/Tokyo", NOON, 1)):
        trace = wl.read(tmp_path / file, column_map=tmp_path / f"{name}.toml", zone=zone)
        assert trace.jobs.submit_s.tolist() == [submit_s], (name, zone)
        assert len(trace.remarks) == said


def test_a_zone_that_is_none_is_refused_in_one_line(tmp_path: Path) -> None:
    path = _log(tmp_path / "log", "1|2026-07-01T12:00:00|2026-07-01T12:05:00|"
                "2026-07-01T13:05:00|3600")
    with pytest.raises(wl.InputError, match="zone: there is no zone 'Europe/Berli'"):
        wl.read(path, zone="Europe/Berli")
    with pytest.raises(wl.InputError, match="there is no zone 'Europe/Berli'"):
        validate({"trace": {"file": str(path), "zone": "Europe/Berli"}}, "test")
