"""The plan of free units, second by second on an array."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from tests.support.thinned import mostly
from tests.support.workloads import compose

from wattline.books import Books, Submitted
from wattline.model.machine import Machine
from wattline.policies.backfill.conservative import Conservative
from wattline.policies.profile import (
    ROUNDING_S,
    add_to_profile,
    find_step,
    first_chance,
    forget_past,
    note_no_room,
    plan_running,
    take_earlier,
    take_earliest,
)

UNITS, HORIZON = 16, 400


def empty_state(steps: int = 400) -> Any:
    """A machine with nothing on it, whose plan has room for so many steps."""
    state = Books.open(Machine.uniform(UNITS), compose(backfill=Conservative())).state
    plan_running(state)
    first = np.asarray(state.profile)[:1]
    room = np.zeros(steps, first.dtype)
    room[:1] = first
    return state.with_arrays(profile=room.view(np.recarray))


@dataclass
class Seconds:
    """The same plan, by seconds."""

    free: Any = field(default_factory=lambda: np.full(2 * HORIZON, UNITS))

    def fits(self, start: int, units: int, length: int) -> bool:
        return bool((self.free[start : start + length] >= units).all())

    def longest(self, first: int, before: int, units: int) -> int:
        """For how many seconds on end units are free, at most, from a time between these on."""
        free = self.free >= units
        return max((int(np.argmin(free[t:])) for t in range(first, before)), default=0)

    def hold(self, start: int, units: int, length: int) -> None:
        self.free[start : start + length] -= units

    def same_as(self, state: Any, from_s: int) -> bool:
        shown = [state.profile[find_step(state, float(t))].free for t in range(from_s, HORIZON)]
        clock = state.clock[0]
        steps = state.profile.free[clock.step_first : clock.step_last]
        return shown == self.free[from_s:HORIZON].tolist() and bool((np.diff(steps) != 0).all())


@pytest.mark.parametrize("seed", mostly(range(4), range(2), pytest.mark.long))
@pytest.mark.parametrize("room", [48, 400])
def test_what_is_taken_and_moved_is_what_was_free(seed: int, room: int) -> None:
    """Also where the steps of the past have to make room: 48 do for what is planned at once."""
    random = np.random.default_rng(seed)
    state, seconds = empty_state(room), Seconds()
    held: list[tuple[int, int, int]] = []
    for now in range(0, 240, 3):
        state.clock[0].now_s = float(now)
        forget_past(state)
        held = [each for each in held if each[0] > now]
        units, length = int(random.integers(1, UNITS + 1)), int(random.integers(1, 30))
        if len(held) < 7:
            start, longest = take_earliest(state, float(now), units, float(length))
            assert start == next(t for t in range(now, HORIZON) if seconds.fits(t, units, length))
            free = seconds.longest(now, int(start), units)
            assert longest == (free + ROUNDING_S if free else 0.0)
            seconds.hold(int(start), units, length)
            held.append((int(start), units, length))
        if held and held[-1][0] > now:
            planned, units, length = held.pop(int(random.integers(len(held))))
            if planned <= now:
                continue
            before = min(planned, now + int(random.integers(1, 60)))
            found, _ = take_earlier(state, float(now), float(before), float(planned), units,
                                 float(length))
            seconds.hold(planned, -units, length)
            start = next((t for t in range(now, before) if seconds.fits(t, units, length)), planned)
            seconds.hold(start, units, length)
            assert found == start
            held.append((start, units, length))
        assert seconds.same_as(state, now)


def test_what_has_no_room_is_known_of_all_that_ask_for_more() -> None:
    state = empty_state()
    known = note_no_room(state, 0, 8, 100.0, 50.0)
    known = note_no_room(state, known, 4, 300.0, 40.0)
    asked = [(8, 101.0), (9, 200.0), (9, 301.0), (4, 301.0), (7, 300.0), (8, 100.0), (3, 900.0)]
    found = [first_chance(state, known, units, length, 1e9) for units, length in asked]
    assert found == [(50.0, 100.0)] * 3 + [(40.0, 300.0)] + [(0.0, 0.0)] * 3


def test_a_row_that_says_no_more_than_a_new_one_is_dropped() -> None:
    state = empty_state()
    known = note_no_room(state, 0, 8, 100.0, 50.0)
    known = note_no_room(state, known, 9, 100.0, 60.0)
    assert known == 2  # the second is later, the first for less
    assert note_no_room(state, known, 8, 90.0, 60.0) == 1


def test_more_than_there_is_room_for_is_not_kept() -> None:
    state = empty_state()
    known = 0
    for number in range(len(state.no_room) + 5):
        known = note_no_room(state, known, 100 - number, 1.0 + number, 50.0)
    assert known == len(state.no_room)
    assert first_chance(state, known, 100, 1.5, 1e9) == (50.0, 1.0)


@pytest.mark.parametrize("owed", [0, 3, 7])
@pytest.mark.parametrize("now", [5.0, 40.0, 65.0])
def test_the_plan_of_what_runs(now: float, owed: int) -> None:
    """By seconds: units come back when they are expected, but for those that are owed first."""
    books = Books.open(Machine.uniform(UNITS), compose(backfill=Conservative()))
    lengths = {"a": (4, 60.0), "b": (2, 30.0), "c": (3, 60.0), "d": (5, 90.0)}
    books.step(0.0, [Submitted(name, *asked) for name, asked in lengths.items()])
    state, clock = books.state, books.state.clock[0]
    clock.now_s, clock.down_owed = now, owed
    plan_running(state)
    seconds = Seconds()
    left = owed
    for units, length in sorted(lengths.values(), key=lambda asked: asked[1]):
        lost = min(left, units)
        left -= lost
        seconds.free[int(now) : max(int(length), int(now))] -= units
        seconds.free[max(int(length), int(now)) :] -= lost
    assert seconds.same_as(state, int(now))


def test_nothing_is_added_in_no_time() -> None:
    state, seconds = empty_state(), Seconds()
    add_to_profile(state, 10.0, 10.0, -5)
    add_to_profile(state, np.inf, np.inf, -5)
    assert seconds.same_as(state, 0)
