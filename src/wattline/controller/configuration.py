"""What a controller is told of its site: a small TOML file."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, ValidationError

from wattline.model.errors import InputError
from wattline.model.fields import Choice, FileName, Seconds, Section, Watts
from wattline.model.mistakes import first_mistake
from wattline.model.reading import read_toml
from wattline.model.units import parse_hosts


class Policies(Section):
    """Along each axis, as in a scenario's `[policy]`."""

    order: Choice = "fcfs"
    backfill: Choice = "easy"
    power: Choice = "block"
    placement: Choice = "first-fit"


class SiteConfig(Section):
    """The nodes, what they draw, the cap, and who decides."""

    nodes: str
    """As a host list; the order is that in which first-fit takes them."""
    node_idle_w: Watts = Field(ge=0)
    node_active_w: Watts = Field(gt=0)
    """With a job that says nothing of its power (licences called `watts`)."""
    cap: Watts = Field(gt=0)
    partitions: tuple[str, ...] = ()
    """Those whose jobs are started from here; jobs of others are counted. Empty: all."""
    slurm_conf: FileName = ""
    folder: FileName = "wattline-controller"
    """Where journals lie, and the lock that keeps a second controller away."""
    cycle: Seconds = Field(default=0.5, gt=0, le=60)
    policy: Policies = Policies()

    @property
    def node_names(self) -> list[str]:
        return list(parse_hosts(self.nodes))

    @property
    def environment(self) -> dict[str, str]:
        return {"SLURM_CONF": self.slurm_conf} if self.slurm_conf else {}


def read_configuration(path: str | Path) -> SiteConfig:
    """Read a site's file; names of files in it are relative to its folder."""
    found = read_toml(path)
    base = Path(path).resolve().parent
    for name in ("slurm_conf", "folder"):
        if isinstance(found.get(name), str) and found[name]:
            found[name] = str(base / found[name])
    if "folder" not in found:
        found["folder"] = str(base / "wattline-controller")
    try:
        site = SiteConfig.model_validate(found)
    except ValidationError as error:
        raise InputError(f"{path}: {first_mistake(error, SiteConfig)}") from None
    if site.node_active_w < site.node_idle_w:
        raise InputError(f"{path}: node_active_w ({site.node_active_w:g} W) is below node_idle_w "
                         f"({site.node_idle_w:g} W)")
    try:
        names = site.node_names
    except InputError as error:
        raise InputError(f"{path}: nodes: {error}") from None
    if len(set(names)) < len(names):
        raise InputError(f"{path}: nodes: {max(names, key=names.count)} is named twice")
    return site
