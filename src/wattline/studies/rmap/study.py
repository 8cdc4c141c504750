"""The evaluation of RMAP: six policies, six bounds, four traces, on measured configurations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from wattline.engine.prepare import Rules
from wattline.engine.simulate import simulate
from wattline.model.errors import InputError
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine, NodeClass
from wattline.model.run import Run
from wattline.model.signal import FloatArray, Signal
from wattline.physics.configurations import ConfigurationTable
from wattline.physics.devices import rate_node
from wattline.physics.dimensions import is_cap
from wattline.policies.admission.lending import Lending, LendingMemory
from wattline.policies.backfill.easy import Easy
from wattline.policies.configuration.moldable import Moldable, adaptive, naive, traditional
from wattline.policies.configuration.offers import Offers, make_offers
from wattline.policies.contract import Composition
from wattline.policies.order.fcfs import Fcfs
from wattline.policies.placement.counted import Counted
from wattline.policies.regulation.none import NoRegulation
from wattline.studies.rmap.filling import fill_tables
from wattline.studies.rmap.set_up import USUAL, SetUp
from wattline.studies.rmap.workloads import KINDS, make_trace

PEAK_W_PER_NODE = 2 * 115.0
"""The study's bounds are parts of two packages at their thermal limit on every node."""


def peak_w_per_node(tables: Mapping[str, ConfigurationTable]) -> float:
    """What bounds are parts of: the devices of a node at the highest caps of any table."""
    rated = [rate_node(table) for table in tables.values()]
    return max((one.devices_w_max for one in rated if one.devices), default=PEAK_W_PER_NODE)


BOUNDS = (0.44, 0.54, 0.68, 0.82, 0.95, 1.0)

# For each policy how it configures jobs (holding their shares or not), and whether it lends.
POLICIES: Mapping[str, tuple[Callable[[Offers, int], Moldable], int]] = {
    "traditional": (lambda offers, holds: traditional(offers), 0),
    "naive": (naive, 0),
    "adaptive_0": (lambda offers, holds: adaptive(offers, 0.0, holds), 0),
    "adaptive_10": (lambda offers, holds: adaptive(offers, 0.1, holds), 0),
    "adaptive_20": (lambda offers, holds: adaptive(offers, 0.2, holds), 0),
    "adaptive_30": (lambda offers, holds: adaptive(offers, 0.3, holds), 0),
    "adaptive_unbounded": (lambda offers, holds: adaptive(offers, np.inf, holds), 0),
    "adaptive_0_lending": (lambda offers, holds: adaptive(offers, 0.0, holds), 1),
}
PUBLISHED_POLICIES = tuple(name for name in POLICIES
                           if name not in ("adaptive_20", "adaptive_0_lending"))
USUAL_POLICIES = tuple(name for name in POLICIES if name != "adaptive_20")
"""A threshold of 20 % is published of single jobs alone."""


@dataclass(frozen=True)
class RmapSetting:
    """What is varied, and over how many seeds."""

    nodes: int = 32
    bounds: Sequence[float] = BOUNDS
    policies: Sequence[str] = USUAL_POLICIES
    traces: Sequence[str] = tuple(KINDS)
    seeds: Sequence[int] = tuple(range(1, 21))
    jobs: int = 30
    load: float = 0.7
    set_up: SetUp = USUAL

    def __post_init__(self) -> None:
        unknown = [name for name in self.policies if name not in POLICIES]
        if unknown:
            raise InputError(f"there is no policy '{unknown[0]}'; known are: {', '.join(POLICIES)}")
        if self.nodes < 1 or self.jobs < 1 or not self.seeds:
            raise InputError("the study needs at least one node, one job and one seed")
        if not self.bounds or any(not 0 < bound <= 10 for bound in self.bounds):
            raise InputError("bounds are parts of the peak, like 0.44 or 95%")


class Figures(NamedTuple):
    """What one simulation is judged by."""

    turnaround_s: float
    wait_s: float
    run_s: float
    power_use: float
    """Mean power over the bound, from the first submission to the last end."""


@dataclass(frozen=True, eq=False)
class RmapResult:
    """Figures by trace, bound, policy and seed."""

    setting: RmapSetting
    applications: tuple[str, ...]
    figures: FloatArray
    """Axes: trace, bound, policy, seed, figure."""
    peak_w: float = field(default=0.0)
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Applications whose tables cannot make the traces, and why."""
    notes: tuple[str, ...] = ()
    """What must be known of the tables that were used."""

    def of(self, figure: str, trace: str, bound: float, policy: str) -> FloatArray:
        """One figure of every seed."""
        place = (list(self.setting.traces).index(trace), list(self.setting.bounds).index(bound),
                 list(self.setting.policies).index(policy))
        values: FloatArray = self.figures[place][:, Figures._fields.index(figure)]
        return values


class ReadyTables(NamedTuple):
    """The tables that a study runs on, and what must be said of them."""

    tables: dict[str, ConfigurationTable]
    left_out: dict[str, str]
    """Applications whose tables cannot make the traces, and why."""
    notes: tuple[str, ...]


def ready_tables(
    tables: Mapping[str, ConfigurationTable], setting: RmapSetting
) -> ReadyTables:
    """Tables that can make the traces, filled in where the set-up says so."""
    usable, left_out = split_tables(tables, setting.nodes)
    used = fill_tables(usable, setting.nodes) if setting.set_up.fill else usable
    notes = notes_of(used)
    if setting.set_up.fill and all(used[name] is usable[name] for name in used):
        notes += ("no table lacks node counts, so that none was filled in",)
    return ReadyTables(used, left_out, notes)


def notes_of(tables: Mapping[str, ConfigurationTable]) -> tuple[str, ...]:
    """What must be known of the tables, by application."""
    return tuple(f"{name}: {table.note}" for name, table in tables.items() if table.note)


def study(
    tables: Mapping[str, ConfigurationTable], setting: RmapSetting,
    progress: Callable[[float], None] = lambda fraction: None,
) -> RmapResult:
    """Simulate every combination."""
    usable, left_out, notes = ready_tables(tables, setting)
    peak_w = setting.nodes * peak_w_per_node(usable)
    shape = (len(setting.traces), len(setting.bounds), len(setting.policies), len(setting.seeds))
    figures = np.zeros((*shape, len(Figures._fields)))
    for t, kind in enumerate(setting.traces):
        for s, seed in enumerate(setting.seeds):
            jobs = make_trace(kind, list(usable.values()), setting.nodes, seed, jobs=setting.jobs,
                              load=setting.load, request=setting.set_up.request)
            offers = make_offers(jobs, usable)
            for b, bound in enumerate(setting.bounds):
                for p, policy in enumerate(setting.policies):
                    bound_w = bound * peak_w
                    figures[t, b, p, s] = judge(run_one(
                        jobs, offers, setting.nodes, bound_w, policy, setting.set_up))
            progress((t * shape[3] + s + 1) / (shape[0] * shape[3]))
    return RmapResult(setting, tuple(usable), figures, peak_w, left_out, notes)


def run_one(
    jobs: JobTable, offers: Offers, nodes: int, bound_w: float, policy: str,
    set_up: SetUp = USUAL,
) -> Run:
    """One simulation; only what the table of configurations counts of running jobs counts."""
    configure, lends = POLICIES[policy]
    holds = int(set_up.holds == "share")
    composition = Composition(
        Fcfs(), Easy(), Lending(offers, LendingMemory.start(), lends, holds,
                                int(set_up.backfill == "watts")),
        configure(offers, holds), Counted(), NoRegulation())
    node = NodeClass("node", power_w_idle=0.0,
                     power_w_active=max(PEAK_W_PER_NODE, bound_w / nodes))
    rules = Rules(cap_w=Signal(np.array([0.0]), np.array([bound_w]), "W"))
    run = simulate(jobs, Machine.uniform(nodes, node), composition, rules)
    stuck = np.flatnonzero(~run.ran)
    if stuck.size:
        row = int(stuck[0])
        raise InputError(
            f"under {bound_w:g} W and the policy {policy}, job {jobs.job_id[row]} "
            f"({jobs.name_of('application', int(jobs.application[row]))} on {jobs.procs[row]} "
            "nodes) never gets a configuration: the bound is too small for it"
        )
    return run


def judge(run: Run) -> Figures:
    turnaround_s = run.schedule.end_s - run.jobs.submit_s
    wait_s = run.schedule.start_s - run.jobs.submit_s
    assert run.cap_w is not None
    bound_w = float(run.cap_w.value[0])
    return Figures(
        float(turnaround_s.mean()), float(wait_s.mean()), float((turnaround_s - wait_s).mean()),
        run.energy_j / (bound_w * (run.end_s - run.start_s)),
    )


def usable_tables(
    tables: Mapping[str, ConfigurationTable], nodes: int
) -> dict[str, ConfigurationTable]:
    """Applications that have node counts for small and for large jobs of this machine."""
    return split_tables(tables, nodes)[0]


def split_tables(
    tables: Mapping[str, ConfigurationTable], nodes: int
) -> tuple[dict[str, ConfigurationTable], dict[str, str]]:
    """The tables that can make the traces, cut to the machine, and why the others cannot."""
    usable, left_out = {}, {}
    for name, table in tables.items():
        reason = _unusable(table, nodes)
        if reason:
            left_out[name] = reason
        else:
            usable[name] = table.take(table.nodes <= nodes)
    if not usable:
        raise InputError(f"no application has uncapped configurations for small and large jobs of "
                         f"a machine of {nodes} nodes; give other tables or --nodes")
    return usable, left_out


def _unusable(table: ConfigurationTable, nodes: int) -> str:
    if table.nodes.min() > nodes:
        return f"it begins at {table.nodes.min()} nodes"
    within = table.take(table.nodes <= nodes)
    caps = [values for name, values in within.settings.items() if is_cap(name)]
    if all(len(np.unique(values)) < 2 for values in caps):
        return "it has one cap only"
    packed = within.nodes[within.set_like(within.extreme(packed=True, fast=True))]
    if not packed.size:
        return "it has no configuration with all cores at the highest cap"
    if packed.max() < KINDS["large"].low * nodes:
        return f"its largest node count, {packed.max()}, is too small for large jobs"
    if packed.min() > KINDS["small"].high * nodes:
        return f"its smallest node count, {packed.min()}, is too large for small jobs"
    return ""
