"""Time and energy above a cap that counts running jobs, worked out by hand."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from wattline.engine.counted_power import above_cap, jobs_power_w
from wattline.model.signal import Signal

LOG = SimpleNamespace(time_s=np.array([0.0, 10.0, 20.0]), power_w=np.array([700.0, 500.0, 400.0]),
                      busy=np.array([2, 1, 0]))
"""Four units of 100 W idle: two busy ones, one, and none. Their jobs draw 500, 200 and 0 W."""


class Events(SimpleNamespace):
    def __len__(self) -> int:
        return len(self.time_s)


EVENTS = Events(**vars(LOG))


def test_jobs_draw_what_the_machine_draws_beside_its_idle_units() -> None:
    assert jobs_power_w(EVENTS, 4, 100.0).tolist() == [500.0, 200.0, 0.0]


@pytest.mark.parametrize(("cap", "above"), [
    (Signal.constant(400.0, "W"), (10.0, 1000.0)), (Signal.constant(500.0, "W"), (0.0, 0.0)),
    (Signal.constant(100.0, "W"), (20.0, 4000.0 + 1000.0)),
    # Above 450 W until 4 s, 6 s above 100 W and then the second job for 5 s; then there is room.
    (Signal.from_steps([(0, 450.0), (4, 100.0), (15, 300.0)], "W"),
     (15.0, 4 * 50.0 + 6 * 400.0 + 5 * 100.0))])
def test_joules_above_a_cap_are_those_in_excess_of_it(
    cap: Signal, above: tuple[float, float]
) -> None:
    assert above_cap(EVENTS, jobs_power_w(EVENTS, 4, 100.0), cap, 30.0) == above
