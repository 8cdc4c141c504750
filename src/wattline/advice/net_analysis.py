"""What a small net can come to: dead ends, bounds, a state that is asked for, invariants."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wattline.model.errors import InputError, warn
from wattline.model.units import counted

if TYPE_CHECKING:
    from wattline.petri.invariants import Weights
    from wattline.petri.states import DeadEnd, Space

USUAL_STATES = 10_000
MOST_NAMED = 20
"""Firings and places that a remark names."""


@dataclass(frozen=True)
class NetAnalysis:
    """What was found; without `complete` the figures are of the states that were seen.

    >>> import wattline as wl
    >>> wl.analyse_net("cluster").complete
    True
    """

    net: str
    states: int
    complete: bool
    bounds: dict[str, int]
    """The most tokens on each place."""
    unbounded: tuple[str, ...]
    """Places on which tokens gather without an end."""
    dead_states: int
    dead_end: DeadEnd | None
    """The first state in which nothing can happen any more."""
    never_fired: tuple[str, ...]
    """Transitions that no state that was seen fired."""
    place_invariants: tuple[tuple[Weights, int], ...]
    """Weights of places, and the sum that stays."""
    transition_invariants: tuple[Weights, ...]
    reached: tuple[str, ...] | None
    """The firings that lead to the state that was asked for; None where none was seen."""
    remarks: tuple[str, ...] = ()

    @property
    def bounded(self) -> bool | None:
        """Whether no place gathers tokens without an end; None where that is not known."""
        return True if self.complete else False if self.unbounded else None

    @property
    def can_get_stuck(self) -> bool | None:
        """Whether there is a state in which nothing can happen; None where that is not known."""
        return True if self.dead_states else False if self.complete else None

    def to_dict(self) -> dict[str, Any]:
        dead = self.dead_end
        return {
            "net": self.net, "states": self.states, "complete": self.complete,
            "bounded": self.bounded, "bounds": self.bounds, "unbounded": list(self.unbounded),
            "can_get_stuck": self.can_get_stuck, "dead_states": self.dead_states,
            "dead_end": None if dead is None else {"tokens": dead.tokens, "way": list(dead.way)},
            "never_fired": list(self.never_fired),
            "place_invariants": [{"weights": weights, "sum": total}
                                 for weights, total in self.place_invariants],
            "transition_invariants": [dict(weights) for weights in self.transition_invariants],
            "reached": None if self.reached is None else list(self.reached),
            "remarks": list(self.remarks),
        }


def analyse_net(
    net: str | Path, *, states: int = USUAL_STATES, reach: Mapping[str, int] | None = None,
    skeleton: bool = False, advance: Callable[[float], None] = lambda share: None,
    **workload: Any,
) -> NetAnalysis:
    """Look at every state that a net can come to, up to so many, and at its invariants.

    `reach` asks for a state by the number of tokens on some places. Workloads as for `wl.run_net`.

    >>> import wattline as wl
    >>> found = wl.analyse_net("cluster", reach={"Done": 3})
    >>> found.bounded, found.bounds["Nodes"], len(found.reached)
    (True, 6, 6)
    """
    from wattline.advice.nets import build_net
    from wattline.petri.flat import flatten
    from wattline.petri.invariants import invariants
    from wattline.petri.states import explore

    if states < 1:
        raise InputError(f"states is {states}, must be at least 1")
    made = build_net(net, skeleton=skeleton, **workload)
    flat = flatten(made, structure_only=True)
    asked = {flat.places[flat.place_number(place)].path: count
             for place, count in (reach or {}).items()}
    space = explore(made, states, advance)
    found = invariants(flat)
    kept = [(weights, _sum(weights, space, 0)) for weights in found.of_places
            if _stays(weights, space)]
    state = space.find(asked) if asked else None
    remarks = [*made.remarks, *_of_states(space, states),
               *_of_invariants(len(found.of_places) - len(kept), found)]
    if asked and state is None and not space.complete:
        remarks.append("the state that was asked for is not among those seen; it may be beyond")
    warn(remarks)
    return NetAnalysis(
        str(net), len(space.counts), space.complete, space.bounds(), space.growing,
        len(space.dead), space.dead_end() if space.dead else None,
        tuple(t.path for t in flat.transitions if t.path not in space.fired),
        tuple(kept), found.of_transitions, None if state is None else space.way(state),
        tuple(remarks))


def _sum(weights: Weights, space: Space, state: int) -> int:
    held = dict(zip(space.places, space.counts[state], strict=True))
    return sum(weight * held[place] for place, weight in weights.items())


def _stays(weights: Weights, space: Space) -> bool:
    first = _sum(weights, space, 0)
    return all(_sum(weights, space, state) == first for state in range(len(space.counts)))


def _of_states(space: Space, most: int) -> list[str]:
    if space.complete:
        return []
    lines = [f"there are more than {counted(most, 'state')}: bounds and dead ends are of those "
             "seen (--states looks at more)"]
    if space.covered is not None:
        lines.append(_of_growth(space, *space.covered))
    elif space.more_may_forbid:
        lines.append(f"whether the net is bounded is not known: with {_listed(space)} more tokens "
                     "may forbid what fewer allow, and of such nets no method tells it of all")
    return lines


def _of_growth(space: Space, first: int, second: int) -> str:
    """Two states that show that a net grows, and what leads from one to the other."""
    way = space.way(second, first)
    firings = ", ".join(way[:MOST_NAMED]) + (", ..." if len(way) > MOST_NAMED else "")
    return (f"the net grows without an end ({', '.join(space.growing)}): {firings} leads from "
            f"{_tokens(space.held(first))} to {_tokens(space.held(second))}, which is all of that "
            "and more, and can be repeated for ever; other places may grow as well")


def _tokens(held: Mapping[str, int]) -> str:
    if not held:
        return "no token"
    named = [f"{place} {count}" for place, count in held.items()]
    return "(" + ", ".join(named[:MOST_NAMED]) + (", ...)" if len(named) > MOST_NAMED else ")")


def _listed(space: Space) -> str:
    *rest, last = space.more_may_forbid
    return f"{', '.join(rest)} and {last}" if rest else last


def _of_invariants(dropped: int, found: Any) -> list[str]:
    lines = []
    if not found.complete:
        lines.append("there are too many invariants to list; those of one kind are left out")
    if found.left_out:
        lines.append(f"no invariant can count {', '.join(found.left_out)}: arcs take or put a "
                     "number of tokens that hangs on the tokens")
    if found.taken_as_one:
        lines.append("an expression is taken to put one token; place invariants were checked "
                     "against every state seen"
                     + (f", and {dropped} that did not hold left out" if dropped else ""))
    return lines
