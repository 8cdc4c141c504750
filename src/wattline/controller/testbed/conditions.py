"""Under what a workload runs on a bed, and what of it can be known before the bed is made."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from wattline.books import Books, CapChanged, Submitted
from wattline.books.waiting import alone_w
from wattline.controller.configuration import SiteConfig
from wattline.controller.desk import refuse_below_idle
from wattline.controller.remembering import fresh_books
from wattline.controller.testbed.layout import Bed
from wattline.controller.testbed.own_site import site_of
from wattline.controller.testbed.workload import BedJob, MeasuredSize
from wattline.engine.plain_process import call_plain
from wattline.model.errors import InputError
from wattline.model.jobs import JobTable
from wattline.model.units import counted
from wattline.policies.configuration.moldable import Moldable
from wattline.policies.configuration.offers import NODES_MAX, NODES_MIN, Offers

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


def _range(job: BedJob) -> dict[str, float]:
    """As a controller tells the books of it."""
    return dict(zip((NODES_MIN, NODES_MAX), job.range, strict=True))


def as_measured(
    conditions: Conditions, bed: Bed, jobs: Sequence[BedJob], speed: float = 1.0
) -> tuple[list[BedJob], list[str]]:
    """Jobs whose application has a table of configurations do what was measured on the nodes that
    they get, as the fastest of those configurations, `speed` times as fast; and what is to be said
    of it."""
    books = _books(conditions, bed)
    rule = getattr(books.policy, "configuration", None)
    if not isinstance(rule, Moldable):
        return list(jobs), []
    offers = rule.offers
    codes = {name: _code(offers, name) for name in {job.application for job in jobs}}
    found, without = [], []
    for job in jobs:
        code = codes[job.application]
        if code < 0:
            without.append(job.number)
            found.append(job)
            continue
        own = slice(offers.first_row[code], offers.first_row[code + 1])
        found.append(replace(job, sizes=_sizes(
            bed, job, offers.row_nodes[own], offers.row_time_s[own] / speed,
            offers.row_power_w[own])))
    if not without:
        return found, []
    return found, [f"{len(without):,} of {counted(len(jobs), 'job')} have no measured application "
                   f"and run as they were requested; the first is job {without[0]}"]


def _code(offers: Offers, name: str) -> int:
    """The place of an application's table; -1 where it has none."""
    job = JobTable.build(submit_s=[0.0], run_s=[1.0], procs=[1], application=[0 if name else -1],
                         names={"application": (name,)})
    try:
        return int(offers.find["code"](job, {})[0])
    except InputError:  # such a job is refused
        return -1


def _sizes(bed: Bed, job: BedJob, nodes: Any, time_s: Any, power_w: Any) -> tuple[
        MeasuredSize, ...]:
    found = []
    for count in sorted(set(nodes.tolist())):
        rows = [row for row in range(len(nodes)) if nodes[row] == count]
        best = min(rows, key=lambda row: time_s[row])
        each_w = float(power_w[best]) / count
        if count <= bed.nodes and not bed.power.idle_w <= each_w <= bed.power.maximum_w:
            raise InputError(
                f"on {count} nodes '{job.application}' draws {each_w:g} W per node by its table; a "
                f"node of the bed draws from {bed.power.idle_w:g} to {bed.power.maximum_w:g}")
        found.append(MeasuredSize(count, float(time_s[best]), each_w))
    return tuple(found)


def waiting_alone(conditions: Conditions, bed: Bed, jobs: Sequence[BedJob]) -> list[int]:
    """Those that the policy does not start though nothing else is there."""
    books = _books(conditions, bed)
    books.apply(1.0, [CapChanged(conditions.last_w)])
    found = []
    for job in jobs:
        alone = books.copy()
        decided = alone.step(2.0, [Submitted(
            str(job.number), job.range[1], job.limit_s, float(job.watts),
            application=job.application, logged=_range(job))])
        fits = alone_w(alone.state, 0) <= conditions.last_w if len(alone.roll) else False
        if not fits and not any(each.kind == "start" for each in decided):
            found.append(job.number)
    return found
