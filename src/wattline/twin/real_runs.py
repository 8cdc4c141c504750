"""Several runs of the same submissions on a real Slurm, as they were recorded."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from wattline.model.errors import InputError

NAMES = {
    "job": ("job", "jobname", "job_name"), "submit": ("submit_s", "submit"),
    "start": ("start_s", "start"), "account": ("account",), "user": ("user",),
    "partition": ("partition",), "qos": ("qos",), "tasks": ("tasks", "reqcpus"), "asks": ("asks",),
}
"""Columns of a run by what they may be called, in a CSV or in the output of `sacct -P`."""
GROUPS = ("account", "user", "partition", "qos", "tasks", "asks")


@dataclass(frozen=True)
class RealRun:
    """Starts and waits of one run, by the names of the jobs; times from the first submission."""

    name: str
    start_s: Mapping[str, float]
    wait_s: Mapping[str, float]
    unstarted: tuple[str, ...]
    groups: Mapping[str, Mapping[str, str]]
    """By what jobs are grouped (account, ...): the group of each job."""

    def renamed(self, call: Callable[[str], str]) -> RealRun:
        """The same with other names of jobs; refused where two would have one."""
        names = [*self.start_s, *self.unstarted]
        if len({call(name) for name in names}) < len(names):
            raise InputError(f"{self.name}: two jobs have names that end with the same number")
        return RealRun(
            self.name, {call(name): value for name, value in self.start_s.items()},
            {call(name): value for name, value in self.wait_s.items()},
            tuple(map(call, self.unstarted)),
            {what: {call(name): group for name, group in groups.items()}
             for what, groups in self.groups.items()})


def read_runs(folder: Path) -> list[RealRun]:
    """Every `.csv`, and every `.txt` as `sacct -P` prints it, of a folder."""
    files = sorted([*folder.glob("*.csv"), *folder.glob("*.txt")])
    if len(files) < 2:
        raise InputError(f"{folder} has {len(files)} runs (*.csv, or *.txt of sacct -P); two are "
                         "needed to say how far runs are from each other")
    return [read_run(file) for file in files]


def read_run(file: Path) -> RealRun:
    rows = list(_rows(file))
    places = {what: _place(rows[0], names) for what, names in NAMES.items()} if rows else {}
    for needed in ("job", "submit", "start"):
        if places.get(needed) is None:
            raise InputError(f"{file}: there is no column {NAMES[needed][0]}; a run needs job, "
                             "submit_s and start_s, or JobName, Submit and Start of sacct")
    return _run(file, rows[1:], places)


def _run(file: Path, rows: Sequence[Sequence[str]], places: Mapping[str, int | None]) -> RealRun:
    def cell(row: Sequence[str], what: str) -> str:
        place = places[what]
        return "" if place is None else row[place]

    jobs = {cell(row, "job"): row for row in rows}
    if len(jobs) < len(rows):
        raise InputError(f"{file}: {len(rows) - len(jobs)} rows repeat the name of a job; names "
                         "tell which job of a run is which of another")
    submit_s = {job: _seconds(cell(row, "submit")) for job, row in jobs.items()}
    start_s = {job: _seconds(cell(row, "start")) for job, row in jobs.items()}
    first_s = min((value for value in submit_s.values() if not math.isnan(value)), default=0.0)
    ran = [job for job in jobs if not math.isnan(start_s[job])]
    groups = {what: {job: cell(row, what) for job, row in jobs.items()}
              for what in GROUPS if places[what] is not None}
    return RealRun(file.stem, {job: start_s[job] - first_s for job in ran},
               {job: start_s[job] - submit_s[job] for job in ran},
               tuple(job for job in jobs if job not in set(ran)), groups)


def _rows(file: Path) -> Iterator[list[str]]:
    with file.open(encoding="utf-8", newline="") as text:
        yield from csv.reader(text, delimiter="|" if file.suffix == ".txt" else ",")


def _place(header: Sequence[str], names: Iterable[str]) -> int | None:
    lowered = [word.strip().lower() for word in header]
    return next((lowered.index(name) for name in names if name in lowered), None)


def _seconds(cell: str) -> float:
    """A number, or a time as Slurm prints it; NaN for a job that has none."""
    try:
        return float(cell)
    except ValueError:
        pass
    try:
        return datetime.fromisoformat(cell).timestamp()
    except ValueError:
        return math.nan
