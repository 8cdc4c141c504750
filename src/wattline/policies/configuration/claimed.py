"""Claims choose: the class of node and the setting in which a job runs, by energy, time or both.

Every job has options: a class of node and a setting (threads, caps, GPUs, number of nodes) with
what is claimed for it. The option with the lowest score among those whose nodes are free is taken.
When the job ends, the claim is corrected by what was measured, so that the next choice knows
better. What is true in a simulation, its world knows alone (`wattline.engine.truth`).

The chosen option stands in `live.config`; the placement that goes with this
(placement/claimed.py) takes nodes of its class.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from wattline.model.cap_slack import CAP_SLACK
from wattline.model.kernel import implement, kernel
from wattline.policies.admission.power import idle_machine_w
from wattline.policies.contract import (
    Composition,
    chooses_watts,
    configure,
    least_units,
    never_configured,
)
from wattline.policies.control import settings
from wattline.policies.memory import Memory
from wattline.policies.node_classes import first_of_kind, free_of_kind
from wattline.policies.state import State
from wattline.policies.traits import knows_run_times

OPTION = np.dtype(
    [
        ("kind", "i8"),  # class of node
        ("units", "i8"),
        ("claimed_s", "f8"),
        ("claimed_j", "f8"),
        ("runs", "f8"),
        ("error_s", "f8"),  # root mean square of relative errors so far; or what is taken for it
        ("error_j", "f8"),
        ("predictions", "f8"),
        ("rank", "f8"),  # for a rule that takes classes in a fixed order
        ("threads", "i8"),  # outer and inner; 0: as the job was submitted
        ("inner_threads", "i8"),
        ("cap_w", "f8"),  # infinite: none
        ("gpus", "i8"),  # of each node; 0: none
        ("gpu_cap_w", "f8"),  # of each GPU; infinite: none
    ]
)


SAME_TIME = 1e-9
"""Relative: a claim times what the log says of it is the log's time but for rounding."""


class ClaimsMemory(Memory):
    """Options of all jobs, which learn: of job j the rows first[j] to first[j] + count[j] - 1.

    A job without options, of which nothing is claimed, runs as if there were no claims.
    """

    PER_JOB: ClassVar[Mapping[str, str]] = {
        "first": "i8", "count": "i8", "least_kind": "i8", "most_kind": "i8", "time_factor": "f8",
        "watts_factor": "f8"}
    FIELDS = ("options", *PER_JOB)
    options: Any
    first: Any
    count: Any
    least_kind: Any
    most_kind: Any
    """The classes of node, neighbours, that a job without options may have."""
    time_factor: Any
    """Factor from the claimed seconds to a job's own: a log says it of the class that it ran on.
    NaN: it runs as long as logged, whatever it is given."""
    watts_factor: Any
    """Factor from the claimed watts to a job's own: measured watts say it of their own class."""


class Claimed(NamedTuple):
    """How an option is chosen.

    The score is rank x rank_weight + time_weight x ln t + energy_weight x ln E, lower is better,
    with `caution` standard errors added to t and E.
    """

    memory: ClaimsMemory
    time_weight: float = 0.0
    energy_weight: float = 1.0
    rank_weight: float = 0.0
    caution: float = 0.0
    limit: float = 1.2
    """Requested time over claimed time; 0: a job keeps the time that it asked for."""
    learn: int = 1
    patience: float = 0.0
    """A job waits for a better class while the best free one scores worse by more than this."""

    @property
    def axis(self) -> Literal["configuration"]:
        return "configuration"


@kernel
def score(claims: Claimed, row: int) -> float:
    option = claims.memory.options[row]
    time = math.log(option.claimed_s) + claims.caution * option.error_s
    energy = math.log(option.claimed_j) + claims.caution * option.error_j
    return float(claims.rank_weight * option.rank + claims.time_weight * time
                 + claims.energy_weight * energy)


@kernel
def chosen(st: State, claims: Claimed, job: int) -> int:
    """The row of the option that a job was given; -1 where nothing is claimed of it."""
    if claims.memory.count[job] == 0:
        return -1
    return int(claims.memory.first[job] + st.live[job].config)


@kernel
def watts_of_option(claims: Claimed, job: int, row: int) -> float:
    """Return the power that a job is believed to draw in an option."""
    option = claims.memory.options[row]
    return float(option.claimed_j / option.claimed_s * claims.memory.watts_factor[job])


@implement(configure, Claimed)
@kernel
def _configure(st: State, configuration: Claimed, policy: Composition, position: int) -> bool:
    """Take the best option whose nodes are free; without one, the best of all to wait for."""
    entry = st.queue[position]
    first = configuration.memory.first[entry.job]
    if configuration.memory.count[entry.job] == 0:
        return True
    in_time = some_in_time(st, configuration, entry.job)
    best = -1
    best_score = np.inf
    wanted = first
    wanted_score = np.inf
    for row in range(first, first + configuration.memory.count[entry.job]):
        if exceeds_all_caps(st, configuration, entry.job, row):
            continue
        if in_time and takes_too_long(st, configuration, entry.job, row):
            continue
        value = score(configuration, row)
        if value < wanted_score:
            wanted, wanted_score = row, value
        if value < best_score:
            option = configuration.memory.options[row]
            if free_of_kind(st, option.kind) >= option.units:
                best, best_score = row, value
    waits = configuration.patience > 0.0 and best_score > wanted_score + configuration.patience
    if best < 0 or waits:
        _take(st, configuration, position, wanted)
        return False
    _take(st, configuration, position, best)
    return True


@kernel
def takes_too_long(st: State, claims: Claimed, job: int, row: int) -> bool:
    """Say whether the job takes longer in an option than it asked for, where it has to keep that.

    One that runs as long whatever it is given passes over none.
    """
    time_s = claims.memory.options[row].claimed_s * claims.memory.time_factor[job]
    return bool(claims.limit == 0.0 and time_s > st.jobs[job].requested_s * (1.0 + SAME_TIME))


@kernel
def some_in_time(st: State, claims: Claimed, job: int) -> bool:
    """Say whether the job has an option within its requested time and the highest cap to come."""
    first = claims.memory.first[job]
    for row in range(first, first + claims.memory.count[job]):
        if not (takes_too_long(st, claims, job, row) or exceeds_all_caps(st, claims, job, row)):
            return True
    return False


@kernel
def exceeds_all_caps(st: State, claims: Claimed, job: int, row: int) -> bool:
    """Whether an option alone on the machine, at its lowest power, exceeds the highest cap to come.
    """
    clock = st.clock[0]
    option = claims.memory.options[row]
    watts = watts_of_option(claims, job, row)
    raised_w = watts * clock.least_factor - option.units * st.kinds[option.kind].idle_w
    return bool(idle_machine_w(st) + max(raised_w, 0.0) > clock.cap_w_max * (1.0 + CAP_SLACK))


@implement(chooses_watts, Claimed)
@kernel
def _chooses_watts(st: State, configuration: Claimed, job: int) -> bool:
    return bool(configuration.memory.count[job] > 0)


@implement(never_configured, Claimed)
@kernel
def _never_configured(st: State, configuration: Claimed, job: int) -> bool:
    memory = configuration.memory
    first = memory.first[job]
    for row in range(first, first + memory.count[job]):
        if not exceeds_all_caps(st, configuration, job, row):
            return False
    if memory.count[job] > 0:
        return True
    least, most = memory.least_kind[job], memory.most_kind[job]
    there = first_of_kind(st, most + 1) - first_of_kind(st, least)
    return bool(there < st.live[job].units)


@implement(least_units, Claimed)
@kernel
def _least_units(st: State, configuration: Claimed, job: int, units: int) -> int:
    first = configuration.memory.first[job]
    if configuration.memory.count[job] == 0:
        return units
    least = configuration.memory.options[first].units
    for row in range(first, first + configuration.memory.count[job]):
        least = min(least, configuration.memory.options[row].units)
    return int(least)


@kernel
def _take(st: State, claims: Claimed, position: int, row: int) -> None:
    """Write an option into the books of a waiting job."""
    entry = st.queue[position]
    live = st.live[entry.job]
    option = claims.memory.options[row]
    live.config = row - claims.memory.first[entry.job]
    live.units = option.units
    if claims.limit > 0.0:
        live.requested_s = claims.limit * option.claimed_s
    live.watts = watts_of_option(claims, entry.job, row)
    live.own_watts = 1
    live.stretch = 1.0
    entry.units = option.units
    entry.requested_s = live.requested_s
    st.clock[0].leaders = 0  # what the order said of its key holds no more


@kernel
def learn(claims: Claimed, row: int, time_s: float, energy_j: float) -> None:
    """Judge a claim by a run and correct it: the mean of its last 20 runs."""
    if not (time_s > 0.0 and energy_j > 0.0):
        return  # it was over at once, or drew what no meter saw: nothing to learn from
    option = claims.memory.options[row]
    off_s = (time_s - option.claimed_s) / option.claimed_s
    off_j = (energy_j - option.claimed_j) / option.claimed_j
    weight = 1.0 / min(option.predictions + 1.0, 20.0)
    option.error_s = math.sqrt((1.0 - weight) * option.error_s**2 + weight * off_s**2)
    option.error_j = math.sqrt((1.0 - weight) * option.error_j**2 + weight * off_j**2)
    option.predictions += 1.0
    part = 1.0 / min(option.runs + 1.0, 20.0)
    option.claimed_s += part * (time_s - option.claimed_s)
    option.claimed_j += part * (energy_j - option.claimed_j)
    option.runs += 1.0
    for other in range(claims.memory.options.size):  # what no run verified is no surer than this
        beside = claims.memory.options[other]
        if beside.predictions == 0.0:
            beside.error_s = max(beside.error_s, option.error_s)
            beside.error_j = max(beside.error_j, option.error_j)


@settings.register
def _settings(axis: Claimed, st: State, job: int) -> dict[str, Any]:
    row = chosen(st, axis, job)
    if row < 0:
        return {}
    option = axis.memory.options[row]
    found: dict[str, Any] = {"node_class": int(option.kind)}
    if option.threads:
        found["threads"] = int(option.threads)
    if option.inner_threads:
        found["inner_threads"] = int(option.inner_threads)
    if math.isfinite(option.cap_w):
        found["cap_w"] = float(option.cap_w)
    if option.gpus:
        found["gpus"] = int(option.gpus)
    if math.isfinite(option.gpu_cap_w):
        found["gpu_cap_w"] = float(option.gpu_cap_w)
    return found


@knows_run_times.register
def _knows_run_times(configuration: Claimed) -> bool:
    """A job that keeps its requested time passes over classes by its own time in the log."""
    return configuration.limit == 0.0
