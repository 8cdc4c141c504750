"""A weighted sum of age, size and share, in the manner of Slurm's multifactor plug-in."""

from __future__ import annotations

from typing import Literal, NamedTuple

from wattline.model.kernel import implement, kernel
from wattline.policies.contract import keys_change, queue_key, starts_only
from wattline.policies.from_view import decides_from_view
from wattline.policies.state import State
from wattline.policies.traits import Key, queue_order


@decides_from_view(
    unless=lambda order: "weighs shares, which a view does not show" if order.share else ""
)
@starts_only
class Multifactor(NamedTuple):
    """Each factor lies in [0, 1]; age is full after `age_max_s`, size is the part of the machine.

    The share factor is the user's share of the machine as the scenario gives it.
    """

    age: float = 1.0
    size: float = 1.0
    share: float = 0.0
    age_max_s: float = 604800.0

    @property
    def axis(self) -> Literal["order"]:
        return "order"


@implement(queue_key, Multifactor)
@kernel
def _key(st: State, order: Multifactor, job: int) -> float:
    clock = st.clock[0]
    age = min((clock.now_s - st.jobs[job].submit_s) / order.age_max_s, 1.0)
    size = st.live[job].units / clock.units
    return float(-(order.age * age + order.size * size + order.share * st.jobs[job].share))


@implement(keys_change, Multifactor)
@kernel
def _changes(st: State, order: Multifactor) -> bool:
    return True


@queue_order.register
def _order(order: Multifactor) -> Key:
    """Shares of users are not among the jobs' own records: promises have them by job."""
    weighed = {"share": order.share} if order.share else {}
    return Key("multifactor", {"age": order.age, "size": order.size,
                               "age_max_s": order.age_max_s, **weighed})
