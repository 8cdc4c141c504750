"""`gres.conf`: which node has which generic resources, GPUs above all."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from wattline.model.errors import InputError
from wattline.site.lines import Line, hosts_of, number_of, read_lines, unused

_KEYS = {"autodetect", "name", "type", "file", "count", "nodename", "cores", "cpus", "flags",
         "links", "multiplefiles"}


@dataclass(frozen=True)
class Gres:
    """So many of a kind on each of these nodes; no nodes stands for every node."""

    name: str
    count: int
    type: str = ""
    files: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    where: str = field(default="", compare=False)


@dataclass(frozen=True)
class GresConf:
    source: str
    rows: tuple[Gres, ...]
    auto_detect: str = ""
    """How nodes look for theirs by themselves; what they find does not stand in the file."""
    remarks: tuple[str, ...] = ()

    def counts(self, nodes: Iterable[str]) -> dict[str, dict[str, int]]:
        """How many of each kind the file gives to each of these nodes."""
        found: dict[str, dict[str, int]] = {node: {} for node in nodes}
        for row in self.rows:
            for node in row.nodes or found:
                if node in found:
                    found[node][row.name] = found[node].get(row.name, 0) + row.count
        return found


def read_gres(path: str | Path) -> GresConf:
    """Read a `gres.conf`."""
    return gres_conf(read_lines(path), str(path))


def gres_conf(lines: Iterable[Line], source: str) -> GresConf:
    """What the lines of a `gres.conf` say."""
    rows: list[Gres] = []
    remarks: list[str] = []
    passed: list[str] = []
    detect, read = "", 0
    for line in lines:
        read += 1
        strange = [line.written[key] for key in sorted(set(line.words) - _KEYS)]
        remarks += [*line.remarks, *unused(strange, "a resource", line.where)]
        name = line.get("name")
        if name is None:
            if line.get("autodetect") is None:
                passed.append(line.where)
                remarks.append(f"{line.where}: neither Name nor AutoDetect; passed over")
            elif "nodename" in line.words:
                remarks.append(f"{line.where}: AutoDetect={line.words['autodetect']} on "
                               f"{line.words['nodename']}: what it finds stands in no file")
            else:
                detect = line.words["autodetect"]
            continue
        files = hosts_of(line.get("multiplefiles", "file") or "", line.where)
        count = line.get("count")
        rows.append(Gres(
            name, max(1, len(files)) if count is None else number_of(count, "Count", line.where),
            line.get("type") or "", files, line.hosts("nodename"), line.where))
    if passed and len(passed) == read:
        raise InputError(f"{passed[0]}: is no line of gres.conf, and none of {source} is")
    if detect and detect.lower() not in ("off", "none"):
        remarks.append(f"{source}: AutoDetect={detect}: what nodes find by themselves stands in no "
                       "file")
    return GresConf(source, tuple(rows), detect, tuple(remarks))


def gres_of(text: str, where: str) -> dict[str, int]:
    """How many of each kind the `Gres` of a node has: `gpu:a100:4(S:0-1),gpu:2,fpga`."""
    found: dict[str, int] = {}
    for part in filter(None, re.sub(r"\([^)]*\)", "", text).split(",")):
        name, *rest = part.split(":")
        if not name:
            raise InputError(f"{where}: '{part}' is no resource; write it like gpu:a100:4")
        last = rest[-1] if rest and rest[-1][:1].isdigit() else "1"
        found[name] = found.get(name, 0) + number_of(last, f"the count of {name}", where)
    return found
