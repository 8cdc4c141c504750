"""The order by claims: whoever loses most without its best class of nodes goes first."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from wattline.model.kernel import implement, kernel
from wattline.policies.configuration.claimed import Claimed, score
from wattline.policies.contract import keys_change, queue_key
from wattline.policies.state import State


class ClaimedOrder(NamedTuple):
    """By the claims, and the objective, of the configuration that chooses by them."""

    claims: Claimed

    @property
    def axis(self) -> Literal["order"]:
        return "order"


@implement(queue_key, ClaimedOrder)
@kernel
def _key(st: State, order: ClaimedOrder, job: int) -> float:
    """The best score less the best on any other class; a job that has one class only is first.

    One of which nothing is claimed loses nothing.
    """
    memory = order.claims.memory
    if memory.count[job] == 0:
        return 0.0
    first = memory.first[job]
    best = first
    best_score = np.inf
    for row in range(first, first + memory.count[job]):
        value = score(order.claims, row)
        if value < best_score:
            best, best_score = row, value
    other_score = np.inf
    for row in range(first, first + memory.count[job]):
        if memory.options[row].kind != memory.options[best].kind:
            other_score = min(other_score, score(order.claims, row))
    return float(best_score - other_score)


@implement(keys_change, ClaimedOrder)
@kernel
def _keys_change(st: State, order: ClaimedOrder) -> bool:
    """Claims learn while jobs wait."""
    return order.claims.learn != 0
