"""Every state that a small net can come to: dead ends, most tokens on a place, ways to a state.

The net itself is explored, with its colours, guards, priorities and times, not its skeleton. Two
states are one when the same tokens lie there, ready in the same time from now; where inscriptions
look at the clock, the time counts, too.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from wattline.petri.flat import FlatNet
from wattline.petri.marking import Counter
from wattline.petri.net import UNIT, ArcKind, Net
from wattline.petri.simulate import Simulation

USUAL_STATES = 10_000
Counts = tuple[int, ...]


@dataclass(frozen=True)
class DeadEnd:
    """A state in which nothing can happen, and how the net came there."""

    tokens: dict[str, int]
    way: tuple[str, ...]


@dataclass(eq=False)
class Space:
    """What was found; `complete` says whether that is all there is."""

    places: tuple[str, ...]
    complete: bool = True
    counts: list[Counts] = field(default_factory=list)
    """Tokens on each place, by state."""
    parents: list[int] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    """The transition that led to a state from its parent; empty where only the clock moved."""
    dead: list[int] = field(default_factory=list)
    fired: set[str] = field(default_factory=set)
    growing: tuple[str, ...] = ()
    """Places on which tokens gather without an end: the same firings can be repeated for ever."""
    covered: tuple[int, int] | None = None
    """The first two states of which the second has all that the first has, and more: what led
    from one to the other can be repeated for ever."""
    more_may_forbid: tuple[str, ...] = ()
    """What of the net may forbid with more tokens what is allowed with fewer, so that no two states
    show that it grows."""

    def bounds(self) -> dict[str, int]:
        """The most tokens that were seen on each place."""
        return {place: max(counts[i] for counts in self.counts)
                for i, place in enumerate(self.places)}

    def way(self, state: int, since: int = 0) -> tuple[str, ...]:
        """The firings from the beginning, or a state on the way, to a state; a shortest list."""
        found: list[str] = []
        while state > since:
            if self.steps[state]:
                found.append(self.steps[state])
            state = self.parents[state]
        return tuple(reversed(found))

    def find(self, wanted: Mapping[str, int]) -> int | None:
        """The first state with so many tokens on each of these places."""
        index = [(self.places.index(place), count) for place, count in wanted.items()]
        return next((state for state, counts in enumerate(self.counts)
                     if all(counts[i] == count for i, count in index)), None)

    def dead_end(self, number: int = 0) -> DeadEnd:
        state = self.dead[number]
        return DeadEnd(self.held(state), self.way(state))

    def held(self, state: int) -> dict[str, int]:
        """The places that have tokens in a state, and how many."""
        return {place: count for place, count in zip(self.places, self.counts[state], strict=True)
                if count}


def explore(net: Net, most_states: int = USUAL_STATES,
            advance: Callable[[float], None] = lambda share: None) -> Space:
    """Breadth first, up to so many states, which a net that grows without an end always has."""
    simulation = Simulation(net)
    flat = simulation.flat
    space = Space(tuple(place.path for place in flat.places))
    space.more_may_forbid = _more_may_forbid(flat)
    clock = _looks_at_clock(net)
    known: set[Any] = set()
    waiting: deque[tuple[int, Any]] = deque()

    def meet(parent: int, step: str) -> None:
        key = _key(simulation, clock)
        if key in known:
            return
        if len(known) >= most_states:
            space.complete = False
            return
        known.add(key)
        space.counts.append(tuple(tokens.count() for tokens in simulation.marking))
        space.parents.append(parent)
        space.steps.append(step)
        waiting.append((len(space.counts) - 1, simulation.save()))

    meet(0, "")
    while waiting and space.complete:
        state, saved = waiting.popleft()
        advance(min(1.0, len(space.counts) / most_states))
        for step in _successors(simulation, saved):
            if step is None:
                space.dead.append(state)
                continue
            if step:
                space.fired.add(step)
            before = len(space.counts)
            meet(state, step)
            if not space.more_may_forbid and len(space.counts) > before:
                _note_growth(space, before)
    return space


def _successors(simulation: Simulation, saved: Any) -> Iterator[str | None]:
    """Put the simulation into each next state and say what led there; None where there is none."""
    simulation.restore(saved)
    firings = simulation.enabled()
    for firing in firings:
        simulation.restore(saved)
        simulation.fire(firing)
        yield firing.transition.path
    if not firings:
        yield "" if simulation.advance() else None


def _key(simulation: Simulation, clock: bool) -> Any:
    now_s = simulation.now_s
    parts: list[Any] = [now_s] if clock else []
    for tokens in simulation.marking:
        if isinstance(tokens, Counter):
            parts.append(tokens.number)
        else:
            parts.append(tuple(sorted((max(0.0, time_s - now_s), repr(value))
                                      for time_s, _, value in tokens.list)))
    return tuple(parts)


def _looks_at_clock(net: Net) -> bool:
    return any("now" in _names(text) for page in net.pages() for transition in page.transitions
               for text in (transition.guard, *(text for _, text in transition.let),
                            *(part for arc in transition.arcs
                              for part in (arc.inscription, arc.weight, arc.delay_s)))
               if text)


def _names(text: str) -> set[str]:
    return {node.id for node in ast.walk(ast.parse(text.strip(), mode="eval"))
            if isinstance(node, ast.Name)}


def _more_may_forbid(flat: FlatNet) -> tuple[str, ...]:
    """What makes more tokens forbid something; without it what was done once can be done again."""
    arcs = [arc for transition in flat.transitions
            for arc in (*transition.inputs, *transition.outputs)]
    kinds = {arc.arc.kind for arc in arcs}
    found = {
        "colours": any(place.place.colour is not UNIT for place in flat.places),
        "guards": any(transition.guard is not None for transition in flat.transitions),
        "priorities": len({transition.priority for transition in flat.transitions}) > 1,
        "inhibitor arcs": ArcKind.INHIBITOR in kinds,
        "arcs that take all tokens": ArcKind.ALL in kinds,
        "weights that are worked out": any(not isinstance(arc.weight, int) for arc in arcs),
    }
    return tuple(name for name, there in found.items() if there)


def _note_growth(space: Space, state: int) -> None:
    """Add the places on which a state has more than a state on its way, and on none less."""
    mine, earlier = space.counts[state], state
    while earlier > 0:
        earlier = space.parents[earlier]
        theirs = space.counts[earlier]
        if all(a >= b for a, b in zip(mine, theirs, strict=True)):
            more = {place for place, a, b in zip(space.places, mine, theirs, strict=True) if a > b}
            space.covered = space.covered or (earlier, state)
            space.growing = tuple(place for place in space.places
                                  if place in more or place in space.growing)
            return
