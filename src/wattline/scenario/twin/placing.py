"""Which CPUs each job held: the kernel counts them by node, a run knows units by number."""

from __future__ import annotations

import numpy as np

from wattline.model.run import Placement
from wattline.shared_nodes.machine import IntArray, SharedMachine
from wattline.shared_nodes.outcome import Schedule


def placement_of(found: Schedule, machine: SharedMachine) -> Placement | None:
    """The lowest free CPUs of each node; None where jobs were suspended, whose first nodes are not
    known."""
    if found.gap_job.size:
        return None
    cpus = machine.nodes.cpus
    first_unit = np.cumsum(cpus) - cpus
    free = [(1 << int(count)) - 1 for count in cpus]
    job, node, wanted = found.allocation_job, found.allocation_node, found.allocation_cpus
    taken = [0] * len(job)
    begin = np.searchsorted(job, np.arange(len(found.start_s)), "left")
    end = np.searchsorted(job, np.arange(len(found.start_s)), "right")
    rows: list[tuple[int, int, int]] = []
    for starts, each in _in_time(found):
        for row in range(begin[each], end[each]):
            at = int(node[row])
            if not starts:
                free[at] |= taken[row]
                continue
            chosen = _lowest(free[at], int(wanted[row]))
            if chosen is None:
                return None
            rows += [(each, int(first_unit[at]) + low, count) for low, count in _runs(chosen)]
            if found.end_s[each] > found.start_s[each]:
                free[at] ^= chosen
                taken[row] = chosen
    rows.sort()
    columns = np.array(rows, dtype=np.int64).reshape(len(rows), 3)
    return Placement(*(np.ascontiguousarray(columns[:, column]) for column in range(3)))


def _in_time(found: Schedule) -> list[tuple[bool, int]]:
    """Ends and starts of jobs in order, ends first where both fall on one instant."""
    ran = np.flatnonzero(np.isfinite(found.start_s) & np.isfinite(found.end_s))
    lasting = ran[found.end_s[ran] > found.start_s[ran]]
    time_s = np.concatenate((found.end_s[lasting], found.start_s[ran]))
    starts = np.concatenate((np.zeros(lasting.size, np.int64), np.ones(ran.size, np.int64)))
    rows: IntArray = np.concatenate((lasting, ran)).astype(np.int64)
    order = np.lexsort((rows, starts, time_s))
    return list(zip(starts[order].astype(bool).tolist(), rows[order].tolist(), strict=True))


def _lowest(free: int, count: int) -> int | None:
    """So many of the lowest bits that are set; None where there are fewer."""
    if free.bit_count() < count:
        return None
    low = (1 << count) - 1
    if free & low == low:
        return low
    chosen = 0
    for _ in range(count):
        bit = free & -free
        chosen |= bit
        free ^= bit
    return chosen


def _runs(bits: int) -> list[tuple[int, int]]:
    """Neighbouring bits that are set, as the first and how many."""
    found = []
    at = 0
    while bits:
        skip = (bits & -bits).bit_length() - 1
        bits >>= skip
        at += skip
        count = (~bits & (bits + 1)).bit_length() - 1
        found.append((at, count))
        bits >>= count
        at += count
    return found
