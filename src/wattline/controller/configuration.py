"""What a controller is told of its site: a small TOML file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from wattline.controller.sharing.parts import SharedParts, read_parts
from wattline.live.transport.link import BrokerSettings, beside
from wattline.model.errors import InputError
from wattline.model.fields import (
    Choice,
    FileName,
    Fraction,
    Name,
    Seconds,
    Section,
    Watts,
    Whole,
)
from wattline.model.mistakes import first_mistake
from wattline.model.reading import read_toml
from wattline.model.units import fold_hosts, parse_hosts

LEASE_CYCLES = 2
"""A lease that a single slow cycle outlasts says nothing of the controller."""


class Policies(Section):
    """Along each axis, as in a scenario's `[policy]`."""

    order: Choice = "fcfs"
    backfill: Choice = "easy"
    power: Choice = "watts"
    configure: Choice = "requested"
    placement: Choice = "first-fit"


class NodeKind(Section):
    """Some of the nodes that are alike, for policies that tell classes apart."""

    name: Name
    nodes: str
    """As a host list; the classes together have the site's nodes in their order."""
    idle_w: Watts | None = Field(default=None, ge=0)
    active_w: Watts | None = Field(default=None, gt=0)
    least_w: Watts | None = Field(default=None, ge=0)
    """As for other nodes, where nothing is said."""


class NodePart(Section):
    """Nodes in one rack, or on one feed."""

    name: Name
    nodes: str
    """As a host list."""
    limit_w: Watts | None = Field(default=None, gt=0)
    """What it may carry. It is watched, by pages, alarms and metrics; nothing keeps it."""


class SiteConfig(Section):
    """The nodes, what they draw, the cap, and who decides."""

    nodes: str
    """As a host list; the order is that in which first-fit takes them."""
    node_idle_w: Watts = Field(ge=0)
    node_active_w: Watts = Field(gt=0)
    """With a job that says nothing of its power (licences called `watts`)."""
    node_least_w: Watts | None = Field(default=None, ge=0)
    """The lowest cap that a busy node can hold; its idle power where nothing is said."""
    classes: tuple[NodeKind, ...] = ()
    """Where nodes are not all alike."""
    racks: tuple[NodePart, ...] = ()
    feeds: tuple[NodePart, ...] = ()
    """Where nodes stand and what feeds them, for pages and metrics."""
    node_base_w: Watts | None = Field(default=None, ge=0)
    supply_efficiency: Fraction | None = Field(default=None, gt=0, le=1)
    """By what the watts of a table of configurations become those of the cap, as in a scenario."""
    node_off_w: Watts = Field(default=0.0, ge=0)
    """A node that is switched off, by policies that do so."""
    node_boot: Seconds = Field(default=0.0, ge=0)
    node_shutdown: Seconds = Field(default=0.0, ge=0)
    """How long booting takes, at full power, and shutting down, at idle power."""
    cap: Watts = Field(gt=0)
    """The highest that will ever hold; a file or an order may lower it."""
    cap_file: FileName = ""
    """A file with a power in it, `1.2kW`, that the cap follows."""
    target_file: FileName = ""
    target_topic: str = ""
    """A file with a power in it, or a topic of the broker, that caps of nodes follow each cycle;
    starts are admitted under the cap."""
    target_age: Seconds = Field(default=10.0, gt=0)
    """A target that was written or published longer ago holds no more."""
    target_reserve: Watts | None = Field(default=None, gt=0)
    """What a contract counts errors against."""
    mode: Literal["decide", "guard"] = "decide"
    """`decide`: held jobs are started from here. `guard`: Slurm starts them, under watts as
    licences; caps and meters are kept from here."""
    mark: str = "wattline"
    """The word with which a comment of a job begins that is ours to start; empty: every job."""
    when_short: Literal["", "suspend", "requeue"] = ""
    """What may be done to the jobs that came last, where the caps of nodes are not enough."""
    when_stopped: Literal["held", "guard"] = "held"
    """At a clean stop, waiting jobs stay held, or are released with their watts as licences."""
    licences: bool = False
    """Whether Slurm's licences called `watts` follow the cap, as the net below us."""
    lease: Seconds = Field(default=30.0, gt=0, le=86400)
    """A controller that is silent for so long has gone: nodes and the watchdog act alone."""
    save: Seconds = Field(default=60.0, gt=0)
    """So often the books are saved; what came since is in the journal."""
    journal_mb: Whole = Field(default=64, ge=1)
    """A larger journal is gone on with in another file."""
    journals: Whole = Field(default=10, ge=2)
    """So many are kept, each with the books that it begins with."""
    broker: BrokerSettings | None = None
    """Through which the agents of nodes are reached; without it only starts are decided."""
    cluster: str = "cluster"
    """The name that agents and controller share; the ledger knows the machine by it, as by Slurm's
    ClusterName, which it must be."""
    order_key: FileName = ""
    """The key that orders to agents are signed with (`wattline agent keys` makes it)."""
    store: str = ""
    """The ledger that joules of jobs are entered into: a file or the URL of a database; empty:
    `ledger.db` in the folder; `none`: nowhere. Needs agents."""
    store_every: Seconds = Field(default=15.0, gt=0)
    """So often, or less often where that would take more than a tenth of a processor's time."""
    partitions: tuple[str, ...] = ()
    """Those whose jobs are started from here; jobs of others are counted. Empty: all."""
    slurm_conf: FileName = ""
    folder: FileName = "wattline-controller"
    """Where journals lie, and the lock that keeps a second controller away."""
    cycle: Seconds = Field(default=0.5, gt=0, le=60)
    policy: Policies = Policies()
    scenario: FileName = ""
    """A scenario whose policies decide, instead of `policy`."""
    twin: FileName = ""
    """The machine file of `wattline twin make`, where jobs share nodes: it has the nodes, their
    CPUs and devices, and the watts of these."""

    @property
    def ledger(self) -> str:
        """Where joules are entered; empty: nowhere."""
        if self.broker is None or self.store == "none":
            return ""
        return self.store or str(Path(self.folder) / "ledger.db")

    @property
    def least_w(self) -> float:
        return self.node_idle_w if self.node_least_w is None else self.node_least_w

    def figures_w(self, kind: NodeKind) -> tuple[float, float, float]:
        """What a node of a class draws idle, with a job, and under the lowest cap."""
        idle_w = self.node_idle_w if kind.idle_w is None else kind.idle_w
        usual_w = idle_w if self.node_least_w is None else self.node_least_w
        return (idle_w, self.node_active_w if kind.active_w is None else kind.active_w,
                usual_w if kind.least_w is None else kind.least_w)

    @property
    def kinds(self) -> tuple[NodeKind, ...]:
        """The classes of its nodes: those that are said, or one."""
        return self.classes or (NodeKind(name="node", nodes=self.nodes),)

    @property
    def node_names(self) -> list[str]:
        return list(parse_hosts(self.nodes))

    @property
    def parts(self) -> SharedParts | None:
        """Nodes that jobs share, and the watts of their parts; None where nodes are whole."""
        return read_parts(self.twin).of(self.node_names) if self.twin else None

    @property
    def environment(self) -> dict[str, str]:
        return {"SLURM_CONF": self.slurm_conf} if self.slurm_conf else {}


def read_configuration(path: str | Path) -> SiteConfig:
    """Read a site's file; names of files in it are relative to its folder."""
    found = read_toml(path)
    base = Path(path).resolve().parent
    found = beside(found, base, ("slurm_conf", "folder", "cap_file", "target_file", "order_key",
                                 "scenario", "twin"))
    store = str(found.get("store", ""))
    if store != "none" and "://" not in store:
        found = beside(found, base, ("store",))
    if "broker" in found:
        found["broker"] = beside(found["broker"], base, ("ca", "certificate", "key"))
    if "folder" not in found:
        found["folder"] = str(base / "wattline-controller")
    if found.get("twin"):
        found = _with_twin(path, found)
    try:
        site = SiteConfig.model_validate(found)
    except ValidationError as error:
        raise InputError(f"{path}: {first_mistake(error, SiteConfig)}") from None
    _check_figures(path, site)
    if site.broker is not None and not site.order_key:
        raise InputError(f"{path}: order_key is missing: agents obey signed orders alone")
    _check_target(path, site)
    try:
        names = site.node_names
    except InputError as error:
        raise InputError(f"{path}: nodes: {error}") from None
    if len(set(names)) < len(names):
        raise InputError(f"{path}: nodes: {max(names, key=names.count)} is named twice")
    _check_classes(path, site)
    for name, parts in (("racks", site.racks), ("feeds", site.feeds)):
        _check_parts(path, site, name, parts)
    return site


def _check_figures(path: str | Path, site: SiteConfig) -> None:
    """What is possible alone, and not together."""
    if site.node_active_w < site.node_idle_w:
        raise InputError(f"{path}: node_active_w ({site.node_active_w:g} W) is below node_idle_w "
                         f"({site.node_idle_w:g} W)")
    if site.least_w > site.node_active_w:
        raise InputError(f"{path}: node_least_w ({site.least_w:g} W) is above node_active_w "
                         f"({site.node_active_w:g} W): no cap could lower a node")
    for kind in site.classes:
        _, active_w, least_w = site.figures_w(kind)
        if least_w > active_w:
            raise InputError(f"{path}: classes: {kind.name}: its least_w ({least_w:g} W) is above "
                             f"its active_w ({active_w:g} W): no cap could lower a node of it")
    if site.lease < LEASE_CYCLES * site.cycle:
        raise InputError(f"{path}: lease ({site.lease:g} s) is shorter than {LEASE_CYCLES} cycles "
                         f"({site.cycle:g} s each), which renew it: nodes and the watchdog would "
                         "act alone beside a controller that lives")
    if len(site.mark.split()) > 1:
        raise InputError(f"{path}: mark is '{site.mark}', must be one word: that with which the "
                         "comment of a job begins")


def _with_twin(path: str | Path, found: Mapping[str, Any]) -> dict[str, Any]:
    """With the nodes of the twin and their watts: the highest of them where a site needs one."""
    given = [name for name in ("node_idle_w", "node_active_w", "classes", "scenario")
             if name in found]
    if given:
        raise InputError(f"{path}: {given[0]} does not go with twin, whose file has the watts of "
                         "nodes and their parts, and whose rules are Slurm's")
    parts = read_parts(str(found["twin"]))
    if "nodes" in found:
        parts = parts.of(parse_hosts(str(found["nodes"])))
    return {"nodes": fold_hosts(parts.names), **found,
            "node_idle_w": max(each.idle_w for each in parts.nodes.values()),
            "node_active_w": max(each.full_w for each in parts.nodes.values())}


def _check_target(path: str | Path, site: SiteConfig) -> None:
    if site.target_file and site.target_topic:
        raise InputError(f"{path}: target_file and target_topic are both given; take one of them")
    if (site.target_file or site.target_topic) and site.broker is None:
        raise InputError(f"{path}: a target is followed by caps of nodes: [broker] is missing")


def _check_classes(path: str | Path, site: SiteConfig) -> None:
    try:
        named = [name for kind in site.classes for name in parse_hosts(kind.nodes)]
    except InputError as error:
        raise InputError(f"{path}: classes: {error}") from None
    if site.classes and named != site.node_names:
        raise InputError(f"{path}: classes: together they must have the site's nodes, in the order "
                         f"of nodes = '{site.nodes}'")


def _check_parts(path: str | Path, site: SiteConfig, what: str,
                 parts: tuple[NodePart, ...]) -> None:
    """A node stands in one rack and hangs on one feed at most, or sums would count it twice."""
    there, seen = set(site.node_names), set[str]()
    for part in parts:
        try:
            named = list(parse_hosts(part.nodes))
        except InputError as error:
            raise InputError(f"{path}: {what}: {part.name}: {error}") from None
        strange = next((name for name in named if name not in there), None)
        if strange is not None:
            raise InputError(f"{path}: {what}: {part.name}: {strange} is none of the site's nodes "
                             f"('{site.nodes}')")
        again = sorted(named)
        twice = next((name for name, other in zip(again, [*again[1:], ""], strict=True)
                      if name in seen or name == other), None)
        if twice is not None:
            raise InputError(f"{path}: {what}: {part.name}: {twice} is named twice")
        seen |= set(named)
    names = [part.name for part in parts]
    if len(set(names)) < len(names):
        raise InputError(f"{path}: {what}: {max(names, key=names.count)} is named twice")
