"""The roll of jobs: by which key each row of the table goes, and what was said of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from struct import pack
from typing import Any, NamedTuple

import numpy as np

from wattline.books.events import Key, Submitted
from wattline.model.errors import InputError
from wattline.model.jobs import JobTable
from wattline.policies.state import CANCELLED, DONE, REFUSED, State, fill_rows, follow

REMEMBERED = 10_000
"""Jobs that are over and still known by name."""
NAMED = ("user", "group", "queue", "partition", "application")
"""Columns whose values have names."""
SAID = {"group": "account", "application": "application"}
"""Of those, what a job has a field of its own for."""
GRES = "gres/"
"""Before the name of a generic resource, where it stands among figures."""
NUMBERS = ("units", "requested_s", "watts", "procs", "share", "think_s", "work_s")
MORE = ("names", "codes", "logged", "after", "account", "application", "gres", "place")

OVER_STATES = (DONE, REFUSED, CANCELLED)


class _Written(NamedTuple):
    """A job as it is saved."""

    job: Submitted
    more: str
    """What it says beside numbers, as JSON; empty where that is nothing: there may be many."""
    numbers: bytes

    @classmethod
    def of(cls, job: Submitted) -> _Written:
        more = {name: value for name in MORE
                if (value := getattr(job, name)) not in (None, {}, "")}
        numbers = pack("7d", job.units, job.requested_s, job.watts, job.procs, job.share,
                       job.think_s, job.work_s)
        return cls(job, _as_json(more) if more else "", numbers)


class Roll:
    """Rows are given out in the order of submission and never again to another job."""

    def __init__(self) -> None:
        self._rows: dict[Key, int] = {}
        self.jobs: list[Submitted] = []
        self.codes: dict[str, dict[str, int]] = {column: {} for column in NAMED}
        self._names: dict[str, list[str]] = {column: [] for column in NAMED}
        """The names behind the codes of each column; a code without a name stands for itself."""
        self.own_codes: set[str] = set()
        """Columns for which the teller has numbers of its own."""
        self.over: dict[Key, float] = {}
        """When the last jobs that are over and forgotten ended; those that did not run at -inf."""
        self._texts: dict[Key, _Written] = {}
        """Jobs as they are saved, as far as they have been."""
        self._all: tuple[float, JobTable] | None = None
        """The table of all jobs as it was last asked for: copies that look ahead ask it often."""

    @classmethod
    def of(cls, said: Mapping[str, Any], numbers: Any) -> Roll:
        """A roll as `saved` gave it, its text read."""
        made = cls()
        made.jobs = [_job(key, row, said["more"].get(str(place), {})) for place, (key, row)
                     in enumerate(zip(said["keys"], numbers.tolist(), strict=True))]
        made._rows = {job.job: row for row, job in enumerate(made.jobs)}
        made.codes = {column: dict(known) for column, known in said["codes"].items()}
        made._names = {column: list(known) for column, known in made.codes.items()}
        made.own_codes = set(said.get("own_codes", ()))
        made.over = dict(said["over"])
        return made

    def saved(self) -> tuple[str, Any]:
        """What was said of the jobs, as JSON, and their numbers, a row each: for `of`.

        Thousands of jobs are saved again and again, and hardly one of them has changed: each is
        written out once.
        """
        kept = [self._written(job) for job in self.jobs]
        self._texts = {each.job.job: each for each in kept}
        more = ",".join(f'"{row}":{each.more}' for row, each in enumerate(kept) if each.more)
        rest = _as_json({"keys": [job.job for job in self.jobs], "codes": self.codes,
                         "own_codes": sorted(self.own_codes), "over": list(self.over.items())})
        numbers = np.frombuffer(b"".join(each.numbers for each in kept))
        return f'{rest[:-1]},"more":{{{more}}}}}', numbers.reshape(len(kept), len(NUMBERS))

    def write_out_new(self) -> None:
        """Do what saving takes for the jobs that have come since: between saves there is time."""
        for job in reversed(self.jobs):
            if job.job in self._texts:
                return
            self._texts[job.job] = self._written(job)

    def _written(self, job: Submitted) -> _Written:
        known = self._texts.get(job.job)
        return known if known is not None and known.job is job else _Written.of(job)

    def __len__(self) -> int:
        return len(self.jobs)

    def __contains__(self, key: Key) -> bool:
        return key in self._rows

    def row(self, key: Key) -> int:
        return self._rows[key]

    def find(self, key: Key) -> int:
        """The row of a job; -1 where it is not on the roll."""
        return self._rows.get(key, -1)

    def key(self, row: int) -> Key:
        return self.jobs[row].job

    def copy(self) -> Roll:
        other = Roll()
        other._rows = dict(self._rows)
        other.jobs = list(self.jobs)
        other.over = dict(self.over)
        other.own_codes = set(self.own_codes)
        other.codes = {column: dict(codes) for column, codes in self.codes.items()}
        other._names = {column: list(names) for column, names in self._names.items()}
        other._all = self._all
        return other

    def write(
        self, state: State, first: int, jobs: Sequence[Submitted], table: JobTable, unit_w: float,
        before: int = 0,
    ) -> None:
        """Enter jobs on the roll and fill their rows of the state; `before` were forgotten."""
        self._all = None
        units = np.array([job.units for job in jobs], dtype=np.int64)
        watts = np.array([job.watts for job in jobs])
        own = ~np.isnan(watts)
        fill_rows(state, first, table, units, np.where(own, watts, units * unit_w))
        rows = slice(first, first + len(jobs))
        state.live.own_watts[rows] = own
        state.jobs.share[rows] = [job.share for job in jobs]
        state.jobs.turn[rows] = np.arange(before + first, before + first + len(jobs))
        for offset, job in enumerate(jobs):
            waits_for = self._rows.get(job.after, -1) if job.after is not None else -1
            if waits_for >= 0:
                follow(state, first + offset, waits_for)
            if job.place is not None:
                state.jobs.submit_s[first + offset], state.jobs.turn[first + offset] = job.place
            self._rows[job.job] = first + offset
            self.jobs.append(_own(job))

    def table_of_all(self, now_s: float) -> JobTable:
        """What was said of all jobs on the roll."""
        if self._all is None or self._all[0] != now_s:
            self._all = now_s, self.table(self.jobs, now_s)
        return self._all[1]

    def table(self, jobs: Sequence[Submitted], now_s: float) -> JobTable:
        """What was said of jobs as a table, for policies to look at."""
        codes: dict[str, list[int]] = {column: [] for column in NAMED}
        for job in jobs:
            for column in NAMED:
                codes[column].append(self._named(job, column))
        return JobTable.build(
            submit_s=np.full(len(jobs), now_s), run_s=[job.work_s for job in jobs],
            requested_s=[job.requested_s for job in jobs],
            procs=[job.procs or job.units for job in jobs], power_w=[job.watts for job in jobs],
            think_s=[job.think_s for job in jobs],
            names={column: tuple(known) for column, known in self._names.items() if known}, **codes,
        )

    def _named(self, job: Submitted, column: str) -> int:
        """The job's code in a column, and its name noted behind it."""
        code, name = self.code(job, column), name_of(job, column)
        if name:
            known = self._names[column]
            known += [str(place) for place in range(len(known), code + 1)]
            known[code] = name
        return code

    def code(self, job: Submitted, column: str) -> int:
        """The teller's own number, or one for each name in the order in which they are met."""
        known = self.codes[column]
        if column in job.codes:
            if known:
                raise InputError(f"job '{job.job}' has a number for its {column}; those before had "
                                 "names alone, whose numbers the books gave: say one or the other")
            self.own_codes.add(column)
            return job.codes[column]
        name = name_of(job, column)
        if not name:
            return -1
        if column in self.own_codes:
            raise InputError(f"job '{job.job}' names its {column} without a number; those before "
                             "had numbers: say one or the other")
        return known.setdefault(name, len(known))

    def remember(self, state: State) -> None:
        """Note the ends of jobs that are over, for those that will be said to depend on them."""
        over = np.flatnonzero(np.isin(state.live.state[: len(self.jobs)], OVER_STATES))
        ends_s = np.nan_to_num(state.live.end_s[over], nan=-np.inf)
        self.over |= {self.jobs[row].job: float(end_s)
                      for row, end_s in zip(over, ends_s, strict=True)}

    def forget_names(self) -> None:
        """Keep the names of those that ended last; the same ones however often it was noted."""
        last = sorted(self.over.items(), key=lambda job: (job[1], str(job[0])))[-REMEMBERED:]
        self.over = dict(last)

    def keep(self, rows: Any) -> None:
        """Forget all jobs but these rows, which move up in their order."""
        self._all = None
        self.jobs = [self.jobs[row] for row in rows.tolist()]
        self._rows = {job.job: row for row, job in enumerate(self.jobs)}


def _as_json(value: Any) -> str:
    """Whoever tells of jobs may count in numpy's numbers."""
    return json.dumps(value, separators=(",", ":"), default=lambda number: number.item())


def name_of(job: Submitted, column: str) -> str:
    """What a job says of itself in a column that has names; empty where it says nothing."""
    own = getattr(job, SAID[column]) if column in SAID else ""
    return own or job.names.get(column, "")


def figures(jobs: Sequence[Submitted]) -> dict[str, Any]:
    """Further columns of jobs, as policies look at them: what is logged, and generic resources."""
    said = [{**job.logged, **{f"{GRES}{name}": count for name, count in job.gres.items()}}
            for job in jobs]
    names = {name for each in said for name in each}
    return {name: np.array([each.get(name, np.nan) for each in said], dtype=np.float64)
            for name in sorted(names)}


def _own(job: Submitted) -> Submitted:
    """The job with copies of what it says: whoever told it may go on with the same dictionary.

    Its key is a plain number where it is one of numpy's: decisions name it, and journals hold it.
    """
    if isinstance(job.job, np.integer):
        job = replace(job, job=int(job.job))
    if not (job.names or job.codes or job.logged or job.gres):
        return job
    return replace(job, names=dict(job.names), codes=dict(job.codes), logged=dict(job.logged),
                   gres=dict(job.gres))


def _job(key: Key, row: Sequence[float], more: Mapping[str, Any]) -> Submitted:
    numbers: dict[str, Any] = dict(zip(NUMBERS, row, strict=True))
    numbers |= {name: int(numbers[name]) for name in ("units", "procs")}
    if "place" in more:
        more = {**more, "place": tuple(more["place"])}
    return Submitted(key, **numbers, **more)
