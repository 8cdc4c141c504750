"""Under what a workload runs on a bed, and what of it can be known before the bed is made."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wattline.books import Books, CapChanged, Submitted
from wattline.books.waiting import alone_w
from wattline.controller.configuration import SiteConfig
from wattline.controller.desk import refuse_below_idle
from wattline.controller.remembering import fresh_books
from wattline.controller.testbed.layout import Bed
from wattline.controller.testbed.own_site import site_of
from wattline.controller.testbed.workload import BedJob
from wattline.engine.plain_process import call_plain
from wattline.model.errors import InputError

CYCLE_S = 0.25
LEASE_S = 60.0


@dataclass(frozen=True)
class Conditions:
    """Under what a workload runs."""

    cap_w: float
    mode: str = "decide"
    scenario: Path | None = None
    """Whose policies decide; `policies` otherwise."""
    policies: Mapping[str, str] = field(default_factory=dict)
    lower_to_w: float | None = None
    """Another cap, from `lower_at_s` seconds after the beginning on."""
    lower_at_s: float = 0.0
    when_short: str = ""
    faults: int | None = None
    """The seed of what goes wrong; None: nothing does."""

    @property
    def last_w(self) -> float:
        """The cap that holds in the end."""
        return self.cap_w if self.lower_to_w is None else self.lower_to_w

    def caps(self) -> list[tuple[float, float]]:
        """From when on which cap holds."""
        lowered = [] if self.lower_to_w is None else [(self.lower_at_s, self.lower_to_w)]
        return [(-math.inf, self.cap_w), *lowered]

    def site(self, bed: Bed) -> dict[str, Any]:
        """The file that a site with such a machine would have."""
        deciding = ({"scenario": str(self.scenario.resolve())} if self.scenario is not None
                    else {"policy": dict(self.policies)})
        return {**site_of(bed), "cap": self.cap_w, "cap_file": "cap", "mode": self.mode,
                "licences": True, "when_short": self.when_short, "cycle": CYCLE_S,
                "lease": LEASE_S, "save": 5.0, "store_every": 5.0, **deciding}


def check(conditions: Conditions, bed: Bed) -> None:
    """Refuse what cannot be before the bed, of which this is the layout, is made for it."""
    if conditions.mode not in ("decide", "guard"):
        raise InputError(f"there is no mode '{conditions.mode}'; there are: decide, guard")
    if conditions.when_short not in ("", "suspend", "requeue"):
        raise InputError(f"when_short is '{conditions.when_short}'; there are: suspend, requeue")
    if not conditions.cap_w > 0.0:
        raise InputError(f"the cap is {conditions.cap_w:g} W, must be above 0")
    lower_w = conditions.lower_to_w
    if lower_w is not None and not 0.0 < lower_w <= conditions.cap_w:
        raise InputError(f"the cap is lowered to {lower_w:g} W, must be above 0 and at most "
                         f"{conditions.cap_w:g} W")
    if not 0.0 <= conditions.lower_at_s < math.inf:
        raise InputError(f"the cap is lowered at {conditions.lower_at_s:g} s, must be a time from "
                         "the beginning on")
    # As its controller will: a cap below the idle power, or a policy that is none, is an error.
    books = _books(conditions, bed)
    if lower_w is not None:
        refuse_below_idle("the cap is to be lowered: one", lower_w, books)


def _books(conditions: Conditions, bed: Bed) -> Books:
    return fresh_books(SiteConfig.model_validate(conditions.site(bed)), 0.0, None)


def never_starting(
    conditions: Conditions, bed: Bed, jobs: Sequence[BedJob]
) -> dict[int, float]:
    """Jobs that could not start on an empty machine under the cap that holds in the end, and what
    the machine would draw with each alone."""
    large = {job.number: watts for job in jobs
             if (watts := _alone_w(job, bed)) > conditions.last_w + 1e-9}
    if not large or conditions.mode == "guard":
        return large
    # A policy may slow a job down, or take fewer nodes for it: it is asked.
    given = (conditions, bed, [job for job in jobs if job.number in large])
    waiting = call_plain(waiting_alone, *given)
    kept = waiting_alone(*given) if waiting is None else waiting
    return {number: watts for number, watts in large.items() if number in kept}


def _alone_w(job: BedJob, bed: Bed) -> float:
    return (bed.nodes - job.nodes) * bed.power.idle_w + job.watts


def waiting_alone(conditions: Conditions, bed: Bed, jobs: Sequence[BedJob]) -> list[int]:
    """Those that the policy does not start though nothing else is there."""
    books = _books(conditions, bed)
    books.apply(1.0, [CapChanged(conditions.last_w)])
    found = []
    for job in jobs:
        alone = books.copy()
        decided = alone.step(2.0, [Submitted(str(job.number), job.nodes, job.limit_s,
                                             float(job.watts))])
        fits = alone_w(alone.state, 0) <= conditions.last_w if len(alone.roll) else False
        if not fits and not any(each.kind == "start" for each in decided):
            found.append(job.number)
    return found
