"""What meters above nodes say, beside what the ledger assigned to the nodes beneath them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from wattline.account.measured.entities import is_above
from wattline.account.measured.meters_seen import Metered
from wattline.account.measured.seen_time import NEARLY
from wattline.advice.meters import entity_of
from wattline.model.views.view import MachineView


def view_closure(
    file: str | Path, views: Collection[MachineView], seen: Mapping[str, Metered],
    jobs_j: Mapping[str, float], shares: Mapping[str, float],
) -> tuple[list[dict[str, Any]], list[str]]:
    """A row per metered entity of each view of a file; and what must be said of the others.

    Assigned is what jobs have on the nodes beneath, what these drew idle and what is nobody's; in
    a view with shares (a half on each of two feeds) the node's share of it. A meter that saw only
    some of the nodes' time (`shares`) has no residual.
    """
    above = sorted(name for name in seen if is_above(name))
    rows, placed, silent = [], set(), set[str]()
    for view in views:
        for meter in above:
            name = entity_of(view, meter)
            if name is not None:
                placed.add(meter)
                silent.update(node for node in _nodes(view, name) if node not in seen)
                rows.append(_row(view, name, meter, seen, jobs_j, shares.get(meter)))
    said = [f"{file}: no view has {', '.join(lost)}, by this name or by what follows its colon"
            for lost in [[meter for meter in above if meter not in placed]] if lost]
    if not above:
        said.append(f"{file}: no meter above nodes was imported for this period")
    if silent:
        said.append(f"nodes in these views without a meter of their own: {len(silent)}; what they "
                    "drew idle is in no line, only what their jobs have")
    return rows, said


def _row(
    view: MachineView, name: str, meter: str, seen: Mapping[str, Metered],
    jobs_j: Mapping[str, float], share_seen: float | None,
) -> dict[str, Any]:
    nodes = _nodes(view, name)
    shares = _shares(view, nodes)
    assigned_j = sum(share * (jobs_j.get(node, 0.0) + _rest_j(seen.get(node)))
                     for node, share in zip(nodes, shares, strict=True))
    metered_j = seen[meter].metered_j
    return {"view": view.name, "entity": meter, "nodes": len(nodes),
            "unmetered_nodes": sum(node not in seen for node in nodes), "metered_j": metered_j,
            "assigned_j": assigned_j, "difference_j": metered_j - assigned_j,
            "coverage": share_seen,
            "residual": (metered_j - assigned_j) / metered_j
            if metered_j and (share_seen is None or share_seen >= NEARLY) else None}


def _nodes(view: MachineView, name: str) -> list[str]:
    tree = view.tree
    place = tree.of(name)
    return [tree.names[at] for at in range(place, int(tree.end[place]))
            if tree.types[at] == "node"]


def _shares(view: MachineView, nodes: Iterable[str]) -> list[float]:
    key = next((bound.share for bound in view.bounds if bound.share), "")
    return [float(view.get(node, key) or 0.0) if key else 1.0 for node in nodes]


def _rest_j(found: Metered | None) -> float:
    return found.idle_j + found.unattributed_j if found else 0.0
