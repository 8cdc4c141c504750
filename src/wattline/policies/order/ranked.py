"""An order that was worked out beforehand: one key a job."""

from __future__ import annotations

from typing import Any, NamedTuple

from wattline.model.kernel import implement, kernel
from wattline.policies.contract import queue_key, starts_only
from wattline.policies.state import State


@starts_only
class Ranked(NamedTuple):
    """Jobs with smaller keys first, ties by submission."""

    key: Any


@implement(queue_key, Ranked)
@kernel
def _key(st: State, order: Ranked, job: int) -> float:
    return float(order.key[job])
