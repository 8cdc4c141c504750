"""Where devices are counted: limits on one type of them, and on all of a name.

resource_limits.html, "Specific limits over GRES": "When a GRES has a type associated with it and a
limit is applied over this specific type, if a user requests a generic GRES, the type's limit will
not be enforced." So a column of a type counts what was asked for by that type, and the column of
the name counts all of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.machine import FIRST_GRES, IntArray, SharedMachine, device_totals
from wattline.shared_nodes.requests import Requests
from wattline.shared_nodes.state import Books


def device_columns(machine: SharedMachine, requests: Requests) -> dict[str, Any]:
    """Columns of each choice's type and name, and of each kind's name; -1 where there is none."""
    kinds = machine.nodes.gres_kinds
    totals = device_totals(kinds)
    first_total = FIRST_GRES + len(kinds)

    def total_of(name: str) -> int:
        return first_total + totals.index(name) if name in totals else -1

    return {
        "choice_column": _rows([FIRST_GRES + kinds.index(choice) if choice in kinds else -1
                                for choice in requests.gres_choices]),
        "choice_total": _rows([total_of(name) for name, _ in requests.gres_choices]),
        "kind_total": _rows([total_of(name) for name, _ in kinds]),
    }


def _rows(values: list[int]) -> IntArray:
    return np.array(values, dtype=np.int64)


def add_asked_devices(
    tres: IntArray, columns: dict[str, Any], choice: int, amount: IntArray
) -> None:
    """Add what jobs ask for by one choice to their rows."""
    for name in ("choice_column", "choice_total"):
        column = int(columns[name][choice])
        if column >= 0:
            tres[:, column] += amount


@kernel_part
def count_devices(st: Books, job: int, node: int, cpus: int) -> None:
    """Add the devices that the job gets on a node, with so many CPUs, to `job_tres`."""
    rules = st.rules[0]
    first = job * rules.resources
    if st.ask[job].exclusive != 0:
        for kind in range(rules.kinds):
            count = st.node_gres[node * rules.kinds + kind]
            st.job_tres[first + FIRST_GRES + kind] += count
            if st.kind_total[kind] >= 0:
                st.job_tres[first + st.kind_total[kind]] += count
        return
    for choice in range(rules.choices):
        count = st.need[job * rules.choices + choice] + (
            st.need_task[job * rules.choices + choice] * (cpus // st.ask[job].cpus_per_task))
        if st.choice_column[choice] >= 0:
            st.job_tres[first + st.choice_column[choice]] += count
        if st.choice_total[choice] >= 0:
            st.job_tres[first + st.choice_total[choice]] += count
