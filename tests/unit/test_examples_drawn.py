"""Number and choice of the examples that a property is tried with."""

from __future__ import annotations

import pytest
from tests.support import examples


@pytest.mark.parametrize(("each_ms", "before", "at_night"), [
    # A second before a commit; twenty times three seconds at night.
    (1.0, 100, 60_000), (10.0, 100, 6000), (12.5, 80, 4800), (50.0, 20, 1200), (400.0, 2, 150),
    (4000.0, 2, 15), (100_000.0, 2, 2),
])
def test_a_property_has_as_many_examples_as_its_time_has_room_for(
        monkeypatch: pytest.MonkeyPatch, each_ms: float, before: int, at_night: int) -> None:
    for times, number in ((1, before), (20, at_night)):
        monkeypatch.setattr(examples, "TIMES", times)
        drawn = examples.costing(each_ms)
        assert drawn.max_examples == number
        assert drawn.derandomize == (times == 1)  # new ones at night, the same before a commit


def test_seeds_are_the_first_ones_and_at_night_new_ones_besides(
        monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examples, "TIMES", 1)
    assert examples.seeds(3) == [0, 1, 2]
    monkeypatch.setattr(examples, "TIMES", 20)
    monkeypatch.setattr(examples, "FIRST_SEED", 1_000_007)
    assert examples.seeds(2) == [0, 1, 1_000_007, 1_000_008, 1_000_009, 1_000_010]
