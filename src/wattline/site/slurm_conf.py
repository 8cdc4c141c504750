"""`slurm.conf`: the nodes of a cluster with what they have, its partitions, and what is down."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from wattline.model.errors import InputError
from wattline.model.units import fold_hosts
from wattline.site.lines import Line, hosts_of, number_of, read_lines, unused

_LISTS = {"nodename", "partitionname", "downnodes", "nodeset", "frontendname", "slurmctldhost"}
"""Lines of which there may be many; any other key is one setting."""
_NODE_KEYS = {
    "nodename", "nodehostname", "nodeaddr", "bcastaddr", "boards", "corespeccount",
    "corespersocket", "cpubind", "cpus", "cpuspeclist", "features", "gres",
    "memspeclimit", "port", "realmemory", "reason", "sockets", "socketsperboard", "state",
    "threadspercore", "tmpdisk", "topology", "weight", "extra", "parameters",
    "restrictedcorespergpu",
}
_SAME = {"procs": "cpus", "feature": "features"}
"""Two words for one thing: a line's own must replace the default's, whichever it uses."""


@dataclass(frozen=True)
class Node:
    """A node as its line, and the DEFAULT lines before it, have it."""

    name: str
    cpus: int = 1
    """Processors that Slurm schedules: threads where a core has several."""
    cores: int = 1
    memory_mb: int = 0
    """0 where the file does not say."""
    gres: str = ""
    features: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    """All that stands for it, by key in small letters."""
    where: str = field(default="", compare=False)
    """File and line."""
    written: Mapping[str, str] = field(default_factory=dict, compare=False)
    """The keys of its settings as the file has them."""


@dataclass(frozen=True)
class Partition:
    name: str
    nodes: tuple[str, ...]
    settings: Mapping[str, str] = field(default_factory=dict)
    where: str = field(default="", compare=False)
    written: Mapping[str, str] = field(default_factory=dict, compare=False)
    """The keys of its settings as the file has them."""

    def spelt(self, key: str) -> str:
        """A key as the file has it."""
        return self.written.get(key, key)


@dataclass(frozen=True)
class DownNodes:
    nodes: tuple[str, ...]
    state: str
    reason: str


@dataclass(frozen=True)
class SlurmConf:
    """What a `slurm.conf` and the files that it includes say."""

    source: str
    cluster: str
    nodes: tuple[Node, ...]
    partitions: tuple[Partition, ...] = ()
    down: tuple[DownNodes, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    """Everything else, by key in small letters."""
    remarks: tuple[str, ...] = ()
    places: Mapping[str, str] = field(default_factory=dict, compare=False)
    """File and line of each setting."""
    written: Mapping[str, str] = field(default_factory=dict, compare=False)
    """The keys of the settings as the file has them."""


def read_slurm_conf(path: str | Path) -> SlurmConf:
    """Read a `slurm.conf`."""
    return slurm_conf(read_lines(path), str(path))


def slurm_conf(lines: Iterable[Line], source: str) -> SlurmConf:
    """What the lines of a `slurm.conf` say."""
    by_kind: dict[str, list[Line]] = {}
    for line in lines:
        by_kind.setdefault(line.kind, []).append(line)
    remarks = [f"{line.where}: {line.written[key]}={value} ends with a comma, and may be cut off"
               for several in by_kind.values() for line in several
               for key, value in line.words.items() if value.endswith(",")]
    remarks += [said for several in by_kind.values() for line in several for said in line.remarks]
    nodes = _nodes(by_kind.get("nodename", []), remarks)
    if not nodes:
        raise InputError(f"{source}: no NodeName line, so no nodes")
    sets = _sets(by_kind.get("nodeset", []), nodes)
    settings, places, written = _settings(by_kind, remarks)
    return SlurmConf(
        source, settings.get("clustername", ""), nodes,
        _partitions(by_kind.get("partitionname", []), nodes, sets, remarks),
        tuple(DownNodes(line.hosts("downnodes"), line.get("state") or "DOWN",
                        line.get("reason") or "") for line in by_kind.get("downnodes", [])),
        settings, tuple(remarks), places, written,
    )


def _settings(
    by_kind: Mapping[str, list[Line]], remarks: list[str]
) -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    """Each setting, where it stands, and how its key is written."""
    found: dict[str, str] = {}
    places: dict[str, str] = {}
    written: dict[str, str] = {}
    for kind, lines in by_kind.items():
        if kind in _LISTS:
            continue
        for line in lines:
            for key, value in line.words.items():
                if found.get(key, value) != value:
                    remarks.append(f"{line.where}: {line.written[key]} again, the last one counts "
                                   f"(the other is {places[key]})")
                found[key], places[key], written[key] = value, line.where, line.written[key]
    return found, places, written


@dataclass(frozen=True)
class _Whole:
    """A line with what the DEFAULT lines before it add."""

    line: Line
    words: dict[str, str]
    places: dict[str, str]
    """Where each of the words stands."""
    written: dict[str, str]


def _with_defaults(lines: Iterable[Line]) -> Iterable[_Whole]:
    """Lines with what the DEFAULT lines before them add; those replace each other key by key."""
    defaults: dict[str, str] = {}
    places: dict[str, str] = {}
    written: dict[str, str] = {}
    for line in lines:
        words = {_SAME.get(key, key): value for key, value in line.words.items()}
        spelt = {_SAME.get(key, key): name for key, name in line.written.items()}
        here = dict.fromkeys(words, line.where)
        if words[line.kind].upper() == "DEFAULT":
            del words[line.kind]
            defaults |= words
            places |= here
            written |= spelt
        else:
            yield _Whole(line, defaults | words, places | here, written | spelt)


def _nodes(lines: Iterable[Line], remarks: list[str]) -> tuple[Node, ...]:
    found: dict[str, Node] = {}
    told: set[str] = set()
    for whole in _with_defaults(lines):
        line, words = whole.line, whole.words
        unknown = sorted(set(words) - _NODE_KEYS - told)
        told.update(unknown)
        remarks += unused([whole.written[key] for key in unknown], "a node", line.where)
        cpus, cores = _processors(words, line.where)
        _say_other_cpus(whole, cores, remarks)
        memory_mb = number_of(words.get("realmemory", "0"), "RealMemory", line.where)
        for name in line.hosts("nodename"):
            if name in found:
                raise InputError(f"{line.where}: node '{name}' is defined a second time (first in "
                                 f"{found[name].where})")
            found[name] = Node(name, cpus, cores, memory_mb, words.get("gres", ""),
                               tuple(filter(None, words.get("features", "").split(","))), words,
                               line.where, whole.written)
    return tuple(found.values())


def _processors(words: Mapping[str, str], where: str) -> tuple[int, int]:
    """Processors and cores of a node: what is not said follows from the rest, as Slurm does it."""
    def count(key: str) -> int | None:
        return number_of(words[key], key, where) if key in words else None

    cpus, threads = count("cpus"), count("threadspercore") or 1
    sockets, per_socket = count("sockets"), count("corespersocket")
    if sockets is None and (count("socketsperboard") or count("boards")):
        sockets = (count("boards") or 1) * (count("socketsperboard") or 1)
    if sockets is None and per_socket is None:
        cpus = cpus or threads
        return cpus, max(1, cpus // threads)
    if sockets is None:
        sockets = max(1, (cpus or 1) // ((per_socket or 1) * threads))
    cores = max(1, sockets) * max(1, per_socket or 1)
    if cpus not in (sockets, cores, cores * threads):
        cpus = cores * threads
    return cpus or cores * threads, cores


def _say_other_cpus(whole: _Whole, cores: int, remarks: list[str]) -> None:
    """Where CPUs= is a number that sockets, cores and threads do not make: these count."""
    words, places = whole.words, whole.places
    parts = [key for key in ("boards", "socketsperboard", "sockets", "corespersocket",
                             "threadspercore") if key in words]
    if "cpus" not in words or not parts:
        return
    made, _ = _processors(words, places["cpus"])
    if made != number_of(words["cpus"], "cpus", places["cpus"]):
        said = ", ".join(f"{whole.written[key]}={words[key]} ({places[key]})" for key in parts)
        remarks.append(f"{places['cpus']}: CPUs={words['cpus']} does not go with {said}; Slurm "
                       f"takes {made} CPUs of {cores} cores")


def _sets(lines: Iterable[Line], nodes: Iterable[Node]) -> dict[str, tuple[str, ...]]:
    found = {}
    for line in lines:
        feature = line.get("feature")
        chosen = [node.name for node in nodes if feature and feature in node.features]
        found[line.words["nodeset"]] = (*line.hosts("nodes"), *chosen)
    return found


def _partitions(
    lines: Iterable[Line], nodes: Iterable[Node], sets: Mapping[str, tuple[str, ...]],
    remarks: list[str],
) -> tuple[Partition, ...]:
    known = {node.name: None for node in nodes}
    found: dict[str, Partition] = {}
    for whole in _with_defaults(lines):
        line, words = whole.line, whole.words
        known_as = words["partitionname"]
        if known_as in found:
            raise InputError(f"{line.where}: partition '{known_as}' is defined a second time "
                             f"(first in {found[known_as].where})")
        given: list[str] = []
        for name in hosts_of(words.get("nodes", ""), line.where):
            given += list(known) if name.upper() == "ALL" else sets.get(name, (name,))
        strange = [name for name in dict.fromkeys(given) if name not in known]
        if strange:
            remarks.append(f"{line.where}: partition '{known_as}' has nodes that no "
                           f"NodeName line defines: {fold_hosts(strange)}; they are left out")
        members = tuple(name for name in dict.fromkeys(given) if name in known)
        found[known_as] = Partition(known_as, members, words, line.where, whole.written)
    return tuple(found.values())
