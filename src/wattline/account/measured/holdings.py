"""Who held which node when, as the lives in the ledger tell it."""

from __future__ import annotations

import math
import re
from array import array
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, and_, or_, select

from wattline.account.attribution import Gpus, Held
from wattline.account.measured.staying import Times, stays_of
from wattline.account.measured.tables import lives
from wattline.model.errors import InputError
from wattline.model.units import parse_hosts
from wattline.physics.metering.stretches import Stretches

_INDEX = re.compile(r"\(IDX:([0-9,-]*)\)")
_MODEL = re.compile(r"(?:^|,)(?:gres/)?gpu:([^=:,(]+)[=:]")
_COUNT = re.compile(r"(?:^|,)gres/gpu=([0-9]+)")
_TYPED = re.compile(r"gpu(?::[^:=,()]+)?[:=]([0-9]+)")

_MEMORY = re.compile(r"(?:^|,)mem=([0-9]{1,15}(?:\.[0-9]{1,9})?)([KMGTP]?)(?=,|$)")
MARKED_S = 60.0
"""A stay as marked may reach so far beyond what Slurm tells of its job."""
_MIB = {"K": 1 / 1024, "": 1.0, "M": 1.0, "G": 1024.0, "T": 1024.0**2, "P": 1024.0**3}


@dataclass(frozen=True, eq=False)
class Holding:
    """The stays on one node in order of their beginning."""

    life: npt.NDArray[np.int64]
    held: Held
    gpu_count: npt.NDArray[np.float64]
    gpu_index: tuple[frozenset[int], ...]
    """Which GPUs each holds; empty where nobody says."""
    told_share: npt.NDArray[np.float64]
    """Seconds of the job by Slurm, per second of the stay: coverage is of the former."""

    def between(self, start_s: float, end_s: float) -> Holding:
        """Those that were there at some time in between."""
        until = int(np.searchsorted(self.held.start_s, end_s))
        chosen = np.flatnonzero(self.held.end_s[:until] > start_s)
        held = Held(*(getattr(self.held, name)[chosen]
                      for name in ("start_s", "end_s", "cores", "cpu_s", "memory")))
        return Holding(self.life[chosen], held, self.gpu_count[chosen],
                       tuple(self.gpu_index[at] for at in chosen), self.told_share[chosen])

    def by_parts(self, cpu_w: float, gpu_w: float) -> Holding:
        """With what their parts draw in the place of processor time."""
        watts = self.held.cores * cpu_w + self.gpu_count * gpu_w
        used = watts * (self.held.end_s - self.held.start_s)
        return replace(self, held=replace(self.held, cpu_s=used))

    def gpus(self, meters: dict[int, Stretches]) -> Gpus:
        """Who held each GPU, where that is told; else how many each job held."""
        holders = {
            gpu: np.array([at for at, index in enumerate(self.gpu_index) if gpu in index],
                          dtype=np.int64)
            for gpu in meters}
        named = np.array([bool(index) for index in self.gpu_index], dtype=np.bool_)
        return Gpus(meters, holders, np.where(named, 0.0, self.gpu_count))


@dataclass
class _Columns:
    life: array[int] = field(default_factory=lambda: array("q"))
    figures: array[float] = field(default_factory=lambda: array("d"))
    index: list[frozenset[int]] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Holdings:
    """All nodes of a cluster over some time; lives whose nodes nobody can read are counted."""

    nodes: dict[str, _Columns]
    unreadable: int
    suspended: int
    """Jobs that stood still for a time, nobody says when."""

    def of(self, node: str) -> Holding:
        found = self.nodes.get(node, _Columns())
        start, end, cores, cpu_s, gpus, memory, told = (
            np.array(found.figures, dtype=np.float64).reshape(-1, 7).T)
        life = np.array(found.life, dtype=np.int64)
        # By what they are and not by their numbers, which depend on what was entered first.
        order = np.lexsort((life, memory, gpus, cpu_s, cores, end, start))
        held = Held.of(start[order], end[order], cores[order], cpu_s[order], memory[order])
        return Holding(life[order], held, gpus[order], tuple(found.index[at] for at in order),
                       told[order])


def holdings(
    connection: Connection, cluster: str, start_s: float, end_s: float, wanted: set[str]
) -> Holdings:
    """The stays on the wanted nodes between two times, read in one go."""
    table = lives.c
    there = and_(table.cluster == cluster, table.start_s < end_s + MARKED_S,
                 table.node_list != "",
                 or_(table.end_s.is_(None), table.end_s > start_s - MARKED_S))
    marked = stays_of(connection, there)
    rows = connection.execute(
        select(table.id, table.start_s, table.end_s, table.seen_s, table.cores,
               table.cpu_s, table.node_list, table.alloc_tres, table.suspended_s)
        .where(there).execution_options(yield_per=10_000))
    nodes: dict[str, _Columns] = {}
    unreadable = suspended = 0
    for life, start, ended, seen, cores, cpu_s, node_list, tres, paused_s in rows:
        hosts = hosts_of(node_list)
        if not hosts:
            unreadable += 1
            continue
        # Of one that runs, what the resource manager has seen; where it does not say, nothing: it
        # may have ended long ago, and others hold the nodes since.
        end = max(start, next(each for each in (ended, seen, start) if each is not None))
        figures = _figures(cores, cpu_s, tres, len(hosts))
        suspended += bool(paused_s) and not wanted.isdisjoint(hosts)
        index = gpu_index(tres)
        for host in hosts & wanted:
            mine = nodes.setdefault(host, _Columns())
            mine.life.append(life)
            began_s, ended_s = _stay(start, end, marked.get((life, host)), ended)
            told = (end - start) / (ended_s - began_s) if ended_s > began_s else 1.0
            mine.figures.extend((began_s, ended_s, *figures, told))
            mine.index.append(index)
    return Holdings(nodes, unreadable, suspended)


def _stay(
    start_s: float, end_s: float, marked: Times | None, over_s: float | None
) -> tuple[float, float]:
    """From when to when a life was on a node: as marked there, else as Slurm tells.

    `over_s` is when it was over, where it is: what was marked long after that is of another run.
    """
    began_s, ended_s, told_s = marked or (math.nan, math.nan, math.nan)
    if over_s is not None and ended_s > over_s + MARKED_S:
        ended_s = math.nan
    if math.isnan(ended_s):
        ended_s = told_s
    if math.isnan(began_s):
        began_s = float(start_s) if math.isnan(ended_s) else min(float(start_s), ended_s)
    return began_s, max(began_s, float(end_s) if math.isnan(ended_s) else ended_s)


def _figures(cores: int, cpu_s: float | None, tres: str, hosts: int) -> tuple[float, ...]:
    """Per node the cores, the processor time, the GPUs and the memory."""
    used = float("nan") if cpu_s is None else cpu_s / hosts
    return cores / hosts, used, gpu_count(tres) / hosts, memory_mib(tres) / hosts


@lru_cache(maxsize=4096)
def hosts_of(node_list: str) -> frozenset[str]:
    """The nodes of a life; none where the list cannot be read."""
    try:
        return frozenset(parse_hosts(node_list))
    except InputError:
        return frozenset()


@lru_cache(maxsize=4096)
def memory_mib(tres: str) -> float:
    """Memory of a job: 32768 of `cpu=8,mem=32G`, 0 where that is not told."""
    found = _MEMORY.search(tres)
    return float(found[1]) * _MIB[found[2]] if found else 0.0


@lru_cache(maxsize=4096)
def gpu_count(tres: str) -> int:
    """GPUs of a job: 2 of `cpu=8,gres/gpu=2`, `gres/gpu:a100=2` and `gpu:a100:2(IDX:0-1)`."""
    whole = _COUNT.search(tres)
    if whole:
        return int(whole[1])
    return sum(int(found) for found in _TYPED.findall(tres))


def gpu_model(tres: str) -> str:
    """`a100` of `gres/gpu:a100=2`; empty where no model is told, or several are."""
    models = set(_MODEL.findall(tres))
    return models.pop() if len(models) == 1 else ""


@lru_cache(maxsize=4096)
def gpu_index(tres: str) -> frozenset[int]:
    """Which GPUs of its node, where that is told: 0 and 2 of `gpu:a100:2(IDX:0,2)`."""
    found: set[int] = set()
    for text in _INDEX.findall(tres):
        for part in filter(None, text.split(",")):
            first, _, last = part.partition("-")
            if first.isdigit() and (last or first).isdigit():
                found.update(range(int(first), min(int(last or first), int(first) + 1023) + 1))
    return frozenset(found)
