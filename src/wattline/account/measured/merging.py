"""Two records of the same life, or of the same step, made one.

Each field is a maximum in a fixed order, so it does not matter which record came first, how
often, or in which pieces: what is known beats what is not, an end beats going on, one that was told
that of a RUNAWAY, the later end the earlier one (with the state that stands beside it), more joules
fewer: counters only rise. Of lists of nodes all nodes count that are in one of them: a job may give
some back while it runs.
"""

from __future__ import annotations

import math
from dataclasses import fields, replace
from typing import Any

from wattline.account.measured.holdings import hosts_of
from wattline.account.measured.records import RUNAWAY, Life, StepSeen
from wattline.model.units import fold_hosts

_OF_LIFE = [field.name for field in fields(Life)
            if field.name not in ("key", "state", "end_s", "other_start_s", "guessed")]
_OF_STEP = ("end_s", "node_list", "energy_j", "frequency_hz", "cpu_s")


def merged_life(one: Life, other: Life) -> Life:
    """What both say together."""
    last = max(one, other, key=_status)
    most = {name: _most(getattr(one, name), getattr(other, name)) for name in _OF_LIFE}
    if one.node_list and other.node_list and one.node_list != other.node_list:
        hosts = hosts_of(one.node_list) | hosts_of(other.node_list)
        if hosts:
            most |= {"node_list": fold_hosts(sorted(hosts)), "nodes": len(hosts)}
    return replace(last, **most)


def merged_step(one: StepSeen, other: StepSeen) -> StepSeen:
    """What both say together."""
    most = {name: _most(getattr(one, name), getattr(other, name)) for name in _OF_STEP}
    return replace(max(one, other, key=_status_of_step), **most)


def _status_of_step(step: StepSeen) -> tuple[bool, bool, float, str]:
    ended = not math.isnan(step.end_s)
    # A store of before has no states of steps.
    return bool(step.state), ended, step.end_s if ended else 0.0, step.state


def moved_life(life: Life, start_s: int) -> Life:
    """The same stay, begun at the other time that its clock may have meant."""
    return replace(life, key=replace(life.key, start_s=start_s),
                   seen_s=life.seen_s + start_s - life.key.start_s)


def moved_step(step: StepSeen, start_s: int) -> StepSeen:
    return replace(step, start_s=start_s)


def disagree(one: Life, other: Life) -> bool:
    """Whether two records of an ended life say something different of its end or its joules."""
    if math.isnan(one.end_s) or math.isnan(other.end_s) or RUNAWAY in (one.state, other.state):
        return False
    joules = one.energy_j, other.energy_j
    return one.end_s != other.end_s or (joules[0] != joules[1]
                                        and not any(map(math.isnan, joules)))


def _status(life: Life) -> tuple[bool, bool, float, str]:
    ended = not math.isnan(life.end_s)
    until_s = life.end_s if ended else life.seen_s
    told = ended and life.state != RUNAWAY
    return told, ended, -math.inf if math.isnan(until_s) else until_s, life.state


def _most(one: Any, other: Any) -> Any:
    """The larger of two, where None and NaN are smaller than everything."""
    known = [value for value in (one, other)
             if value is not None and not (isinstance(value, float) and math.isnan(value))]
    return max(known) if known else one
