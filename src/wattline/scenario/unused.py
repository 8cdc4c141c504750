"""Fields of a scenario that what was chosen never reads: a table of when each of them matters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from wattline.model.fields import name_of
from wattline.policies.contract import Composition
from wattline.policies.declaration import AXES
from wattline.policies.registry import BUILT_IN

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


def _holds_jobs_back(scenario: Scenario) -> bool:
    return name_of(scenario.policy.power) == "wait"


_GENERATED = (_generates, "the jobs come from a log and are not generated")
_READ = (_reads_a_log, "the jobs are generated, and no log is read")
_EQUAL = (_has_equal_nodes, "the machine has classes of nodes; machine.classes says it for each")
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
    return [*found, *(_of_axes(scenario) if not own else _of_python(scenario))]


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
