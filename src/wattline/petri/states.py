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

    def bounds(self) -> dict[str, int]:
        """The most tokens that were seen on each place."""
        return {place: max(counts[i] for counts in self.counts)
                for i, place in enumerate(self.places)}

    def way(self, state: int) -> tuple[str, ...]:
        """The firings from the beginning to a state, a shortest list of them."""
        found: list[str] = []
        while state > 0:
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
        held = {place: count for place, count in zip(self.places, self.counts[state], strict=True)
                if count}
        return DeadEnd(held, self.way(state))


def explore(net: Net, most_states: int = USUAL_STATES,
            advance: Callable[[float], None] = lambda share: None) -> Space:
    """Breadth first, up to so many states; a net that is seen to grow for ever is left there."""
    simulation = Simulation(net)
    flat = simulation.flat
    space = Space(tuple(place.path for place in flat.places))
    clock, monotone = _looks_at_clock(net), _is_monotone(flat)
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
    while waiting and space.complete and not space.growing:
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
            if monotone and len(space.counts) > before:
                space.growing = _growing(space, before)
    space.complete = space.complete and not space.growing
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


def _is_monotone(flat: FlatNet) -> bool:
    """Whether more tokens never forbid anything, so that what was done once can be done again."""
    plain = all(place.place.colour is UNIT for place in flat.places)
    urgent = {transition.priority for transition in flat.transitions}
    return plain and len(urgent) <= 1 and all(
        transition.guard is None and all(
            arc.arc.kind in (ArcKind.IN, ArcKind.OUT, ArcKind.TEST) and isinstance(arc.weight, int)
            for arc in (*transition.inputs, *transition.outputs))
        for transition in flat.transitions)


def _growing(space: Space, state: int) -> tuple[str, ...]:
    """The places on which a state has more than a state on its way, and on none less."""
    mine, earlier = space.counts[state], space.parents[state]
    while True:
        theirs = space.counts[earlier]
        if all(a >= b for a, b in zip(mine, theirs, strict=True)):
            return tuple(place for place, a, b in zip(space.places, mine, theirs, strict=True)
                         if a > b)
        if earlier == 0:
            return ()
        earlier = space.parents[earlier]
