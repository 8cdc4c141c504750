"""Times in a scenario as they are written, and the clock of the run that they are read by."""

from __future__ import annotations

from datetime import date, datetime
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator

from wattline.model.errors import InputError
from wattline.model.fields import MOST_S, Said
from wattline.model.jobs import JobTable
from wattline.model.local_time import zone_of
from wattline.model.reservation import Reservation
from wattline.model.run_clock import RunClock, parse_date, parse_time, unix_s

if TYPE_CHECKING:
    from wattline.scenario.model import Scenario


def _ahead(given: Any) -> Any:
    """A date, or seconds that are not before the first submission."""
    if isinstance(given, bool) or not isinstance(given, (int, float, str, date)):
        raise ValueError("must be a date or a number of seconds")
    try:
        time = parse_time(given)
    except InputError as error:
        raise ValueError(str(error)) from None
    if isinstance(time, datetime):
        return time
    if time < 0:
        raise ValueError("this is in the past: seconds count from the first submission")
    if time > MOST_S:
        raise ValueError(f"must be at most {MOST_S:g}")
    return time


def _unix(given: Any) -> Any:
    """Unix seconds, or a date: in UTC, unless it names its offset."""
    found = parse_date(given) if isinstance(given, str) else given
    if isinstance(found, bool) or not isinstance(found, (int, float, date)):
        raise ValueError("must be a date like 2026-07-08T12:00:00, or Unix seconds as a number")
    return unix_s(parse_time(found))


Ahead = Annotated[float | datetime, BeforeValidator(_ahead), Said("unit", "s")]
"""A time of a series: a date, or seconds from the first submission."""
UnixStart = Annotated[float, BeforeValidator(_unix), Said("unit", "s")]


def clock_of(scenario: Scenario, jobs: JobTable) -> RunClock:
    """The clock of a run of these jobs, by which every series of the scenario is read."""
    zone = zone_of(scenario.trace.zone).info
    if not len(jobs):
        return RunClock(epoch_s=scenario.trace.unix_start_s or None, zone=zone)
    return RunClock.of(float(jobs.submit_s[0]), float(jobs.submit_s[-1]),
                       scenario.trace.unix_start_s, zone)


def reservations_of(scenario: Scenario, clock: RunClock) -> tuple[Reservation, ...]:
    """The windows of `[[reservations]]` on the clock of the run."""
    return tuple(
        Reservation(clock.at(each.start_s, f"reservations.{index}.start_s"), each.duration_s,
                    each.nodes, each.watts, each.name)
        for index, each in enumerate(scenario.reservations))
