"""Times of series: dates and seconds from the first submission, on the clock of any run."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from wattline.model.errors import InputError
from wattline.model.run_clock import NoDates, RunClock, parse_time, steps_outside, time_in_cell

NOON = datetime.fromisoformat("2026-07-08T12:00:00+00:00").timestamp()
CLOCKS = {
    "unix": RunClock.of(NOON - 3600, NOON + 9e4, None),
    "header": RunClock.of(500.0, 9e4, NOON - 3600 - 500.0),
    "zero": RunClock.of(0.0, 9e4, NOON - 3600),
}
"""The same run, of a log with Unix times, one with a date in its header, one that begins at 0."""


@pytest.mark.parametrize("name", CLOCKS)
@pytest.mark.parametrize(("written", "after_s"), [
    (0.0, 0.0), ("90m", 5400.0), ("2026-07-08T12:00:00", 3600.0), ("2026-07-08 12:00", 3600.0),
    ("2026-07-08T14:00:00+02:00", 3600.0), ("2026-07-08T12:00:00Z", 3600.0),
    ("2026-07-09", 46800.0), (date(2026, 7, 9), 46800.0), (NOON, 3600.0),
    (datetime(2026, 7, 8, 13, tzinfo=timezone(timedelta(hours=1))), 3600.0)])
def test_a_time_means_the_same_on_every_clock(name, written, after_s):
    clock = CLOCKS[name]
    assert clock.at(parse_time(written)) - clock.first_s == pytest.approx(after_s)
    assert clock.from_first.at(parse_time(written)) == pytest.approx(after_s)


def test_a_date_without_an_offset_is_of_the_zone_of_the_run():
    berlin = RunClock.of(NOON - 3600, NOON, None, ZoneInfo("Europe/Berlin"))
    assert berlin.at(parse_time("2026-07-08T14:00:00")) == NOON
    assert berlin.at(parse_time("2026-07-08T14:00:00Z")) == NOON + 7200
    assert berlin.text(NOON) == "2026-07-08T14:00:00+0200"
    assert CLOCKS["zero"].text(3600.0) == "2026-07-08T12:00:00"


@pytest.mark.parametrize("time", ["2026-07-08T12:00:00", "1783512000"])
def test_a_run_without_dates_takes_none(time):
    with pytest.raises(NoDates, match=r"^cap.csv:3: .* and the run has no dates: write seconds "):
        RunClock(60.0, 90.0).at(parse_time(time), "cap.csv:3")


def test_years_after_the_first_submission_are_no_unix_times():
    assert RunClock(60.0, 9e8).at(3e8) == 60.0 + 3e8


@pytest.mark.parametrize("text", ["2026-13-01", "8 July", "", "noon", "2026-07-08T12:00:00 CEST"])
def test_what_is_no_time(text):
    with pytest.raises(InputError, match="write a date like"):
        parse_time(text)
    with pytest.raises(ValueError, match=r"^(could not|$|)"):
        time_in_cell(text)


@pytest.mark.parametrize(("times_s", "said"), [
    ([0.0, 50.0], []), ([-5.0, 50.0], []),
    ([10.0], ["cap: its first step is 10 s after the first submission; its value holds before "
              "that too"]),
    # The first step holds before its time, wherever that lies.
    ([900.0], ["cap: its first step is 00:15:00 after the first submission; its value holds before "
               "that too"]),
    ([900.0, 990.0], [
        "cap: its first step is 00:15:00 after the first submission; its value holds before that "
        "too", "cap: 1 of 2 steps lies outside of the run and has no effect: 1 after the end of "
        "the run (00:01:40 after the first submission)"]),
    ([-9.0, -5.0, 50.0], ["cap: 1 of 3 steps lies outside of the run and has no effect: 1 before "
                          "the first submission"]),
    ([-9.0, 0.0, 50.0, 100.0, 200.0], [
        "cap: 3 of 5 steps lie outside of the run and have no effect: 1 before the first "
        "submission, 2 after the end of the run (00:01:40 after the first submission)"])])
def test_steps_outside_of_a_run_are_said(times_s, said):
    assert steps_outside("cap", times_s, RunClock(0.0, 60.0), 0.0, 100.0) == said
