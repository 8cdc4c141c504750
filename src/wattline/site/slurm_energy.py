"""The joules of Slurm's jobs: from their TRES, else from the counters that their steps read.

Slurm reads a counter per node. Steps that run at the same time on a node (`.batch`, `.extern`, the
steps of srun) read the same counter, so their joules must not be added up. A step on several nodes
has one figure for all of them; each node gets an equal part. On each node those steps count that do
not overlap in time and have the most joules together: the largest sum that certainly is not
counted twice. Of the others counts what they cover beside these, in proportion to its time.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from wattline.model.errors import InputError
from wattline.model.units import parse_hosts, plain_number
from wattline.site.cells import LARGEST, Cell, is_missing

NO_VALUE = (4294967294.0, 4294967295.0)
"""What Slurm writes in 32 bits for "not known" and "infinite"; in 64 bits it is above `LARGEST`."""
MOST_NODES = 1_000_000
_PREFIX = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}


@dataclass(frozen=True)
class Step:
    """A step of a job: when it ran, on which nodes, and what the counters rose by."""

    job: str
    """The id of its job, as the log has it."""
    after_row: int
    """The job row before it."""
    start_s: float
    end_s: float
    nodes: str
    energy_j: float


def joules(cell: Cell) -> float:
    """Joules from a cell; NaN where it says nothing: Slurm writes 0 where it did not measure."""
    if is_missing(cell) or not isinstance(cell, (int, float, str)):
        return math.nan
    value = plain_number(cell) if isinstance(cell, str) else float(cell)
    return value if 0 < value < LARGEST and value not in NO_VALUE else math.nan


def short_joules(cell: Cell) -> float:
    """Joules from a cell that may end in a prefix, as `ConsumedEnergy` has it: `490.60K`."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)([KMGTP]?)", str(cell or "").strip())
    return math.nan if found is None else joules(float(found[1]) * _PREFIX[found[2]])


def tres_joules(cell: Cell) -> float:
    """The joules of a text like `cpu=64,energy=5760000,node=2`; NaN where it has none."""
    found = re.search(r"(?:^|,)energy=([^,]*)", str(cell or ""))
    return math.nan if found is None else short_joules(found[1])


def job_joules(cells: Mapping[str, Cell]) -> float:
    """What the job's TRES say, else its own cell; 0 and Slurm's "no value" are unknown."""
    for found in (tres_joules(cells.get("AllocTRES")), _raw_joules(cells.get("ConsumedEnergyRaw")),
                  short_joules(cells.get("ConsumedEnergy"))):
        if not math.isnan(found):
            return found
    return math.nan


def _raw_joules(cell: Cell) -> float:
    try:
        return joules(cell)
    except ValueError:
        return math.nan


def step_joules(
    steps: Iterable[Step], jobs: Sequence[str], start_s: Sequence[float]
) -> list[float]:
    """What the steps of each job row measured; NaN where none did."""
    rows: dict[str, list[int]] = {}
    for row, job in enumerate(jobs):
        rows.setdefault(job, []).append(row)
    own: dict[int, list[Step]] = {}
    for step in steps:
        if step.job in rows and not math.isnan(step.energy_j):
            own.setdefault(_life(step, rows[step.job], start_s), []).append(step)
    return [measured_j(own[row]) if row in own else math.nan for row in range(len(jobs))]


def _life(step: Step, rows: Sequence[int], start_s: Sequence[float]) -> int:
    """Which of the rows with its id a step belongs to.

    A job that was requeued has a row for each of its lives. sacct prints the steps of each below
    it; where others have sorted the lines, the last life that had begun when the step began.
    """
    if step.after_row in rows and not start_s[step.after_row] > step.start_s:
        return step.after_row
    begun = [row for row in rows if start_s[row] <= step.start_s]
    if begun:
        return max(begun, key=lambda row: start_s[row])
    return max((row for row in rows if row <= step.after_row), default=rows[0])


def measured_j(steps: Sequence[Step]) -> float:
    """The joules of one life of a job, each node's counter taken once."""
    return sum(part.energy_j for part in counted(steps))


@dataclass(frozen=True)
class StepOnNodes:
    """What a step read on some of its nodes, where nothing that counts overlaps it."""

    step: Step
    nodes: tuple[str, ...]
    """Empty where they are all the nodes of every step."""
    energy_j: float
    by_time: bool = False
    """Whether it is a part of the step's time, with its part of the joules."""


def counted(steps: Sequence[Step]) -> list[StepOnNodes]:
    """The parts that count of the steps of one life: per node those that do not overlap."""
    if _same_nodes(steps):
        return [StepOnNodes(step, (), energy_j, by_time) for step, energy_j, by_time in
                _union([(step, step.energy_j) for step in steps])]
    nodes = [hosts_of(step.nodes) for step in steps]
    on: dict[str, list[int]] = {}
    for place, hosts in enumerate(nodes):
        for host in hosts:
            on.setdefault(host, []).append(place)
    alike: dict[tuple[int, ...], list[str]] = {}
    for host, places in on.items():
        alike.setdefault(tuple(places), []).append(host)
    return [StepOnNodes(step, tuple(hosts), len(hosts) * energy_j, by_time)
            for places, hosts in alike.items()
            for step, energy_j, by_time in _union([(steps[p], steps[p].energy_j / len(nodes[p]))
                                                   for p in places])]


def _same_nodes(steps: Sequence[Step]) -> bool:
    """Where a log does not name the nodes of every step, they count as the same ones."""
    named = {step.nodes for step in steps}
    return len(named) == 1 or any(is_missing(name) for name in named)


def hosts_of(text: str) -> list[str]:
    """The names in a host list; one that cannot be read, or is absurd, stands for one node."""
    count = 1
    for low, high in re.findall(r"([0-9]{1,18})-([0-9]{1,18})", text):
        count *= max(1, int(high) - int(low) + 1)
    try:
        return sorted(set(parse_hosts(text))) if count <= MOST_NODES else [text]
    except InputError:
        return [text]


def _union(parts: Sequence[tuple[Step, float]]) -> list[tuple[Step, float, bool]]:
    """What the parts cover together, each time once: (step, joules, whether cut by its time)."""
    chosen = _apart(parts)
    found = [(step, energy_j, False) for step, energy_j in chosen]
    if not all(step.start_s <= step.end_s for step, _ in chosen):
        return found
    others = sorted((part for part in parts if part not in chosen
                     and part[0].start_s < part[0].end_s),
                    key=lambda part: (part[0].start_s, part[0].end_s, -part[1]))
    for step, energy_j in others:
        found += _beside(step, energy_j, found)
    return sorted(found, key=lambda part: (part[0].start_s, part[0].end_s))


def _beside(
    step: Step, energy_j: float, counting: Sequence[tuple[Step, float, bool]]
) -> list[tuple[Step, float, bool]]:
    """The times of a step at which nothing counts yet, with their part of its joules.

    Together they have no more than it leaves: what counts already read the same counter.
    """
    length_s = step.end_s - step.start_s
    free, left_j, at = [], energy_j, step.start_s
    for other, other_j, _ in sorted(counting, key=lambda part: part[0].start_s):
        first, last = max(other.start_s, step.start_s), min(other.end_s, step.end_s)
        if first >= last:
            continue
        left_j -= other_j * (last - first) / (other.end_s - other.start_s)
        if first > at:
            free.append((at, first))
        at = max(at, last)
    if at < step.end_s:
        free.append((at, step.end_s))
    free_s = sum(last - first for first, last in free)
    part_j = min(energy_j * free_s / length_s, left_j)
    if part_j <= 0:
        return []
    return [(replace(step, start_s=first, end_s=last), part_j * (last - first) / free_s, True)
            for first, last in free]


def _apart(parts: Sequence[tuple[Step, float]]) -> list[tuple[Step, float]]:
    """Those parts that do not overlap in time and have the most joules together.

    A part without its times overlaps with all others.
    """
    timed = sorted((part for part in parts if part[0].start_s <= part[0].end_s),
                   key=lambda part: part[0].end_s)
    ends = [step.end_s for step, _ in timed]
    best, before = [0.0], []
    for place, (step, energy_j) in enumerate(timed):
        before.append(bisect_right(ends, step.start_s, hi=place))
        best.append(max(best[-1], best[before[-1]] + energy_j))
    alone = max((part for part in parts if not part[0].start_s <= part[0].end_s),
                key=lambda part: part[1], default=None)
    if alone is not None and alone[1] > best[-1]:
        return [alone]
    chosen, place = [], len(timed)
    while place:
        if best[place] > best[place - 1]:
            chosen.append(timed[place - 1])
            place = before[place - 1]
        else:
            place -= 1
    return chosen[::-1]
