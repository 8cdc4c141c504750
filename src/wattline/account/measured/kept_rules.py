"""The rules of a ledger: kept in its store, so that every import divides joules in the same way.

Whoever changes one computes all joules anew; so the ledger follows one set of rules at any time,
and neither the order of imports nor when a rule was given matters.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, select

from wattline.account.attribution import IdleRule, Node
from wattline.account.measured.rules import Rules
from wattline.account.measured.tables import rules as table
from wattline.model.errors import InputError
from wattline.model.units import parse_duration, parse_energy, parse_hosts, parse_power
from wattline.physics.metering.stretches import Filling

NAMES = ("idle_w", "idle_by", "fill", "longest_gap", "highest_w", "counter_range", "parts_w")
FILLINGS = (Filling.HELD, Filling.INTERPOLATED, Filling.MEAN, Filling.NONE)
MOST_W = 1e6
"""No node draws so much without a job."""


def changed(kept: Rules, given: Mapping[str, Any]) -> Rules:
    """The rules with those that are given: `idle_w` for all (90) or by node ("n[1-4]=90W")."""
    unknown = [name for name in given if name not in NAMES]
    if unknown:
        raise InputError(f"there is no rule '{unknown[0]}'; there are {', '.join(NAMES)}")
    found = _with_parts(_with_idle(kept, given.get("idle_w")), given.get("parts_w") or {})
    if given.get("idle_by") is not None:
        found = replace(found, idle_by=_one_of("--idle-by", given["idle_by"], tuple(IdleRule)))
    if given.get("fill") is not None:
        found = replace(found, filling=_one_of("--fill", given["fill"], FILLINGS))
    if given.get("longest_gap") is not None:
        found = replace(found, longest_gap_s=parse_duration(str(given["longest_gap"])))
    if given.get("highest_w") is not None:
        found = replace(found, highest_w=parse_power(str(given["highest_w"])))
    if given.get("counter_range") is not None:
        found = replace(found, range_j=parse_energy(str(given["counter_range"])))
    return found


def _with_idle(kept: Rules, given: Any) -> Rules:
    if isinstance(given, Mapping):
        given = [f"{name}={watts}" for name, watts in given.items()]
    elif given is None or isinstance(given, (str, int, float)):
        given = [] if given is None else [given]
    node, nodes = kept.node, dict(kept.nodes)
    for each in given:
        names, equals, watts = str(each).rpartition("=")
        idle_w = _watts(watts)
        if not 0 <= idle_w < MOST_W:
            raise InputError(f"--idle-w: '{each}' is no power of an idle node; write it like 90, "
                             "or n[1-4]=120")
        if not equals:
            node = replace(node, idle_w=idle_w)
        for name in parse_hosts(names) if equals else ():
            nodes[name] = replace(nodes.get(name, node), idle_w=idle_w)
    return replace(kept, node=node, nodes=nodes)


def _with_parts(kept: Rules, given: Mapping[str, tuple[float, float]]) -> Rules:
    """Watts of each core and each GPU in use, by node."""
    nodes = dict(kept.nodes)
    for name, (cpu_w, gpu_w) in given.items():
        if not (0 < cpu_w < MOST_W and 0 <= gpu_w < MOST_W):
            raise InputError(f"parts_w of {name}: {cpu_w:g} and {gpu_w:g} are no watts of a core "
                             "and a GPU in use; the first must be above 0")
        nodes[name] = replace(nodes.get(name, kept.node), cpu_w=cpu_w, gpu_w=gpu_w)
    return replace(kept, nodes=nodes)


def _watts(text: str) -> float:
    try:
        return parse_power(text)
    except InputError:
        return float("nan")


def _one_of(option: str, given: Any, choices: Iterable[Any]) -> Any:
    found = next((each for each in choices if str(each) == str(given)), None)
    if found is None:
        raise InputError(f"{option}: '{given}' is not one of {', '.join(map(str, choices))}")
    return found


def load(connection: Connection) -> Rules:
    """Those of the store, or those that hold where nobody has said any."""
    text = connection.scalar(select(table.c.rules))
    if text is None:
        return Rules()
    found = json.loads(text)
    parts_w = found.get("nodes_parts_w", {})
    return Rules(
        Node(idle_w=found["idle_w"]),
        {name: Node(idle_w=idle_w, cpu_w=parts_w.get(name, (0.0, 0.0))[0],
                    gpu_w=parts_w.get(name, (0.0, 0.0))[1])
         for name, idle_w in found["nodes_idle_w"].items()},
        IdleRule(found["idle_by"]), Filling(found["fill"]), found["longest_gap_s"],
        found["highest_w"], found["counter_range_j"])


def save(connection: Connection, rules: Rules) -> None:
    connection.execute(table.delete())
    connection.execute(table.insert().values(id=1, rules=json.dumps(as_dict(rules))))


def as_dict(rules: Rules) -> dict[str, Any]:
    """In words that programs read, each with its unit."""
    return {"idle_w": rules.node.idle_w, "idle_by": str(rules.idle_by), "fill": str(rules.filling),
            "longest_gap_s": rules.longest_gap_s, "highest_w": rules.highest_w,
            "counter_range_j": rules.range_j,
            "nodes_idle_w": {name: node.idle_w for name, node in sorted(rules.nodes.items())},
            "nodes_parts_w": {name: [node.cpu_w, node.gpu_w]
                              for name, node in sorted(rules.nodes.items()) if node.cpu_w > 0}}


def said(rules: Rules, before: Rules) -> list[str]:
    """Which of them differ from those before."""
    old, new = as_dict(before), as_dict(rules)
    by_node = ("nodes_idle_w", "nodes_parts_w")
    lines = [f"{name} {new[name]}" for name in new if name not in by_node
             and new[name] != old[name]]
    own = sum(old["nodes_idle_w"].get(name) != idle_w
              for name, idle_w in new["nodes_idle_w"].items())
    parts = sum(old["nodes_parts_w"].get(name) != watts
                for name, watts in new["nodes_parts_w"].items())
    return (lines + ([f"idle_w of {own} nodes"] if own else [])
            + ([f"watts of the parts of {parts} nodes"] if parts else []))
