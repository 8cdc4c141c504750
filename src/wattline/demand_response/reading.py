"""Scenarios of contracts: files with `[contract]`, and short names for their fields."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wattline.grid.dayahead import HOUR_S
from wattline.grid.programme import programme
from wattline.model.errors import InputError
from wattline.model.nearest import did_you_mean
from wattline.scenario.contract_section import ContractSection
from wattline.scenario.load import changed, fields_of, validate
from wattline.scenario.model import Scenario
from wattline.scenario.parameters import WORKLOAD

OF_WORKLOADS = {
    "workload": "name", "types": "types", "standby_type": "standby_type", "utilisation": "load",
    "level": "level", "burst": "burst", "mislabelled": "mislabelled",
}
"""Fields that a log leaves no room for, and what the generator calls them."""
SHORT = {
    **{short: f"trace.parameters.{name}" for short, name in OF_WORKLOADS.items()},
    "log": "trace.file", "map": "trace.map", "log_start": "contract.trace_start",
    "seed": "trace.seed",
    "servers": "machine.nodes", "power_w_idle": "machine.node_idle_w",
    "policy": "policy.regulation", "preempt": "policy.regulation.preempt",
    "feedback": "policy.regulation.feedback", "sleep": "policy.regulation.sleep", "name": "name",
    **{name: f"contract.{name}" for name in ContractSection.model_fields if name != "trace_start"},
}
"""What flags of commands and arguments in Python are called, and the field of the scenario."""


def read_contract(path: Path | str | None, given: Mapping[str, Any]) -> Scenario:
    """A scenario file, or nothing, with what was given under short names on top of it."""
    fields: dict[str, Any] = {}
    if path is not None:
        fields = fields_of(path)
        if "contract" not in fields:
            raise InputError(f"{path} has no [contract]; `wattline simulate {path}` runs it")
    given = {name: value for name, value in given.items() if value is not None}
    return validate(with_given(fields, given), "contract" if path is None else str(path))


def with_given(fields: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The fields with what was given on top, and with a trace and a rule where there was none."""
    fields = changed(fields, {})
    trace = dict(fields.get("trace") or {})
    described = next((name for name in OF_WORKLOADS if name in given), None)
    if described and ("log" in given or "file" in trace):
        raise InputError(f"a log brings its own jobs: leave `{described}` out, or leave out `log`")
    if "log" in given:
        trace = {name: value for name, value in trace.items()
                 if name not in ("generate", "parameters")}
    elif "file" not in trace:
        trace.setdefault("generate", WORKLOAD)
    fields["trace"] = trace
    fields.setdefault("contract", {})
    fields.setdefault("name", str(given.get("workload") or given.get("log") or "contract")[:200])
    _fill_from_programme(fields, given)
    changes, policy = _dotted(given), fields.setdefault("policy", {})
    if isinstance(policy, dict):
        policy.setdefault("regulation", "aqa")
        if isinstance(policy["regulation"], dict) and "policy" in given:
            changes["policy.regulation.name"] = changes.pop("policy.regulation")
    return changed(fields, changes)


def _fill_from_programme(fields: dict[str, Any], given: Mapping[str, Any]) -> None:
    """An event that the programme describes, where the contract says none of its own."""
    contract = fields["contract"]
    name = given.get("programme") or (isinstance(contract, dict) and contract.get("programme"))
    if not isinstance(name, str) or not isinstance(contract, dict):
        return
    event = programme(name).curtailment
    if event is not None and "curtailment" not in contract and "curtailment" not in given:
        contract["curtailment"] = event.model_dump()
        if "duration" not in given:
            contract.setdefault("duration", event.start + event.duration + HOUR_S)


def _dotted(given: Mapping[str, Any]) -> dict[str, Any]:
    found = {}
    # The rule before its parameters, whatever the order they were given in.
    for name in sorted(given, key=lambda name: name != "policy"):
        place = SHORT.get(name, name.replace("__", "."))
        if "." not in place and place != "name":
            raise InputError(f"there is no field '{name}'; there are: {', '.join(sorted(SHORT))}"
                             + did_you_mean(name, SHORT))
        found[place] = given[name]
    return found


def contract_of(scenario: Scenario) -> ContractSection:
    """The contract of a scenario that has one."""
    if scenario.contract is None:
        raise InputError(f"{scenario.name}: the scenario has no [contract]")
    return scenario.contract
