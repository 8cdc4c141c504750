"""The rules by which a dirty log becomes a job table: each one sentence, applied in this order."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from wattline.model.errors import InputError
from wattline.model.jobs import NO_JOB, IntArray, JobTable
from wattline.model.signal import FloatArray
from wattline.model.units import counted
from wattline.traces.raw import CANCELLED, RUNNING, UNFINISHED, RawJobs, known
from wattline.traces.trace import REQUEST_FILLED, CleaningReport, RuleCount, Trace

Mask = npt.NDArray[np.bool_]
Size = Literal["requested", "allocated"]

RULES: dict[str, tuple[bool, str]] = {
    # name: (does it drop the job, the rule in one sentence)
    "unreadable": (True, "A line or row that is no job record is skipped."),
    "duplicate_id": (False, "A job whose id was used before keeps it; the column restart counts "
                            "them."),
    "no_submit": (True, "A job without a submission time, or with a negative one, is dropped."),
    "cancelled": (True, "A job cancelled before it started is dropped."),
    "unfinished": (True, "A job still waiting when the log was written is dropped: its run time is "
                         "not known."),
    "running": (True, "A job still running when the log was written is dropped, and with it the "
                      "joules that it had used: its run time is not known."),
    "no_runtime": (True, "A job with no run time (missing, zero or negative) is dropped: it never "
                         "ran."),
    "no_size": (True, "A job with neither a requested nor an allocated size is dropped."),
    "other_size": (False, "A job without the preferred size (requested, unless asked otherwise) "
                          "takes the other one."),
    "too_large": (True, "A job larger than the machine is dropped."),
    "no_request": (False, "A job without a requested time requests its run time."),
    "overrun": (False, "A run time above the request is kept; the simulation's overrun rule "
                       "decides."),
    "unsorted": (False, "Jobs are sorted by submission; those of one instant stay in file order."),
    "filler_dependency": (False, "A preceding-job column that names one job for nearly every row "
                                 "is filler and is ignored."),
    "lost_dependency": (False, "A preceding job that is not an earlier job of the table is "
                               "ignored."),
    "unclear_frequency": (False, "A --cpu-freq that cannot be understood is ignored: the job names "
                                 "no frequency."),
}

FILLER_SHARE = 0.9
FILLER_ROWS = 10


class _Tally:
    """Counts what each rule touches."""

    def __init__(self, raw: RawJobs) -> None:
        self.line = raw.line
        energy_j = raw.power_w * raw.run_s if raw.energy_j is None else raw.energy_j
        self.energy_j = np.where(known(energy_j), energy_j, 0.0)
        self.counts: dict[str, tuple[int, int | None, float]] = {}
        self.dropped: Mask = np.zeros(len(raw), dtype=np.bool_)
        lines = raw.unreadable
        self.counts["unreadable"] = (len(lines), min(lines) if lines else None, 0.0)

    def touch(self, name: str, mask: Mask) -> Mask:
        """Note the rows of `mask` that are still there; drop them if the rule says so."""
        touched = mask & ~self.dropped
        count = int(np.count_nonzero(touched))
        first = int(self.line[touched].min()) if count else None
        self.counts[name] = (count, first, float(self.energy_j[touched].sum()))
        if RULES[name][0]:
            self.dropped = self.dropped | touched
        return touched

    def report(self) -> CleaningReport:
        rules = tuple(
            RuleCount(name, statement, *self.counts[name][:2], drops=drops,
                      energy_j=self.counts[name][2])
            for name, (drops, statement) in RULES.items()
        )
        kept = int(np.count_nonzero(~self.dropped))
        return CleaningReport(rules, read=len(self.line) + self.counts["unreadable"][0], kept=kept)


def clean(
    raw: RawJobs,
    source: str,
    *,
    strict: bool = False,
    size: Size = "requested",
    machine_procs: int | None = None,
) -> Trace:
    """Apply every rule; with `strict`, the first line that any rule touches is an error."""
    tally = _Tally(raw)
    restart = _restarts(raw, tally)
    tally.touch("no_submit", ~(raw.submit_s >= 0))
    never_ran = ~known(raw.run_s)
    tally.touch("cancelled", (raw.codes["status"] == CANCELLED) & never_ran)
    tally.touch("unfinished", raw.codes["status"] == UNFINISHED)
    tally.touch("running", raw.codes["status"] == RUNNING)
    tally.touch("no_runtime", never_ran)
    procs = _size(raw, tally, size, machine_procs)
    requested_s = _request(raw, tally)
    kept = np.flatnonzero(~tally.dropped)
    order = _order(raw, tally, kept)
    after_job = _dependencies(raw, tally, order)
    tally.touch("unclear_frequency", np.isin(raw.line, raw.unclear_frequency))
    report = tally.report()
    if strict:
        _refuse(report, source)
    if not kept.size:
        raise InputError(f"{source}: no job is left of {report.read} after cleaning"
                         + _why(report))
    jobs = JobTable(
        job_id=raw.job_id[order],
        submit_s=raw.submit_s[order],
        run_s=raw.run_s[order],
        requested_s=requested_s[order],
        procs=procs[order].astype(np.int64),
        power_w=np.where(known(raw.power_w), raw.power_w, np.nan)[order],
        **{name: codes[order] for name, codes in raw.codes.items()},
        after_job=after_job,
        think_s=np.where((after_job != NO_JOB) & known(raw.think_s[order]),
                         raw.think_s[order], 0.0),
        restart=restart[order],
        names=dict(raw.names),
    )
    logged = {name: values[order] for name, values in raw.logged.items()}
    filled = ~known(raw.requested_s)[order]
    if filled.any():
        logged[REQUEST_FILLED] = np.where(filled, 1.0, np.nan)
    return Trace(jobs, dict(raw.header), report, source, logged,
                 (*raw.remarks, *_blamed(raw, source)))


def _blamed(raw: RawJobs, source: str) -> tuple[str, ...]:
    """Which cells kept rows from being read."""
    if not raw.bad_cells:
        return ()
    more = len(raw.unreadable) - len(raw.bad_cells)
    rest = f", and {more:,} more cannot be read" if more > 0 else ""
    return (f"{source}: {', '.join(raw.bad_cells)}{rest}",)


def _restarts(raw: RawJobs, tally: _Tally) -> IntArray:
    """How many jobs before each one bear its id; what the log says of it, if that is enough."""
    if raw.restart is not None and not np.any(_counted(raw.job_id, raw.restart)):
        tally.touch("duplicate_id", np.zeros(len(raw), dtype=np.bool_))
        return raw.restart
    again = _counted(raw.job_id)
    tally.touch("duplicate_id", again > 0)
    return again


def _counted(ids: IntArray, *more: IntArray) -> IntArray:
    """For each row, how many rows before it are the same in these columns."""
    order = np.lexsort((*more, ids))  # stable: equal rows stay in file order
    change = np.zeros(ids.size, dtype=np.bool_)
    for column in (ids, *more):
        change[1:] |= np.diff(column[order]) != 0
    place = np.arange(ids.size)
    found = np.empty(ids.size, dtype=np.int64)
    found[order] = place - np.maximum.accumulate(np.where(change, place, 0))
    return found


def _size(raw: RawJobs, tally: _Tally, size: Size, machine_procs: int | None) -> FloatArray:
    first, second = raw.requested_procs, raw.allocated_procs
    if size == "allocated":
        first, second = second, first
    tally.touch("no_size", ~known(first) & ~known(second))
    tally.touch("other_size", ~known(first))
    procs = np.where(known(first), first, second)
    limit = np.inf if machine_procs is None else machine_procs
    tally.touch("too_large", procs > limit)
    return procs


def _request(raw: RawJobs, tally: _Tally) -> FloatArray:
    missing = ~known(raw.requested_s)
    tally.touch("no_request", missing)
    requested_s = np.where(missing, raw.run_s, raw.requested_s)
    tally.touch("overrun", raw.run_s > requested_s)
    return requested_s


def _order(raw: RawJobs, tally: _Tally, kept: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    submit_s = raw.submit_s[kept]
    late = np.zeros(len(raw), dtype=np.bool_)
    late[kept] = submit_s < np.maximum.accumulate(submit_s)
    tally.touch("unsorted", late)
    return kept[np.argsort(submit_s, kind="stable")]


def _dependencies(raw: RawJobs, tally: _Tally, order: npt.NDArray[np.intp]) -> IntArray:
    named = raw.preceding >= 0
    filler = np.zeros_like(named)
    asked = raw.preceding[named]
    if asked.size >= FILLER_ROWS:
        commonest = int(np.unique(asked, return_counts=True)[1].max())
        filler = named & bool(commonest >= FILLER_SHARE * len(raw))
    tally.touch("filler_dependency", filler)
    # Duplicate ids: a reference means the first job that bore the id.
    ids, first = np.unique(raw.job_id, return_index=True)
    row_of = np.full(len(raw), NO_JOB, dtype=np.int64)
    row_of[order] = np.arange(order.size)
    position = np.minimum(np.searchsorted(ids, raw.preceding), max(ids.size - 1, 0))
    found = named & ~filler
    if ids.size:
        found &= ids[position] == raw.preceding
    target = np.where(found, row_of[first[position]] if ids.size else NO_JOB, NO_JOB)
    earlier = (target != NO_JOB) & (target < row_of)
    tally.touch("lost_dependency", named & ~filler & ~earlier)
    after: IntArray = np.where(earlier, target, NO_JOB)[order]
    return after


def _refuse(report: CleaningReport, source: str) -> None:
    touched = [rule for rule in report.touched if rule.first_line is not None]
    if touched:
        first = min(touched, key=lambda rule: rule.first_line or 0)
        raise InputError(f"{source}:{first.first_line}: {first.name}: {first.statement} "
                         "Strict reading refuses it.")


def _why(report: CleaningReport) -> str:
    reasons = [f"{rule.statement} ({counted(rule.jobs, 'time')})" for rule in report.touched
               if rule.drops]
    return f": {' '.join(reasons)}" if reasons else ""
