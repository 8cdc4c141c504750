"""Jobs that their own machine could not run by what the log says they asked for.

A job that ran on nodes of this machine is not too large for them: where what is read of its
request does not fit even these nodes, accounting says something else than it asked for (totals by
the fewest nodes, options of its script), and it takes what it had. Of a job whose log says how many
nodes it had and not which, they are the largest of its partitions with its features; one whose log
does not say how many either has as many of these as its CPUs need.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite

import numpy as np

from wattline.model.errors import InputError
from wattline.scenario.twin.asked import AskedJob, Counter
from wattline.scenario.twin.features import mask_of
from wattline.scenario.twin.node_choice import devices_of
from wattline.shared_nodes.machine import BoolArray, IntArray, Nodes
from wattline.site.lines import hosts_of

AS_IT_RAN = ("asks for more than its own nodes have (any of its partitions, where the log does not "
             "say which), and ran: as many nodes and CPUs as it had, and no more memory or devices "
             "than these have")
AS_ITS_CPUS = ("asks for more CPUs than so many nodes of its partitions have, and ran: on as many "
               "as have them, as the log does not say how many it had")


@dataclass
class AsItRan:
    """Lets jobs that ran ask for no more than the nodes that they ran on have."""

    nodes: Nodes
    row_of: Mapping[str, int]
    filled: Counter
    known: dict[str, list[int]] = field(default_factory=dict)

    def settle(self, job: AskedJob, inside: BoolArray) -> None:
        """Let the job take what it had, where its own nodes are too small for what it asks for.

        One that had more CPUs than slurm.conf gives these nodes was on another machine. `inside`:
        the nodes of its partitions.
        """
        if not isfinite(job.start_s):
            return
        rows = self._rows(job) if job.node_list else self._where_it_may(job, inside)
        if not job.node_list and job.nodes < 1:
            self._widen(job, self.nodes.cpus[rows])
            return
        if not rows or not _is_too_large(job, self.nodes, rows):
            return
        if not job.node_list:
            rows = _largest(job, self.nodes, np.array(rows))
        all_cpus = int(self.nodes.cpus[rows].sum())
        if job.cpus > all_cpus:
            return
        self.filled.note(AS_IT_RAN, job.job_id)
        asked = max(job.tasks, 1) * max(job.cpus_per_task, 1)
        job.min_nodes = job.max_nodes = len(rows)
        job.node_range, job.tasks_per_node = False, -1
        job.tasks = max(job.cpus if job.cpus > 0 else min(asked, all_cpus), len(rows))
        job.cpus_per_task = 1
        _take_less_memory(job, self.nodes, rows)
        _take_fewer_devices(job, self.nodes, rows)

    def _rows(self, job: AskedJob) -> list[int]:
        """Its nodes; none where slurm.conf lacks one of them."""
        if job.node_list not in self.known:
            names = hosts_of(job.node_list, job.where)
            self.known[job.node_list] = [self.row_of[name] for name in names] \
                if all(name in self.row_of for name in names) else []
        return self.known[job.node_list]

    def _where_it_may(self, job: AskedJob, inside: BoolArray) -> list[int]:
        """The nodes that it may have run on; none where these are fewer than it had."""
        try:
            room = inside & mask_of(job.constraint, self.nodes) if job.constraint else inside
        except InputError:  # said where its features are read
            return []
        return np.flatnonzero(room).tolist() if job.nodes <= int(room.sum()) else []

    def _widen(self, job: AskedJob, cpus: IntArray) -> None:
        """Let it have more nodes than it asks for, where so many have too few CPUs for it."""
        if job.max_nodes < 1:
            return
        of_largest = np.sort(cpus)[::-1].cumsum()
        needed = max(job.tasks, 1) * max(job.cpus_per_task, 1)
        if job.max_nodes < len(cpus) and (
                of_largest[job.max_nodes - 1] < needed <= of_largest[-1]):
            job.max_nodes = int(np.searchsorted(of_largest, needed)) + 1
            self.filled.note(AS_ITS_CPUS, job.job_id)


def _largest(job: AskedJob, nodes: Nodes, room: IntArray) -> list[int]:
    """As many as it had: those with its devices and its CPUs first, then with the most memory."""
    kinds = {*job.gres_per_node, *job.gres_per_job}
    devices = sum((np.minimum(devices_of(nodes, *kind)[room], 1) for kind in kinds),
                  np.zeros(len(room), dtype=np.int64))
    has_cpus = nodes.cpus[room] * job.nodes >= job.cpus
    order = np.lexsort((-nodes.cpus[room], -nodes.memory_mb[room], ~has_cpus, -devices))
    found: list[int] = room[order[:job.nodes]].tolist()
    return found


def _is_too_large(job: AskedJob, nodes: Nodes, rows: list[int]) -> bool:
    return (_takes_more_cpus(job, nodes.cpus[rows]) or _takes_more_memory(job, nodes, rows)
            or _takes_more_devices(job, nodes, rows))


def _takes_more_cpus(job: AskedJob, cpus: IntArray) -> bool:
    each = max(job.cpus_per_task, 1)
    if max(job.tasks_per_node, 1) * each > int(cpus.max()):
        return True
    # Those of its own nodes that it may have: on others it may fit, and is not judged here.
    return 0 < job.max_nodes <= len(cpus) and (
        job.tasks * each > int(cpus[cpus.argsort()[::-1][:job.max_nodes]].sum()))


def _takes_more_memory(job: AskedJob, nodes: Nodes, rows: list[int]) -> bool:
    most = int(nodes.memory_mb[rows].max())
    on_a_node = max(job.tasks_per_node, 1) * max(job.cpus_per_task, 1)
    return job.memory_per_node_mb > most or job.memory_per_cpu_mb * on_a_node > most


def _takes_more_devices(job: AskedJob, nodes: Nodes, rows: list[int]) -> bool:
    return any(number > int(devices_of(nodes, *kind)[rows].max())
               for kind, number in job.gres_per_node.items()) or any(
        number > int(devices_of(nodes, *kind)[rows].sum())
        for kind, number in job.gres_per_job.items())


def _take_less_memory(job: AskedJob, nodes: Nodes, rows: list[int]) -> None:
    least = int(nodes.memory_mb[rows].min())
    if job.memory_per_node_mb > 0:
        job.memory_per_node_mb = min(job.memory_per_node_mb, least)
    if job.memory_per_cpu_mb > 0:
        room = int((nodes.memory_mb[rows] // nodes.cpus[rows]).min())
        job.memory_per_cpu_mb = min(job.memory_per_cpu_mb, room)


def _take_fewer_devices(job: AskedJob, nodes: Nodes, rows: list[int]) -> None:
    for kind, number in job.gres_per_node.items():
        job.gres_per_node[kind] = min(number, int(devices_of(nodes, *kind)[rows].min()))
    for kind, number in job.gres_per_job.items():
        job.gres_per_job[kind] = min(number, int(devices_of(nodes, *kind)[rows].sum()))
