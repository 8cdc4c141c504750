"""Four months on a leadership machine: the workload of the bundled scenario.

A 49,152-node machine in partitions of 512 nodes and up, about 16,000 jobs in 120 days, many of
them small. The first two months are quiet and the last two busy, with an offered load 35 % higher;
the second month has the fewest jobs and in the first month most jobs are small. For another number
of jobs the period shrinks or grows in proportion, so that load and run times stay the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wattline.model.errors import InputError
from wattline.model.machine import MOST_POWER_W
from wattline.model.signal import FloatArray
from wattline.traces.generators.common import DAY_S, finish, in_range, streams
from wattline.traces.generators.sessions import alike, paces, sessions
from wattline.traces.trace import Trace

JOBS = 16_044
NODES = 49_152
DAYS = 120
MOST_DAYS = 100 * 366.0
SIZES = np.array([512, 1024, 2048, 4096, 8192, 12_288, 16_384, 24_576, 32_768, 49_152]) / NODES
"""Partition sizes as fractions of the machine."""


@dataclass(frozen=True)
class Month:
    """One part of the period."""

    days: int
    jobs_share: float
    load: float
    """Offered load: node-seconds asked for over node-seconds there are."""
    sizes: tuple[float, ...]
    """Weight of each partition size."""


QUIET, BUSY = 0.60, 0.81

MONTHS = (
    Month(31, 0.270, QUIET, (46, 22, 14, 10, 5.0, 1.2, 1.0, 0.4, 0.3, 0.1)),
    Month(28, 0.195, QUIET, (38, 20, 16, 13, 8.0, 2.0, 1.8, 0.6, 0.4, 0.2)),
    Month(31, 0.268, BUSY, (34, 19, 16, 15, 10.0, 2.4, 2.2, 0.7, 0.5, 0.2)),
    Month(30, 0.267, BUSY, (35, 19, 16, 15, 9.5, 2.2, 2.0, 0.7, 0.4, 0.2)),
)

RUN_SIGMA = 1.1
"""Spread of the logarithm of run times."""
SESSION_SIGMA = 1.5
"""The same for jobs in sessions, as a log of the machine has it."""
SESSION_SIZES = (1.5, 1.2, 1.1, 0.3, 0.8, 0.1, 1.0, 0.05, 0.6, 1.0)
"""By what the weights of sizes differ there: more of the smallest, fewer of odd ones."""
SMALL_TO, SMALL_S_MAX = 4096 / NODES, 6 * 3600.0
"""In sessions, jobs up to this part of the machine run at most so long, as its queues have it."""
ARRIVALS = ("hours", "sessions")
RUN_S_MIN, RUN_S_MAX = 60.0, DAY_S
HOURS = np.array([0.55, 0.45, 0.4, 0.35, 0.35, 0.4, 0.5, 0.7, 1.0, 1.35, 1.55, 1.6, 1.45, 1.5,
                  1.65, 1.7, 1.65, 1.5, 1.25, 1.1, 1.0, 0.9, 0.8, 0.7])
"""Submissions by hour of the day, and the factor of a Saturday or Sunday."""
WEEKEND = 0.55
FIRST_WEEKDAY = 1
"""The period begins on a Tuesday."""

APPLICATIONS = 24
USERS = 180
PROJECTS = 60
POWER_W_MEAN, POWER_W_SPREAD, POWER_W_NOISE = 62.0, 9.0, 2.5
POWER_W_RANGE = (42.0, 85.0)
FULL_USE = 0.15
"""Share of jobs that use all of the time they asked for."""


def generate(
    *,
    seed: int,
    jobs: int = JOBS,
    nodes: int = NODES,
    days: float | None = None,
    power_w_per_node: float = POWER_W_MEAN,
    arrivals: str = "hours",
) -> Trace:
    """Draw the four months; `power_w_per_node` is the mean over applications.

    `arrivals`: by the hours of the day alone, or in `sessions` of users, as on a real machine.
    """
    if arrivals not in ARRIVALS:
        raise InputError(f"arrivals is '{arrivals}', must be one of {', '.join(ARRIVALS)}")
    if days is not None:
        in_range("days", days, 1e-3, MOST_DAYS)
    in_range("power_w_per_node", power_w_per_node, 1e-3, MOST_POWER_W)
    stretch = (days / DAYS) if days is not None else jobs / JOBS
    arrive, size, run, ask, who, watt = streams(seed, 6)
    counts = _split(jobs)
    starts = np.concatenate(([0], np.cumsum([month.days for month in MONTHS]))) * stretch * DAY_S
    columns = []
    for month, count, start_s, end_s in zip(MONTHS, counts, starts[:-1], starts[1:], strict=True):
        capacity = month.load * nodes * (end_s - start_s)
        if arrivals == "sessions":
            columns.append(_in_sessions(month, (count, start_s, end_s), nodes, capacity,
                                        (arrive, size, run)))
            continue
        submit_s = _arrivals(count, start_s, end_s, arrive)
        procs = _sizes(month.sizes, count, nodes, size)
        run_s = _run_times(procs, capacity, np.exp(RUN_SIGMA * run.standard_normal(procs.size)))
        columns.append((submit_s, procs, run_s, np.zeros(count, dtype=np.int64)))
    submit_s, procs, run_s, user = (np.concatenate(part) for part in zip(*columns, strict=True))
    if arrivals != "sessions":
        user = _zipf(USERS, jobs, who)
    application = (user * 7 + _zipf(4, jobs, who)) % APPLICATIONS
    power_w = procs * _node_power(application, power_w_per_node, watt)
    return finish(
        f"leadership seed {seed}", nodes=nodes,
        header={"Note": "Generated: two quiet and two busy months of a leadership machine",
                "Seed": str(seed)},
        submit_s=submit_s, run_s=run_s, requested_s=requests(run_s, ask), procs=procs,
        power_w=power_w, user=user, group=user % PROJECTS, application=application,
    )


def requests(run_s: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Requested times in steps of 5 minutes to an hour, 15 to four hours, 30 above."""
    full, accuracy = rng.random((2, run_s.size))
    used = np.where(full < FULL_USE, 1.0, 0.2 + 0.8 * accuracy)
    wanted = np.minimum(run_s / used, np.maximum(RUN_S_MAX, run_s))
    step = np.select([wanted <= 3600.0, wanted <= 4 * 3600.0], [300.0, 900.0], 1800.0)
    requested_s: FloatArray = np.ceil(wanted / step) * step
    return requested_s


def _split(jobs: int) -> list[int]:
    edges = np.rint(np.cumsum([0.0] + [month.jobs_share for month in MONTHS]) * jobs).astype(int)
    return [int(count) for count in np.diff(edges)]


def _arrivals(
    count: int, start_s: float, end_s: float, rng: np.random.Generator
) -> FloatArray:
    """Submissions that follow the hours of the day and the days of the week."""
    edges, rate = _hours(start_s, end_s)
    done = np.concatenate(([0.0], np.cumsum(rate * np.diff(edges))))
    place = np.sort(rng.random(count)) * done[-1]
    submit_s: FloatArray = np.floor(np.interp(place, done, edges))
    return submit_s


def _hours(start_s: float, end_s: float) -> tuple[FloatArray, FloatArray]:
    """Edges of the hours of a period, and how much is submitted in each."""
    edges = np.arange(start_s, end_s + 3600.0, 3600.0)
    edges[-1] = end_s
    hour = np.floor(edges[:-1] / 3600.0).astype(np.int64)
    weekday = (hour // 24 + FIRST_WEEKDAY) % 7
    return edges, HOURS[hour % 24] * np.where(weekday >= 5, WEEKEND, 1.0)


def _in_sessions(
    month: Month, period: tuple[int, float, float], nodes: int, capacity: float,
    rngs: tuple[np.random.Generator, ...],
) -> tuple[FloatArray, FloatArray, FloatArray, npt.NDArray[np.int64]]:
    """A month whose jobs come in sessions: submissions, sizes, run times and users."""
    arrive, size, run = rngs
    count, start_s, end_s = period
    edges, rate = _hours(start_s, end_s)
    found = sessions(count, edges, rate, 1.0 / np.arange(1, USERS + 1), arrive)
    weights = tuple(w * s for w, s in zip(month.sizes, SESSION_SIZES, strict=True))
    procs = alike(_sizes(weights, count, nodes, size), found.session, size)
    most_s = np.where(procs <= SMALL_TO * nodes, SMALL_S_MAX, RUN_S_MAX)
    shape = paces(procs, found.session, SESSION_SIGMA, run)
    run_s = _run_times(procs, capacity, shape, most_s)
    return found.submit_s, procs, run_s, found.user


def _sizes(wanted: tuple[float, ...], count: int, nodes: int,
           rng: np.random.Generator) -> FloatArray:
    weights = np.array(wanted)
    chosen = rng.choice(SIZES, size=count, p=weights / weights.sum())
    procs: FloatArray = np.maximum(1.0, np.rint(chosen * nodes))
    return procs


def _run_times(procs: FloatArray, node_s: float, shape: FloatArray,
               most_s: FloatArray | float = RUN_S_MAX) -> FloatArray:
    """Run times of this shape, scaled so that the jobs together ask for `node_s` node-seconds."""
    low, high = 0.0, 1e9
    # Run times are cut at both ends, so the scale is found by halving.
    for _ in range(100):
        scale = 0.5 * (low + high)
        asked = float(np.sum(procs * np.clip(scale * shape, RUN_S_MIN, most_s)))
        low, high = (scale, high) if asked < node_s else (low, scale)
    return np.rint(np.clip(low * shape, RUN_S_MIN, most_s))


def _zipf(kinds: int, count: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Numbers from 0, the k-th with a weight of 1/k: a few users submit most jobs."""
    weights = 1.0 / np.arange(1, kinds + 1)
    return rng.choice(kinds, size=count, p=weights / weights.sum()).astype(np.int64)


def _node_power(
    application: npt.NDArray[np.int64], mean_w: float, rng: np.random.Generator
) -> FloatArray:
    """Each application has its mean, each job a little noise around it; cut at the range."""
    unit = mean_w / POWER_W_MEAN
    means = mean_w + unit * POWER_W_SPREAD * rng.standard_normal(APPLICATIONS)
    noise = unit * POWER_W_NOISE * rng.standard_normal(application.size)
    low, high = POWER_W_RANGE
    power_w: FloatArray = np.clip(means[application] + noise, unit * low, unit * high)
    return power_w.round(1)
