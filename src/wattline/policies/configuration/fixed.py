"""Traditional and fixed: the requested nodes with given cores and cap, whatever the power.

Traditional uses all cores and no cap. A job whose request the machine could never power gets as
many nodes as it can power.
"""

from __future__ import annotations

from typing import Any

from wattline.model.kernel import kernel
from wattline.policies.configuration.offers import most_possible_w
from wattline.policies.state import State


@kernel
def rung_row(st: State, offers: Any, job: int, cap_w: float) -> int:
    """The ladder's largest node count up to the request that a bound can power, or -1."""
    code = offers.code[job]
    idle_w = st.clock[0].idle_w
    possible_w = most_possible_w(st, cap_w)
    rung = offers.first_rung[code + 1] - 1
    while rung >= offers.first_rung[code]:
        row = offers.rung_row[rung]
        added_w = offers.row_power_w[row] - offers.row_nodes[row] * idle_w
        nodes = offers.row_nodes[row]
        most = min(st.jobs[job].units, offers.most[job])
        if offers.least[job] <= nodes <= most and added_w <= possible_w:
            return int(row)
        rung -= 1
    return -1
