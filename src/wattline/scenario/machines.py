"""A machine that is asked about by itself: given as an object, by a run, or in a scenario file."""

from __future__ import annotations

from pathlib import Path

from wattline.model.errors import InputError
from wattline.model.machine import Machine
from wattline.model.units import counted
from wattline.scenario import objects
from wattline.scenario.build import make_machine, read_trace
from wattline.scenario.caps import without_cap
from wattline.scenario.load import load, validate
from wattline.scenario.model import Scenario


def machine_from(given: Machine | objects.Machine) -> Machine:
    """The machine, whose powers must all be given: there are no jobs to assume them for."""
    if isinstance(given, Machine):
        return given
    if not isinstance(given, objects.Machine):
        raise no_machine(given)
    fields = given.said()
    if not given.classes:
        missing = [name for name in ("node_idle_w", "node_active_w") if fields.get(name) is None]
        if given.nodes is None or missing:
            raise InputError(
                f"the machine needs {' and '.join(missing or ['nodes'])}, like "
                f"Machine(nodes={given.nodes or 100}, node_idle_w=90, node_active_w=300): without "
                "a log nothing is assumed")
    return make_machine(validate({"trace": {"generate": "lublin"}, "machine": fields}, "machine"))


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
