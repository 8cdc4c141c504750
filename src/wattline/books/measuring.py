"""What is measured: of a job, and of the whole machine."""

from __future__ import annotations

import numpy as np

from wattline.books.keeping import bring_up_to_date
from wattline.model.kernel import kernel, kernel_part
from wattline.policies.committed import count_below_idle
from wattline.policies.contract import Composition, power_told
from wattline.policies.state import State


@kernel_part
def measure_job(
    st: State, policy: Composition, job: int, watts: float, energy_j: float
) -> None:
    """A running job draws so much, whatever was expected; its rate stays. So does what it has drawn
    where that was not measured."""
    live = st.live[job]
    bring_up_to_date(st, job)
    if not np.isnan(energy_j):
        live.energy_j = energy_j
    st.clock[0].power_w += watts - live.power_w
    power_told(st, policy.placement, job, watts - live.power_w)
    if live.cap_w == float("inf"):
        # At another level of the machine it will draw more or less in the same proportion.
        full_w = watts / st.clock[0].power_factor
        st.clock[0].running_watts += full_w - live.watts
        live.watts = full_w
    live.power_w = watts
    count_below_idle(st, job)
    st.clock[0].examined = 0


@kernel
def measure_machine(st: State, watts: float) -> None:
    """The machine draws so much: what nothing accounts for is a rest that counts all the same.

    A machine that draws less than its parts are thought to leaves no rest: jobs that turn out to
    draw less are measured one by one, and what they do not draw now they may draw later.
    """
    clock = st.clock[0]
    rest_w = max(watts - (clock.power_w - clock.rest_w), 0.0)
    clock.power_w += rest_w - clock.rest_w
    clock.rest_w = rest_w
    clock.examined = 0
