"""`[twin]`: the files of a site's Slurm, and what is asked of a machine made like it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from wattline.model.fields import FileName, Number, Seconds, Section, Watts, Whole

MOST_WATTS = 1e6
PartWatts = Annotated[Watts, Field(ge=0, le=MOST_WATTS)]
FILES = ("slurm_conf", "gres", "topology", "assoc", "qos", "down", "reservations")
"""Fields that are names of files."""


class AddNodesSection(Section):
    """So many more nodes like one that is there, in the same partitions."""

    like: str
    count: Whole = Field(ge=1, le=100_000)


class NodePowerSection(Section):
    """Watts of the parts of some nodes; what is not said is that of the other nodes."""

    nodes: str
    """As a host list: "cn[001-100]"."""
    idle_w: PartWatts | None = None
    cpu_w: PartWatts | None = None
    gres_w: dict[str, PartWatts] = Field(default_factory=dict)
    """By kind of device: "gpu:a100" = 350, or "gpu" = 300."""


class ReservationSection(Section):
    """Nodes kept for some users or accounts, or for nobody (maintenance), for a time."""

    name: str
    nodes: str
    """As a host list: "cn[001-100]", or "ALL"."""
    start: str | Number
    """A date, or seconds from the first submission."""
    end: str | Number | None = None
    users: tuple[str, ...] = ()
    accounts: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    """As Slurm has them: "MAINT", "IGNORE_JOBS", "OVERLAP"."""


class TwinSection(Section):
    """The machine is that of `slurm_conf` and the files beside it; the jobs are `trace.file`."""

    slurm_conf: FileName
    gres: FileName | None = None
    """gres.conf."""
    topology: FileName | None = None
    """topology.conf or topology.yaml."""
    assoc: FileName | None = None
    """A dump, a script or a table of sacctmgr: accounts, users, limits, QOS."""
    qos: FileName | None = None
    """`sacctmgr show qos -P`, where `assoc` does not have them."""
    down: FileName | None = None
    """`sacctmgr show event -P`: nodes that were down or drained."""
    reservations: FileName | None = None
    """`scontrol show reservation`."""
    reservation: tuple[ReservationSection, ...] = ()
    """The same, or what-ifs, written here."""
    log: Literal["sacct", "events", "table"] | None = None
    """What `trace.file` is; without it its beginning says it."""
    idle_w: PartWatts | None = None
    """Of a node without jobs."""
    cpu_w: PartWatts | None = None
    """Added by each CPU in use."""
    gpu_w: PartWatts | None = None
    """Added by each GPU in use."""
    gres_w: dict[str, PartWatts] = Field(default_factory=dict)
    """The same by kind of device: "gpu:a100" = 350."""
    power: tuple[NodePowerSection, ...] = ()
    """The same for some nodes, where not all are alike."""
    add_nodes: AddNodesSection | None = None
    settings: dict[str, str | Number] = Field(default_factory=dict)
    """Settings of slurm.conf to try instead of its own, by their names there; of
    `SchedulerParameters` the options that change, with a minus before those to take away."""
    phase_s: Seconds = Field(0.0, ge=0)
    """By how much the scheduler's loop is shifted against the submissions."""
    understood: tuple[str, ...] = ()
    """Written by `wattline twin make`, for whoever reads the file."""
    assumed: tuple[str, ...] = ()
    not_modelled: tuple[str, ...] = ()
