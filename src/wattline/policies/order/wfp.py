"""WFP: the order of the Blue Gene machines at Argonne, kind to large and old jobs."""

from __future__ import annotations

from typing import Literal, NamedTuple

from wattline.model.kernel import implement, kernel
from wattline.policies.contract import key_by, keys_change, queue_key, starts_only
from wattline.policies.from_view import decides_from_view
from wattline.policies.leaders import uses_leaders
from wattline.policies.state import State
from wattline.policies.traits import Key, queue_order


@decides_from_view()
@starts_only
@uses_leaders
class Wfp(NamedTuple):
    """Largest size x (queued time / requested time)^exponent first."""

    exponent: float = 3.0

    @property
    def axis(self) -> Literal["order"]:
        return "order"


@implement(queue_key, Wfp)
@kernel
def _key(st: State, order: Wfp, job: int) -> float:
    return _key_at(st, order, job, st.clock[0].now_s)


@implement(key_by, Wfp)
@kernel
def _key_by(st: State, order: Wfp, job: int, time_s: float) -> float:
    """Keys only fall; with the cube, which is made of products, that holds to the last bit."""
    return _key_at(st, order, job, time_s) if order.exponent == 3.0 else -float("inf")


@kernel
def _key_at(st: State, order: Wfp, job: int, time_s: float) -> float:
    requested_s = st.live[job].requested_s
    if requested_s <= 0.0:
        requested_s = 1.0
    waited = (time_s - st.jobs[job].submit_s) / requested_s
    weight = waited * waited * waited if order.exponent == 3.0 else waited**order.exponent
    return float(-st.live[job].units * weight)


@implement(keys_change, Wfp)
@kernel
def _changes(st: State, order: Wfp) -> bool:
    return True


@queue_order.register
def _order(order: Wfp) -> Key:
    return Key("wfp", {"exponent": order.exponent})
