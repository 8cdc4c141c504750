"""A policy in Python: under a cap, start jobs slower rather than later.

    wattline simulate examples/slow_down.toml

Any class with `decide(view)` is a policy. It sees the machine as it is (`View`) and returns what it
wants done; it has no clock and changes nothing itself, so that the simulator and a live controller
can both ask it. `wattline.policies.view` has all that it may see and ask for.
"""

from __future__ import annotations

from collections.abc import Iterable

from wattline.policies.view import Action, Start, View

SPEEDS = (1.0, 0.9, 0.8, 0.7)


def power_w(watts: float, speed: float) -> float:
    """Two thirds of a job's power follow the square of its speed; the rest is always there."""
    return watts * (2 / 3 * speed**2 + 1 / 3)


class SlowDown:
    """First come, first served, each job at the highest speed that the cap leaves room for."""

    def decide(self, view: View) -> Iterable[Action]:
        free, drawn_w = view.free, view.power_w
        for job in view.queue:
            if job.units > free:
                return
            rest_w = drawn_w - job.units * view.idle_w
            fitting = [s for s in SPEEDS if rest_w + power_w(job.watts, s) <= view.cap_w]
            if not fitting:
                return
            asked_w = power_w(job.watts, fitting[0])
            free -= job.units
            drawn_w = rest_w + asked_w
            yield Start(job.job, speed=fitting[0], power_w=asked_w)
