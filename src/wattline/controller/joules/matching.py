"""Whose a mark is: prolog and epilog say the job's number, and a job may have several lives.

Slurm may run an epilog again, long after the job has left, when slurmctld was away and has not
heard of the first; and a slurmctld that was killed may have forgotten a run whose marks are there.
So the marks of a node are taken as runs, from a prolog to the first epilog after it, and one run is
a life's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from wattline.account.measured.records import LifeKey, Stay
from wattline.controller.joules.gathering import Lost, Marked
from wattline.live.agent.marks import BEGIN, END

LATE_S = 60.0
"""So long after the end of its job an epilog may run, or a node's clock may be ahead."""
EARLY_S = 1.0
"""A prolog runs after the second in which its job began, by about the same clock."""

Place = tuple[LifeKey, str]
"""A life and a node."""


@dataclass(frozen=True)
class Begun:
    """A life that marks may be of."""

    key: LifeKey
    job_id: int
    nodes: frozenset[str]
    end_s: float
    """NaN while it runs, and where accounting has not told it."""
    gone: bool = False
    """True once Slurm does not know it any more."""


@dataclass(frozen=True)
class Visit:
    """From a prolog to the first epilog after it; NaN where one of them was not marked."""

    begin_s: float
    end_s: float = math.nan

    def reaches(self, start_s: float) -> bool:
        """Whether it was not over before a life began."""
        return math.isnan(self.end_s) or self.end_s >= start_s

    def is_certain(self, start_s: float) -> bool:
        """Whether it can be no other run than that of a life which began then."""
        return self.begin_s >= start_s - EARLY_S and not math.isnan(self.end_s)


def match(
    marks: Iterable[Marked], lives: Mapping[int, Sequence[Begun]],
    begun_s: Mapping[Place, float] | None = None,
    over: Callable[[Begun], bool] = lambda life: False,
) -> tuple[list[Stay], list[Marked]]:
    """Stays that follow from marks, and the marks that have to wait.

    `begun_s` is when lives began on nodes by marks of before; `over` says of which lives no more
    marks will come: until then those wait that may be of a run which nobody told of.
    """
    stays: list[Stay] = []
    left: list[Marked] = []
    groups: dict[Place, tuple[Begun, list[Marked]]] = {}
    for mark in marks:
        life = _life(mark, lives.get(mark.job_id, ()))
        if life is None:
            left.append(mark)
        else:
            groups.setdefault((life.key, mark.node), (life, []))[1].append(mark)
    for place, (life, mine) in groups.items():
        before_s = (begun_s or {}).get(place, math.nan)
        run = visit_of(life.key.start_s, visits(life.key.start_s, mine, before_s))
        if run.is_certain(life.key.start_s) or over(life):
            stays.append(Stay(*place, begin_s=run.begin_s, end_s=run.end_s))
            continue
        early_s = life.key.start_s - EARLY_S
        fitting = [mark.time_s for mark in mine if mark.what == BEGIN and mark.time_s >= early_s]
        stays += [Stay(*place, begin_s=min(fitting))] if fitting else []
        left += [mark for mark in mine if mark.what != BEGIN or mark.time_s < early_s]
    return stays, left


def until_the_end(
    marks: Iterable[Marked], lives: Mapping[int, Sequence[Begun]], lost: Collection[Lost]
) -> tuple[list[Marked], list[Marked]]:
    """The marks, with epilogs of lives whose node was lost at their end at the latest; and such
    epilogs that have to wait until that end is known.

    Such a node runs the epilog once it is back, when the job has been over for as long as it was
    away.
    """
    found, waiting = [], []
    for mark in marks:
        life = _life(mark, lives.get(mark.job_id, ())) if mark.what == END else None
        if life is None or not _was_lost(life, mark.node, lost):
            found.append(mark)
        elif math.isnan(life.end_s):
            waiting.append(mark)
        else:
            found.append(replace(mark, time_s=min(mark.time_s, life.end_s)))
    return found, waiting


def _was_lost(life: Begun, node: str, lost: Collection[Lost]) -> bool:
    return any(each.label == life.key.label and each.node == node
               and life.key.start_s <= each.time_s for each in lost)


def visits(start_s: float, marks: Iterable[Marked], before_s: float = math.nan) -> list[Visit]:
    """The runs of a job on one node in their order; `before_s` is a prolog that is known already.

    Between a prolog before a life's start and one after it there was an epilog, marked or not.
    """
    moments = {(mark.time_s, mark.what == BEGIN) for mark in marks}
    if not math.isnan(before_s):
        moments.add((before_s, True))
    found: list[Visit] = []
    for time_s, begins in sorted(moments):
        goes_on = bool(found) and math.isnan(found[-1].end_s)
        if begins and goes_on and found[-1].begin_s < start_s - EARLY_S <= time_s:
            found[-1] = Visit(time_s)
        elif begins and not goes_on:
            found.append(Visit(time_s))
        elif not begins:
            # One without a prolog: an epilog that runs again, or a job that came back soon.
            found.append(Visit(found.pop().begin_s if goes_on else math.nan, time_s))
    return found


def visit_of(start_s: float, found: Sequence[Visit]) -> Visit:
    """The one of a life that began then: the first that was not over before, with a prolog if
    there is such a one; the last where all seem over, as on a node whose clock is behind."""
    reaching = [run for run in found if run.reaches(start_s)]
    begun = [run for run in reaching or found if not math.isnan(run.begin_s)]
    if reaching:
        return (begun or reaching)[0]
    return (begun or list(found))[-1]


def _life(mark: Marked, lives: Sequence[Begun]) -> Begun | None:
    """The last life that had begun and was not long over."""
    early_s = EARLY_S if mark.what == BEGIN else 0.0
    there = [life for life in lives if mark.node in life.nodes
             and (math.isnan(life.end_s) or mark.time_s <= life.end_s + LATE_S)]
    begun = [life for life in there if life.key.start_s <= mark.time_s + early_s]
    # A node whose clock is behind marks before the beginning: of one life alone that is no matter.
    if not begun and len(lives) == 1 and there:
        return there[0] if there[0].key.start_s <= mark.time_s + LATE_S else None
    return max(begun, key=lambda life: life.key.start_s, default=None)
