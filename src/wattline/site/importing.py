"""Views from the files that a site has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from wattline.model.errors import InputError, warn
from wattline.model.files import write_whole
from wattline.model.shown import Shown
from wattline.model.units import fold_hosts, part_of, watts_of
from wattline.model.views import MachineView
from wattline.model.views.build import MOST_ENTITIES, view_from_mapping
from wattline.site.drafts import NODE, Draft, DraftEntity, Powers, mapping_of, toml_of, writable
from wattline.site.gres import GresConf, gres_conf
from wattline.site.lines import Line, read_lines
from wattline.site.parents import read_parents
from wattline.site.redfish import read_redfish
from wattline.site.redfish_views import redfish_drafts
from wattline.site.slurm_conf import SlurmConf, slurm_conf
from wattline.site.slurm_views import resources_draft, topology_drafts
from wattline.site.topology import Topologies, read_topology, topology_conf


@dataclass(frozen=True, eq=False, repr=False)
class ImportedViews(Shown):
    """Views made from a site's files, by name, and the views file that holds them.

    >>> import wattline as wl
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "racks.csv"
    >>> _ = file.write_text("child,parent\\nn[1-4],rack1\\n")
    >>> list(wl.import_views(file).views)
    ['racks']
    """

    views: Mapping[str, MachineView]
    toml: str
    remarks: tuple[str, ...] = ()
    """What was left out or assumed: a sentence each."""

    def to_dict(self) -> dict[str, Any]:
        return {"views": [{"view": view.name, "entities": len(view.tree),
                           "nodes": view.tree.types.count(NODE), "bounds": len(view.bounds)}
                          for view in self.views.values()],
                "remarks": list(self.remarks)}


@dataclass
class _Sources:
    conf: SlurmConf | None = None
    gres: GresConf | None = None
    topologies: Topologies | None = None


def import_views(
    *sources: str | Path, output: str | Path | None = None, idle_w: float | str | None = None,
    limits: Mapping[str, float | str] | None = None,
    shares: Mapping[str, float | str] | None = None, failover: bool = False,
) -> ImportedViews:
    """Make views from what a site has, and write them to the file `output` if one is named.

    Sources are `slurm.conf`, `gres.conf`, `topology.conf` or `.yaml`, folders or JSON files of
    Redfish chassis, and tables (`.csv`) of child and parent, each of which makes the view that is
    called like its file. Names stay as they are written there. No such file says what a node draws:
    with `idle_w`, its watts when idle, and `limits` by entity the views have bounds on the power.
    `shares` says which views are feeds of the same nodes, and what part of a node's watts each has;
    with `failover` each of them must carry the others.

    >>> import tempfile, pathlib
    >>> import wattline as wl
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "power.csv"
    >>> _ = file.write_text("child,parent\\nrack[1-2],pdu1\\ncn1-gpu-[01-04],rack1\\n"
    ...                     "cn1-cpu-[01-04],rack2\\n")
    >>> found = wl.import_views(file, idle_w=90, limits={"pdu1": "2kW"})
    >>> found.views["power"].get("rack1", "nodes"), found.views["power"].get("pdu1", "power_w")
    (4, 720.0)
    """
    if not sources:
        raise InputError("name at least one file, such as slurm.conf or a table of parents")
    drafts = _drafts([Path(source) for source in sources])
    powers = Powers(None if idle_w is None else watts_of(idle_w),
                    {name: watts_of(watts) for name, watts in (limits or {}).items()})
    parts = {name: part_of(part) for name, part in (shares or {}).items()}
    _refuse_unknown(drafts, powers)
    _refuse_feeds(drafts, powers, parts, failover)
    drafts = [writable(draft) for draft in drafts]
    tables = {draft.name: mapping_of(draft, _of(draft, powers, parts, failover))
              for draft in drafts}
    views = {name: view_from_mapping(name, table, "the views") for name, table in tables.items()}
    remarks = tuple(dict.fromkeys(line for draft in drafts for line in draft.remarks))
    names = ", ".join(Path(source).name for source in sources)
    text = toml_of(tables, [f"Views from {names}", *remarks])
    if output is not None:
        write_whole(output, text)
    warn(remarks)
    return ImportedViews(views, text, remarks)


def _drafts(paths: Sequence[Path]) -> list[Draft]:
    known, later = _Sources(), []
    for path in paths:
        suffix = path.suffix.lower()
        if path.is_dir() or suffix in (".json", ".csv"):
            later.append(path)
        elif suffix in (".yaml", ".yml"):
            _put(known, "topologies", read_topology(path), path)
        else:
            _put_conf(known, path)
    if known.gres is not None and known.conf is None:
        raise InputError(f"{known.gres.source}: says what nodes have; give the slurm.conf that has "
                         "the nodes too")
    remarks: list[str] = []
    drafts = [] if known.conf is None else [resources_draft(known.conf, known.gres)]
    if known.topologies is not None:
        drafts += topology_drafts(known.topologies, known.conf, known.gres, remarks)
    for path in later:
        drafts += [_csv_draft(path, known.conf)] if path.suffix.lower() == ".csv" else (
            redfish_drafts(read_redfish(path)))
    if not drafts:
        raise InputError("; ".join(remarks))
    drafts[0] = replace(drafts[0], remarks=(*drafts[0].remarks, *remarks))
    return _apart(drafts)


def _put_conf(known: _Sources, path: Path) -> None:
    """A `.conf` by what is in it, whatever its name."""
    lines = read_lines(path)
    kinds = {line.kind for line in lines}
    if kinds & {"switchname", "blockname", "blocksizes"}:
        _put(known, "topologies", topology_conf(lines, str(path)), path)
    elif _is_gres(lines):
        _put(known, "gres", gres_conf(lines, str(path)), path)
    else:
        _put(known, "conf", slurm_conf(lines, str(path)), path)


def _is_gres(lines: Iterable[Line]) -> bool:
    return any("name" in line.words or "autodetect" in line.words for line in lines)


def _put(known: _Sources, what: str, found: Any, path: Path) -> None:
    if getattr(known, what) is not None:
        raise InputError(f"{path}: is a second file of the kind of {getattr(known, what).source}; "
                         "give one")
    setattr(known, what, found)


def _csv_draft(path: Path, conf: SlurmConf | None) -> Draft:
    """What has nothing below it is a node; with a slurm.conf, what that knows as one."""
    parents = read_parents(path)
    inner = set(parents.values())
    leaves = [name for name in parents if name not in inner]
    nodes = {node.name for node in conf.nodes} if conf else set(leaves)
    remarks = []
    strange = [name for name in leaves if name not in nodes]
    missing = sorted(nodes - set(parents))
    if strange:
        remarks.append(f"{path}: {fold_hosts(strange)} have nothing below them and are no nodes of "
                       "slurm.conf; they are shown as entities")
    if missing:
        remarks.append(f"{path}: {fold_hosts(missing)} of slurm.conf are not in the table")
    parts = tuple(DraftEntity(name, NODE if name in nodes else "entity", parent)
                  for name, parent in parents.items())
    return Draft(path.stem, parts, str(path), tuple(remarks))


def _apart(drafts: list[Draft]) -> list[Draft]:
    """Views with names of their own: a second `network` becomes `network2`."""
    taken: set[str] = set()
    found = []
    for draft in drafts:
        if len(draft.parts) > MOST_ENTITIES:
            raise InputError(f"{draft.source}: has {len(draft.parts):,} parts; at most "
                             f"{MOST_ENTITIES:,} can be shown")
        name, number = draft.name, 2
        while name in taken:
            name, number = f"{draft.name}{number}", number + 1
        taken.add(name)
        found.append(replace(draft, name=name))
    return found


def _of(draft: Draft, powers: Powers, shares: Mapping[str, float], failover: bool) -> Powers:
    """Of the limits and shares those that are of this view."""
    names = {part.name for part in draft.parts}
    share = shares.get(draft.name)
    others = tuple(name for name in shares if name != draft.name)
    return replace(powers, share=share, carries=others if failover and share is not None else (),
                   limits_w={name: watts for name, watts in powers.limits_w.items()
                             if name in names})


def _refuse_unknown(drafts: Sequence[Draft], powers: Powers) -> None:
    known = {part.name for draft in drafts for part in draft.parts}
    for name in powers.limits_w:
        if name not in known:
            raise InputError(f"--limit: no view has an entity '{name}'")
    if powers.limits_w and powers.idle_w is None:
        raise InputError("--limit needs --idle-w: what a node draws when idle counts towards it")


def _refuse_feeds(drafts: Sequence[Draft], powers: Powers, shares: Mapping[str, float],
                  failover: bool) -> None:
    names = [draft.name for draft in drafts]
    for name, share in shares.items():
        if name not in names:
            raise InputError(f"--share: there is no view '{name}'; there are {', '.join(names)}")
        if not 0 <= share <= 1:
            raise InputError(f"--share: {share:g} of '{name}' is no part, must be from 0 to 1")
    if shares and powers.idle_w is None:
        raise InputError("--share needs --idle-w: a feed has its part of it")
    if failover and not len(shares) > 1:
        raise InputError("--failover needs the --share of at least two views")
    if failover and abs(sum(shares.values()) - 1.0) > 1e-6:
        raise InputError(f"--failover: the shares add up to {sum(shares.values()):g}, must be 1")
