"""Slurm's licences of watts: jobs that take some find them below the cap, and below their number.

Slurm gives licences to jobs of anybody and keeps them as long as a job has its nodes, so a cap that
is lowered takes none back. What is judged is each job that takes some: with these, all together
are no more than the highest cap of the last minute, the time that a lower one needs to arrive.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from wattline.results.verify.journal._reading import Step

RESTING = ("nodes-without-jobs", "nodes-booting")
"""Reservations of watts for nodes that take no jobs; jobs that are still there hold licences."""

ROUNDING_W = 1e-3
"""Licences are whole watts; idle power is a sum."""


@dataclass
class Highest:
    """The highest value of a while, of a step function that is told step by step."""

    lasting_s: float
    _steps: deque[tuple[float, float]] = field(default_factory=deque)
    """Since when each value holds."""

    def tell(self, time_s: float, value: float) -> None:
        if not self._steps or self._steps[-1][1] != value:
            self._steps.append((time_s, value))

    def begin(self, time_s: float, value: float) -> None:
        """Let it have had any value before this time."""
        self._steps = deque([(-math.inf, math.inf), (time_s, value)])

    def at(self, time_s: float) -> float:
        """The highest until this time; infinite where it is not known for so long."""
        while len(self._steps) > 1 and self._steps[1][0] < time_s - self.lasting_s:
            self._steps.popleft()
        return max((value for _, value in self._steps), default=math.inf)


@dataclass
class Licences:
    """Jobs that hold licences, the cap, and how many Slurm was told to give."""

    reaction_s: float
    held: dict[str, int] = field(default_factory=dict)
    lines: int = 0
    """Number of lines that tell of licences."""
    _now_w: float = math.inf
    _cap_w: Highest = field(init=False)
    _allowed: Highest = field(init=False)

    def __post_init__(self) -> None:
        self._cap_w, self._allowed = Highest(self.reaction_s), Highest(self.reaction_s)

    def cap(self, time_s: float, cap_w: float) -> None:
        """Note the cap that holds from a time on."""
        self._cap_w.tell(time_s, cap_w)
        self._now_w = cap_w

    def look(self, step: Step) -> Iterator[tuple[str, str]]:
        """Follow a line about licences; a job and a sentence for each that should have none."""
        said, now_s = step.licences, step.time_s
        changed = said["held"]
        begins = bool(said.get("all"))
        taking = [] if begins else [job for job, count in changed.items()
                                    if count > 0 and job not in self.held]
        allowed = math.inf if said.get("allowed") is None else float(said["allowed"])
        if begins:  # nobody kept Slurm's licences under the cap until then, as far as it is known
            self.held = {}
            self._cap_w.begin(now_s, self._now_w)
            self._allowed.begin(now_s, allowed)
        self.held.update(changed)
        self.held = {job: count for job, count in self.held.items() if count > 0}
        self.lines += 1
        self._allowed.tell(now_s, allowed)
        if taking:
            yield from self._taken(taking[0], now_s, float(said.get("beside", 0)),
                                   float(said.get("idle_w", 0.0)))

    def _taken(
        self, job: str, now_s: float, beside: float, idle_w: float
    ) -> Iterator[tuple[str, str]]:
        count = sum(self.held.values())
        power_w, cap_w = count - beside + idle_w, self._cap_w.at(now_s)
        if power_w > cap_w + ROUNDING_W:
            idle = f" beside {idle_w:.10g} W of idle nodes" if idle_w else ""
            yield job, (f"job {job} takes licences, with which {count - beside:.10g} W are held"
                        f"{idle}, where the cap is {cap_w:.10g} W")
        elif count > self._allowed.at(now_s):
            yield job, (f"job {job} takes licences, with which {count:,} are held, where jobs may "
                        f"hold {self._allowed.at(now_s):,.0f}")
