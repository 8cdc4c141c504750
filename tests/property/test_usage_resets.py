"""PriorityUsageResetPeriod: usage is forgotten at the beginning of each period."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from tests.support.shared import machine, requests

from wattline.shared_nodes.prepare import make_books
from wattline.shared_nodes.resets import reset_times
from wattline.shared_nodes.rules import MULTIFACTOR, Priority, Rules
from wattline.shared_nodes.simulate import simulate_shared
from wattline.shared_nodes.usage import decay

FRIDAY = datetime(2025, 11, 28, 23, 0, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(("period", "dates"), [
    ("daily", ["2025-11-29", "2025-11-30", "2025-12-01"]),
    ("weekly", ["2025-11-30", "2025-12-07", "2025-12-14"]),
    ("monthly", ["2025-12-01", "2026-01-01", "2026-02-01"]),
    ("quarterly", ["2026-01-01", "2026-04-01", "2026-07-01"]),
    ("yearly", ["2026-01-01", "2027-01-01", "2028-01-01"]), ("none", []), ("now", [])])
def test_periods_begin_at_midnights(period: str, dates: list[str]) -> None:
    found = [datetime.fromtimestamp(FRIDAY + each, UTC)
             for each in reset_times(period, FRIDAY)[:3].tolist()]
    assert [moment.date().isoformat() for moment in found] == dates
    assert all(moment.time().hour == moment.time().minute == 0 for moment in found)


def test_usage_of_before_midnight_is_gone_after_it() -> None:
    on = machine(1)
    priority = Priority(kind=MULTIFACTOR, fairshare=1000, half_life_s=0.0, reset_period="daily")
    rules = Rules(priority=priority, unix_start_s=FRIDAY)
    books = make_books(on, requests(on, {}), rules, None, None, 0.0)
    books.assoc_rate[2] = 4.0
    for now_s, used in ((1800.0, 7200.0), (3600.0, 0.0), (3700.0, 400.0)):
        books.clock[0].now_s = now_s
        decay(books)
        assert books.assoc_usage[2] == used


def test_who_used_the_machine_yesterday_goes_before_who_uses_it_today() -> None:
    """One had it for most of the hour before midnight, the other for 15 minutes after it."""
    on = machine(1, cpus=4)
    jobs = [{"tasks": 4, "run_s": 3000.0, "limit_s": 3600.0, "association": 2},
            {"tasks": 4, "submit_s": 3601.0, "run_s": 900.0, "limit_s": 900.0, "association": 3},
            {"tasks": 4, "submit_s": 3602.0, "run_s": 300.0, "limit_s": 300.0, "association": 3},
            {"tasks": 4, "submit_s": 3603.0, "run_s": 300.0, "limit_s": 300.0, "association": 2}]
    first = {}
    for period in ("none", "daily"):
        rules = Rules(unix_start_s=FRIDAY, priority=Priority(
            kind=MULTIFACTOR, fairshare=1000, reset_period=period, calc_period_s=60.0))
        found = simulate_shared(on, requests(on, *jobs), rules)
        first[period] = found.start_s[3] < found.start_s[2]
    assert first == {"none": False, "daily": True}
