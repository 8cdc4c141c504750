"""What a plan is asked with: few fields, each with its range; nothing names a file."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, field_validator

from wattline.model.fields import Fraction, Number, Watts, Whole

MOST_CONFIGURED_NODES = 100_000
MOST_PLACED_JOBS = 64
MOST_PLACED_NODES = 4096
MOST_SERVERS = 400
Word = Annotated[str, Field(max_length=64, pattern=r"^[A-Za-z0-9 ._+-]+$")]
Hosts = Annotated[str, Field(max_length=4000, pattern=r"^[A-Za-z0-9,\[\]._-]*$")]


class RequestBody(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False,
                              use_attribute_docstrings=True)

    def fields(self) -> dict[str, Any]:
        """What was said, and nothing else."""
        return self.model_dump(mode="json", exclude_none=True)


class Configure(RequestBody):
    """The configuration space of an application of the shipped models under a bound."""

    application: Word
    power_w: Watts = Field(gt=0)
    nodes: Whole | None = Field(None, ge=1, le=MOST_CONFIGURED_NODES)
    node_power_w_max: Watts | None = Field(None, gt=0)
    margin: Fraction = Field(0.0, ge=0, le=1)
    base_power_w: Watts | None = Field(None, ge=0)
    """Power of a running node beside the packages and memory that the models know."""
    node_idle_w: Watts | None = Field(None, ge=0)
    """Of each of the nodes that a configuration does not use."""
    supply_efficiency: Fraction | None = Field(None, gt=0, le=1)


class Procure(RequestBody):
    """Fewer new nodes or more older ones; times by a line or by an application's best times."""

    budget_power_w: Watts = Field(gt=0)
    node_power_w_max: Watts = Field(gt=0)
    node_power_w_min: Watts = Field(gt=0)
    speed_ratio: Fraction = Field(ge=0, lt=1)
    cost_ratio: Number | None = Field(None, gt=1, le=1000)
    rack: tuple[Number, Number, Number, Number] | None = None
    """Nodes of a rack, its cost, that of a new and of an old node."""
    rack_nodes: Whole | None = Field(None, ge=1, le=MOST_CONFIGURED_NODES)
    scaling: Word | tuple[Number, Number] | None = None
    application: Word | None = None
    shape: Literal["times", "line"] | None = None
    nodes_valid: Whole | None = Field(None, ge=1, le=MOST_CONFIGURED_NODES)
    base_power_w: Watts | None = Field(None, ge=0)
    """With an application: what an older node draws beside packages and memory."""
    supply_efficiency: Fraction | None = Field(None, gt=0, le=1)


class BidAsked(RequestBody):
    """A regulation contract of a published workload: which bid, and what the others would cost."""

    workload: Word = "W4"
    servers: Whole = Field(100, ge=1, le=MOST_SERVERS)
    method: Literal["grid", "closed_form", "empirical", "descent", "heuristic", "range"] = "grid"
    """Which bids are tried: a grid of them, or those of a search by `wattline bid`."""
    policy: Literal["aqa", "qosg", "qoscap", "energyqare", "tracking"] = "aqa"
    utilisation: Fraction | None = Field(None, ge=0.01, le=1)
    level: Literal["tight", "medium", "loose"] = "medium"
    seed: Whole = Field(1, ge=0, le=10**9)
    hours: Whole = Field(2, ge=1, le=8)
    """Hours that might come, on each of which every bid is tried."""
    averages: Whole = Field(10, ge=2, le=20)
    reserves: Whole = Field(8, ge=2, le=20)
    """Of the grid: averages by reserves."""
    energy_price: Number | None = Field(None, ge=0, le=1e6)
    reserve_price: Number | None = Field(None, ge=0, le=1e6)
    error_price: Number | None = Field(None, ge=0, le=1e6)
    """Per kWh and kW for an hour; what is not given is assumed, and said."""


class PlacedJobAsked(RequestBody):
    name: Word | None = None
    nodes: Whole = Field(ge=1, le=MOST_PLACED_NODES)
    count: Whole = Field(1, ge=1, le=MOST_PLACED_JOBS)
    pattern: Literal["all-to-all", "broadcast", "fft3d", "halo2d", "halo3d", "halo3d26"] = (
        "all-to-all")
    message_bytes: Number = Field(1024.0, gt=0, le=1e12)
    tasks_per_node: Whole | None = Field(None, ge=1, le=64)
    application: Word | None = None
    sensitive: StrictBool | None = None


class Place(RequestBody):
    """Jobs on an empty network of the package."""

    machine: Word = "dragonfly-272"
    placement: Word | None = None
    routing: Word = "adaptive"
    mapping: Word = "random"
    seed: Whole = Field(1, ge=0, le=10**9)
    jobs: tuple[PlacedJobAsked, ...] = Field(min_length=1, max_length=MOST_PLACED_JOBS)

    @field_validator("jobs")
    @classmethod
    def _not_too_large(cls, jobs: tuple[PlacedJobAsked, ...]) -> tuple[PlacedJobAsked, ...]:
        tasks = sum(each.nodes * each.count * (each.tasks_per_node or 1) for each in jobs)
        if tasks > 4 * MOST_PLACED_NODES:
            raise ValueError(f"they have {tasks:,} tasks together; at most "
                             f"{4 * MOST_PLACED_NODES:,} are placed here")
        return jobs


class ChooseNodes(RequestBody):
    """Nodes for one job on a network of the package of which some are busy."""

    machine: Word = "dragonfly-272"
    size: Whole = Field(ge=1, le=MOST_CONFIGURED_NODES)
    placement: Word | None = None
    free: Hosts | None = None
    busy: Hosts | None = None
    sensitive: StrictBool = True
    seed: Whole = Field(1, ge=0, le=10**9)
