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
from wattline.policies.admission.power import idle_machine_w, least_idle_w
from wattline.policies.contract import (
    Composition,
    chooses_watts,
    configure,
    least_units,
    never_configured,
)
from wattline.policies.control import settings
from wattline.policies.memory import Memory
from wattline.policies.state import State

OPTION = np.dtype(
    [
        ("kind", "i8"),  # class of node
        ("units", "i8"),
        ("claimed_s", "f8"),
        ("claimed_j", "f8"),
        ("runs", "f8"),
        ("error_s", "f8"),  # root mean square of relative errors so far
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


class ClaimsMemory(Memory):
    """Options of all jobs, which learn: of job j the rows first[j] to first[j] + count[j] - 1."""

    FIELDS = ("options", "first", "count")
    PER_JOB: ClassVar[Mapping[str, str]] = {"first": "i8", "count": "i8"}
    options: Any
    first: Any
    count: Any


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
    """Requested time over claimed time."""
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
    """The row of the option that a job was given."""
    return int(claims.memory.first[job] + st.live[job].config)


@kernel
def free_of_kind(st: State, kind: int) -> int:
    """Free nodes of a class; its nodes are neighbours."""
    first = 0
    for other in range(kind):
        first += st.kinds[other].count
    free = 0
    for node in range(first, first + st.kinds[kind].count):
        free += st.node_free[node]
    return int(free)


@implement(configure, Claimed)
@kernel
def _configure(st: State, configuration: Claimed, policy: Composition, position: int) -> bool:
    """Take the best option whose nodes are free; without one, the best of all to wait for."""
    entry = st.queue[position]
    first = configuration.memory.first[entry.job]
    best = -1
    best_score = np.inf
    wanted = first
    wanted_score = np.inf
    for row in range(first, first + configuration.memory.count[entry.job]):
        if exceeds_all_caps(st, configuration, row):
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
def exceeds_all_caps(st: State, claims: Claimed, row: int) -> bool:
    """Whether an option alone on the machine, at its lowest power, exceeds the highest cap to come.
    """
    clock = st.clock[0]
    option = claims.memory.options[row]
    watts = option.claimed_j / option.claimed_s
    raised_w = watts * clock.least_factor - option.units * least_idle_w(st)
    return bool(idle_machine_w(st) + raised_w > clock.cap_w_max * (1.0 + CAP_SLACK))


@implement(chooses_watts, Claimed)
@kernel
def _chooses_watts(st: State, configuration: Claimed) -> bool:
    return True


@implement(never_configured, Claimed)
@kernel
def _never_configured(st: State, configuration: Claimed, job: int) -> bool:
    first = configuration.memory.first[job]
    for row in range(first, first + configuration.memory.count[job]):
        if not exceeds_all_caps(st, configuration, row):
            return False
    return True


@implement(least_units, Claimed)
@kernel
def _least_units(st: State, configuration: Claimed, job: int, units: int) -> int:
    first = configuration.memory.first[job]
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
    live.requested_s = claims.limit * option.claimed_s
    live.watts = option.claimed_j / option.claimed_s
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


@settings.register
def _settings(axis: Claimed, st: State, job: int) -> dict[str, Any]:
    option = axis.memory.options[chosen(st, axis, job)]
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
