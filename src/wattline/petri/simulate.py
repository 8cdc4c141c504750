"""Fires the transitions of a net: one at a time by hand, or all of them by the clock.

The rule: of the enabled transitions only those with the smallest priority number may fire; when
none is enabled, the clock moves to the next time at which a token becomes ready.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from wattline.model.errors import InputError
from wattline.petri.flat import FlatArc, FlatNet, FlatTransition, flatten
from wattline.petri.inscriptions import Binding, Expression, Several
from wattline.petri.marking import Counter, Token, Tokens
from wattline.petri.net import UNIT, ArcKind, Net

Taken = list[tuple[FlatArc, Token | int]]


@dataclass(frozen=True, eq=False)
class Firing:
    """A transition with the tokens that it would take and the names that they bind."""

    transition: FlatTransition
    binding: Binding
    taken: Taken

    @property
    def shown(self) -> dict[str, Any]:
        """The binding as a person wants to see it: the names on the input arcs."""
        return {name: self.binding[name] for name in self.transition.variables}


class Simulation:
    """A net in motion: its marking, its clock, what is enabled."""

    def __init__(self, net: Net, start_s: float = 0.0,
                 chooser: np.random.Generator | None = None) -> None:
        """`chooser` picks among equals at random; without it the first in order fires."""
        self.net = net
        self.flat: FlatNet = flatten(net)
        self.now_s = start_s
        self.fired = 0
        self.chooser = chooser
        self.marking: list[Tokens] = [
            Counter(place.path) if place.place.colour is UNIT
            else Tokens(place.path, place.place.colour)
            for place in self.flat.places
        ]
        for place, tokens in zip(self.flat.places, self.marking, strict=True):
            _put_initial(tokens, place.place.initial, start_s)
        by_priority = sorted(range(len(self.flat.transitions)),
                             key=lambda t: self.flat.transitions[t].priority)
        self._levels = [[t for t in by_priority if self.flat.transitions[t].priority == p]
                        for p in sorted({t.priority for t in self.flat.transitions})]
        # A transition found disabled stays so until a token moves on a place that it reads, or
        # the clock moves.
        self._asleep = [False] * len(self.flat.transitions)

    def place(self, name: str) -> Tokens:
        """The tokens of a place, by its path or bare name."""
        return self.marking[self.flat.place_number(name)]

    def enabled(self) -> list[Firing]:
        """Every firing that may happen now, all bindings of the most urgent transitions."""
        for level in self._levels:
            found = [firing for t in level for firing in self._firings(t)]
            if found:
                return found
        return []

    def held_back(self) -> list[Firing]:
        """Firings that are enabled but give way to a more urgent transition."""
        found = [[firing for t in level for firing in self._firings(t)] for level in self._levels]
        busy = [firings for firings in found if firings]
        return [firing for firings in busy[1:] for firing in firings]

    def fire(self, firing: Firing) -> None:
        """Take the tokens of a firing and put those of its output arcs."""
        for arc, token in firing.taken:
            self._take(arc, token)
        for arc in firing.transition.outputs:
            self._put(arc, firing.binding)
        self.fired += 1

    def next_time_s(self) -> float:
        """When the next token becomes ready; infinity when there is none."""
        return min((tokens.next_time_s(self.now_s) for tokens in self.marking),
                   default=float("inf"))

    def advance(self) -> bool:
        """Move the clock to the next time at which a token becomes ready; False at the end."""
        time_s = self.next_time_s()
        if time_s == float("inf"):
            return False
        self.now_s = time_s
        self._asleep = [False] * len(self._asleep)
        return True

    def step(self) -> Firing | None:
        """Fire one transition, moving the clock if need be; None when nothing can happen more."""
        while True:
            firing = self._choose()
            if firing is not None:
                self.fire(firing)
                return firing
            if not self.advance():
                return None

    def run(self, max_firings: int | None = None,
            on_instant: Callable[[Simulation], None] | None = None) -> int:
        """Fire until nothing is left to do, or `max_firings`; returns how many fired.

        `on_instant` is called when all transitions of an instant have fired.
        """
        first = self.fired
        while max_firings is None or self.fired - first < max_firings:
            firing = self._choose()
            if firing is not None:
                self.fire(firing)
                continue
            if on_instant is not None:
                on_instant(self)
            if not self.advance():
                break
        return self.fired - first

    def can_go_on(self) -> bool:
        """Whether anything is enabled, now or when tokens that wait have become ready."""
        state = self.save()
        found = bool(self.enabled())
        while not found and self.advance():
            found = bool(self.enabled())
        self.restore(state)
        return found

    def save(self) -> tuple[float, int, list[Tokens]]:
        """The state, to come back to with `restore`."""
        return self.now_s, self.fired, [tokens.copy() for tokens in self.marking]

    def restore(self, state: tuple[float, int, list[Tokens]]) -> None:
        self.now_s, self.fired, marking = state
        self.marking = [tokens.copy() for tokens in marking]
        self._asleep = [False] * len(self._asleep)

    def _choose(self) -> Firing | None:
        if self.chooser is not None:
            enabled = self.enabled()
            return enabled[int(self.chooser.integers(len(enabled)))] if enabled else None
        for level in self._levels:
            for t in level:
                firing = next(self._firings(t), None)
                if firing is not None:
                    return firing
        return None

    def _firings(self, t: int) -> Iterator[Firing]:
        if self._asleep[t]:
            return
        transition = self.flat.transitions[t]
        awake = False
        for binding, taken in self._bindings(transition, 0, {"now": self.now_s}):
            for name, expression in transition.let:
                binding[name] = expression(binding)
            if transition.guard is None or transition.guard(binding):
                awake = True
                yield Firing(transition, binding, taken)
        self._asleep[t] = not awake

    def _bindings(self, transition: FlatTransition, position: int,
                  binding: Binding) -> Iterator[tuple[Binding, Taken]]:
        if position == len(transition.inputs):
            yield binding, []
            return
        arc = transition.inputs[position]
        for extended, token in self._tokens(arc, binding):
            for full, later in self._bindings(transition, position + 1, extended):
                taken = later if token is None else [(arc, token), *later]
                if _distinct(arc, taken):
                    yield full, taken

    def _tokens(self, arc: FlatArc,
                binding: Binding) -> Iterator[tuple[Binding, Token | int | None]]:
        """Each way to satisfy one input arc: the extended binding and what is to be taken."""
        tokens = self.marking[arc.place]
        kind = arc.arc.kind
        if kind is ArcKind.INHIBITOR:
            if not (tokens.count() if arc.unit else next(tokens.ready(self.now_s), None)):
                yield binding, None
        elif kind is ArcKind.ALL:
            extended = dict(binding)
            value = tokens.count() if arc.unit else tuple(tokens.values())
            assert arc.match is not None
            if arc.match(value, extended):
                yield extended, 0
        elif arc.unit:
            weight = _weight(arc.weight, binding)
            if tokens.count() >= weight:
                yield binding, weight if kind is ArcKind.IN else None
        else:
            assert arc.match is not None
            for token in tokens.ready(self.now_s):
                extended = dict(binding)
                if arc.match(token[2], extended):
                    yield extended, token if kind is ArcKind.IN else None

    def _take(self, arc: FlatArc, token: Token | int) -> None:
        tokens = self.marking[arc.place]
        if arc.arc.kind is ArcKind.ALL:
            if isinstance(tokens, Counter):
                tokens.number = 0
            else:
                tokens.take_all()
        elif isinstance(tokens, Counter):
            assert isinstance(token, int)
            tokens.number -= token
        else:
            assert isinstance(token, tuple)
            tokens.take(token)
        self._wake(arc.place)

    def _put(self, arc: FlatArc, binding: Binding) -> None:
        tokens = self.marking[arc.place]
        if isinstance(tokens, Counter):
            tokens.number += _weight(arc.weight, binding)
        else:
            assert arc.value is not None
            value = arc.value(binding)
            time_s = self.now_s
            if arc.delay_s is not None:
                delay_s = arc.delay_s(binding)
                if delay_s < 0:
                    raise InputError(f"place '{tokens.name}': a delay of {delay_s} s")
                time_s += delay_s
            for item in value.values if isinstance(value, Several) else (value,):
                tokens.put(item, time_s)
        self._wake(arc.place)

    def _wake(self, place: int) -> None:
        for t in self.flat.readers[place]:
            self._asleep[t] = False


def _weight(weight: Expression | int, binding: Binding) -> int:
    return weight if isinstance(weight, int) else int(weight(binding))


def _distinct(arc: FlatArc, taken: Taken) -> bool:
    """Two arcs from one place must not take the same token."""
    if arc.unit or len(taken) < 2:
        return True
    numbers = [token for other, token in taken if other.place == arc.place]
    return len(numbers) == len(set(map(id, numbers)))


def _put_initial(tokens: Tokens, initial: tuple[Any, ...], start_s: float) -> None:
    if isinstance(tokens, Counter):
        tokens.number = int(initial[0]) if initial else 0
        return
    for value in initial:
        tokens.put(value, start_s)
