"""Real interconnects from files: Cray cabling dumps and the pairs of files that CODES reads."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from wattline.model.errors import InputError
from wattline.model.reading import read_file, read_unpacked
from wattline.network.topology.base import (
    Cable,
    LinkKind,
    Topology,
    build,
    need,
    positive,
    refuse_large,
)

# `c0-0c0s0a0l01(0:0:0) blue -> c2-0c0s0a0l01(1:0:0)`: a port, its colour, the port at the far end.
_END = r"c\d+-\d+c\d+s\d+a\d+l\d+\((\d+):(\d+):(\d+)\)"
_LINE = re.compile(rf"{_END}\s+(\w+)\s+->\s+(?:{_END}|(unused|processor))\s*")
_COLOURS = {"green": LinkKind.ROW, "black": LinkKind.COLUMN, "blue": LinkKind.GLOBAL}
_PORTS_PER_NODE = 2  # two processor tiles serve one node


def read_cray(path: Path, *, row_gbit_s: float = 42.0, column_gbit_s: float = 42.0,
              global_gbit_s: float = 12.0, node_gbit_s: float = 128.0, name: str = "") -> Topology:
    """A topology from a Cray cabling dump, compressed with xz or not.

    Ports that are unused are left out. Every cable stands twice in the dump, once from each end;
    a dump in which the two ends do not agree is refused.
    """
    positive(name or "cray", node_gbit_s=node_gbit_s)
    bandwidth = {LinkKind.ROW: row_gbit_s, LinkKind.COLUMN: column_gbit_s,
                 LinkKind.GLOBAL: global_gbit_s}
    ends: Counter[tuple[tuple[int, ...], tuple[int, ...], LinkKind]] = Counter()
    tiles: Counter[tuple[int, ...]] = Counter()
    for number, line in enumerate(_lines(path), start=1):
        match = _LINE.fullmatch(line)
        if match is None:
            raise InputError(f"{path}, line {number}: not a cable; a line looks like "
                             "'c0-0c0s0a0l00(0:0:0) green -> c0-0c0s6a0l10(0:0:6)'")
        here = tuple(int(part) for part in match.groups()[:3])
        tiles[here] += match[8] == "processor"
        if match[8] is None:
            if match[4] not in _COLOURS:
                raise InputError(f"{path}, line {number}: colour '{match[4]}' is unknown; "
                                 "green, black and blue are cables")
            there = tuple(int(part) for part in match.groups()[4:7])
            ends[here, there, _COLOURS[match[4]]] += 1
    index = {router: number for number, router in enumerate(sorted(tiles))}
    cables: list[Cable] = []
    for (here, there, kind), count in ends.items():
        if ends.get((there, here, kind), 0) != count or there not in index:
            raise InputError(f"{path}: router {_place(here)} has {count} {kind.name.lower()} "
                             f"links to {_place(there)}, which has "
                             f"{ends.get((there, here, kind), 0)} back; ports must come in pairs")
        if here < there:
            cables += [(index[here], index[there], int(kind), bandwidth[kind])] * count
    nodes = [tiles[router] // _PORTS_PER_NODE for router in sorted(tiles)]
    return build(name or path.name.split(".")[0], "aries",
                 node_router=np.repeat(np.arange(len(index)), nodes),
                 router_group=_group_numbers([router[0] for router in sorted(tiles)]),
                 cables=cables, node_gbit_s=node_gbit_s)


def read_codes(intra: Path, inter: Path, *, routers_per_group: int = 96,
               nodes_per_router: int = 4, row_gbit_s: float = 42.0, column_gbit_s: float = 42.0,
               global_gbit_s: float = 12.0, node_gbit_s: float = 128.0,
               name: str = "") -> Topology:
    """A topology from the binary files of CODES: int32 triples in a group, pairs between groups.

    The third number of a triple is 0 for a row and 1 for a column. Every link stands twice.
    """
    positive(name or "codes", routers_per_group=routers_per_group,
             nodes_per_router=nodes_per_router, node_gbit_s=node_gbit_s)
    within, between = _integers(intra, 3), _integers(inter, 2)
    groups = int(between.max()) // routers_per_group + 1 if between.size else 1
    need(within.size > 0 and int(within[:, :2].max()) < routers_per_group,
         f"{intra}: names router {int(within[:, :2].max()) if within.size else 0} of a group "
         f"of {routers_per_group}; routers_per_group must be larger")
    refuse_large(str(inter), groups * routers_per_group * nodes_per_router,
                 groups * len(within) + len(between))
    _paired(intra, Counter(map(tuple, within.tolist())))
    _paired(inter, Counter(map(tuple, between.tolist())))
    inside = between[between[:, 0] // routers_per_group == between[:, 1] // routers_per_group]
    need(inside.size == 0,
         f"{inter}: joins routers {inside[0].tolist() if inside.size else ''} of one group; links "
         f"between groups are wanted here, so routers_per_group ({routers_per_group}) or the pair "
         "of files is wrong")
    cables: list[Cable] = []
    for group in range(groups):
        base = group * routers_per_group
        for one, other, kind in within.tolist():
            if one < other:
                cables.append((base + one, base + other, LinkKind.COLUMN if kind else LinkKind.ROW,
                               column_gbit_s if kind else row_gbit_s))
    cables += [(one, other, LinkKind.GLOBAL, global_gbit_s)
               for one, other in between.tolist() if one < other]
    routers = np.arange(groups * routers_per_group)
    return build(name or inter.name.split(".")[0], "aries",
                 node_router=np.repeat(routers, nodes_per_router),
                 router_group=routers // routers_per_group, cables=cables, node_gbit_s=node_gbit_s)


def _lines(path: Path) -> Iterator[str]:
    try:
        text = read_unpacked(path)[0].decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{path}: not a text file in UTF-8") from None
    yield from (line.strip() for line in io.StringIO(text) if line.strip())


def _integers(path: Path, columns: int) -> np.ndarray[tuple[int, int], np.dtype[np.int32]]:
    data = read_file(path)
    need(len(data) % 4 == 0, f"{path}: has {len(data)} bytes, not a multiple of 4")
    values = np.frombuffer(data, dtype="<i4")
    need(values.size > 0 and values.size % columns == 0,
         f"{path}: has {values.size} integers, not a multiple of {columns}")
    need(int(values.min()) >= 0, f"{path}: has a negative router number")
    return values.reshape(-1, columns)


def _paired(path: Path, links: Counter[tuple[int, ...]]) -> None:
    """Every link must stand from both ends, equally often: else a router has an odd port."""
    for link, count in links.items():
        back = (link[1], link[0], *link[2:])
        need(links.get(back, 0) == count,
             f"{path}: router {link[0]} has {count} links to {link[1]}, which has "
             f"{links.get(back, 0)} back; ports must come in pairs")


def _group_numbers(labels: list[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.unique(np.array(labels), return_inverse=True)[1].astype(np.int64)


def _place(router: tuple[int, ...]) -> str:
    return ":".join(str(part) for part in router)
