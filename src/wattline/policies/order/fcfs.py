"""First come, first served."""

from __future__ import annotations

from typing import Literal, NamedTuple

from wattline.model.kernel import implement, kernel
from wattline.policies.contract import queue_key, starts_only
from wattline.policies.from_view import decides_from_view
from wattline.policies.state import State
from wattline.policies.traits import Key, queue_order


@decides_from_view()
@starts_only
class Fcfs(NamedTuple):
    """Jobs in the order of their submission."""

    @property
    def axis(self) -> Literal["order"]:
        return "order"


@implement(queue_key, Fcfs)
@kernel
def _key(st: State, order: Fcfs, job: int) -> float:
    return 0.0  # ties go by submission: by turns


@queue_order.register
def _order(order: Fcfs) -> Key:
    return Key("fcfs")
