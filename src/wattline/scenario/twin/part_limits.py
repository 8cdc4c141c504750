"""Limits on parts of a twin's machine: racks of a file of views, or lists of its nodes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wattline.model.errors import InputError
from wattline.model.fields import name_of
from wattline.model.machine import Machine
from wattline.model.run import PowerBound
from wattline.model.units import format_power
from wattline.policies.placement.bounded_setup import BoundedParameters, chosen_views
from wattline.policies.placement.bounds_in_views import bounds_in, placed
from wattline.policies.registry import choose
from wattline.scenario.model import Scenario
from wattline.shared_nodes.bound_sums import peaks_w
from wattline.shared_nodes.machine import SharedMachine
from wattline.shared_nodes.outcome import Schedule
from wattline.site.lines import hosts_of

BOUNDED = "bounded"
MOST_SAID = 5


def part_limits(
    scenario: Scenario, machine: Machine, shared: SharedMachine
) -> tuple[tuple[PowerBound, ...], tuple[str, ...]]:
    """The limits of `policy.placement = bounded`, and what they assume; none without it."""
    if name_of(scenario.policy.placement) != BOUNDED:
        return (), ()
    given = choose("placement", scenario.policy.placement).given
    assert isinstance(given, BoundedParameters)
    if given.views:
        found = placed(chosen_views(machine, given), machine)
        return bounds_in(found, machine), found.assumed
    if not given.limits:
        raise InputError("policy.placement: bounded needs limits, like limits = {\"n[1-16]\" = "
                         "'5kW'}, or a file of views")
    return tuple(_limit_on(hosts, limit_w, shared) for hosts, limit_w in given.limits.items()), ()


def _limit_on(hosts: str, limit_w: float, shared: SharedMachine) -> PowerBound:
    """A limit on the nodes of a host list, or on all."""
    where, names = "policy.placement.limits", shared.nodes.names
    number = {name: row for row, name in enumerate(names)}
    wanted = names if hosts.upper() == "ALL" else hosts_of(hosts, where)
    strange = [name for name in wanted if name not in number]
    if strange or not wanted:
        raise InputError(f"{where}: '{hosts}' is no list of the twin's nodes"
                         + (f" (it has no '{strange[0]}')" if strange else "")
                         + "; racks and distribution units have names in a file of views")
    nodes = np.unique([number[name] for name in wanted]).astype(np.int64)
    idle_w = float(shared.nodes.idle_w[nodes].sum())
    if idle_w > limit_w:
        raise InputError(f"{where}: {hosts} is bounded to {limit_w:g} W, and draws {idle_w:g} W "
                         "with all nodes idle")
    return PowerBound(hosts, float(limit_w), idle_w, nodes)


def said_of_parts(
    machine: SharedMachine, found: Schedule, bounds: Sequence[PowerBound]
) -> tuple[str, ...]:
    """What parts drew at most, added up from the schedule; those nearest to their limits first."""
    if not bounds:
        return ()
    peak_w = peaks_w(machine, found, bounds)
    order = sorted(range(len(bounds)), key=lambda at: bounds[at].limit_w - peak_w[at])
    lines = [f"{bounds[at].entity} {format_power(peak_w[at])} of "
             f"{format_power(bounds[at].limit_w)}" for at in order[:MOST_SAID]]
    more = f", and {len(bounds) - MOST_SAID} others less near" if len(bounds) > MOST_SAID else ""
    return (f"limits of parts, drawn at most: {', '.join(lines)}{more}",)
