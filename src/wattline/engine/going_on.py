"""Where a run ahead begins: the world hears what runs, and a policy that took over decides."""

from __future__ import annotations

from wattline.books.deciding import decide
from wattline.books.keeping import bring_up_to_date
from wattline.books.record import Record
from wattline.books.world import begun
from wattline.engine.loop import apply_due
from wattline.engine.world import Simulated
from wattline.model.kernel import kernel
from wattline.model.signal import FloatArray
from wattline.policies.contract import Composition
from wattline.policies.state import State


@kernel
def go_on(
    st: State, record: Record, world: Simulated, policy: Composition, left_s: FloatArray,
    took_over: bool,
) -> None:
    """Let the world know what runs, and let a policy that took over decide.

    The one that is there has decided after the last event, and decides again after the next.
    """
    for place in range(st.clock[0].running):
        job = st.running[place]
        bring_up_to_date(st, job)
        st.live[job].work_s = left_s[job]
        begun(st, world, policy, job, True)
    if took_over:
        apply_due(st, record, world, policy)
        decide(st, record, world, policy)
