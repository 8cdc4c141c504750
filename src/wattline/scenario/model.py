"""A scenario: everything that a simulation needs, as one validated TOML file.

Unknown fields and impossible values are errors that name the file, the field and what would be
right. Numbers are SI; where a person types them, `1.4MW`, `90m` or `70%` are understood too.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    ValidationInfo,
    field_validator,
    model_validator,
)

from wattline.model.errors import InputError
from wattline.model.fields import (
    MOST_WEIGHT,
    Choice,
    Fraction,
    FreeTable,
    Name,
    Number,
    Seconds,
    Section,
    Watts,
    Whole,
)
from wattline.model.local_time import name_of_zone
from wattline.model.machine import MOST_CORES, MOST_NODES, MOST_SPEED, NodeClass
from wattline.model.mistakes import shown
from wattline.policies.declaration import REGULATION
from wattline.policies.registry import check, check_installed
from wattline.scenario.contract_refusals import beside_contract, without_contract
from wattline.scenario.contract_section import ContractSection
from wattline.scenario.parameters import generator_parameters
from wattline.scenario.times import Ahead, UnixStart
from wattline.scenario.twin.beside import SLURM, beside_twin, without_twin
from wattline.scenario.twin.section import TwinSection
from wattline.traces.frames import is_table, rows_of

MOST_UNIX_S = 250_000_000_000
"""In the year 9892; dates end with the year 9999."""
LEAST_LEVEL = 0.01
MOST_NAMES = 4_000_000
"""Characters of a host list; names without any order need some ten each."""


class TraceSection(Section):
    """Where the jobs come from: a log (`file`) or a generator (`generate`)."""

    file: Path | None = None
    generate: str | None = None
    seed: Whole = Field(1, ge=0)
    jobs: Whole | None = Field(None, ge=1)
    parameters: FreeTable = Field(default_factory=dict)
    """Further parameters of the generator."""
    map: str | None = None
    """Column map for tables: a built-in name or a file."""
    size: Literal["requested", "allocated"] = "requested"
    strict: StrictBool = False
    drop_larger: StrictBool = False
    """Jobs larger than the machine are left out; otherwise one is a mistake."""
    zone: Annotated[str, AfterValidator(name_of_zone)] | None = None
    """Zone of times without an offset, in the log and in files beside it (prices, nodes that were
    down): Europe/Berlin, or `local` for this machine's. UTC without it."""
    unix_start_s: UnixStart | None = Field(None, ge=0, le=MOST_UNIX_S)
    """Date or Unix time of second 0, where the log says none; filled in when the log is read."""

    @model_validator(mode="after")
    def _one_source(self) -> TraceSection:
        if (self.file is None) == (self.generate is None):
            raise ValueError("give either 'file' (a log) or 'generate' (a generator's name)")
        if self.generate is not None:
            generator_parameters(self.generate, self.parameters)
        return self


class NodeClassSection(Section):
    name: Name = "node"
    count: Whole = Field(ge=1, le=MOST_NODES)
    cores: Whole = Field(1, ge=1, le=MOST_CORES)
    sockets: Whole = Field(1, ge=1, le=MOST_CORES)
    idle_w: Watts | None = Field(None, ge=0)
    active_w: Watts | None = Field(None, ge=0)
    """Powers that are not given are assumed, and the run says so."""
    off_w: Watts = Field(0.0, ge=0)
    boot_s: Seconds = Field(0.0, ge=0)
    boot_w: Watts = Field(0.0, ge=0)
    shutdown_s: Seconds = Field(0.0, ge=0)
    shutdown_w: Watts = Field(0.0, ge=0)
    speed: Number = Field(1.0, ge=1 / MOST_SPEED, le=MOST_SPEED)
    nodes_per_rack: Whole | None = Field(None, ge=1, le=MOST_NODES)


class MachineSection(Section):
    """`nodes` equal nodes, or `classes` of nodes. Without either the log's header says how many."""

    name: Name = "system"
    site: Name = "site"
    nodes: Whole | None = Field(None, ge=1, le=MOST_NODES)
    cores_per_node: Whole | None = Field(None, ge=1, le=MOST_CORES)
    """Without it what the log's header says, else 1."""
    node_idle_w: Watts | None = Field(None, ge=0)
    """Without it, power.idle_fraction of node_active_w."""
    node_active_w: Watts | None = Field(None, ge=0)
    node_off_w: Watts = Field(0.0, ge=0)
    node_base_w: Watts | None = Field(None, ge=0)
    """Of a busy node beside the devices whose watts a table of configurations has."""
    supply_efficiency: Fraction | None = Field(None, gt=0, le=1)
    """Power that nodes get, as a part of what their supplies take; for such tables too."""
    nodes_per_rack: Whole | None = Field(None, ge=1, le=MOST_NODES)
    """Without it, all nodes stand in one rack."""
    node_names: Annotated[str, Field(max_length=MOST_NAMES)] | None = None
    """A host list like `cn[01-64]`, by number; without it n0, n1, and so on."""
    granularity: Literal["node", "core"] = "node"
    classes: tuple[NodeClassSection, ...] = ()

    @model_validator(mode="after")
    def _one_way(self) -> MachineSection:
        if self.nodes is not None and self.classes:
            raise ValueError("give either 'nodes' or 'classes', not both")
        active_w = self.node_active_w
        if active_w is None:
            active_w = NodeClass().power_w_active
        if self.node_idle_w is not None and active_w < self.node_idle_w:
            assumed = ", which is assumed: give it too" if self.node_active_w is None else ""
            raise ValueError(f"node_active_w ({active_w:g}{assumed}) must not be below "
                             f"node_idle_w ({self.node_idle_w:g})")
        return self


class PolicySection(Section):
    """One choice along each axis; `wattline policies` lists them."""

    order: Choice = "fcfs"
    backfill: Choice = "easy"
    power: Choice = "none"
    configure: Choice = "requested"
    placement: Choice = "counted"
    regulation: Choice | None = None
    """How a contract is kept; it needs `[contract]`."""
    python: str | None = None
    """`module:Class` of a policy written in Python, instead of the axes."""
    overrun: Literal["extend", "kill"] = "extend"
    """Jobs that reach their requested time run on, or are killed."""

    @field_validator("order", "backfill", "power", "configure", "placement")
    @classmethod
    def _parameters(cls, choice: Choice, info: ValidationInfo) -> Choice:
        if info.field_name != "backfill" or choice != SLURM:  # a twin's own: no kernel has it
            check(str(info.field_name), choice)
        return choice

    @field_validator("regulation")
    @classmethod
    def _keeps_contracts(cls, choice: Choice | None) -> Choice | None:
        if choice is not None:
            check_installed(REGULATION, choice, {"auto": "aqa"})
        return choice


class CapStep(Section):
    time_s: Ahead
    watts: Watts = Field(ge=0)


class CapChange(Section):
    """From a time on the cap is another; nobody knows of it before."""

    at_s: Ahead = Field(alias="at")
    watts: Watts = Field(gt=0)

    model_config = ConfigDict(populate_by_name=True)


class CapReservation(Section):
    """So many watts are kept from the jobs in a window that is known in advance."""

    start_s: Ahead = Field(alias="start")
    duration_s: Seconds = Field(alias="duration", gt=0)
    watts: Watts = Field(gt=0)
    name: Name = ""

    model_config = ConfigDict(populate_by_name=True)


class CapPlan(Section):
    """`[power.cap]` as a table: from the start, changed at a time, reserved in advance."""

    watts: Watts | None = Field(None, gt=0)
    changes: tuple[CapChange, ...] = ()
    reservations: tuple[CapReservation, ...] = ()
    floor_w: Watts = Field(0.0, ge=0)
    change_rate_w_per_s: Watts = Field(0.0, ge=0)


def _as_steps(given: Any) -> Any:
    """A table of pandas or Arrow holds a row per step, and a list nothing but steps."""
    if is_table(given):
        try:
            return rows_of(given)
        except InputError as error:
            raise ValueError(str(error)) from None
    plain = given.tolist() if hasattr(given, "tolist") else given  # of numpy
    if isinstance(plain, list | tuple) and not all(
            isinstance(step, CapStep | Mapping) for step in plain):
        raise ValueError("a list holds steps, each with time_s and watts (it is "
                         f"{shown(plain)}); a cap that stays is one number")
    return plain


Cap = Annotated[Number | str | tuple[CapStep, ...] | CapPlan | None, BeforeValidator(_as_steps)]
WatchCap = Annotated[Number | str | tuple[CapStep, ...] | None, BeforeValidator(_as_steps)]


class PowerSection(Section):
    """The power limit and how jobs answer to frequency."""

    cap: Cap = None
    """Watts; per cent of rated power (`70%`), of the peak (`70%peak`) or a percentile (`70%p99`) of
    the run without a cap; a CSV file; a list of steps; a plan; or `none`."""
    watch_cap: WatchCap = None
    """The same without the plan: power is measured against it, and nothing keeps it."""
    cap_counts: Literal["machine", "jobs"] = "machine"
    """What a cap limits: all power, idle nodes too, or running jobs only (block, wait, dvfs)."""
    alpha: Number = Field(2.0, ge=1.0, le=3.0)
    beta: Number = Field(0.5, ge=0.0, le=2.0)
    core_share: Fraction = Field(0.65, ge=0.0, le=1.0)
    idle_fraction: Fraction | None = Field(None, ge=0.0, le=1.0)
    """Idle power as a part of the active power of a node, where node_idle_w is not given; 0.3."""
    levels: tuple[Number, ...] = Field((0.5, 0.6, 0.7, 0.8, 0.9, 1.0), max_length=1000)
    """Relative frequencies that processors can run at, from slow to fast."""
    latency_s: Seconds = Field(0.0, ge=0)
    wait_time_s: Seconds = Field(30_000.0, ge=0)
    wait_slots: Whole = Field(10, ge=0)

    @field_validator("cap", "watch_cap")
    @classmethod
    def _steps_rise(cls, cap: Any) -> Any:
        if isinstance(cap, CapPlan) and not cap.model_fields_set:
            raise ValueError('the table is empty and caps nothing; give watts, or write "none"')
        for earlier, later in pairwise(cap if isinstance(cap, tuple) else ()):
            if isinstance(later.time_s, datetime) or isinstance(earlier.time_s, datetime):
                continue  # compared on the clock of the run, where that is known
            if not later.time_s > earlier.time_s:
                raise ValueError(
                    f"its steps must rise in time; {later.time_s:g} s comes after "
                    f"{earlier.time_s:g} s"
                )
        return cap

    @model_validator(mode="after")
    def _one_cap(self) -> PowerSection:
        given = [cap for cap in (self.cap, self.watch_cap) if cap not in (None, "none")]
        if len(given) > 1:
            raise ValueError("give either 'cap', which is kept, or 'watch_cap', which is measured")
        return self

    @field_validator("levels")
    @classmethod
    def _levels_rise(cls, levels: tuple[float, ...]) -> tuple[float, ...]:
        rising = all(low < high for low, high in pairwise(levels))
        if not levels or not rising or not levels[0] >= LEAST_LEVEL or not levels[-1] <= 1:
            raise ValueError(
                f"must be a list of relative frequencies that rise, from {LEAST_LEVEL} on up to 1"
            )
        return levels


class ReservationSection(Section):
    start_s: Ahead
    duration_s: Seconds = Field(gt=0)
    nodes: Whole = Field(0, ge=0)
    watts: Watts = Field(0.0, ge=0)
    name: Name = ""


class Scenario(Section):
    """The whole file.

    >>> import wattline as wl
    >>> scenario = wl.Scenario(trace={"generate": "lublin", "jobs": 20}, machine={"nodes": 32})
    >>> len(wl.simulate(scenario).jobs())
    20
    """

    name: Name = "scenario"
    trace: TraceSection
    machine: MachineSection = MachineSection.unset()
    policy: PolicySection = PolicySection.unset()
    power: PowerSection = PowerSection.unset()
    reservations: tuple[ReservationSection, ...] = ()
    shares: dict[str, Annotated[Number, Field(le=MOST_WEIGHT)]] = Field(default_factory=dict)
    """Shares of users, by name or number, for the order `multifactor`; made to sum to 1."""
    signals: dict[str, str] = Field(default_factory=dict)
    """Files of step functions that a policy written in Python is shown, by name."""
    network: FreeTable | None = None
    """The interconnect, for placements that know it; see docs/network.md."""
    contract: ContractSection | None = None
    """A contract with the grid; see docs/demand-response.md."""
    twin: TwinSection | None = None
    """A machine with shared nodes as its site's Slurm has it; see docs/twin.md."""

    @model_validator(mode="after")
    def _contract_has_its_own(self) -> Scenario:
        said = without_twin(self) if self.twin is None else beside_twin(self)
        if not said:
            said = without_contract(self) if self.contract is None else beside_contract(self)
        if said:
            raise ValueError(said)
        return self
