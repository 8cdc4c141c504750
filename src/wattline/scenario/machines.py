"""A machine that is asked about by itself: given as an object, by a log, or in a scenario file.

Nothing stands in for a machine that nobody gave. What is asked without jobs needs its size and its
powers; jobs of a log bring the size that the log's header says, and powers may then be assumed, as
for a scenario. What was taken from where, and what was assumed, is said.
"""

from __future__ import annotations

from pathlib import Path

from wattline.model.errors import InputError
from wattline.model.machine import Machine
from wattline.model.units import counted
from wattline.scenario import objects
from wattline.scenario.build import assumptions, make_machine, read_trace
from wattline.scenario.caps import without_cap
from wattline.scenario.load import load, validate
from wattline.scenario.model import Scenario
from wattline.traces import Trace


def machine_from(given: Machine | objects.Machine, *, powers: bool = True) -> Machine:
    """The machine, where there are no jobs: nothing of it is assumed.

    Without `powers` only what stands where is asked.
    """
    if isinstance(given, Machine):
        return given
    if not isinstance(given, objects.Machine):
        raise no_machine(given)
    missing = _missing(given, powers)
    if missing:
        like = f"--nodes {given.nodes or 100}" + ", --node-idle-w 90, --node-active-w 300" * powers
        raise InputError(f"the machine needs {_listed(missing)}, like {like}: without a scenario "
                         "or a log nothing is assumed")
    return make_machine(_alone(given))


def machine_for(given: Machine | objects.Machine, trace: Trace) -> tuple[Machine, tuple[str, ...]]:
    """The machine that a log's jobs run on, and a line for all that is not given.

    Its size comes from the log's header, powers are assumed where jobs have none of their own.
    """
    if isinstance(given, Machine):
        return given, ()
    if not isinstance(given, objects.Machine):
        raise no_machine(given)
    scenario = _alone(given)
    return make_machine(scenario, trace), assumptions(scenario, trace, trace.jobs, None)


def _missing(given: objects.Machine, powers: bool) -> list[str]:
    if given.classes:
        return []
    fields: dict[str, float | None] = {"--nodes": given.nodes}
    if powers:
        fields |= {"--node-idle-w": given.node_idle_w, "--node-active-w": given.node_active_w}
    return [option for option, value in fields.items() if value is None]


def _listed(names: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _alone(given: objects.Machine) -> Scenario:
    """A scenario that has this machine; its jobs are not asked for."""
    return validate({"trace": {"generate": "lublin"}, "machine": given.said()}, "machine")


def no_machine(given: object) -> InputError:
    """What to say of what is given instead of a machine."""
    if isinstance(given, int):
        return InputError(f"machine is {given}; write Machine(nodes={given})")
    return InputError(f"machine is a Machine, not {type(given).__name__}")


def machine_in(path: str | Path) -> tuple[Scenario, Machine]:
    """A scenario and its machine; the log is read only where it alone says how large that is."""
    scenario, _ = without_cap(load(path))
    needs_log = scenario.machine.nodes is None and not scenario.machine.classes
    return scenario, make_machine(scenario, read_trace(scenario) if needs_log else None)


def machine_words(machine: Machine) -> str:
    """What the figures of a machine of equal nodes rest on."""
    node = machine.groups[0].node_class
    return (f"{machine.node_count:,} nodes of {counted(node.cores, 'core')}, each "
            f"{node.power_w_idle:g} W idle, {node.power_w_active:g} W active and "
            f"{node.power_w_off:g} W off")
