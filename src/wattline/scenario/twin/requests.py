"""The jobs of a log as tables for a machine: names become rows, expressions become masks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
import numpy.typing as npt

from wattline.model.errors import InputError
from wattline.scenario.twin.as_it_ran import AsItRan
from wattline.scenario.twin.as_submitted import too_many_tasks
from wattline.scenario.twin.asked import AskedJob, Counter, Kind
from wattline.scenario.twin.dependencies import dependencies_of
from wattline.scenario.twin.features import mask_of
from wattline.scenario.twin.gpu_defaults import GpuDefaults
from wattline.scenario.twin.node_choice import (
    DevicesInAll,
    Masks,
    NamedNodes,
    devices_of,
    on_one_node,
    said,
)
from wattline.scenario.twin.one_request import settle_devices
from wattline.scenario.twin.per_gpu import gpus_of, settle_per_gpu
from wattline.scenario.twin.reservations import asked_rows
from wattline.scenario.twin.spelling import Spelling
from wattline.scenario.twin.tasks_per_gpu import settle_tasks_per_gpu, too_few_cpus
from wattline.scenario.twin.whole_nodes import mark_whole_nodes
from wattline.shared_nodes.machine import BoolArray, IntArray, SharedMachine
from wattline.shared_nodes.requests import Requests
from wattline.site.qos import USUAL
from wattline.site.reservations import Reservation

NOWHERE, NO_PARTITION, NO_QOS = 1, 2, 5
TOO_FEW_LICENCES, NO_LICENCE, NO_ACCOUNT, NO_RESERVATION, CONTRADICTS_ITSELF = 14, 18, 19, 20, 22
"""Rows of `outcome.REASONS`."""


@dataclass(frozen=True, eq=False)
class Made:
    """Requests, and what is to be said of jobs that do not fit the machine or were filled in."""

    requests: Requests
    unfit: tuple[str, ...]
    """Jobs that the machine cannot run, by reason."""
    unfit_rows: IntArray
    filled: tuple[str, ...]
    counted: dict[str, int]
    touched: frozenset[str]
    not_modelled: tuple[str, ...]


class Builder:
    """Goes through the jobs once; what cannot be said in a row is counted."""

    def __init__(self, machine: SharedMachine, jobs: Sequence[AskedJob], requeues: bool,
                 enforced: bool, kill_invalid: bool = False,
                 reservations: Sequence[Reservation] = (),
                 gpu_defaults: GpuDefaults | None = None) -> None:
        self.gpu_defaults = gpu_defaults
        self.machine, self.jobs, self.reservations = machine, jobs, reservations
        self.requeues, self.enforced, self.kill_invalid = requeues, enforced, kill_invalid
        self.unfit, self.filled, self.unused = Counter(), Counter(), Counter()
        self.unfit_rows: dict[int, int] = {}
        self.features, self.hosts = (Masks(len(machine.nodes.names)) for _ in range(2))
        self.partition = {name: at for at, name in enumerate(machine.partitions.names)}
        self.qos_row = {name: at for at, name in enumerate(machine.qos.names)}
        self.qos_spelling = Spelling(machine.qos.names)
        self.node_row = {name: at for at, name in enumerate(machine.nodes.names)}
        self.licence = {name: at for at, name in enumerate(machine.licence_names)}
        self.association = self._associations()

    def made(self) -> Made:
        jobs = self.jobs
        as_it_ran = AsItRan(self.machine.nodes, self.node_row, self.filled)
        partitions = np.zeros((len(jobs), len(self.partition)), dtype=np.bool_)
        order = np.zeros((len(jobs), len(self.partition)), dtype=np.int64)
        named = NamedNodes(self.node_row, self._reject, self.filled, self.hosts)
        excluded, required = (np.full(len(jobs), -1) for _ in range(2))
        for row, job in enumerate(jobs):
            partitions[row] = self._partitions(row, job)
            as_it_ran.settle(job, self.machine.partitions.nodes[partitions[row]].any(axis=0))
            self._note_order(order, row, job)
            excluded[row], required[row] = named.rows(row, job)
            contradiction = (
                settle_tasks_per_gpu(job) or settle_devices(job) or too_few_cpus(job))
            if excess := too_many_tasks(job):
                self._reject(row, excess)
            if contradiction:
                self._reject(row, contradiction, CONTRADICTS_ITSELF)
            self._give_defaults(job)
        association = [self._charged(row, job) for row, job in enumerate(jobs)]
        qos = [self._qos(row, job, association[row]) for row, job in enumerate(jobs)]
        features = [self._features(row, job) for row, job in enumerate(jobs)]
        choices = tuple(sorted({kind for job in jobs for asked in (
            job.gres_per_node, job.gres_per_job, job.gres_per_task) for kind in asked}))
        dependencies = dependencies_of(jobs, self.kill_invalid, self.filled, self.unused)
        arrays = {name: at for at, name in enumerate(
            dict.fromkeys(job.array for job in jobs if job.array))}
        licences = np.zeros((len(jobs), len(self.licence)), dtype=np.int64)
        for row, job in enumerate(jobs):
            self._licences(row, job, licences)
        limit_s = self._limits(partitions)
        self._sizes(partitions, features)
        mark_whole_nodes(jobs, self.machine.nodes, self.node_row, self.filled)
        reservation, why = asked_rows(jobs, self.reservations, self.filled)
        for row, reason in why.items():
            self._reject(row, reason, NO_RESERVATION)
        refused = np.zeros(len(jobs), dtype=np.int64)
        for row, code in self.unfit_rows.items():
            refused[row] = code
        requests = Requests(
            job_ids=tuple(job.job_id for job in jobs),
            submit_s=self._floats("submit_s"), run_s=self._floats("run_s"), limit_s=limit_s,
            min_nodes=self._whole("min_nodes"), max_nodes=self._whole("max_nodes"),
            tasks=self._whole("tasks"), tasks_per_node=self._whole("tasks_per_node"),
            cpus_per_task=self._whole("cpus_per_task"),
            memory_per_node_mb=self._whole("memory_per_node_mb"),
            memory_per_cpu_mb=self._whole("memory_per_cpu_mb"),
            gres_per_node=self._gres("gres_per_node", choices),
            gres_per_job=self._gres("gres_per_job", choices),
            gres_per_task=self._gres("gres_per_task", choices), gres_choices=choices,
            features=_int(features), feature_masks=self.features.table(),
            exclusive=self._flags("exclusive"), partitions=partitions, qos=_int(qos),
            association=_int(association), begin_s=self._floats("begin_s"),
            nice=self._whole("nice"), dependencies=dependencies,
            array=_int(arrays.get(job.array, -1) for job in jobs),
            array_limit=self._whole("array_limit"), licences=licences, excluded=excluded,
            required=required, node_masks=self.hosts.table(),
            requeue=np.array([self.requeues if job.requeue is None else job.requeue
                              for job in jobs], dtype=np.bool_),
            exit_ok=self._flags("exit_ok"), cpu_load=self._floats("cpu_load"),
            power_per_node_w=self._floats("power_per_node_w"), held=self._flags("held"),
            refused=refused if self.unfit_rows else None, reservation=reservation,
            own_user=self._flags("own_user"), cpus_per_gpu=self._by_gpu("cpus_per_gpu"),
            memory_per_gpu_mb=self._by_gpu("memory_per_gpu_mb"),
            as_many_nodes=self._flags("node_range") & ~self._flags("use_min_nodes"),
            partition_order=order if order.any() else None, let_go=self._flags("let_go"),
        )
        return Made(requests, self.unfit.lines(), _int(sorted(self.unfit_rows)),
                    self.filled.lines(), self.filled.counts(), self.filled.ids(),
                    self.unused.lines())

    def _column(self, name: str, kind: Any) -> npt.NDArray[Any]:
        return np.array([getattr(job, name) for job in self.jobs], dtype=kind)

    def _whole(self, name: str) -> IntArray:
        return self._column(name, np.int64)

    def _by_gpu(self, name: str) -> IntArray:
        """Of jobs with GPUs in all; of others it is in what they ask for by task and node."""
        return _int(getattr(job, name) if gpus_of(job.gres_per_job) else -1 for job in self.jobs)

    def _floats(self, name: str) -> npt.NDArray[np.float64]:
        return self._column(name, np.float64)

    def _flags(self, name: str) -> BoolArray:
        return self._column(name, np.bool_)

    def _reject(self, row: int, why: str, reason: int = NOWHERE) -> None:
        if row not in self.unfit_rows:
            self.unfit.note(why, self.jobs[row].job_id)
        self.unfit_rows.setdefault(row, reason)

    def _partitions(self, row: int, job: AskedJob) -> BoolArray:
        found = np.zeros(len(self.partition), dtype=np.bool_)
        named = [name for name in job.partition.split(",") if name]
        for name in named:
            if name in self.partition:
                found[self.partition[name]] = True
        strange = [name for name in named if name not in self.partition]
        if not named:
            usual = self.machine.partitions.default
            if usual >= 0:
                found[usual] = True
            else:
                self._reject(row, "names no partition, and none is the default", NO_PARTITION)
        elif len(strange) == len(named):
            self._reject(row, f"unknown partition '{job.partition[:60]}'", NO_PARTITION)
        elif strange:
            self.unused.note(f"one of its partitions, '{strange[0][:60]}', is unknown", job.job_id)
        return found

    def _note_order(self, order: IntArray, row: int, job: AskedJob) -> None:
        """At which place a job names its partitions; of one that it names twice the first."""
        named = [self.partition[name] for name in job.partition.split(",")
                 if name in self.partition]
        if len(named) > 1:
            order[row, named[::-1]] = range(len(named) - 1, -1, -1)

    def _give_defaults(self, job: AskedJob) -> None:
        named = [name for name in job.partition.split(",") if name in self.partition]
        usual = self.machine.partitions.default
        if not job.partition and usual >= 0:
            named = [self.machine.partitions.names[usual]]
        if self.gpu_defaults is not None:
            self.gpu_defaults.give(job, named, self.filled)

    def _associations(self) -> dict[tuple[str, str, str], int]:
        found = self.machine.associations
        return {(found.accounts[found.account[row]],
                 found.users[found.user[row]] if found.user[row] >= 0 else "",
                 found.partition[row] if found.partition else ""): row
                for row in range(len(found.account))}

    def _charged(self, row: int, job: AskedJob) -> int:
        """Its association; the log's own accounts were added before where the site has none."""
        usual = self.machine.partitions.default
        partition = job.first_partition or (
            self.machine.partitions.names[usual] if usual >= 0 else "")
        for charged in (partition, ""):  # that of the partition goes before that of all
            if (key := (job.account, job.user, charged)) in self.association:
                self._say_first(job)
                return self.association[key]
        self._reject(row, self._no_association(job, partition), NO_ACCOUNT)
        return 0

    def _no_association(self, job: AskedJob, partition: str) -> str:
        """What of user, account and partition there is no association of."""
        if (job.account, "", "") not in self.association:
            return f"unknown account '{job.account}' of user '{job.user}'"
        elsewhere = any((job.account, job.user) == key[:2] for key in self.association)
        return (f"user '{job.user}' is not in account '{job.account}'"
                + (f" for partition '{partition}'" if elsewhere else ""))

    def _say_first(self, job: AskedJob) -> None:
        if "," in job.partition and any(self.machine.associations.partition):
            self.filled.note("names several partitions: the first says which association it is "
                             "charged to", job.job_id)

    def _qos(self, row: int, job: AskedJob, association: int) -> int:
        if job.qos:
            name = self.qos_spelling.of(job.qos)
            if name in self.qos_row:
                return self.qos_row[name]
            if self.enforced:
                self._reject(row, f"unknown QOS '{job.qos[:60]}'", NO_QOS)
            else:
                self.filled.note(f"unknown QOS '{job.qos[:60]}', which is not enforced: none",
                                 job.job_id)
            return -1
        usual = int(self.machine.associations.default_qos[association])
        return usual if usual >= 0 else self.qos_row.get(USUAL, -1)

    def _features(self, row: int, job: AskedJob) -> int:
        def make() -> BoolArray:
            return mask_of(job.constraint, self.machine.nodes)

        try:
            found = self.features.row(job.constraint, make)
        except InputError as error:
            self._reject(row, str(error))
            return -1
        if found >= 0 and not self.features.rows[found].any():
            self._reject(row, f"no node has the features '{job.constraint[:60]}'")
        if "[" in job.constraint and job.min_nodes != 1:
            self.unused.note("all its nodes would be of one alternative in [ ]", job.job_id)
        return found

    def _licences(self, row: int, job: AskedJob, table: IntArray) -> None:
        for name, number in job.licences.items():
            if name in self.licence:
                table[row, self.licence[name]] = number
                there = int(self.machine.licences[self.licence[name]])
                if number > there and not isfinite(job.start_s):
                    self._reject(row, f"more of the licence '{name[:60]}' than there are "
                                      f"({number:,} of {there:,})", TOO_FEW_LICENCES)
            elif isfinite(job.start_s):
                # One of the database, which slurm.conf does not list: it did start.
                self.unused.note(f"asks for the licence '{name[:60]}', which slurm.conf does not "
                                 "have: it waits for none", job.job_id)
            else:
                self._reject(row, f"unknown licence '{name[:60]}'", NO_LICENCE)

    def _gres(self, name: str, choices: Sequence[Kind]) -> IntArray:
        place = {kind: at for at, kind in enumerate(choices)}
        found = np.zeros((len(self.jobs), len(choices)), dtype=np.int64)
        for row, job in enumerate(self.jobs):
            for kind, number in getattr(job, name).items():
                found[row, place[kind]] = number
        return found

    def _limits(self, partitions: BoolArray) -> npt.NDArray[np.float64]:
        limit_s = self._floats("limit_s")
        longest = self.machine.partitions.max_time_s
        for row, job in enumerate(self.jobs):
            if job.limit_filled and partitions[row].any():
                most = float(longest[partitions[row]].max())
                limit_s[row] = min(limit_s[row], most)
        return limit_s

    def _sizes(self, partitions: BoolArray, features: Sequence[int]) -> None:
        """Jobs that ask for more than any node, or all nodes, of their partitions have."""
        nodes = self.machine.nodes
        in_all = DevicesInAll(nodes)
        rooms: dict[tuple[bytes, int], BoolArray] = {}
        for row, job in enumerate(self.jobs):
            key = (partitions[row].tobytes(), features[row])
            if key not in rooms:
                inside = self.machine.partitions.nodes[partitions[row]].any(axis=0)
                rooms[key] = inside & self.features.rows[features[row]] \
                    if features[row] >= 0 else inside
            if row not in self.unfit_rows:
                self._size(row, job, rooms[key], nodes.cpus, nodes.memory_mb)
            if row not in self.unfit_rows and (why := in_all.why_not(job, rooms[key], key)):
                self._reject(row, why)
            on_one_node(job)
            if row not in self.unfit_rows and settle_per_gpu(job, self.filled):
                self._size(row, job, rooms[key], nodes.cpus, nodes.memory_mb)

    def _size(self, row: int, job: AskedJob, room: BoolArray, cpus: IntArray,
              memory: IntArray) -> None:
        if not room.any():
            self._reject(row, "no node of its partitions has its features" if job.constraint
                         else "its partitions have no nodes")
            return
        if job.memory_per_node_mb > int(memory[room].max()):
            self._reject(row, f"more memory than any node has ({job.memory_per_node_mb:,} MB, the "
                              f"most is {int(memory[room].max()):,} MB)")
        needed = max(job.tasks_per_node, 1) * max(job.cpus_per_task, 1)
        if needed > int(cpus[room].max()):
            self._reject(row, f"more CPUs on a node than any has ({needed:,})")
        if job.min_nodes > int(room.sum()):
            self._reject(row, f"more nodes than its partitions have ({job.min_nodes:,} of "
                              f"{int(room.sum()):,})")
        elif job.tasks * max(job.cpus_per_task, 1) > int(cpus[room].sum()):
            self._reject(row, "more CPUs than its partitions have "
                              f"({job.tasks * max(job.cpus_per_task, 1):,})")
        if any(0 < number < job.min_nodes for number in job.gres_per_job.values()) and not (
                isfinite(job.start_s)):
            self._reject(row, f"fewer devices ({said(job.gres_per_job)}) than nodes "
                              f"({job.min_nodes:,}), each of which has to have one")
        for (name, model), number in job.gres_per_node.items():
            most = int(devices_of(self.machine.nodes, name, model)[room].max())
            if number > most:
                self._reject(row, f"more {':'.join(filter(None, (name, model)))} on a node than "
                                  f"any has ({number} of {most})")


def _int(values: Iterable[int]) -> IntArray:
    return np.array(list(values), dtype=np.int64)
