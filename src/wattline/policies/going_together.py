"""Which choices along different axes do not go together, and why.

One table for the scenario that refuses a pair, the command that lists them and the tests that try
them all. Every reason is one of what the two do, not of what has not been written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

MOLDABLE = ("traditional", "fixed", "naive", "adaptive")
"""Rules of the axis `configure` that choose among configurations of a table."""

KEEPERS = ("block", "wait", "dvfs", "watts", "adaptive")
"""Choices of the axis `power` that keep any cap by themselves."""


def is_moldable(name: str) -> bool:
    """Whether this choice along the axis `configure` lets jobs change their size."""
    return name in MOLDABLE


@dataclass(frozen=True)
class Clash:
    """Choices of one axis that do not go with choices of another."""

    axis: str
    names: frozenset[str]
    other_axis: str
    others: frozenset[str]
    reason: str
    except_others: bool = False
    """Whether it is all choices but `others` that do not go with it."""

    def meets(self, name: str, other: str) -> bool:
        return name in self.names and (other in self.others) != self.except_others

    def why(self, name: str, other: str) -> str:
        with_it = f"'{other}'" if other else "without a name"
        return (f"policy.{self.axis} '{name}' does not go with policy.{self.other_axis} "
                f"{with_it}: {self.reason}")


def _clash(
    axis: str, names: Iterable[str], other_axis: str, others: Iterable[str], reason: str,
    except_others: bool = False,
) -> Clash:
    return Clash(axis, frozenset(names), other_axis, frozenset(others), reason, except_others)


CLASHES = (
    _clash("power", ("block", "wait"), "configure", ("adaptive",),
           "an adaptive job has no watts of its own to be held back for: the room under the cap "
           "says which configuration it gets; use watts or lending"),
    _clash("power", ("dvfs",), "configure", MOLDABLE,
           "a table knows times and watts under its own caps; if all processors went slower "
           "still, nobody would know either; use watts or lending"),
    _clash("power", ("adaptive", "budget"), "configure", MOLDABLE,
           "this power policy chooses a job's frequency by the watts of the requested size; the "
           "configuration sets caps of its own, for which a table knows times and watts at no "
           "other frequency; use watts or lending"),
    _clash("power", ("adaptive", "budget"), "configure", ("claims",),
           "this power policy chooses a job's frequency by the watts of the requested size on the "
           "machine's first class of nodes; claims choose another class, threads and a cap, and "
           "hold for those alone; use block, wait, dvfs or watts"),
    _clash("power", ("lending",), "configure", MOLDABLE,
           "lending needs configurations to lend by: only a table says what a running job gains "
           "from more watts; set policy.configure to one of " + ", ".join(MOLDABLE),
           except_others=True),
    _clash("placement", ("varied",), "configure", MOLDABLE,
           "how much slower a node of high demand is follows from the cap it runs under, which "
           "only a configuration sets; set policy.configure to one of " + ", ".join(MOLDABLE),
           except_others=True),
    _clash("placement", ("claims",), "configure", ("claims",),
           "this placement goes to the class of nodes that claims chose, and here none is chosen; "
           "set policy.configure = 'claims' too", except_others=True),
    _clash("order", ("claims",), "configure", ("claims",),
           "this order asks what a job loses without its best class of nodes, and here no claims "
           "say that; set policy.configure = 'claims' too", except_others=True),
    _clash("configure", ("claims",), "placement", ("claims",),
           "the job would start on nodes of another class than its claims were made for, at other "
           "times and watts, and teach the wrong claim; set policy.placement = 'claims' too",
           except_others=True),
)


def clash_of(choices: Mapping[str, str]) -> Clash | None:
    """The first clash among these choices, by axis."""
    for clash in CLASHES:
        name, other = choices.get(clash.axis), choices.get(clash.other_axis)
        if name is not None and other is not None and clash.meets(name, other):
            return clash
    return None


def why_not(choices: Mapping[str, str]) -> str:
    """Why these choices, by axis, do not go together; empty where they do."""
    clash = clash_of(choices)
    return "" if clash is None else clash.why(choices[clash.axis], choices[clash.other_axis])


def refused_pairs(names: Mapping[str, Iterable[str]]) -> list[dict[str, str]]:
    """All pairs of these choices that do not go together, each once, with the reason."""
    axes = list(names)
    found = []
    for place, axis in enumerate(axes):
        for other_axis in axes[place + 1:]:
            for name in names[axis]:
                for other in names[other_axis]:
                    clash = clash_of({axis: name, other_axis: other})
                    if clash is not None:
                        found.append({"axis": axis, "name": name, "other_axis": other_axis,
                                      "other": other, "reason": clash.reason})
    return found
