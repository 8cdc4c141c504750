"""What can be asked: logs, machines, policies along each axis, and the limits of a request."""

from __future__ import annotations

from typing import Any

from wattline.policies.declaration import AXES
from wattline.policies.parameter_rows import parameter_rows
from wattline.policies.registry import BUILT_IN, find
from wattline.scenario.bundled_logs import bundled_logs
from wattline.scenario.examples import list_examples
from wattline.scenario.load import bundled, fields_of
from wattline.scenario.model import PowerSection
from wattline.scenario.parameters import GENERATORS
from wattline.web.whatif.guard import BUILT_TOPOLOGIES, MOST_JOBS

MODEL = ("alpha", "beta", "core_share", "idle_fraction", "levels")
"""Fields of `[power]` by which power and time follow speed."""


def choices() -> dict[str, Any]:
    """Everything a page needs to offer; what names a file is left out."""
    from wattline.network.config import BUILT_IN as NETWORKS
    from wattline.traces.column_map import built_in

    summaries = {example.name: example.summary for example in list_examples()}
    return {
        "logs": [{"file": f"bundled:{name}", "name": name, "summary": summaries.get(name, "")}
                 for name in bundled_logs()],
        "generators": [{"generate": name, "parameters": [
            row for row in parameter_rows(model) if not row["file"]]}
            for name, model in GENERATORS.items()],
        "maps": built_in(),
        "scenarios": [fields_of(f"bundled:{name}") for name in bundled()],
        "machines": _machines(),
        "networks": list(NETWORKS), "topologies": list(BUILT_TOPOLOGIES),
        "axes": {axis: _axis(axis) for axis in AXES},
        "power": [row for row in parameter_rows(PowerSection) if row["name"] in MODEL],
        "limits": {"generated_jobs": MOST_JOBS},
    }


def _machines() -> list[dict[str, Any]]:
    """The machines of the bundled scenarios and of the week among the examples."""
    found = {}
    for name in bundled():
        machine = fields_of(f"bundled:{name}").get("machine", {})
        found[str(machine.get("name", name))] = machine
    found["week"] = {"name": "week", "nodes": 64, "node_idle_w": 100.0, "node_active_w": 350.0}
    return list(found.values())


def _axis(axis: str) -> list[dict[str, Any]]:
    names = [each.partition(".")[2] for each in BUILT_IN if each.startswith(f"{axis}.")]
    found = []
    for name in names:
        each = find(axis, name)
        rows = parameter_rows(each.parameters)
        if any(row["needed"] and row["file"] for row in rows):
            continue  # no request may name a file
        found.append({"name": name, "summary": each.summary,
                      "parameters": [row for row in rows if not row["file"]]})
    return found
