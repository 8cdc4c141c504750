"""A reading of slurm.conf, a script of sacctmgr and `.events` of its own.

It shares nothing with the package, so that a check by it finds what the package misreads.
"""

from __future__ import annotations

import lzma
import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path

UNITS = {"K": 1 / 1024, "M": 1, "G": 1024, "T": 1024 * 1024}


@dataclass
class ConfNode:
    cpus: int
    memory_mb: int
    features: set[str]
    devices: int


@dataclass
class ConfPartition:
    nodes: set[str]
    most_s: float
    memory_per_cpu_mb: int
    qos: set[str] | None
    """None: every QOS may use it."""


@dataclass
class Conf:
    nodes: dict[str, ConfNode] = field(default_factory=dict)
    partitions: dict[str, ConfPartition] = field(default_factory=dict)
    default: str = ""


@dataclass
class Asked:
    name: str
    user: str
    qos: str
    partition: str
    submit_s: float
    run_s: float
    limit_s: float
    nodes: int
    tasks: int
    memory_mb: int | None
    """Per node; None: what the partition gives per CPU."""
    feature: str
    devices: int
    """Per node."""


def read_conf(file: Path) -> Conf:
    found = Conf()
    usual: dict[str, dict[str, str]] = {"nodename": {}, "partitionname": {}}
    for raw in file.read_text().splitlines():
        line = raw.split("#")[0].strip()
        kind = line.split("=")[0].lower()
        if kind not in usual:
            continue
        words = {key.lower(): value for key, _, value in
                 (word.partition("=") for word in line.split())}
        name = words.pop(kind)
        if name.upper() == "DEFAULT":
            usual[kind].update(words)
        elif kind == "nodename":
            for each in names(name):
                found.nodes[each] = _node({**usual[kind], **words}, words)
        else:
            found.partitions[name] = _partition({**usual[kind], **words}, found)
            if words.get("default", "").upper() == "YES":
                found.default = name
    return found


def _node(words: dict[str, str], own: dict[str, str]) -> ConfNode:
    parts = int(words.get("sockets", 1)) * int(words.get("corespersocket", 1))
    said = own.get("cpus") or own.get("procs")
    cpus = int(said) if said else parts * int(words.get("threadspercore", 1))
    devices = sum(int(each.split(":")[-1]) for each in words.get("gres", "").split(",") if each)
    return ConfNode(cpus, int(words.get("realmemory", 1)),
                    set(filter(None, words.get("feature", "").split(","))), devices)


def _partition(words: dict[str, str], conf: Conf) -> ConfPartition:
    nodes = conf.nodes if words["nodes"].upper() == "ALL" else names(words["nodes"])
    qos = words.get("allowqos")
    return ConfPartition(set(nodes), seconds(words.get("maxtime", "INFINITE")),
                         int(words.get("defmempercpu", 0)), set(qos.split(",")) if qos else None)


def names(text: str) -> list[str]:
    """`a[01-03,7],b` spelled out."""
    found = []
    for part in re.findall(r"[^,\[]+(?:\[[^\]]*\])?", text):
        stem, bracket, inside = part.partition("[")
        if not bracket:
            found.append(stem)
            continue
        for piece in inside.rstrip("]").split(","):
            low, _, high = piece.partition("-")
            found += [f"{stem}{number:0{len(low)}d}"
                      for number in range(int(low), int(high or low) + 1)]
    return found


def seconds(text: str) -> float:
    if text.upper() in ("INFINITE", "UNLIMITED"):
        return float("inf")
    days, dash, rest = text.rpartition("-")
    parts = [int(each) for each in rest.split(":")]
    if dash:
        parts += [0] * (3 - len(parts))
    elif len(parts) == 1:
        parts = [0, parts[0], 0]
    elif len(parts) == 2:
        parts = [0, *parts]
    return float((int(days) if dash else 0) * 86400 + parts[0] * 3600 + parts[1] * 60 + parts[2])


def read_submit_limits(script: Path) -> dict[str, int]:
    """Count how many jobs of each QOS a user may have in the queue (`MaxSubmitJobsPerUser`)."""
    found = {}
    for line in script.read_text().splitlines():
        words = dict(word.lower().split("=", 1) for word in line.split() if "=" in word)
        if line.lower().startswith("add qos") and "maxsubmitjobsperuser" in words:
            found[words["name"]] = int(words["maxsubmitjobsperuser"])
    return found


def read_events(file: Path, conf: Conf) -> list[Asked]:
    raw = file.read_bytes()
    text = lzma.decompress(raw).decode() if file.suffix == ".xz" else raw.decode()
    return [_asked(line, conf) for line in text.splitlines() if line.strip()]


def _asked(line: str, conf: Conf) -> Asked:
    when, _, what = line.partition("|")
    words = shlex.split(when) + shlex.split(what)
    said = {word: words[place + 1] for place, word in enumerate(words[:-1])
            if word.startswith("-") and "=" not in word}
    said |= dict(word.split("=", 1) for word in words if word.startswith("--") and "=" in word)
    tasks = int(said.get("-n", 1))
    per_node = int(said.get("--ntasks-per-node", tasks))
    memory = said.get("--mem")
    return Asked(
        said["-J"], said["--uid"], said.get("-q", ""), said.get("-p", conf.default),
        float(said["-dt"]), float(said["-sim-walltime"]), seconds(said["-t"]),
        int(said.get("-N", -(-tasks // per_node))), tasks,
        None if memory is None else _megabytes(memory), said.get("--constraint", ""),
        int(said["--gres"].split(":")[-1]) if "--gres" in said else 0)


def _megabytes(text: str) -> int:
    return int(float(text.rstrip("KMGT")) * UNITS[text[-1] if text[-1] in UNITS else "M"])
