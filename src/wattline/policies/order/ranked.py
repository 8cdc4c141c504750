"""An order that was worked out beforehand: one key per job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from wattline.model.kernel import implement, kernel
from wattline.policies.contract import queue_key, starts_only
from wattline.policies.memory import Memory
from wattline.policies.state import State


class Keys(Memory):
    """The key of each job."""

    FIELDS = ("key",)
    PER_JOB: ClassVar[Mapping[str, str]] = {"key": "f8"}
    key: Any


@starts_only
class Ranked(NamedTuple):
    """Jobs with smaller keys first, ties by submission."""

    memory: Keys

    @property
    def axis(self) -> Literal["order"]:
        return "order"


def ranked(key: Any) -> Ranked:
    """The order of jobs that are known beforehand, by a key for each."""
    return Ranked(Keys(key=np.array(key, dtype=np.float64)))


@implement(queue_key, Ranked)
@kernel
def _key(st: State, order: Ranked, job: int) -> float:
    return float(order.memory.key[job])
