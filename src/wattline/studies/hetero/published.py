"""Every published figure of the mixed cluster beside ours."""

from __future__ import annotations

from typing import Any

from wattline.studies.hetero.example import example
from wattline.studies.hetero.study import LATE_CAP_S, reproduce
from wattline.studies.published import judge

EQUAL = 0.02
"""Relative difference up to which a figure counts as equal."""


def all_results(**given: Any) -> dict[str, Any]:
    """Both loads, the same with late caps, and the document's example."""
    return {**reproduce(**given), "late": reproduce(**given | {"cap_latency_s": LATE_CAP_S}),
            "example": example()}


def rows(results: dict[str, Any]) -> list[tuple[str, ...]]:
    """Section, what, published, ours, verdict, why; of `all_results`."""
    found: list[tuple[str, ...]] = []
    for name, told in results["example"].items():
        total_j, load_j = told["published"]
        equal = abs(told["energy_j"] - total_j) < 1e-6 and abs(told["load_j"] - load_j) < 1e-6
        found.append((
            "table 3.2", f"{told['gpn']} on gpn, {told['lpn']} on lpn (least energy, {name})",
            f"{total_j:.0f} J, load {load_j:.0f} J",
            f"{told['energy_j']:.0f} J, load {told['load_j']:.0f} J",
            "holds" if equal else "fails",
            "the greedy rule picks the worse allocation" if total_j > 40 else ""))
    for load, rules in results["loads"].items():
        for rule, told in rules.items():
            if "published" in told:
                found += _load_rows(load, rule, told, results["late"]["loads"][load][rule])
    for load, saving in results["saving"].items():
        late = results["late"]["saving"][load]
        found.append((
            "section 4.4", f"energy saved, {load}", f"{100 * saving['energy_published']:.0f} %",
            f"{100 * saving['energy']:.0f} %; {100 * late['energy']:.0f} % with late caps",
            _saving(saving["energy"], saving["energy_published"]), _WHY.get(load, "")))
    found.append(("figure 4.4", "time and energy by number of threads", "a picture", "-",
                  "not reproduced", "the figures behind it are not printed"))
    return found


_WHY = {"sz-load": "caps that take effect 0.31 s after a start explain the published saving: an "
                   "inference"}


def _load_rows(load: str, rule: str, told: dict[str, Any],
               late: dict[str, Any]) -> list[tuple[str, ...]]:
    seen = told["published"]
    same = told["nodes"] == seen["nodes"]
    found: list[tuple[str, ...]] = [
        ("tables 4.4 to 4.6", f"{load}, {rule}: {what}", f"{seen[key]:.5g} {unit}",
         f"{told[key]:.4g} {unit}" + (f"; {late[key]:.4g} {unit} with late caps"
                                      if abs(late[key] - told[key]) > 1e-3 * told[key] else ""),
         *_verdict(told[key], seen[key]))
        for what, key, unit in (("time", "makespan_s", "s"), ("energy", "energy_j", "J"))
    ]
    found.append(("table 4.6", f"{load}, {rule}: node of every job", "listed",
                  "the same" if same else "others", "holds" if same else "fails", ""))
    return found


def _verdict(ours: float, published: float) -> tuple[str, str]:
    """A time or an energy is the same or it is not; why: by how much it is off."""
    off = ours / published - 1
    if abs(off) <= EQUAL:
        return "holds", ""
    return "fails", f"{100 * abs(off):.0f} % {'more' if off > 0 else 'less'}"


def _saving(ours: float, published: float) -> str:
    return judge(published, ours, same=abs(ours / published - 1) <= EQUAL)
