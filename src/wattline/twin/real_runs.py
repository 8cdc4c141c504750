"""Several runs of the same submissions on a real Slurm, as they were recorded."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from pathlib import Path

from wattline.model.errors import InputError
from wattline.model.local_time import Moment, stay
from wattline.site.event_ids import event_ids
from wattline.site.moments import moment

NAMES = {
    "job": ("job_id", "job", "jobname", "job_name"), "number": ("jobid",),
    "submit": ("submit_s", "submit"),
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
    first_s: float = math.nan
    """The first submission, by the clock of the run."""
    event_ids: Mapping[str, str] = field(default_factory=dict)
    """Ids of the jobs in an `.events` file of the submissions; empty where not known."""

    @property
    def submit_s(self) -> dict[str, float]:
        """Submissions of the jobs that started, from the first one."""
        return {job: at_s - self.wait_s[job] for job, at_s in self.start_s.items()}

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
             for what, groups in self.groups.items()}, self.first_s)


def read_runs(folder: Path, zone: tzinfo = UTC) -> list[RealRun]:
    """Every `.csv`, and every `.txt` as `sacct -P` prints it, of a folder; times of this zone."""
    files = sorted([*folder.glob("*.csv"), *folder.glob("*.txt")])
    if len(files) < 2:
        raise InputError(f"{folder} has {len(files)} runs (*.csv, or *.txt of sacct -P); two are "
                         "needed to say how far runs are from each other")
    return [read_run(file, zone) for file in files]


def read_run(file: Path, zone: tzinfo = UTC) -> RealRun:
    rows = list(_rows(file))
    places = {what: _place(rows[0], names) for what, names in NAMES.items()} if rows else {}
    for needed in ("job", "submit", "start"):
        if places.get(needed) is None:
            raise InputError(f"{file}: there is no column {NAMES[needed][0]}; a run needs job, "
                             "submit_s and start_s, or JobName, Submit and Start of sacct")
    return _run(file, rows[1:], places, zone)


def _run(
    file: Path, rows: Sequence[Sequence[str]], places: Mapping[str, int | None], zone: tzinfo
) -> RealRun:
    def cell(row: Sequence[str], what: str) -> str:
        place = places[what]
        return "" if place is None else row[place]

    if places["number"] is not None:  # steps, and tasks that were never made
        rows = [row for row in rows if not re.search(r"[.\[]", cell(row, "number"))]
    called, numbers = ([cell(row, what) for row in rows] for what in ("job", "number"))
    names = job_names(called, numbers)
    ids = {} if places["number"] is None else dict(zip(
        names, _event_ids(called, numbers), strict=True))
    lives: dict[str, list[Sequence[str]]] = {}
    for name, row in zip(names, rows, strict=True):
        lives.setdefault(name, []).append(row)
    if places["number"] is None and len(lives) < len(rows):
        raise InputError(f"{file}: {len(rows) - len(lives)} rows repeat the name of a job; the "
                         "column JobID tells tasks of an array and lives of a job apart")
    submit_s, start_s = {}, {}
    for name, several in lives.items():
        # sacct -D has a row for each life of a requeued job, and for each size of a resized one.
        times_s = [_times_s(cell(row, "submit"), cell(row, "start"), zone) for row in several]
        last_s = max(submit for submit, _ in times_s)
        submit_s[name] = min(submit for submit, _ in times_s)
        start_s[name] = min(start for submit, start in times_s if not submit < last_s)
    first_s = min((value for value in submit_s.values() if not math.isnan(value)), default=0.0)
    ran = [name for name in lives if not math.isnan(start_s[name])]
    groups = {what: {name: cell(several[-1], what) for name, several in lives.items()}
              for what in GROUPS if places[what] is not None}
    return RealRun(file.stem, {name: start_s[name] - first_s for name in ran},
                   {name: start_s[name] - submit_s[name] for name in ran},
                   tuple(name for name in lives if name not in set(ran)), groups, first_s, ids)


def job_names(names: Sequence[str], numbers: Sequence[str]) -> list[str]:
    """Give each job of a run a name of its own, the same in another run of the submissions.

    A job's own name, with the task of an array; where a name stands for several submissions, the
    place of the submission, as Slurm counts up. Numbers differ between runs: tasks of arrays take
    theirs as they start.
    """
    bases = [_base(number) for number in numbers]
    said = {base: name for base, name in zip(bases, names, strict=True) if base}
    if len(set(said.values())) < len(said):
        said = {base: str(place) for place, base in enumerate(sorted(said, key=_count), start=1)}
    return [f"{said.get(base, name)}{number.removeprefix(base)}"
            for name, base, number in zip(names, bases, numbers, strict=True)]


def _event_ids(names: Sequence[str], numbers: Sequence[str]) -> list[str]:
    """Return the jobs' ids in an `.events` file with all of these submissions, in this order."""
    said = {_base(number): name for name, number in zip(names, numbers, strict=True)}
    order = sorted(said, key=_count)
    ids = dict(zip(order, event_ids([said[base] for base in order]), strict=True))
    return [f"{ids[_base(number)]}{number.removeprefix(_base(number))}" for number in numbers]


def _base(number: str) -> str:
    """Of an array or a heterogeneous job."""
    return re.split(r"[_+]", number)[0]


def _count(number: str) -> int:
    return int(number) if number.isdecimal() else 0


def _rows(file: Path) -> Iterator[list[str]]:
    with file.open(encoding="utf-8", newline="") as text:
        yield from csv.reader(text, delimiter="|" if file.suffix == ".txt" else ",")


def _place(header: Sequence[str], names: Iterable[str]) -> int | None:
    lowered = [word.strip().lower() for word in header]
    return next((lowered.index(name) for name in names if name in lowered), None)


def _times_s(submit: str, start: str, zone: tzinfo) -> tuple[float, float]:
    """Submission and start; NaN for what a job has not."""
    submitted, started = _moment(submit, zone), _moment(start, zone)
    if started is None:
        return math.nan if submitted is None else submitted.choices[0], math.nan
    start_s, _, submit_s, _ = stay(started, None, submit=submitted)
    return submit_s, start_s


def _moment(cell: str, zone: tzinfo) -> Moment | None:
    """A number, or a time as Slurm prints it; None for a job that has none."""
    try:
        return Moment((float(cell),))
    except ValueError:
        pass
    try:
        return moment(cell, zone)
    except ValueError:
        return None
