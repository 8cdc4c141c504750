"""The mixed cluster of the energy-claims work: three nodes, two loads, and what was published."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wattline.model.jobs import JobTable
from wattline.model.machine import Machine, NodeClass, NodeGroup
from wattline.physics.claims import Claim, ClaimBook, ClaimSetting

CLASSES = ("xeon", "odroid-c1", "odroid-c2")
"""In the order in which the unmodified resource manager takes them."""

LOADS: dict[str, tuple[tuple[str, ...], ...]] = {
    # Three submitting threads each; a thread submits its next job when the one before has ended.
    "sz-load": (("EP.A",), ("MG.A",), ("CG.A",) * 16),
    "mz-load": (("BT-MZ.W",) * 2, ("LU-MZ.A",) * 2, ("BT-MZ.W",)),
}


@dataclass(frozen=True)
class Published:
    """What the document reports for a load under a manager."""

    time_s: float
    energy_j: float
    edp_js: float
    """Energy times delay, printed as kJ/s."""
    nodes: tuple[tuple[str, ...], ...]
    """Class of node of each job, by thread."""


PUBLISHED: dict[tuple[str, str], Published] = {
    ("sz-load", "default"): Published(
        20.68, 797.04, 16_480.0, (("xeon",), ("odroid-c1",), ("odroid-c2", *("xeon",) * 15))),
    ("sz-load", "energy"): Published(
        15.28, 544.72, 8_320.0, (("odroid-c2",), ("odroid-c1",), ("xeon",) * 16)),
    ("mz-load", "default"): Published(
        260.3, 4912.99, 1_278_850.0, (("xeon",) * 2, ("odroid-c1", "xeon"), ("odroid-c2",))),
    ("mz-load", "energy"): Published(
        19.2, 771.35, 14_810.0, (("odroid-c2",) * 2, ("xeon",) * 2, ("odroid-c1",))),
}

BOARD_IDLE_W = 2.0
"""Assumed for both boards. The document prints no idle power; its lowest mean power under load is
2.35 W (C1+) and 4.41 W (C2), so idle lies below that, and the totals hardly depend on it."""


def claim_of(book: ClaimBook, application: str, node_class: str, *, capped: bool) -> Claim:
    """The claim with the wanted cap, or the only one where a class has no capped setting."""
    found = [c for c in book.of(application) if c.node_class == node_class]
    return next(c for c in found if np.isfinite(c.setting.cap_w) == capped or len(found) == 1)


def inferred_xeon_idle_w(book: ClaimBook) -> float:
    """Idle power of the Xeon node that explains the four published totals best.

    Each total is the energy of the jobs plus idle power times the time that each node waited, by
    the published node of each job and the published time of the whole. Least squares of the
    relative errors; the boards' idle power is assumed.
    """
    rows = []
    for (load, manager), seen in PUBLISHED.items():
        idle_s = dict.fromkeys(CLASSES, seen.time_s)
        active_j = 0.0
        for jobs, nodes in zip(LOADS[load], seen.nodes, strict=True):
            for application, node in zip(jobs, nodes, strict=True):
                claim = claim_of(book, application, node, capped=manager == "energy")
                idle_s[node] -= claim.time_s
                active_j += claim.energy_j
        boards_j = BOARD_IDLE_W * (idle_s["odroid-c1"] + idle_s["odroid-c2"])
        rows.append((idle_s["xeon"], seen.energy_j - active_j - boards_j, seen.energy_j))
    seconds, joules, total = np.array(rows).T
    return float(np.sum(seconds * joules / total**2) / np.sum((seconds / total) ** 2))


def machine(
    xeon_idle_w: float, counts: tuple[int, ...] = (1, 1, 1), gpu_nodes: int = 0
) -> Machine:
    """So many nodes of each class; jobs take whole nodes, so a node counts as one processor.

    The most that a node draws is the highest mean power in the tables, rounded up. A GPU node is
    our addition: see `gpu_claims`.
    """
    kinds = [
        NodeClass("xeon", power_w_idle=xeon_idle_w, power_w_active=80.0),
        NodeClass("odroid-c1", power_w_idle=BOARD_IDLE_W, power_w_active=4.5),
        NodeClass("odroid-c2", power_w_idle=BOARD_IDLE_W, power_w_active=6.0),
    ]
    groups = [NodeGroup(kind, count) for kind, count in zip(kinds, counts, strict=True)]
    if gpu_nodes:
        gpu = NodeClass("gpu", power_w_idle=GPU_IDLE_W, power_w_active=GPU_W)
        groups.append(NodeGroup(gpu, gpu_nodes))
    return Machine(tuple(groups), name="mixed")


GPU_IDLE_W, GPU_W, GPU_SPEED = 40.0, 250.0, 6.0
GPU_APPLICATIONS = ("CG.A", "EP.A", "FT.A", "MG.A")


def gpu_claims(book: ClaimBook) -> list[Claim]:
    """Assumed, not measured: four kernels on a GPU node, six times as fast as the Xeon, 250 W.

    They only show that a class of node with accelerators needs no rule of its own.
    """
    found = []
    for application in GPU_APPLICATIONS:
        xeon = claim_of(book, application, "xeon", capped=False)
        time_s = xeon.time_s / GPU_SPEED
        found.append(Claim(application, "gpu", ClaimSetting(), time_s, GPU_W * time_s, runs=1))
    return found


def load_jobs(load: str, gap_s: float) -> JobTable:
    """The jobs of a load: the next of a thread is submitted when the one before has ended."""
    rows = [(place, thread, application) for thread, jobs in enumerate(LOADS[load])
            for place, application in enumerate(jobs)]
    rows.sort(key=lambda row: row[:2])
    at = {(place, thread): row for row, (place, thread, _) in enumerate(rows)}
    names = tuple(dict.fromkeys(name for _, _, name in rows))
    count = len(rows)
    return JobTable.build(
        submit_s=np.zeros(count), run_s=np.ones(count), procs=np.ones(count, dtype=np.int64),
        application=[names.index(name) for _, _, name in rows],
        after_job=[at.get((place - 1, thread), -1) for place, thread, _ in rows],
        think_s=[gap_s if place else 0.0 for place, _, _ in rows],
        user=[thread for _, thread, _ in rows],
        names={"application": names},
    )


def batch(seed: int, book: ClaimBook, count: int) -> tuple[JobTable, list[str], list[int]]:
    """A larger batch at once: all benchmarks, one to four nodes, in a random order."""
    rng = np.random.default_rng(seed)
    names = book.applications
    code = rng.integers(0, len(names), count)
    nodes = rng.choice([1, 2, 4], count, p=[0.7, 0.2, 0.1])
    jobs = JobTable.build(
        submit_s=np.sort(rng.uniform(0, 0.2 * count, count)), run_s=np.ones(count), procs=nodes,
        application=code, names={"application": names},
    )
    return jobs, [names[c] for c in code], nodes.tolist()


def distorted(book: ClaimBook, seed: int) -> list[Claim]:
    """Claims that are off by a factor of two either way, at random."""
    rng = np.random.default_rng(seed + 2)
    return [
        Claim(c.application, c.node_class, c.setting, c.time_s * float(a), c.energy_j * float(b), 1)
        for c in book for a, b in [rng.choice([0.5, 2.0], 2)]
    ]
