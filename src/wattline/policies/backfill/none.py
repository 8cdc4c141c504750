"""No backfilling: the first job that has to wait makes all others wait."""

from __future__ import annotations

from typing import Literal, NamedTuple

from wattline.model.kernel import implement, kernel
from wattline.model.promises import IN_ORDER
from wattline.policies.attempt import serve_around_windows, serve_in_order
from wattline.policies.contract import (
    Composition,
    before_queue,
    reserves,
    schedule,
    starts_only,
)
from wattline.policies.from_view import decides_from_view
from wattline.policies.leaders import sort_front
from wattline.policies.queue import sort_queue
from wattline.policies.state import State
from wattline.policies.traits import queue_keeps


@decides_from_view()
@starts_only
class NoBackfill(NamedTuple):
    """Strictly in order."""

    @property
    def axis(self) -> Literal["backfill"]:
        return "backfill"


@implement(reserves, NoBackfill)
@kernel
def _reserves(st: State, backfill: NoBackfill) -> bool:
    return False


@implement(schedule, NoBackfill)
@kernel
def _schedule(st: State, backfill: NoBackfill, policy: Composition) -> None:
    if before_queue(st, policy.admission, policy):
        st.clock[0].stopped = 0
        if st.clock[0].windows > 0:
            sort_queue(st, policy)
            serve_around_windows(st, policy)
        else:
            sort_front(st, policy.order, policy)
            serve_in_order(st, policy)


@queue_keeps.register
def _keeps(backfill: NoBackfill) -> str:
    return IN_ORDER
