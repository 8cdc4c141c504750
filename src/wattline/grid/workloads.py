"""Job types with their times and powers, and the workloads that are made of them.

The applications ship as tables in `data/`; beside each value stands whether it was read from the
published table, inferred from the rest of it, or chosen.
"""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib.resources import files

import numpy as np

from wattline.grid.market import Product, Range
from wattline.model.errors import InputError
from wattline.model.jobs import JobTable
from wattline.model.signal import FloatArray

QOS_LEVELS: Mapping[str, float] = {"tight": 0.5, "medium": 1.0, "loose": 2.0}
"""What a level multiplies every threshold with."""

STANDBY_THRESHOLD = float("inf")
MOST_JOBS = 10_000_000


@dataclass(frozen=True)
class JobType:
    """Jobs that behave alike. Powers are of one server while it runs such a job.

    At the highest power a job takes the shortest time; between the two powers the time grows
    linearly as the power falls.
    """

    name: str
    servers: int
    time_s_min: float
    power_w_max: float
    time_s_max: float
    power_w_min: float
    threshold: float
    sources: Mapping[str, str] = field(default_factory=dict, compare=False)
    """For each value of a shipped type: read, inferred or chosen."""
    threshold_sure: str = field(default="", compare=False)
    """How sure a shipped threshold is: sure, likely, either (its decimal has two readings), integer
    (its decimal is chosen), fitted or chosen."""

    def at_meter(self, pue: float) -> JobType:
        """The same with the powers of the facility."""
        return replace(self, power_w_max=pue * self.power_w_max,
                       power_w_min=pue * self.power_w_min)

    def __post_init__(self) -> None:
        if self.servers < 1:
            raise InputError(f"type '{self.name}': servers is {self.servers}, must be at least 1")
        if not 0 < self.time_s_min <= self.time_s_max < float("inf"):
            raise InputError(
                f"type '{self.name}': the shortest time ({self.time_s_min}) must be above 0 and "
                f"not above the longest ({self.time_s_max})"
            )
        if not 0 < self.power_w_min <= self.power_w_max < float("inf"):
            raise InputError(
                f"type '{self.name}': the lowest power ({self.power_w_min}) must be above 0 and "
                f"not above the highest ({self.power_w_max})"
            )
        if not self.threshold > 0:
            raise InputError(f"type '{self.name}': threshold is {self.threshold}, must be above 0")

    def time_s(self, power_w: float) -> float:
        """The time a job takes when each of its servers is held at this power."""
        span_w = self.power_w_max - self.power_w_min
        if span_w == 0:
            return self.time_s_min
        share = min(1.0, max(0.0, (power_w - self.power_w_min) / span_w))
        return self.time_s_max - share * (self.time_s_max - self.time_s_min)


@dataclass(frozen=True)
class Workload:
    """Job types that share a cluster, and how busy they keep it."""

    name: str
    types: tuple[JobType, ...]
    servers: int
    power_w_idle: float
    utilisation: float = 0.5
    shares: tuple[float, ...] = ()
    """Of the utilisation, what each type occupies; empty means equal."""
    standby: JobType | None = None
    burst: float = 1.0
    """Jobs that arrive together in the mean (numbers are geometric); 1 is a Poisson process."""
    below_idle: bool = False
    """Whether a bid may ask for targets below the idle machine."""
    power_w_asleep: float | None = None
    """Of a server that sleeps; None where none does."""
    product: Product = "symmetric"
    """Which directions a bid offers."""
    rule: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        if not self.types:
            raise InputError(f"workload '{self.name}' has no job types")
        if self.servers < 1:
            raise InputError(f"workload '{self.name}': servers is {self.servers}, must be >= 1")
        if not 0 < self.utilisation <= 1:
            raise InputError(
                f"workload '{self.name}': utilisation is {self.utilisation}, must be in (0, 1]"
            )
        if not 1 <= self.burst < float("inf"):
            raise InputError(f"workload '{self.name}': burst is {self.burst}, must be at least 1")
        if self.power_w_idle < 0:
            raise InputError(f"workload '{self.name}': idle power must not be negative")
        for job_type in self.types:
            if job_type.servers > self.servers:
                raise InputError(
                    f"workload '{self.name}': a job of '{job_type.name}' needs "
                    f"{job_type.servers} servers, the cluster has {self.servers}"
                )
            if job_type.power_w_max < self.power_w_idle:
                raise InputError(
                    f"workload '{self.name}': '{job_type.name}' draws {job_type.power_w_max} W "
                    f"per server, less than an idle one ({self.power_w_idle} W)"
                )
        if self.shares and len(self.shares) != len(self.types):
            raise InputError(
                f"workload '{self.name}': {len(self.shares)} shares for {len(self.types)} types"
            )

    def at_meter(self, pue: float) -> Workload:
        """The same with the powers of the whole facility: those of its servers times its PUE."""
        if pue == 1:
            return self
        standby = None if self.standby is None else self.standby.at_meter(pue)
        return replace(self, types=tuple(t.at_meter(pue) for t in self.types), standby=standby,
                       power_w_idle=pue * self.power_w_idle)

    def column(self, name: str) -> FloatArray:
        """One property of all types as an array."""
        return np.array([getattr(t, name) for t in self.types], dtype=np.float64)

    @property
    def arrivals_per_s(self) -> FloatArray:
        """Jobs a second of each type that keep the cluster as busy as stated.

        A job occupies `servers` servers, so the rate is divided by its size too; leaving the
        size out, as the published formula does, would ask W1 for more servers than there are.
        """
        count = len(self.types)
        shares = np.array(self.shares or [1.0] * count)
        shares = shares / shares.sum()
        work = self.column("servers") * self.column("time_s_min")
        rates: FloatArray = shares * self.utilisation * self.servers / work
        return rates

    @property
    def power_w_mean(self) -> float:
        """Mean power when every job runs at full speed as it arrives."""
        busy = self.arrivals_per_s * self.column("servers") * self.column("time_s_min")
        extra = busy @ (self.column("power_w_max") - self.power_w_idle)
        return float(self.servers * self.power_w_idle + extra)

    @property
    def range(self) -> Range:
        """All servers idle to all servers running the hungriest type."""
        types = (*self.types, self.standby) if self.standby else self.types
        return Range(
            self.servers * self.power_w_idle,
            self.servers * max(t.power_w_max for t in types),
            self.below_idle,
            self.product,
            None if self.power_w_asleep is None else self.servers * self.power_w_asleep,
        )

    @property
    def above_idle(self) -> Workload:
        """The same with the idle machine as the lowest target."""
        return replace(self, below_idle=False, power_w_asleep=None)

    def at_level(self, level: str) -> Workload:
        """The same with all thresholds at a level: tight, medium or loose."""
        if level not in QOS_LEVELS:
            raise InputError(f"QoS level '{level}' is unknown; known: {', '.join(QOS_LEVELS)}")
        factor = QOS_LEVELS[level]
        types = tuple(replace(t, threshold=t.threshold * factor) for t in self.types)
        return replace(self, types=types)

    def scaled(self, servers: int, *, sizes: bool = False) -> Workload:
        """The same on another number of servers; with `sizes`, jobs grow in proportion."""
        if not sizes:
            return replace(self, servers=servers)
        factor = servers / self.servers
        types = tuple(replace(t, servers=max(1, round(t.servers * factor))) for t in self.types)
        standby = self.standby
        if standby is not None:
            standby = replace(standby, servers=max(1, round(standby.servers * factor)))
        return replace(self, servers=servers, types=types, standby=standby)

    def with_standby(self, time_s: float = 30.0) -> Workload:
        """The same with standby jobs: its own, or small ones of the mean power and this time."""
        if self.standby is not None:
            return self
        unit = max(1, self.servers // 100)
        standby = JobType(
            "standby", unit, time_s, float(self.column("power_w_max").mean()), 1.2 * time_s,
            float(self.column("power_w_min").mean()), STANDBY_THRESHOLD,
        )
        return replace(self, standby=standby)

    def standby_jobs(self, duration_s: float) -> int:
        """How many standby jobs fill the cluster alone for so long."""
        if self.standby is None:
            return 0
        waves = int(np.ceil(duration_s / self.standby.time_s_min)) + 1
        return waves * max(1, self.servers // self.standby.servers)


def poisson_jobs(
    workload: Workload, duration_s: float, rng: np.random.Generator, start_s: float = 0.0
) -> JobTable:
    """Jobs that arrive independently, each type at its rate; `application` is the type's number.

    Where the workload has bursts, it is the bursts that are independent.

    Standby jobs, where the workload has them, are all there from the start and enough to fill
    the cluster alone; their number is the last.
    """
    expected = float(sum(workload.arrivals_per_s)) * duration_s + workload.standby_jobs(duration_s)
    if not expected <= MOST_JOBS:
        raise InputError(f"workload '{workload.name}' has some {expected:.3g} jobs in "
                         f"{duration_s:g} s; at most {MOST_JOBS:,} can be made")
    submit: list[FloatArray] = []
    code: list[FloatArray] = []
    for number, rate in enumerate(workload.arrivals_per_s):
        count = int(rng.poisson(rate / workload.burst * duration_s))
        times_s = np.sort(rng.uniform(0.0, duration_s, count))
        if workload.burst > 1:
            times_s = np.repeat(times_s, rng.geometric(1 / workload.burst, count))
        submit.append(start_s + times_s)
        code.append(np.full(times_s.size, number, dtype=np.float64))
    return job_table(workload, np.concatenate(submit), np.concatenate(code).astype(np.int64),
                     start_s, duration_s)


def job_table(
    workload: Workload,
    submit_s: FloatArray,
    code: np.ndarray[tuple[int], np.dtype[np.int64]],
    start_s: float,
    duration_s: float,
) -> JobTable:
    """The jobs of these types at these times, with the standby jobs of the workload before."""
    types: Sequence[JobType] = workload.types
    if workload.standby is not None:
        types = (*types, workload.standby)
        extra = workload.standby_jobs(duration_s)
        submit_s = np.concatenate((np.full(extra, start_s), submit_s))
        code = np.concatenate((np.full(extra, len(types) - 1), code))
    order = np.lexsort((code, submit_s))
    code, submit_s = code[order], submit_s[order]
    servers = np.array([t.servers for t in types])[code]
    time_s = np.array([t.time_s_min for t in types])[code]
    longest_s = np.array([t.time_s_max for t in types])[code]
    power_w = np.array([t.power_w_max for t in types])[code]
    return JobTable.build(
        submit_s=submit_s, run_s=time_s, requested_s=longest_s, procs=servers,
        power_w=servers * power_w, application=code,
        names={"application": tuple(t.name for t in types)},
    )


@lru_cache
def applications(table: str = "npb") -> Mapping[str, JobType]:
    """The shipped job types: `npb` (31 applications) or `moc` (7)."""
    text = (files("wattline.grid") / "data" / f"{table}.csv").read_text(encoding="utf-8")
    found = {}
    for row in csv.DictReader(text.splitlines()):
        sources = {key.removesuffix("_from"): row[key] for key in row if key.endswith("_from")}
        values = {key: float(row[key]) for key in sources}
        servers = int(values.pop("servers"))
        name = row["application"]
        found[name] = JobType(name, servers, **values, sources=sources,
                              threshold_sure=row["threshold_sure"])
    return found


@lru_cache
def _compositions() -> Mapping[str, dict[str, object]]:
    text = (files("wattline.grid") / "data" / "workloads.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def workload_names() -> tuple[str, ...]:
    return tuple(_compositions())


def workload(name: str, servers: int | None = None) -> Workload:
    """A shipped workload by name: W1 to W14, or MOC."""
    found = _compositions().get(name)
    if found is None:
        raise InputError(f"workload '{name}' is unknown; known: {', '.join(workload_names())}")
    table = applications(str(found.get("table", "npb")))
    names = found["types"]
    assert isinstance(names, list)
    standby = found.get("standby")
    return Workload(
        name=name,
        types=tuple(table[n] for n in names),
        servers=int(str(found.get("servers", 35))) if servers is None else servers,
        power_w_idle=float(str(found.get("power_w_idle", 169.0))),
        utilisation=float(str(found.get("utilisation", 0.5))),
        standby=replace(table[str(standby)], threshold=STANDBY_THRESHOLD) if standby else None,
        rule=str(found["rule"]),
        source=str(found["from"]),
    )
