"""What an event, a job or a reservation can be, and why one cannot."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from wattline.books.events import ORDER, Measured, Reserved, Submitted
from wattline.books.roll import NAMED, SAID
from wattline.books.windows import most_reserved
from wattline.model.machine import MOST_POWER_W
from wattline.policies.state import OVER

if TYPE_CHECKING:
    from wattline.books.books import Books

MOST_CODES = 1_000_000
"""Of names: each has its place in a table."""
MOST_FIGURE = 2**53
"""Of seconds, processors and all that is counted, as in job logs: up to here floats are exact."""
MOST_RATE = 1e12
MOST_ENERGY_J = 1e18
"""Of one job."""
_LONGEST = 40
_MOST_BITS = 1000
"""Of a whole number that a float can take the place of."""


def no_event(event: Any) -> str:
    """Why something is no event: of no kind, of values that are none, or about no proper job."""
    if type(event) not in ORDER:
        return "this is no event"
    for field in fields(event):
        value = getattr(event, field.name)
        if not _is_plain(value):
            return f"{field.name} is {shown(value)}, which no event can say"
    if not hasattr(event, "job") or (isinstance(event, Measured) and event.job is None):
        return ""
    if not is_key(event.job):
        return f"{shown(event.job)} names no job; a key is a whole number or a text, not empty"
    return ""


def _is_plain(value: Any) -> bool:
    """Whether journals and saved books can hold a value."""
    if isinstance(value, tuple | list):
        return all(map(_is_plain, value))
    if isinstance(value, Mapping):
        return all(map(_is_plain, value)) and all(map(_is_plain, value.values()))
    return value is None or isinstance(value, str | bool | np.bool_) or is_number(value)


def no_energy(joules: Any) -> str:
    """Why this is no energy that was measured; empty where it is one, or not known."""
    if is_number(joules) and (math.isnan(joules) or 0 <= joules <= MOST_ENERGY_J):
        return ""
    return (f"an energy of {shown(joules)} J; it must be a number from 0 to {MOST_ENERGY_J:g}, or "
            "not known")


def no_power(watts: Any) -> str:
    """Why this is no power that is measured or asked for; empty where it is one."""
    if is_number(watts) and 0 <= watts <= MOST_POWER_W:
        return ""
    return f"a power of {shown(watts)} W; it must be a number from 0 to {MOST_POWER_W:g}"


def no_cap(watts: Any) -> str:
    if is_number(watts) and (0 < watts <= MOST_POWER_W or watts == np.inf):
        return ""
    return (f"a cap of {shown(watts)} W; it must be above 0 and at most {MOST_POWER_W:g} W, or "
            "none, for no cap")


def no_figure(name: str, value: Any) -> str:
    """Why this is no figure of seconds, or of what is counted."""
    if is_number(value) and 0 <= value <= MOST_FIGURE:
        return ""
    return f"{name} is {shown(value)}, must be a number from 0 to {MOST_FIGURE}"



def no_job(job: Submitted, units: int) -> str:
    """Why a job cannot be; empty where it can."""
    if not is_whole(job.units) or not 1 <= job.units <= units:
        return f"it asks for {shown(job.units)} units; the machine has {units}"
    if not is_whole(job.procs) or not 0 <= job.procs <= MOST_FIGURE:
        return f"procs is {shown(job.procs)}, must be a whole number from 0 to {MOST_FIGURE}"
    for name in ("requested_s", "think_s", "share"):
        reason = no_figure(name, getattr(job, name))
        if reason:
            return reason
    if not (is_number(job.watts) and np.isnan(job.watts)) and no_power(job.watts):
        return no_power(job.watts)
    if not is_number(job.work_s) or not job.work_s >= 0:
        return f"work_s is {shown(job.work_s)}, must be a number from 0 on"
    if job.after is not None and (not is_key(job.after) or job.after == job.job):
        return f"it cannot wait for {shown(job.after)}"
    return _no_place(job) or _no_names(job) or _no_figures(job)


def _no_place(job: Submitted) -> str:
    """Why the place that a job takes cannot be."""
    if job.place is None or (len(job.place) == 2 and not no_figure("place", job.place[0])
                             and is_whole(job.place[1]) and 0 <= job.place[1] <= MOST_FIGURE):
        return ""
    return f"its place is {shown(job.place)}, must be a time and a turn"


def _no_names(job: Submitted) -> str:
    """Why what a job says in columns with names cannot be."""
    for column, code_ in job.codes.items():
        if not is_whole(code_) or not 0 <= code_ < MOST_CODES:
            return f"the code {shown(code_)} of its {column} cannot be"
    strange = [name for name in (*job.names, *job.codes) if name not in NAMED]
    if strange:
        return f"there is no column {strange[0]!r}; those with names are {', '.join(NAMED)}"
    if any(not isinstance(text, str) for text in (*job.names.values(), job.account,
                                                  job.application)):
        return "its names must be texts"
    for column, field in SAID.items():
        own, named = getattr(job, field), job.names.get(column, "")
        if own and named and own != named:
            return f"its {field} is said twice, as '{own}' and as '{named}'"
    return ""


def _no_figures(job: Submitted) -> str:
    for name, count in job.gres.items():
        if not isinstance(name, str) or no_figure(name, count):
            return (f"it asks for {shown(count)} of {shown(name)}; it must be a number from 0 to "
                    f"{MOST_FIGURE} of a name")
    for name, value in job.logged.items():
        if not isinstance(name, str) or not is_number(value):
            return (f"{shown(name)} is logged of it as {shown(value)}; it must be a number under "
                    "a name")
    return ""


def no_reservation(event: Reserved, books: Books, now_s: float, removed: set[int]) -> str:
    """Why a reservation cannot be; empty where it can."""
    state, units = books.state, int(books.state.clock[0].units)
    if not isinstance(event.name, str) or not event.name:
        return f"a reservation cannot be called {event.name!r}; a name is a text"
    row = books.reservations.get(event.name, -1)
    if row >= 0 and int(state.windows[row].stage) != OVER:
        return f"reservation '{event.name}' is there already"
    if not is_whole(event.units) or not 0 <= event.units <= units:
        return f"units is {event.units!r}, must be a whole number from 0 to {units}"
    for name in ("start_s", "duration_s", "watts"):
        value = getattr(event, name)
        if not is_number(value) or not abs(value) <= MOST_FIGURE:
            return f"{name} is {shown(value)}, must be a number of at most {MOST_FIGURE}"
    if event.watts < 0 or not (event.units or event.watts):
        return "it must keep units or watts free"
    if event.watts > books.machine.power_w_max:
        return (f"it keeps {event.watts:g} W free; the machine draws at most "
                f"{books.machine.power_w_max:g} W")
    end_s = event.start_s + event.duration_s
    if not event.duration_s > 0:
        return f"its duration is {event.duration_s:g} s, must be above 0"
    if not end_s > now_s:
        return f"it would have been over {now_s - end_s:,.0f} s ago"
    held = most_reserved(state, max(event.start_s, now_s), end_s, removed)
    if event.units and held + event.units > units:
        return f"{held} of {units} units are reserved then, {event.units} more cannot be"
    return ""


def is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    if isinstance(value, int):
        return not isinstance(value, bool) and value.bit_length() <= _MOST_BITS
    return isinstance(value, float | np.integer | np.floating)


def is_key(value: Any) -> bool:
    """Whether jobs can go by it: a text, or a whole number."""
    if isinstance(value, str):
        return value != ""
    return is_whole(value) and is_number(value)


def shown(value: Any) -> str:
    """A value as a reason shows it: not at any length."""
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        return "a number of too many digits"
    text = str(value) if isinstance(value, float) else repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
