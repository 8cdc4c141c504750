"""Largest job first."""

from __future__ import annotations

from typing import Literal, NamedTuple

from wattline.model.kernel import implement, kernel
from wattline.policies.contract import queue_key, starts_only
from wattline.policies.from_view import decides_from_view
from wattline.policies.state import State
from wattline.policies.traits import Key, queue_order


@decides_from_view()
@starts_only
class Largest(NamedTuple):
    """The job that asks for most units first."""

    @property
    def axis(self) -> Literal["order"]:
        return "order"


@implement(queue_key, Largest)
@kernel
def _key(st: State, order: Largest, job: int) -> float:
    return -float(st.live[job].units)


@queue_order.register
def _order(order: Largest) -> Key:
    return Key("largest")
