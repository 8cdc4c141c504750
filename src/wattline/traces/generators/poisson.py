"""Poisson mixes: job types with weights, arriving independently of each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from wattline.model.errors import InputError
from wattline.model.jobs import IntArray
from wattline.model.machine import MOST_NODES, MOST_POWER_W
from wattline.model.reading import read_toml
from wattline.model.signal import FloatArray
from wattline.physics.core_power import parse_cpu_freq
from wattline.traces.frequencies import of_texts
from wattline.traces.generators.common import LOADS, finish, in_range, streams
from wattline.traces.trace import Trace

_RANGES = {"run_s": (1e-3, 1e9), "weight": (1e-9, 1e9), "sigma": (1e-9, 10.0),
           "request_factor": (1.0, 1e6)}
RATES_PER_HOUR = (1e-6, 1e9)
DISTRIBUTIONS = ("constant", "exponential", "lognormal", "uniform")


@dataclass(frozen=True)
class JobType:
    """One kind of job of a mix."""

    name: str
    procs: int | tuple[int, ...]
    """One size, or several of which each is as likely as the others."""
    run_s: float
    """Mean run time."""
    weight: float = 1.0
    """Share of the jobs, relative to the weights of the other types."""
    run: str = "exponential"
    """How run times spread: constant, exponential, lognormal or uniform (from 0 to twice)."""
    sigma: float = 1.0
    """Spread of the logarithm, for lognormal."""
    request_factor: float = 1.0
    """The requested time as a multiple of the run time; at least 1."""
    power_w_per_node: float = float("nan")
    cpu_freq: str = ""
    """Frequencies that the jobs allow, as `1200000-2400000:ondemand`; nothing for all."""

    def __post_init__(self) -> None:
        where = f"job type '{self.name}'"
        sizes = self.sizes
        if not sizes or min(sizes) < 1:
            raise InputError(f"{where}: procs must be at least 1")
        if self.run not in DISTRIBUTIONS:
            raise InputError(f"{where}: run is '{self.run}', must be one of "
                             f"{', '.join(DISTRIBUTIONS)}")
        if max(sizes) > MOST_NODES:
            raise InputError(f"{where}: procs is {max(sizes)}, must be at most {MOST_NODES:,}")
        for name, (low, high) in _RANGES.items():
            in_range(f"{where}: {name}", getattr(self, name), low, high)
        if not np.isnan(self.power_w_per_node):
            in_range(f"{where}: power_w_per_node", self.power_w_per_node, 0.0, MOST_POWER_W)
        try:
            parse_cpu_freq(self.cpu_freq or "high")
        except InputError as error:
            raise InputError(f"{where}: {error}") from None

    @property
    def sizes(self) -> tuple[int, ...]:
        return (self.procs,) if isinstance(self.procs, int) else tuple(self.procs)


DEFAULT_LOAD = 0.8
DEFAULT = (
    JobType("small", (1, 2, 4), 1800.0, 6.0, request_factor=2.0),
    JobType("medium", (8, 16), 7200.0, 3.0, "lognormal", request_factor=1.5),
    JobType("large", (32, 64), 14400.0, 1.0, "lognormal", request_factor=1.25),
)


def generate(
    *,
    seed: int,
    jobs: int = 1000,
    nodes: int = 128,
    types: Sequence[JobType] | str | Path = DEFAULT,
    rate_per_hour: float | None = None,
    load: float | None = None,
) -> Trace:
    """Draw jobs; without a rate, the rate is such that the offered load is `load` (0.8).

    `types` is a sequence of job types or a TOML file with a table [[type]] for each, which may
    also set `rate_per_hour` or `load`; what is asked for here goes before that.
    """
    _refuse_both("", rate_per_hour, load)
    if isinstance(types, (str, Path)):
        where = types
        types, options = read_mix(Path(types))
        _refuse_both(f"{where}: ", options.get("rate_per_hour"), options.get("load"))
        if rate_per_hour is None and load is None:
            rate_per_hour, load = options.get("rate_per_hour"), options.get("load")
    _check(types, nodes, rate_per_hour, DEFAULT_LOAD if load is None else load)
    arrive, pick, size, run = streams(seed, 4)
    weights = np.array([kind.weight for kind in types])
    chosen = pick.choice(len(types), size=jobs, p=weights / weights.sum())
    procs, run_s, requested_s, power_w = (np.empty(jobs) for _ in range(4))
    for number, kind in enumerate(types):
        rows = np.flatnonzero(chosen == number)
        procs[rows] = size.choice(np.array(kind.sizes), size=rows.size)
        run_s[rows] = _run_times(kind, rows.size, run)
        requested_s[rows] = np.ceil(run_s[rows] * kind.request_factor)
        power_w[rows] = procs[rows] * kind.power_w_per_node
    rate_per_s = rate_per_hour / 3600.0 if rate_per_hour is not None else _rate(
        types, nodes, DEFAULT_LOAD if load is None else load)
    submit_s = np.floor(np.cumsum(arrive.exponential(1.0 / rate_per_s, jobs)))
    return finish(
        f"poisson seed {seed}", nodes=nodes,
        header={"Note": "Generated: a Poisson mix of job types", "Seed": str(seed)},
        names={"application": tuple(kind.name for kind in types)},
        submit_s=submit_s, run_s=run_s, requested_s=requested_s, procs=procs, power_w=power_w,
        application=chosen, logged=_frequencies(types, chosen), asked_load=load,
    )


def _frequencies(types: Sequence[JobType], chosen: IntArray) -> dict[str, FloatArray]:
    """What each job allows, where a type says something."""
    said, _ = of_texts([kind.cpu_freq or None for kind in types])
    return {name: hz[chosen] for name, hz in said.items() if not np.isnan(hz).all()}


def read_mix(path: Path) -> tuple[tuple[JobType, ...], dict[str, float]]:
    """A mix from a TOML file."""
    content = read_toml(path)
    for key in content:
        if key not in ("type", "rate_per_hour", "load"):
            raise InputError(f"{path}: unknown key '{key}'; known are type, rate_per_hour, load")
    tables = content.get("type")
    if not isinstance(tables, list) or not tables:
        raise InputError(f"{path}: needs at least one table [[type]]")
    options = {}
    for key in ("rate_per_hour", "load"):
        if key in content:
            options[key] = _number(content[key], f"{path}: {key}")
    return tuple(_job_type(table, path) for table in tables), options


def _job_type(table: Any, path: Path) -> JobType:
    if not isinstance(table, Mapping):
        raise InputError(f"{path}: type must be a table")
    known = {field.name for field in fields(JobType)}
    for key in table:
        if key not in known:
            raise InputError(f"{path}: [[type]] has no '{key}'; it has {', '.join(sorted(known))}")
    missing = {"name", "procs", "run_s"} - set(table)
    if missing:
        raise InputError(f"{path}: [[type]] lacks {', '.join(sorted(missing))}")
    values = dict(table)
    procs = values["procs"]
    sizes = procs if isinstance(procs, list) else [procs]
    if not all(type(size) is int for size in sizes):
        raise InputError(f"{path}: [[type]] procs must be a whole number or a list of them")
    values["procs"] = tuple(sizes)
    if not isinstance(values.get("cpu_freq", ""), str):
        raise InputError(f"{path}: [[type]] cpu_freq must be text like '1200000-2400000'")
    for key in set(values) - {"name", "procs", "run", "cpu_freq"}:
        values[key] = _number(values[key], f"{path}: [[type]] {key}")
    if not isinstance(values["name"], str):
        raise InputError(f"{path}: [[type]] name must be text")
    return JobType(**values)


def _number(value: Any, where: str) -> float:
    if type(value) not in (int, float):
        raise InputError(f"{where} must be a number")
    return float(value)


def _refuse_both(where: str, rate_per_hour: float | None, load: float | None) -> None:
    if rate_per_hour is not None and load is not None:
        raise InputError(f"{where}rate_per_hour and load both say how often jobs arrive; give one")


def _check(
    types: Sequence[JobType], nodes: int, rate_per_hour: float | None, load: float
) -> None:
    largest = max(max(kind.sizes) for kind in types)
    if largest > nodes:
        raise InputError(f"a job type has {largest} procs, more than the {nodes} nodes")
    if rate_per_hour is not None:
        in_range("rate_per_hour", rate_per_hour, *RATES_PER_HOUR)
    in_range("load", load, *LOADS)


def _rate(types: Sequence[JobType], nodes: int, load: float) -> float:
    """Jobs a second that ask for this share of the machine, by the means of the types."""
    weights = np.array([kind.weight for kind in types])
    work = np.array([float(np.mean(kind.sizes)) * kind.run_s for kind in types])
    return float(load * nodes / np.dot(work, weights / weights.sum()))


def _run_times(kind: JobType, count: int, rng: np.random.Generator) -> FloatArray:
    mean = kind.run_s
    if kind.run == "constant":
        drawn: FloatArray = np.full(count, mean)
    elif kind.run == "exponential":
        drawn = rng.exponential(mean, count)
    elif kind.run == "uniform":
        drawn = rng.uniform(0.0, 2.0 * mean, count)
    else:
        drawn = rng.lognormal(np.log(mean) - kind.sigma**2 / 2, kind.sigma, count)
    return np.maximum(1.0, np.rint(drawn))
