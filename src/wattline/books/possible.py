"""What a job or a reservation can be, and why one cannot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from wattline.books.events import Reserved, Submitted
from wattline.books.roll import NAMED, SAID
from wattline.books.windows import most_reserved
from wattline.policies.state import OVER

if TYPE_CHECKING:
    from wattline.books.books import Books

MOST_CODES = 1_000_000
"""Of names: each has its place in a table."""


def no_job(job: Submitted, units: int) -> str:
    """Why a job cannot be; empty where it can."""
    if not is_whole(job.units) or not 1 <= job.units <= units:
        return f"it asks for {job.units!r} units; the machine has {units}"
    if not is_whole(job.procs) or job.procs < 0:
        return f"procs is {job.procs!r}, must be a whole number from 0 on"
    for name in ("requested_s", "think_s", "share"):
        if not is_number(getattr(job, name)) or not 0 <= getattr(job, name) < np.inf:
            return f"{name} is {getattr(job, name)!r}, must be a number from 0 on"
    if not is_number(job.watts) or job.watts < 0 or job.watts == np.inf:
        return f"watts is {job.watts!r}, must be a number from 0 on"
    if not is_number(job.work_s) or not job.work_s >= 0:
        return f"work_s is {job.work_s!r}, must be a number from 0 on"
    if job.after is not None and (not isinstance(job.after, int | str) or job.after == job.job):
        return f"it cannot wait for {job.after!r}"
    for column, code_ in job.codes.items():
        if not is_whole(code_) or not 0 <= code_ < MOST_CODES:
            return f"the code {code_!r} of its {column} cannot be"
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
    for name, count in job.gres.items():
        if not isinstance(name, str) or not is_number(count) or not 0 <= count < np.inf:
            return f"it asks for {count!r} of {name!r}; it must be a number from 0 on of a name"
    if any(not is_number(value) for value in job.logged.values()):
        return "what is logged of it must be numbers"
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
        if not is_number(value) or not -np.inf < value < np.inf:
            return f"{name} is {value!r}, must be a number"
    if event.watts < 0 or not (event.units or event.watts):
        return "it must keep units or watts free"
    end_s = event.start_s + event.duration_s
    if not event.duration_s > 0 or not end_s > now_s:
        return f"it would be over at {end_s:g} s, before it begins"
    held = most_reserved(state, max(event.start_s, now_s), end_s, removed)
    if event.units and held + event.units > units:
        return f"{held} of {units} units are reserved then, {event.units} more cannot be"
    return ""


def is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)
