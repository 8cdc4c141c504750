"""When a job of Slurm's accounting started and ended, and whether it started at all."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

import numpy as np

from wattline.model.errors import InputError
from wattline.model.local_time import Stays, Zone, stays_of
from wattline.scenario.twin.asked import NEVER_ENDS_S, AskedJob, Counter
from wattline.scenario.twin.repeated import RESIZED
from wattline.site.cells import Cell, is_missing
from wattline.site.limits import clock_s
from wattline.site.moments import is_local
from wattline.site.sacct_text import NOT_ENDED
from wattline.traces.convert import Converter

Row = Mapping[str, Cell]
CLOCK_CHANGED = ("by its Elapsed it ran whole hours more or less than from start to end (the clock "
                 "was changed, or it was suspended): Elapsed counts for the run, and waits over a "
                 "change of the clock are off by it")
_HALF_HOUR_S = 1800
_MOST_CHANGE_S = 2 * 3600
"""Of a clock, between summer and winter; some countries change it by half an hour."""
_NO_TIME = ("unknown", "none", "n/a", "invalid", "(null)")
_ENDED_IN_THE_QUEUE = ("CANCELLED", "DEADLINE")


def times_of(rows: Sequence[Row], zone: Zone) -> tuple[dict[str, list[float]], Stays]:
    """Seconds since 1970 by column, NaN where a cell has no time; and what clocks did to them."""
    convert = Converter(len(rows))
    submit, eligible, start, end = (
        convert.instants([row.get(name) for row in rows], zone.info)
        for name in ("Submit", "Eligible", "Start", "End"))
    ran_s = np.array([_span_s(row, "ElapsedRaw", "Elapsed") + suspended_s(row) for row in rows])
    stays = stays_of((submit, start, end), ran_s)
    by_then = eligible.first_s < stays.submit_s  # the other hour of two, as it was submitted before
    eligible_s = np.where(by_then, eligible.later_s, eligible.first_s)
    found = {"Submit": stays.submit_s.tolist(), "Eligible": eligible_s.tolist(),
             "Start": stays.start_s.tolist(), "End": stays.end_s.tolist()}
    for row, submit_s in enumerate(found["Submit"]):
        for name in ("Start", "End"):
            if found[name][row] == 0 < submit_s:  # no time, as Slurm itself keeps it
                found[name][row] = math.nan
    return found, stays


def is_unreadable(row: Row, column: str) -> bool:
    """Whether a cell has a text that is no time, and not that of Slurm for none."""
    text = text_in(row, column)
    return bool(text) and text.lower() not in _NO_TIME and not text.replace(".", "").isdigit()


def never_started(row: Row, state: str, start_s: float, end_s: float) -> bool:
    """A job that is cancelled in the queue has that time as its start and its end."""
    nodes = str(row.get("NodeList") or "")
    if math.isnan(start_s) or state == "PENDING" or nodes.startswith("None"):
        return True
    if number_in(row, "AllocCPUS") == 0:
        return True
    return state in _ENDED_IN_THE_QUEUE and start_s == end_s and not nodes.strip()


def end_by_elapsed(row: Row, start_s: float, end_s: float) -> float:
    """The end, where the clock was changed during the run and the log has Elapsed, by that."""
    if not is_local(str(row.get("Start") or "")):
        return end_s
    elapsed_s = _span_s(row, "ElapsedRaw", "Elapsed")
    if math.isnan(elapsed_s):
        return end_s
    lasted_s = elapsed_s + suspended_s(row)  # sacct's Elapsed is without it
    apart_s = abs(end_s - start_s - lasted_s)
    changed = 0 < apart_s <= _MOST_CHANGE_S and apart_s % _HALF_HOUR_S == 0
    return start_s + lasted_s if changed else end_s


def put_run_time(row: Row, job: AskedJob, filled: Counter) -> None:
    """How long it runs: into its limit where that ended it, or where it still ran."""
    # A record of before a job changed its size ends when the next one begins.
    if math.isnan(job.end_s) or (job.state in NOT_ENDED and job.state != RESIZED):
        job.run_s = NEVER_ENDS_S
        job.end_s = math.nan
        filled.note("still ran when the log was taken: runs to its limit", job.job_id)
        return
    job.suspended_s = min(suspended_s(row), job.end_s - job.start_s)
    at_limit = job.state == "TIMEOUT" and 0 < job.limit_s < math.inf
    job.run_s = NEVER_ENDS_S if at_limit else job.end_s - job.start_s - job.suspended_s


def suspended_s(row: Row) -> float:
    """Of its time from start to end; none where the log does not say."""
    found_s = _span_s(row, "Suspended", "Suspended")
    return 0.0 if math.isnan(found_s) else found_s


def _span_s(row: Row, raw: str, by_clock: str) -> float:
    seconds = number_in(row, raw)
    if seconds >= 0:
        return float(seconds)
    try:
        found = clock_s(text_in(row, by_clock).partition(".")[0], by_clock)
    except InputError:
        found = None
    return math.nan if found is None else float(found)


def text_in(row: Row, column: str) -> str:
    cell = row.get(column)
    return "" if is_missing(cell) else str(cell).strip()


def number_in(row: Row, *columns: str) -> int:
    """The first of these columns that has a number; -1 for none.

    Older versions of sacct shorten numbers of nodes and CPUs: 1K is 1,024.
    """
    for column in columns:
        found = re.fullmatch(r"([0-9]{1,12}(?:\.[0-9]*)?)([KMG]?)", text_in(row, column))
        if found is not None:
            return round(float(found[1]) * (1 << 10 * " KMG".index(found[2] or " ")))
    return -1
