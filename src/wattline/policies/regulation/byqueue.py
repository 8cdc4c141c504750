"""One queue a job type: nothing starts by itself, the regulation policy starts everything."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from wattline.model.kernel import implement, kernel
from wattline.policies.contract import Composition, entry_key, released, schedule
from wattline.policies.state import State


class ByType(NamedTuple):
    """Queues by type, standby jobs in front; in each queue first come, first served."""

    desk: Any

    @property
    def axis(self) -> Literal["backfill"]:
        return "backfill"


@implement(schedule, ByType)
@kernel
def _schedule(st: State, backfill: ByType, policy: Composition) -> None:
    return


@implement(released, ByType)
@kernel
def _released(st: State, backfill: ByType, job: int) -> None:
    backfill.desk.types[st.jobs[job].kind].running -= 1


@implement(entry_key, ByType)
@kernel
def _entry_key(st: State, backfill: ByType, policy: Composition, job: int) -> float:
    kind = st.jobs[job].kind
    return -1.0 if kind == backfill.desk.control[0].standby else float(kind)
