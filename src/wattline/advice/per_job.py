"""Who was hurt and who gained: two runs of the same jobs, compared job by job.

Jobs are matched by their number and the number of their life. What counts is when a job is done:
waiting and running slower hurt alike. A job that ran in one run only is counted apart, because
there is no telling how much later "never" is; so is a job that was killed in one run only: it is
out of the way sooner, and its work is not done.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from wattline.analysis.describe import unix_start_s
from wattline.analysis.naming import named_runs
from wattline.model.errors import InputError
from wattline.model.jobs import IntArray, JobTable
from wattline.model.run import Outcome, Run
from wattline.model.shown import Shown
from wattline.model.signal import FloatArray
from wattline.model.states import WORDS, run_states
from wattline.model.units import counted
from wattline.scenario.side_by_side import Compared, run_of

if TYPE_CHECKING:
    import pandas as pd

EQUAL_S = 1.0
"""Up to this change of its end nobody notices."""
MOST_JOBS = 10
"""Jobs that are named on each side."""
UNKNOWN = "unknown"

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Group:
    """What became of the jobs of one user, of one size, or of one hour of the day."""

    name: str
    jobs: int
    hurt: int
    """Done later by more than a second."""
    gained: int
    lost: int
    """Ran in the first run only."""
    won: int
    """Ran in the second run only."""
    killed: int
    """Killed, or failed, in the second run only."""
    spared: int
    """Killed, or failed, in the first run only."""
    neither: int
    """Ran in neither run."""
    later_s_mean: float
    """How much later they are done in the mean, of those that ran in both and ended alike; negative
    for earlier."""
    later_s_p50: float
    later_s_p95: float
    wait_s_first: float
    wait_s_second: float
    energy_ratio: float

    @property
    def same(self) -> int:
        apart = self.lost + self.won + self.killed + self.spared + self.neither
        return self.jobs - self.hurt - self.gained - apart


@dataclass(frozen=True)
class Changed:
    """One job that was hurt, or gained."""

    job_id: int
    restart: int
    user: str
    nodes: int
    """What it was given in the first run, in the unit of the comparison."""
    later_s: float
    wait_more_s: float
    run_more_s: float


@dataclass(frozen=True, eq=False, repr=False)
class PerJob(Shown):
    """All of it for two runs.

    >>> import wattline as wl
    >>> trace = wl.generate("lublin", seed=1, jobs=20, nodes=32)
    >>> machine = wl.Machine(nodes=32, node_idle_w=90, node_active_w=300)
    >>> free, capped = (wl.simulate(trace, machine=machine, power=power)
    ...                 for power in (None, wl.Dvfs(cap="70%")))
    >>> wl.compare_jobs(free, capped).total.jobs
    20
    """

    first: str
    second: str
    total: Group
    groups: dict[str, tuple[Group, ...]]
    """By `user`, `size` and `hour`."""
    most_hurt: tuple[Changed, ...]
    most_gained: tuple[Changed, ...]
    only_first: int
    """Jobs that the other run does not know at all."""
    only_second: int
    notes: tuple[str, ...]
    later_s: FloatArray
    """Of every job that ran in both and ended alike, how much later it is done."""
    unit: str = "nodes"
    """Of sizes: nodes, or cores where the runs share nodes."""

    def to_dict(self) -> dict[str, Any]:
        return {
            "first": self.first, "second": self.second, "unit": self.unit,
            "total": _plain(self.total),
            **{f"by_{name}": [_plain(group) for group in groups]
               for name, groups in self.groups.items()},
            "most_hurt": [vars(each) for each in self.most_hurt],
            "most_gained": [vars(each) for each in self.most_gained],
            "only_first": self.only_first, "only_second": self.only_second,
            "notes": list(self.notes),
        }

    def to_pandas(self) -> pd.DataFrame:
        """A row per group: all jobs, then those of each user, size and hour."""
        import pandas as pd

        named = {"all": (self.total,), **self.groups}
        rows = [{"by": by, **_plain(group)} for by, groups in named.items() for group in groups]
        return pd.DataFrame(rows).set_index(["by", "name"])

    def plot(self, path: str | Path) -> Path:
        """Draw the change of all jobs, and the shares of the hurt by size and hour."""
        from wattline.advice.per_job_plot import draw_per_job

        return draw_per_job(self, Path(path))


@dataclass(frozen=True, eq=False)
class _Matched:
    """Rows of the two tables that are the same job, with what became of it in each run."""

    first: IntArray
    second: IntArray
    ran_first: Mask
    ran_second: Mask
    later_s: FloatArray
    wait_s: tuple[FloatArray, FloatArray]
    energy_j: tuple[FloatArray, FloatArray]
    harm: tuple[IntArray, IntArray]
    """How badly it ended: 0 completed, 1 failed, 2 killed at its requested time."""

    @property
    def both(self) -> Mask:
        return np.asarray(self.ran_first & self.ran_second)

    @property
    def killed(self) -> Mask:
        return np.asarray(self.both & (self.harm[1] > self.harm[0]))

    @property
    def spared(self) -> Mask:
        return np.asarray(self.both & (self.harm[1] < self.harm[0]))

    @property
    def comparable(self) -> Mask:
        """Ran in both runs, and ended alike."""
        return np.asarray(self.both & (self.harm[0] == self.harm[1]))


def compare_jobs(
    first: Compared, second: Compared, names: tuple[str, str] | None = None
) -> PerJob:
    """Compare two runs job by job; sizes are in `unit`, what the first run gave each job.

    Runs are given as to `compare`: as runs, their folders, or what is still to be simulated. They
    are called what their scenarios are, or `names`.

    >>> import wattline as wl
    >>> trace = wl.generate("lublin", seed=1, jobs=30, nodes=32)
    >>> machine = wl.Machine(nodes=32, node_idle_w=90, node_active_w=300)
    >>> free, capped = (wl.simulate(trace, machine=machine, power=power)
    ...                 for power in (None, wl.Dvfs(cap="70%")))
    >>> found = wl.compare_jobs(free, capped)
    >>> found.total.hurt > found.total.gained
    True
    """
    runs = [run_of(each) for each in (first, second)]
    one, other = named_runs(runs)
    return _compared(runs[0], runs[1], names or (one, other))


def _compared(first: Run, second: Run, names: tuple[str, str]) -> PerJob:
    rows = _match(first.jobs, second.jobs, names)
    if not rows[0].size:
        raise InputError(f"{names[0]} and {names[1]} have no job in common: jobs are matched by "
                         "their number and restart")
    matched = _matched(first, second, *rows)
    hours, said = _hours(first, matched)
    columns = {"user": _users(first.jobs, matched), "size": _sizes(first, second, matched),
               "hour": hours}
    moved = int((np.abs(first.jobs.submit_s[matched.first] - second.jobs.submit_s[matched.second])
                 > EQUAL_S).sum())
    return PerJob(
        *names,
        total=_group("all", matched, np.ones(len(matched.first), dtype=np.bool_)),
        groups={by: _grouped(matched, *labels) for by, labels in columns.items()},
        most_hurt=tuple(_most(first, second, matched, -1.0)),
        most_gained=tuple(_most(first, second, matched, 1.0)),
        only_first=len(first.jobs) - len(matched.first),
        only_second=len(second.jobs) - len(matched.second),
        notes=tuple(_notes(matched, said, moved, names, (len(first.jobs), len(second.jobs)),
                           (_unit(first), _unit(second)))),
        later_s=matched.later_s[matched.comparable],
        unit=_unit(first),
    )


def _match(first: JobTable, second: JobTable, names: tuple[str, str]) -> tuple[IntArray, IntArray]:
    """Rows of both tables with the same number and restart."""
    keys = []
    for jobs, name in zip((first, second), names, strict=True):
        key = np.rec.fromarrays([jobs.job_id, jobs.restart])
        if len(np.unique(key)) < len(key):
            raise InputError(f"{name} has two jobs of the same number and restart; which of them "
                             "is meant cannot be told")
        keys.append(key)
    _, one, other = np.intersect1d(keys[0], keys[1], assume_unique=True, return_indices=True)
    order = np.argsort(one)
    return one[order].astype(np.int64), other[order].astype(np.int64)


def _matched(first: Run, second: Run, one: IntArray, other: IntArray) -> _Matched:
    ends = first.schedule.end_s[one], second.schedule.end_s[other]
    submits = first.jobs.submit_s[one], second.jobs.submit_s[other]
    return _Matched(
        one, other, first.ran[one], second.ran[other],
        later_s=(ends[1] - submits[1]) - (ends[0] - submits[0]),
        wait_s=(first.schedule.start_s[one] - submits[0],
                second.schedule.start_s[other] - submits[1]),
        energy_j=(first.schedule.energy_j[one], second.schedule.energy_j[other]),
        harm=(_harm(first)[one], _harm(second)[other]),
    )


def _harm(run: Run) -> IntArray:
    completed = WORDS.index("COMPLETED")
    killed = run.schedule.outcome == Outcome.KILLED
    return np.asarray(np.where(killed, 2, run_states(run) != completed), dtype=np.int64)


def _grouped(matched: _Matched, label: IntArray, names: Sequence[str]) -> tuple[Group, ...]:
    """A group for each label that occurs; labels are numbered in the order of their names."""
    return tuple(_group(names[code], matched, label == code)
                 for code in np.unique(label).tolist())


def _group(name: str, matched: _Matched, of: Mask) -> Group:
    alike = of & matched.comparable
    later_s = matched.later_s[alike]
    energies = [float(energy_j[alike].sum()) for energy_j in matched.energy_j]
    return Group(
        name,
        jobs=int(of.sum()),
        hurt=int((later_s > EQUAL_S).sum()),
        gained=int((later_s < -EQUAL_S).sum()),
        lost=int((of & matched.ran_first & ~matched.ran_second).sum()),
        won=int((of & ~matched.ran_first & matched.ran_second).sum()),
        killed=int((of & matched.killed).sum()),
        spared=int((of & matched.spared).sum()),
        neither=int((of & ~matched.ran_first & ~matched.ran_second).sum()),
        later_s_mean=_mean(later_s),
        later_s_p50=_quantile(later_s, 0.5),
        later_s_p95=_quantile(later_s, 0.95),
        wait_s_first=_mean(matched.wait_s[0][alike]),
        wait_s_second=_mean(matched.wait_s[1][alike]),
        energy_ratio=energies[1] / energies[0] if energies[0] > 0 else np.nan,
    )


def _mean(values: FloatArray) -> float:
    return float(values.mean()) if values.size else np.nan


def _quantile(values: FloatArray, part: float) -> float:
    return float(np.quantile(values, part)) if values.size else np.nan


def _users(jobs: JobTable, matched: _Matched) -> tuple[IntArray, list[str]]:
    codes, label = np.unique(jobs.user[matched.first], return_inverse=True)
    names = [jobs.name_of("user", code) if code >= 0 else UNKNOWN for code in codes.tolist()]
    return label.astype(np.int64), names


def _sizes(first: Run, second: Run, matched: _Matched) -> tuple[IntArray, list[str]]:
    """By what they were given in the first run, where they ran in it, in powers of two: 1, 2, 3-4,
    5-8, ..."""
    given = first.schedule.nodes[matched.first]
    size = np.maximum(np.where(given > 0, given, second.schedule.nodes[matched.second]), 1)
    label = np.ceil(np.log2(size)).astype(np.int64)
    names = ["1", "2", *(f"{2 ** (k - 1) + 1}-{2**k}" for k in range(2, int(label.max()) + 1))]
    return label, names


def _hours(run: Run, matched: _Matched) -> tuple[tuple[IntArray, list[str]], str]:
    """By the hour of the day at which a job was submitted, and what that hour is."""
    origin_s = unix_start_s(run)
    submit_s = run.jobs.submit_s[matched.first] + (origin_s or 0.0)
    label = (np.floor(submit_s / 3600.0) % 24).astype(np.int64)
    said = "hours of the day are UTC" if origin_s is not None else (
        "the log has no date: hours of the day count from its second 0")
    return (label, [f"{hour:02d}" for hour in range(24)]), said


def _most(first: Run, second: Run, matched: _Matched, sign: float) -> Iterator[Changed]:
    """Those that changed most: hurt for -1, gained for 1."""
    rows = np.flatnonzero(matched.comparable & (sign * matched.later_s < -EQUAL_S))
    jobs = first.jobs
    for row in rows[np.argsort(sign * matched.later_s[rows], kind="stable")][:MOST_JOBS].tolist():
        at = int(matched.first[row])
        user = int(jobs.user[at])
        wait_more_s = float(matched.wait_s[1][row] - matched.wait_s[0][row])
        later_s = float(matched.later_s[row])
        yield Changed(int(jobs.job_id[at]), int(jobs.restart[at]),
                      jobs.name_of("user", user) if user >= 0 else UNKNOWN,
                      int(first.schedule.nodes[at]), later_s, wait_more_s,
                      later_s - wait_more_s)


def _notes(
    matched: _Matched, hours: str, moved: int, names: tuple[str, str], sizes: tuple[int, int],
    units: tuple[str, str],
) -> Iterator[str]:
    for name, size in zip(names, sizes, strict=True):
        alone = size - len(matched.first)
        if alone:
            yield (f"{alone:,} of {size:,} jobs of {name} are not in the other run and are not "
                   "compared")
    if moved:
        yield (f"{counted(moved, 'job')} {'was' if moved == 1 else 'were'} submitted at another "
               "time in the second run: is it another log?")
    neither = int((~matched.ran_first & ~matched.ran_second).sum())
    if neither:
        yield f"{counted(neither, 'job')} ran in neither run"
    yield hours
    if units[0] != units[1]:
        yield f"{names[0]} counts {units[0]}, {names[1]} {units[1]}: sizes are in {units[0]}"


def _unit(run: Run) -> str:
    return "nodes" if run.units == run.machine.node_count else "cores"


def _plain(group: Group) -> dict[str, Any]:
    return {**vars(group), "same": group.same}
