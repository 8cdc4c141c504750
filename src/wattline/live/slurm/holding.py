"""What a running job holds of each of its nodes: CPUs and devices."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from wattline.live.slurm.reading import SlurmJob, hosts

_LINE = re.compile(r"\bNodes=(?P<nodes>\S+) CPU_IDs=(?P<cpus>\S+) Mem=\S*(?: GRES=(?P<gres>\S*))?")
_GRES = re.compile(r"(?P<name>[^,():]+(?::[^,():]+)*?):(?P<count>[0-9]+)(?:\([^)]*\))?(?:,|$)")
GRES = "gres/"


@dataclass(frozen=True)
class Holding:
    """Of one node."""

    cpus: int
    devices: Mapping[str, int] = field(default_factory=dict)
    """By kind: `gpu` or `gpu:a100`."""


def read_holdings(text: str) -> dict[str, Holding]:
    """By node, as `scontrol -d show job` says it of one job."""
    found: dict[str, Holding] = {}
    for line in _LINE.finditer(text):
        devices = {part["name"]: int(part["count"]) for part in _GRES.finditer(line["gres"] or "")}
        for node in hosts(line["nodes"]):
            found[node] = Holding(_count(line["cpus"]), devices)
    return found


def evenly(job: SlurmJob) -> dict[str, Holding]:
    """What a job has in all, in equal parts: exact where it has one node."""
    count = max(len(job.node_list), 1)
    devices = {name: -(-number // count) for name, number in devices_of(job.tres).items()}
    return {node: Holding(-(-job.cpus // count), devices) for node in job.node_list}


def devices_of(tres: str) -> dict[str, int]:
    """`cpu=4,gres/gpu=2,gres/gpu:a100=2` as devices by kind, each once."""
    found: dict[str, int] = {}
    for part in tres.split(","):
        name, _, count = part.partition("=")
        if name.startswith(GRES) and count.isdecimal():
            found[name.removeprefix(GRES)] = int(count)
    typed = {name.partition(":")[0] for name in found if ":" in name}
    return {name: count for name, count in found.items() if name not in typed}


def _count(ids: str) -> int:
    """`0-3,8` are five."""
    total = 0
    for part in ids.split(","):
        first, dash, last = part.partition("-")
        if first.isdecimal():
            total += int(last) - int(first) + 1 if dash and last.isdecimal() else 1
    return total
