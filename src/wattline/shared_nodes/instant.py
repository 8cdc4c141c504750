"""The decision of one instant: a machine as it stands, and who starts on it now.

For a controller beside a running Slurm. What runs is put where it is, with its limit; what waits is
in the queue since it came. Then one main pass and one backfill cycle are made, as Slurm would.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from wattline.model.kernel import kernel
from wattline.model.signal import Signal
from wattline.shared_nodes.arriving import submit_job
from wattline.shared_nodes.backfill import backfill_cycle
from wattline.shared_nodes.by_devices import see_devices_of
from wattline.shared_nodes.cap import ROUNDING_W
from wattline.shared_nodes.in_partition import ask_as_in_partition
from wattline.shared_nodes.machine import SharedMachine
from wattline.shared_nodes.main_pass import main_pass
from wattline.shared_nodes.picking_devices import share_out
from wattline.shared_nodes.prepare import make_books
from wattline.shared_nodes.priority import renew_priorities
from wattline.shared_nodes.queueing import count_waiting
from wattline.shared_nodes.requests import Requests
from wattline.shared_nodes.rules import BACKFILL, MULTIFACTOR, Rules
from wattline.shared_nodes.starting import picked_tres, start_job
from wattline.shared_nodes.state import DOWN, QUEUED, RUNNING, Books
from wattline.shared_nodes.static_fit import refuse_what_never_fits

MOST_PLAIN = 16
"""Nodes; for more the kernels are compiled, which takes a minute once."""


@dataclass(frozen=True)
class Placed:
    """A job that runs: on which nodes, by their rows, with how many CPUs, and since when."""

    nodes: Sequence[int]
    cpus: Sequence[int]
    start_s: float


@dataclass(frozen=True)
class Begun:
    """A job that starts now."""

    job: int
    nodes: tuple[int, ...]
    cpus: tuple[int, ...]
    watts: float
    """Added by it to what its nodes draw idle."""


def starts_now(
    machine: SharedMachine, requests: Requests, rules: Rules, placed: Mapping[int, Placed],
    now_s: float, *, cap_w: float = np.inf, drawn_w: float = 0.0, down: Sequence[int] = (),
) -> list[Begun]:
    """Who starts at `now_s`, in the order in which it was decided; rows of `requests`.

    Requests are in order of submission, with times from the same clock. `drawn_w` is what the
    machine draws as measured: where that is more than its parts should, the cap has so much less
    room, until what runs has ended. Nobody gives way: preemption is not decided from here.
    """
    capped = Signal(np.array([float(requests.submit_s[0])]), np.array([cap_w]), "W") \
        if np.isfinite(cap_w) and len(requests.submit_s) else None
    books = make_books(machine, requests, replace(rules, preempt="none"), capped, None, 0.0)
    plain = len(machine.nodes.names) <= MOST_PLAIN
    _function(refuse_what_never_fits, plain)(books)
    for node in down:
        books.node_state[node] = DOWN
    _arrive(books, placed, now_s)
    clock = books.clock[0]
    if capped is not None:
        over_w = max(drawn_w - float(clock.power_w), 0.0)
        if placed:
            clock.power_w += over_w
        else:
            books.cap_w[0] -= over_w
        if books.cap_w[0] + ROUNDING_W < clock.power_w:
            return []
    _function(_decide, plain)(books, rules.priority.kind == MULTIFACTOR,
                              rules.scheduler == BACKFILL)
    found = [row for row in range(len(requests.submit_s))
             if row not in placed and books.live[row].phase == RUNNING]
    return [_begun(books, row) for row in found]


def _function(function: Any, plain: bool) -> Any:
    """The function itself where compiling it would take longer than running it."""
    return getattr(function, "py_func", function) if plain else function


def _arrive(books: Books, placed: Mapping[int, Placed], now_s: float) -> None:
    """Submissions and starts up to now, in the order in which they came."""
    clock = books.clock[0]
    came = [(float(books.ask[row].submit_s), 0, row) for row in range(len(books.ask))]
    came += [(max(each.start_s, float(books.ask[row].submit_s)), 1, row)
             for row, each in placed.items()]
    for time_s, starts, row in sorted(came):
        clock.now_s = min(time_s, now_s)
        if not starts:
            books.ask[row].refused = 0 if row in placed else books.ask[row].refused
            submit_job(books, row)
        else:
            _put(books, row, placed[row])
    clock.now_s = now_s


def _put(books: Books, row: int, where: Placed) -> None:
    """Let a job run where it does, also one that the rules would not have let in."""
    if books.ask[row].entries == 0 or books.ask[row].rows < len(where.nodes):
        for node, cpus in zip(where.nodes, where.cpus, strict=True):
            books.cpus_free[node] -= cpus
            books.jobs_on[node] += 1
            books.clock[0].power_w += cpus * books.node_cpu_w[node]
        return
    if books.live[row].phase != QUEUED:
        books.live[row].phase = QUEUED
        books.clock[0].queued += 1
        count_waiting(books, row, 1)
    count = len(where.nodes)
    books.clock[0].picked = count
    books.pick[:count] = where.nodes
    books.pick_cpus[:count] = where.cpus
    entry = int(books.ask[row].first_entry)
    if books.ask[row].by_devices != 0:
        for node in where.nodes:
            see_devices_of(books, entry, 0, node)
        books.clock[0].missing = 0
        share_out(books, row)
    ask_as_in_partition(books, entry)
    picked_tres(books, entry)
    start_job(books, entry)


@kernel
def _decide(st: Books, multifactor: bool, backfill: bool) -> None:
    if multifactor:
        renew_priorities(st)
    main_pass(st, True)
    if backfill:
        backfill_cycle(st)


def _begun(books: Books, row: int) -> Begun:
    first = int(books.ask[row].first_row)
    rows = slice(first, first + int(books.live[row].nodes))
    return Begun(row, tuple(books.row_node[rows].tolist()), tuple(books.row_cpus[rows].tolist()),
                 float(books.live[row].watts))
