"""What jobs ask for of devices: what a node must have, what is taken, and where it is counted.

sbatch: --gres, --gpus-per-node (on each node), --gpus-per-task, --gpus (in all, and at least one on
each node). What each node gives of devices in all is written down as nodes are chosen
(picking_devices.py). Devices that are asked for by type are taken before those of the same name
that may be of any.

resource_limits.html, "Specific limits over GRES": "When a GRES has a type associated with it and a
limit is applied over this specific type, if a user requests a generic GRES, the type's limit will
not be enforced." So a column of a type counts what was asked for by that type, and the column of
the name counts all of it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.machine import (
    FIRST_GRES,
    NO_LIMIT,
    BoolArray,
    IntArray,
    SharedMachine,
    device_totals,
)
from wattline.shared_nodes.requests import Requests
from wattline.shared_nodes.state import Books

GPU = "gpu"
"""Other devices have no part in the order of nodes."""


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
        "choice_is_gpu": np.array([name == GPU for name, _ in requests.gres_choices], np.bool_),
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


def typed_first(requests: Requests) -> Requests:
    """The same requests, choices of a type before those of any: so they are taken."""
    order = sorted(range(len(requests.gres_choices)),
                   key=lambda at: (requests.gres_choices[at][1] == "", at))
    return replace(
        requests, gres_choices=tuple(requests.gres_choices[at] for at in order),
        **{name: getattr(requests, name)[:, order]
           for name in ("gres_per_node", "gres_per_job", "gres_per_task")})


def device_needs(requests: Requests) -> dict[str, IntArray]:
    """Jobs x choices: what is taken per node, job and task, and what a node must have free.

    A node must have what is asked for by a type for this type, and for any type of the name both.
    """
    per_node, per_job, per_task = (np.maximum(asked, 0).astype(np.int64) for asked in (
        requests.gres_per_node, requests.gres_per_job, requests.gres_per_task))
    choices = requests.gres_choices
    counts = np.array([one == other or (one[0] == other[0] and not one[1])
                       for other in choices for one in choices], dtype=np.int64)
    counts = counts.reshape(len(choices), len(choices))
    here = per_node + (per_job > 0)
    return {"own_node": per_node, "own_job": per_job, "own_task": per_task,
            "need": here @ counts, "need_task": per_task @ counts}


def most_nodes_for_devices(requests: Requests) -> IntArray:
    """How many nodes a job with devices in all has at most; NO_LIMIT without."""
    in_all = np.where(requests.gres_per_job > 0, requests.gres_per_job, NO_LIMIT)
    return np.asarray(in_all.min(axis=1, initial=NO_LIMIT))


def choose_by_devices(
    machine: SharedMachine, requests: Requests, max_nodes: IntArray, exclusive: BoolArray
) -> BoolArray:
    """The jobs whose nodes are chosen by their devices too.

    Of others, all nodes that have enough of them stand alike.
    """
    is_gpu = np.array([name == GPU for name, _ in requests.gres_choices], np.bool_)
    on_node = gpus_of_nodes(machine)
    by_task = (requests.gres_per_task[:, is_gpu] > 0).any(axis=1) & (max_nodes > 1)
    whole = exclusive & (requests.gres_per_node[:, is_gpu] > 0).any(axis=1)
    differ = len(np.unique(on_node[on_node > 0])) > 1
    return np.asarray((requests.gres_per_job > 0).any(axis=1) | by_task | (whole & differ))


def gpus_of_nodes(machine: SharedMachine) -> IntArray:
    is_gpu = [name == GPU for name, _ in machine.nodes.gres_kinds]
    return np.asarray(machine.nodes.gres[:, is_gpu].sum(axis=1), dtype=np.int64)


@kernel_part
def devices_asked(st: Books, job: int, choice: int, place: int, cpus: int) -> int:
    """Devices by one choice on the node in this place of those that were picked."""
    at = job * st.rules[0].choices + choice
    count = st.own_node[at] + st.own_task[at] * (cpus // st.ask[job].cpus_per_task)
    if st.own_job[at] > 0:
        count += st.pick_devices[place * st.rules[0].choices + choice]
    return int(count)


@kernel_part
def gpus_asked(st: Books, job: int, place: int) -> int:
    """GPUs of all choices on the node in this place of those that were picked."""
    count = 0
    for choice in range(st.rules[0].choices):
        if st.choice_is_gpu[choice]:
            count += devices_asked(st, job, choice, place, st.pick_cpus[place])
    return count


@kernel_part
def use_devices(st: Books, job: int, place: int, bank: int) -> None:
    """Write into `used` how many of each kind the job uses on a picked node: the first free ones
    that match; where a plan needs more, the first of those that others still hold."""
    rules = st.rules[0]
    node, cpus = st.pick[place], st.pick_cpus[place]
    free = (bank * rules.nodes + node) * rules.kinds
    used = st.used
    for kind in range(rules.kinds):
        used[kind] = 0
    for choice in range(rules.choices):
        left = devices_asked(st, job, choice, place, cpus)
        for kind in range(rules.kinds):
            if left > 0 and st.choice_kind[choice * rules.kinds + kind]:
                count = min(left, max(st.gres_free[free + kind] - used[kind], 0))
                used[kind] += count
                left -= count
        for kind in range(rules.kinds):
            if left > 0 and st.choice_kind[choice * rules.kinds + kind]:
                count = min(left, st.node_gres[node * rules.kinds + kind] - used[kind])
                used[kind] += count
                left -= count


@kernel_part
def count_devices(st: Books, job: int, place: int) -> None:
    """Add the devices that the job gets on a picked node to `job_tres`."""
    rules = st.rules[0]
    first = job * rules.resources
    if st.ask[job].exclusive != 0:
        for kind in range(rules.kinds):
            count = st.node_gres[st.pick[place] * rules.kinds + kind]
            st.job_tres[first + FIRST_GRES + kind] += count
            if st.kind_total[kind] >= 0:
                st.job_tres[first + st.kind_total[kind]] += count
        return
    for choice in range(rules.choices):
        count = devices_asked(st, job, choice, place, st.pick_cpus[place])
        if st.choice_column[choice] >= 0:
            st.job_tres[first + st.choice_column[choice]] += count
        if st.choice_total[choice] >= 0:
            st.job_tres[first + st.choice_total[choice]] += count
