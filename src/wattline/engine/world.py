"""A simulated world: it keeps the ends of jobs, and knows what the books can only expect.

What it knows beyond what was asked for stands in its three parts: how much work a job is (`work`),
how a job answers to a cap (`answers`), and how jobs hold each other up (`network`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from wattline.books.record import Record
from wattline.books.world import all_paced, answer, begun, confirms, left, paced
from wattline.engine.congestion import NoCongestion, congest, network_changed
from wattline.engine.heap import move_end, push_end, rebuild_ends, remove_end
from wattline.engine.truth import AsAsked, AsLogged, answer_caps, true_work_s
from wattline.model.kernel import implement, kernel, kernel_part
from wattline.model.kernel_arrays import KernelArrays
from wattline.policies.contract import Composition
from wattline.policies.state import State

CAP = np.dtype([("time_s", "f8"), ("cap_w", "f8")])
HEAP = np.dtype([("time_s", "f8"), ("job", "i8")])
TALLY = np.dtype(
    [
        ("ends", "i8"),  # jobs in the heap of ends
        ("caps", "i8"),  # steps of the cap that have been taken
        ("until_s", "f8"),  # nothing later than this is simulated
    ]
)


class Ends(KernelArrays):
    """When running jobs end, the steps of the cap to come, and how far those two are."""

    FIELDS = ("heap", "caps", "tally")
    heap: Any
    caps: Any
    tally: Any


class Nature(NamedTuple):
    """What a simulated world knows and the books do not; by default they know all of it."""

    work: Any = AsLogged()
    answers: Any = AsAsked()
    network: Any = NoCongestion()


class Simulated(NamedTuple):
    """The world of a simulation."""

    ends: Ends
    work: Any
    answers: Any
    network: Any


def make_ends(most_running: int, caps: Any) -> Ends:
    tally = np.zeros(1, TALLY).view(np.recarray)
    tally.until_s = np.inf
    return Ends(heap=np.zeros(most_running + 1, HEAP).view(np.recarray), caps=caps, tally=tally)


@kernel
def end_of(st: State, job: int) -> float:
    """When a job will end at its rate: when its work is done, or when it is killed."""
    live = st.live[job]
    end_s = max(st.clock[0].now_s, live.still_s) + live.work_s / live.rate
    if not st.clock[0].overrun:
        end_s = min(end_s, live.expected_s)
    return float(end_s)


@implement(confirms, Simulated)
@kernel
def _confirms(st: State, world: Simulated) -> bool:
    return True


@implement(begun, Simulated)
@kernel_part
def _begun(
    st: State, world: Simulated, policy: Composition, job: int, resumed: bool
) -> None:
    if not resumed:
        st.live[job].work_s = true_work_s(st, world.work, policy, job)
    tally = world.ends.tally[0]
    push_end(st, world.ends.heap, tally.ends, end_of(st, job), job)
    tally.ends += 1
    network_changed(st, world.network)


@implement(left, Simulated)
@kernel_part
def _left(st: State, world: Simulated, job: int) -> None:
    tally = world.ends.tally[0]
    remove_end(st, world.ends.heap, tally.ends, job)
    tally.ends -= 1
    network_changed(st, world.network)


@implement(paced, Simulated)
@kernel_part
def _paced(st: State, world: Simulated, job: int) -> None:
    move_end(st, world.ends.heap, world.ends.tally[0].ends, end_of(st, job), job)


@implement(all_paced, Simulated)
@kernel_part
def _all_paced(st: State, world: Simulated) -> None:
    """Put the heap of ends in order once; jobs whose rate changed were brought up to date."""
    heap = world.ends.heap
    count = world.ends.tally[0].ends
    now_s = st.clock[0].now_s
    for index in range(count):
        job = heap[index].job
        if st.live[job].updated_s == now_s:
            heap[index].time_s = end_of(st, job)
    rebuild_ends(st, heap, count)


@implement(answer, Simulated)
@kernel_part
def _answer(st: State, record: Record, world: Simulated, policy: Composition) -> None:
    answer_caps(st, record, world.answers, world, policy)
    congest(st, record, world.network, world, policy)
