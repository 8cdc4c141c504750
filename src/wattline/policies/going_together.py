"""Which choices along different axes do not go together, and why.

One table for the scenario that refuses a pair, the command that lists them and the tests that try
them all. Every reason is one of what the two do, not of what has not been written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

MOLDABLE = ("traditional", "fixed", "naive", "adaptive")
"""Rules of the axis `configure` that choose among configurations of a table."""


@dataclass(frozen=True)
class Clash:
    """Choices of one axis that do not go with choices of another; `{a}` and `{b}` name them."""

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
        return self.reason.format(a=name, b=other)


def _clash(
    axis: str, names: Iterable[str], other_axis: str, others: Iterable[str], reason: str,
    except_others: bool = False,
) -> Clash:
    return Clash(axis, frozenset(names), other_axis, frozenset(others), reason, except_others)


CLASHES = (
    _clash("configure", MOLDABLE, "backfill", ("conservative",),
           "policy.backfill: conservative plans nodes and not watts, which policy.configure '{a}' "
           "needs planned together; use easy or none"),
    _clash("configure", MOLDABLE, "power", ("none", "watts", "lending"),
           "policy.power: '{b}' goes by the watts of the requested size, which policy.configure "
           "'{a}' changes; use watts or lending", except_others=True),
    _clash("configure", ("claims",), "power", ("adaptive", "budget"),
           "policy.power: '{b}' goes by the watts of the requested size, which policy.configure "
           "'{a}' changes; use block, wait, dvfs or watts"),
    _clash("power", ("lending",), "configure", MOLDABLE,
           "policy.power 'lending' needs configurations to lend by: set policy.configure to one of "
           + ", ".join(MOLDABLE), except_others=True),
    _clash("placement", ("varied",), "configure", MOLDABLE,
           "policy.placement 'varied' needs the caps of configurations: policy.configure must be "
           "one of " + ", ".join(MOLDABLE) + " here", except_others=True),
    _clash("placement", ("claims",), "configure", ("claims",),
           "policy.placement: claims needs policy.configure = 'claims' too", except_others=True),
    _clash("configure", ("claims",), "placement", ("claims",),
           "policy.placement: '{b}' does not look at the class of node that policy.configure "
           "'claims' chose; use claims here too", except_others=True),
)


def why_not(choices: Mapping[str, str]) -> str:
    """Why these choices, by axis, do not go together; empty where they do."""
    for clash in CLASHES:
        name, other = choices.get(clash.axis), choices.get(clash.other_axis)
        if name is not None and other is not None and clash.meets(name, other):
            return clash.why(name, other)
    return ""


def refused_pairs(names: Mapping[str, Iterable[str]]) -> list[dict[str, str]]:
    """All pairs of these choices that do not go together, each once, with the reason."""
    axes = list(names)
    found = []
    for place, axis in enumerate(axes):
        for other_axis in axes[place + 1:]:
            for name in names[axis]:
                for other in names[other_axis]:
                    reason = why_not({axis: name, other_axis: other})
                    if reason:
                        found.append({"axis": axis, "name": name, "other_axis": other_axis,
                                      "other": other, "reason": reason})
    return found
