"""Shortest job first, by requested time."""

from __future__ import annotations

from typing import Literal, NamedTuple

from wattline.model.kernel import implement, kernel
from wattline.policies.contract import queue_key, starts_only
from wattline.policies.from_view import decides_from_view
from wattline.policies.state import State
from wattline.policies.traits import Key, queue_order


@decides_from_view()
@starts_only
class Sjf(NamedTuple):
    """The job with the shortest requested time first."""

    @property
    def axis(self) -> Literal["order"]:
        return "order"


@implement(queue_key, Sjf)
@kernel
def _key(st: State, order: Sjf, job: int) -> float:
    return float(st.live[job].requested_s)


@queue_order.register
def _order(order: Sjf) -> Key:
    return Key("sjf")
