"""Fields of a scenario that what was chosen never reads: a table of when each of them matters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from wattline.engine.prepare import sizes_of
from wattline.model.fields import name_of
from wattline.model.local_time import zone_of
from wattline.model.units import format_power
from wattline.policies.contract import Composition
from wattline.policies.declaration import AXES
from wattline.policies.going_together import is_moldable
from wattline.policies.placement.network.placements import PLACEMENTS
from wattline.policies.registry import BUILT_IN
from wattline.scenario.caps import is_cap_file
from wattline.traces.raw import COUNTS

if TYPE_CHECKING:
    from pydantic import BaseModel

    from wattline.scenario.build import Plan
    from wattline.scenario.model import Scenario

Reader = Callable[["Scenario"], bool]


def _generates(scenario: Scenario) -> bool:
    return scenario.trace.generate is not None


def _reads_a_log(scenario: Scenario) -> bool:
    return scenario.trace.file is not None


def _has_equal_nodes(scenario: Scenario) -> bool:
    return not scenario.machine.classes


def _takes_a_part(scenario: Scenario) -> bool:
    return _has_equal_nodes(scenario) and scenario.machine.node_idle_w is None


def _changes_frequencies(scenario: Scenario) -> bool:
    # Two others have tables of cores of their own, of which more is said elsewhere.
    return name_of(scenario.policy.power) in ("dvfs", "adaptive", "budget")


def _stops_for_frequencies(scenario: Scenario) -> bool:
    return name_of(scenario.policy.power) == "dvfs"


def _chooses_configurations(scenario: Scenario) -> bool:
    return is_moldable(name_of(scenario.policy.configure))


def _holds_jobs_back(scenario: Scenario) -> bool:
    return name_of(scenario.policy.power) == "wait"


_GENERATED = (_generates, "the jobs come from a log and are not generated")
_READ = (_reads_a_log, "the jobs are generated, and no log is read")
_EQUAL = (_has_equal_nodes, "the machine has classes of nodes; machine.classes says it for each")
_CONFIGURED = (_chooses_configurations,
               "only a policy that chooses configurations from a table turns its watts by it")
_SLOWED = (_changes_frequencies, "only the power policy 'dvfs' changes frequencies by it")
_WAITED = (_holds_jobs_back, "only the power policy 'wait' holds jobs back for a time")

MATTERS: dict[str, tuple[Reader, str]] = {
    "trace.seed": _GENERATED,
    "trace.parameters": _GENERATED,
    "trace.map": _READ,
    "trace.size": _READ,
    "trace.strict": _READ,
    "machine.cores_per_node": _EQUAL,
    "machine.node_idle_w": _EQUAL,
    "machine.node_active_w": _EQUAL,
    "machine.node_off_w": _EQUAL,
    "machine.nodes_per_rack": _EQUAL,
    "machine.node_base_w": _CONFIGURED,
    "machine.supply_efficiency": _CONFIGURED,
    "power.idle_fraction": (_takes_a_part, "idle power is given in watts, or by class of nodes"),
    "power.alpha": _SLOWED,
    "power.beta": _SLOWED,
    "power.core_share": _SLOWED,
    "power.levels": _SLOWED,
    "power.latency_s": (_stops_for_frequencies, _SLOWED[1]),
    "power.wait_time_s": _WAITED,
    "power.wait_slots": _WAITED,
}
"""Field -> whether a scenario reads it, and why not where it does not."""
_OF_POWER_POLICIES = frozenset(
    field for field, (_, why) in MATTERS.items() if why in (_SLOWED[1], _WAITED[1]))

_BY_POWER_OF_JOBS = frozenset(("none", "block", "wait", "dvfs"))
"""Power policies that go by what jobs draw; others may ask what a busy node draws at most."""
FAR_ABOVE = 10.0
"""Times what the log shows: no node draws that much more than in its most powerful job."""

WATTS_UNUSED = "reservations: watts have no effect without a power cap (power.cap)"


def unused(plan: Plan) -> list[str]:
    """A line for each field that was given and changes nothing.

    Given is what differs from its default: the copy of a scenario in its run's folder has all.
    """
    scenario = plan.scenario
    own = isinstance(plan.policy, Composition)
    power = name_of(scenario.policy.power)
    # A power policy of somebody else's may read anything; one that is left out says so itself.
    unknown = bool(plan.left_out) or (own and f"power.{power}" not in BUILT_IN)
    found = []
    for field, (reads, why) in MATTERS.items():
        of_power = field in _OF_POWER_POLICIES
        if not _is_given(scenario, field) or (of_power and unknown):
            continue
        if (of_power and not own) or not reads(scenario):
            found.append(f"{field} has no effect: {why}")
    return [*found, *_of_cores_alone(plan), *_of_network(plan),
            *(_of_axes(scenario) if not own else _of_python(scenario))]


def unused_changes(plan: Plan) -> list[str]:
    """A line for each field that was set beside the scenario and changes nothing of its figures.

    A file may describe a machine whole; who sets a single field expects that it is used.
    """
    found = []
    if "machine.node_active_w" in plan.changed and not _reads_active_w(plan):
        found.append("machine.node_active_w has no effect on these figures: every job of the log "
                     "has a power of its own, and the idle power is given too")
    if "trace.zone" in plan.changed and not _reads_local_times(plan):
        found.append("trace.zone has no effect on these figures: no time of the log is without an "
                     "offset (those of SWF are Unix times, or seconds), and no dates are read "
                     "beside it")
    return found


def implausible(plan: Plan) -> list[str]:
    """A line where a busy node is said to draw far more than any job of the log made it draw."""
    jobs, section = plan.jobs, plan.scenario.machine
    if section.node_active_w is None or not len(jobs) or np.isnan(jobs.power_w).any():
        return []
    units = sizes_of(jobs, plan.machine, "node")
    most_w = float((jobs.power_w / units).max())
    if not 0 < FAR_ABOVE * most_w < section.node_active_w:
        return []
    return [f"machine.node_active_w is {format_power(section.node_active_w)}, and no job of the "
            f"log draws more than {format_power(most_w)} per node: is it the power of one node, "
            "and the unit right?"]


def _reads_active_w(plan: Plan) -> bool:
    """Say whether the active power of nodes is in any figure."""
    scenario, power = plan.scenario, name_of(plan.scenario.policy.power)
    if bool(np.isnan(plan.jobs.power_w).any()) or scenario.machine.node_idle_w is None:
        return True
    of_jobs = (isinstance(plan.policy, Composition) and power in _BY_POWER_OF_JOBS
               and plan.tables is None)
    capped = any(cap not in (None, "none")
                 for cap in (scenario.power.cap, scenario.power.watch_cap))
    return not of_jobs or capped


def _reads_local_times(plan: Plan) -> bool:
    """Say whether the zone may be in any figure: by times of the log, or of what is read with it.

    Files beside the log count as dated: which times they have is not asked.
    """
    scenario = plan.scenario
    note = zone_of(scenario.trace.zone).note()
    caps = (scenario.power.cap, scenario.power.watch_cap)
    return (any(line.endswith(note) for line in plan.trace.remarks)
            or bool(scenario.signals) or bool(scenario.reservations)
            or any(is_cap_file(cap) or isinstance(cap, tuple | list) for cap in caps)
            or name_of(scenario.policy.power) == "budget" or scenario.policy.python is not None)


def _of_cores_alone(plan: Plan) -> Iterator[str]:
    """Cores as units where each is a node; a Slurm log is read in the unit that is asked for."""
    if (_is_given(plan.scenario, "machine.granularity") and COUNTS not in plan.trace.header
            and all(group.node_class.cores == 1 for group in plan.machine.groups)):
        yield ("machine.granularity has no effect: each node has one core "
               "(machine.cores_per_node says how many)")


def _of_network(plan: Plan) -> Iterator[str]:
    """A network that no placement asks for; one of somebody else's may."""
    scenario = plan.scenario
    placement = name_of(scenario.policy.placement)
    own = isinstance(plan.policy, Composition)
    if scenario.network is None or (own and (
            placement in PLACEMENTS or f"placement.{placement}" not in BUILT_IN)):
        return
    why = (f"the placement '{placement}' knows no network; 'simple' is first fit on one "
           "(policy.placement)" if own else "the policy in Python decides without it")
    yield f"network has no effect on jobs: {why}"


def _of_axes(scenario: Scenario) -> Iterator[str]:
    """Choices along the axes, beside a policy that decides in their place."""
    for axis in AXES:
        if axis != "placement" and _is_given(scenario, f"policy.{axis}"):
            yield f"policy.{axis} has no effect: the policy in Python decides in its place"


def _of_python(scenario: Scenario) -> Iterator[str]:
    if scenario.signals:
        yield "signals have no effect: only a policy in Python is shown them"


def _is_given(scenario: Scenario, field: str) -> bool:
    section, name = field.split(".")
    held: Any = getattr(scenario, section)
    kind: Any = type(held)
    return bool(getattr(held, name) != _usual(kind, name))


@cache
def _usual(section: type[BaseModel], name: str) -> Any:
    """The default of a field, made once: pydantic makes a copy each time, and a sweep asks for
    eighteen of them at each point."""
    return section.model_fields[name].get_default(call_default_factory=True)
