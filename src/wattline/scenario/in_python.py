"""What somebody asks for in Python, as a scenario and what cannot stand in one.

A scenario file, a log, a table of jobs or a scenario; machine and policies as objects, names or
tables; any field of a scenario with `__` for the dot.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wattline.model import machine as machines
from wattline.model.errors import InputError
from wattline.model.given import Given
from wattline.model.jobs import JobTable
from wattline.policies.declaration import AXES, Declaration
from wattline.policies.registry import BUILT_IN
from wattline.policies.setting import Chosen
from wattline.policies.view import Policy
from wattline.scenario.build import Plan, plan
from wattline.scenario.caps import NO_CAP
from wattline.scenario.load import changed, load, validate
from wattline.scenario.machines import no_machine
from wattline.scenario.model import Scenario
from wattline.scenario.objects import Keeper, PolicyObject, machine_fields
from wattline.scenario.python_policy import code_of, names_code
from wattline.traces import Trace, is_log, trace_of
from wattline.traces.files import log_name
from wattline.traces.frames import is_table

Source = str | Path | Scenario | Trace | JobTable | Any
"""A scenario file, a log, a scenario, or jobs: a trace, a table of pandas or Arrow, a dict of
columns."""
CAPS = ("power.cap", "power.watch_cap")
PolicyChoice = str | Mapping[str, Any] | PolicyObject | Declaration | Chosen


@dataclass(frozen=True, eq=False)
class Asked:
    """A scenario, and what is given beside it."""

    scenario: Scenario
    trace: Trace | None = None
    policy: Policy | None = None
    chosen: Mapping[str, Chosen] = field(default_factory=dict)
    """Policies that no name leads to."""
    allow_code: bool = False

    def plan(self) -> Plan:
        return plan(self.scenario, self.trace, self.policy, chosen=self.chosen,
                    allow_code=self.allow_code)


def asked(
    scenario: Source | None = None, *, trace: Source | None = None, machine: Any = None,
    policies: Mapping[str, PolicyChoice | None] | None = None, cap: Any = None,
    watch_cap: Any = None, policy: Policy | None = None, allow_code: bool = False,
    fields: Mapping[str, Any] | None = None, called: str = "simulate()",
) -> Asked:
    """Put together what was given; later ones go before earlier ones: file, objects, fields.

    `called` is what the caller wrote, for messages about it.
    """
    if policy is not None:
        _check_policy(policy)
    if scenario is not None and not _is_scenario(scenario):
        if trace is not None:
            raise InputError(f"two logs: {_source(scenario)}, and {_source(trace)} as trace; give "
                             "one of them, and a scenario file beside it where there is one")
        scenario, trace = None, scenario
    changes, chosen = _of_objects(machine, policies or {}, cap, watch_cap)
    further = dict(_field(name, value) for name, value in (fields or {}).items())
    for name in CAPS:
        if name in changes and name in further:
            raise InputError(f"{name.split('.')[1]} is given twice: as {further[name]} to "
                             f"{name}, and as {changes[name]} beside it")
    changes |= further
    source = None if trace is None else _source(trace)
    if source is not None:
        changes = {"trace": {"file": source}} | changes
    found, named = _scenario(scenario, source, changes, called)
    there = None if trace is None or isinstance(trace, (str, Path)) else _jobs(trace, found)
    return Asked(found, there, policy, chosen, allow_code or (named and not any(
        names_code(changes, each) for each in code_of(found.policy))))


def _field(name: str, value: Any) -> tuple[str, Any]:
    """A field of the scenario by its name with dots, and its value as a file would have it."""
    dotted = name.replace("__", ".")
    if value is None and dotted in CAPS:
        return dotted, NO_CAP
    return dotted, value.said() if isinstance(value, Given) else value


def _is_scenario(given: Source) -> bool:
    if isinstance(given, (str, Path)):
        return str(given).startswith("bundled:") or not is_log(given)
    return isinstance(given, (Scenario, Mapping)) and not is_table(given)


def _source(trace: Source) -> str:
    """Under which name the jobs stand in the scenario."""
    if isinstance(trace, (str, Path)):
        return str(trace)
    if isinstance(trace, Trace):
        return trace.source or "trace"
    if isinstance(trace, JobTable):
        return "jobs"
    if is_table(trace):
        return "table"
    raise InputError("jobs are a log's name, a Trace, a JobTable, a table of pandas or Arrow or a "
                     f"dict of columns, not {type(trace).__name__}")


def _scenario(
    given: Source | None, source: str | None, changes: Mapping[str, Any], called: str
) -> tuple[Scenario, bool]:
    """The scenario, and whether it comes from a file that the caller named."""
    if isinstance(given, Scenario):
        fields = given.model_dump(mode="python", exclude_unset=True, by_alias=True)
        return validate(changed(fields, changes), given.name), False
    if isinstance(given, Mapping):
        return validate(changed(given, changes), "scenario"), False
    if isinstance(given, (str, Path)):
        return load(given, changes), True
    name = "run" if source is None else log_name(source) or "run"
    return validate(changed({"name": name}, changes), called), False


def _jobs(given: Source, scenario: Scenario) -> Trace:
    """Jobs that are there, by what the scenario's `[trace]` says of them."""
    section = scenario.trace
    trace = trace_of(given, column_map=section.map, strict=section.strict, size=section.size)
    if isinstance(given, (Trace, JobTable)):
        for name in ("map", "strict", "size"):
            if getattr(section, name) != type(section).model_fields[name].default:
                raise InputError(f"trace.{name}: it says how a file is read, and these jobs have "
                                 "been read already; leave it out")
    if section.jobs is not None and section.jobs < len(trace.jobs):
        trace = trace.first(section.jobs)
    return trace


def _of_objects(
    machine: Any, policies: Mapping[str, PolicyChoice | None], cap: Any, watch_cap: Any
) -> tuple[dict[str, Any], dict[str, Chosen]]:
    changes: dict[str, Any] = {}
    chosen: dict[str, Chosen] = {}
    if machine is not None:
        if not isinstance(machine, (Given, machines.Machine, dict)):
            raise no_machine(machine)
        changes["machine"] = machine_fields(machine)
    for axis, choice in policies.items():
        if choice is None:
            continue
        changes[f"policy.{axis}"] = _choice(axis, choice, chosen)
        if isinstance(choice, Keeper) and choice.cap is not None:
            changes["power.cap"] = choice.said()["cap"]
    if cap is not None:
        if "power.cap" in changes:
            raise InputError("cap is given twice: to the power policy and beside it")
        changes["power.cap"] = _named(cap)
    if watch_cap is not None:
        changes["power.watch_cap"] = _named(watch_cap)
    return changes, chosen


def _choice(axis: str, choice: PolicyChoice, chosen: dict[str, Chosen]) -> str | dict[str, Any]:
    """As a scenario writes it; what no name leads to is kept beside."""
    if isinstance(choice, str):
        return choice
    if isinstance(choice, type) and issubclass(choice, PolicyObject):
        raise InputError(f"{axis} is the class {choice.__name__}; give an object of it: "
                         f"{choice.__name__}()")
    if isinstance(choice, PolicyObject):
        _check_axis(axis, choice.AXIS, type(choice).__name__, repr(choice))
        return choice.choice()
    if isinstance(choice, Mapping):
        return dict(choice)
    made = choice() if isinstance(choice, Declaration) else choice
    if not isinstance(made, Chosen):
        raise InputError(f"{axis}: {type(choice).__name__} is no policy for it; give a name, an "
                         "object such as wl.Wfp(exponent=2), or a Declaration")
    _check_axis(axis, made.declaration.axis, f"'{made.name}'", f"'{made.name}'")
    if f"{axis}.{made.name}" in BUILT_IN:
        raise InputError(f"{axis}: the declaration is called '{made.name}', which is built in; "
                         "write that name, or give the other one another")
    chosen[axis] = made
    return {"name": made.name, **made.given.model_dump(mode="json", exclude_unset=True)}


def _check_axis(axis: str, own: str, name: str, written: str) -> None:
    if own != axis:
        raise InputError(f"{axis}: {name} is a policy for {own}; write {own}={written}")


def _check_policy(policy: object) -> None:
    if isinstance(policy, type) and callable(getattr(policy, "decide", None)):
        raise InputError(f"policy is the class {policy.__name__}; give an object of it: "
                         f"{policy.__name__}()")
    if not isinstance(policy, Policy):
        raise InputError(f"policy is an object with decide(view), not {type(policy).__name__}; "
                         f"policies with a name are chosen along an axis: {', '.join(AXES)}, like "
                         "order='wfp'")


def _named(cap: Any) -> Any:
    """A file of a cap is given as a text or a path."""
    return os.fspath(cap) if isinstance(cap, os.PathLike) else cap
