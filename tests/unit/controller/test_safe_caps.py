"""Safe caps of nodes that are above the cap together are named before they are needed."""

from __future__ import annotations

import math

import pytest

from wattline.controller.controller import Cycle
from wattline.controller.safe_caps import EVERY_S, SafeCaps, too_high
from wattline.live.transport.messages import pack_state, unpack_state

NODES = ["n1", "n2", "n3"]


def busy_w(name: str) -> float:
    return 250.0


@pytest.mark.parametrize(("safe_w", "cap_w", "words"), [
    ({"n1": 300.0, "n2": 300.0, "n3": 300.0}, 900.0, ""),
    ({"n1": 300.0, "n2": 300.0, "n3": 300.0}, 899.0, "3 nodes add up to 900 W, above the cap"),
    ({"n1": 300.0, "n2": 300.0}, 850.0, ""),
    ({"n1": 300.0, "n2": 300.0}, 849.0,
     "2 nodes add up to 850 W, with 1 other busy and without a cap, above"),
    ({"n1": 300.0, "gone": 300.0}, 800.0, ""),
    ({"n1": 90.0, "gone": 300.0}, 589.0, "1 node add up to 590 W, with 2 others busy"),
    ({}, 100.0, ""),
])
def test_they_are_added_up_with_the_others_busy(safe_w, cap_w, words) -> None:
    said = too_high(safe_w, NODES, busy_w, cap_w)
    assert words in said
    assert bool(words) == bool(said)


def test_it_is_said_once_and_again_under_another_cap() -> None:
    caps_w, notes = [800.0], []
    safe = SafeCaps(lambda: dict.fromkeys(NODES, 300.0), NODES, busy_w, lambda: caps_w[-1], notes)
    safe(Cycle(0.0))
    safe(Cycle(0.5))
    safe(Cycle(EVERY_S + 1.0))
    assert len(notes) == 1
    assert "above the cap of 800 W" in notes[0]
    assert "lower `safe`" in notes[0]
    caps_w += [900.0]
    safe(Cycle(20.0))
    assert len(notes) == 1
    caps_w += [800.0]
    safe(Cycle(30.0))
    assert len(notes) == 2


def test_an_agent_says_its_safe_cap_when_it_connects() -> None:
    assert unpack_state(pack_state(312.5)) == ("up", 312.5)
    for payload, state in ((pack_state(None), "up"), (b"gone", "gone"), (b"up safe=much", "up"),
                           (b"\xff\xfe", "��")):
        found, safe_w = unpack_state(payload)
        assert found == state
        assert math.isnan(safe_w)
