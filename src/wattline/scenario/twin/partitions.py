"""The partitions of a machine with shared nodes, from slurm.conf."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from wattline.model.errors import InputError
from wattline.scenario.twin.settings import SlurmSettings
from wattline.scenario.twin.spelling import Spelling
from wattline.scenario.twin.told import Told
from wattline.scenario.twin.words import says_yes
from wattline.shared_nodes.machine import (
    CANCEL,
    EXCLUSIVE,
    EXCLUSIVE_USER,
    KEEP,
    NO_LIMIT,
    REQUEUE,
    SHARED,
    SUSPEND,
    BoolArray,
    IntArray,
    Partitions,
)
from wattline.site.conf_keys import PARTITION_NOT_MODELLED, PARTITION_USED
from wattline.site.limits import clock_s
from wattline.site.lines import number_of
from wattline.site.slurm_conf import Partition, SlurmConf

MODES = {"off": KEEP, "requeue": REQUEUE, "suspend": SUSPEND, "cancel": CANCEL}


def partitions_of(
    conf: SlurmConf, settings: SlurmSettings, qos: Sequence[str],
    accounts: Mapping[str, str],
) -> Partitions:
    """One row per partition in the order of the file; accounts come with those that they are in."""
    told = settings.told
    if not conf.partitions:
        raise InputError(f"{conf.source}: no PartitionName line, so jobs have nowhere to run")
    _say_unused(conf.partitions, told)
    node_row = {node.name: at for at, node in enumerate(conf.nodes)}
    members = np.zeros((len(conf.partitions), len(conf.nodes)), dtype=np.bool_)
    for row, partition in enumerate(conf.partitions):
        members[row, [node_row[name] for name in partition.nodes]] = True
        if not partition.nodes:
            told.assumed.append(f"{partition.where}: partition '{partition.name}' has no nodes, so "
                                "its jobs never run")

    def every(value: Callable[[Partition], int]) -> IntArray:
        return np.array([value(partition) for partition in conf.partitions], dtype=np.int64)

    cluster_mode = cluster_mode_of(settings)
    memory = {key: settings.text(key, "0", matters=False)
              for key in ("DefMemPerCPU", "DefMemPerNode", "MaxMemPerCPU", "MaxMemPerNode")}
    return Partitions(
        names=tuple(partition.name for partition in conf.partitions), nodes=members,
        tier=every(lambda part: _number(part, ("prioritytier", "priority"), 1)),
        job_factor=every(lambda part: _number(part, ("priorityjobfactor", "priority"), 1)),
        default_time_s=every(_default_time_s),
        max_time_s=every(lambda part: _time_s(part, "maxtime")),
        min_nodes=every(lambda part: _number(part, ("minnodes",), 1)),
        max_nodes=every(lambda part: _count(part, "maxnodes")),
        default_memory_per_cpu_mb=every(lambda part: _memory(part, memory, "DefMemPerCPU",
                                                             "defmempernode")),
        default_memory_per_node_mb=every(lambda part: _memory(part, memory, "DefMemPerNode",
                                                              "defmempercpu")),
        max_memory_per_cpu_mb=every(lambda part: _memory(part, memory, "MaxMemPerCPU",
                                                         "maxmempernode") or int(NO_LIMIT)),
        max_memory_per_node_mb=every(lambda part: _memory(part, memory, "MaxMemPerNode",
                                                          "maxmempercpu") or int(NO_LIMIT)),
        max_cpus_per_node=every(lambda part: _count(part, "maxcpuspernode")),
        sharing=every(lambda part: _sharing(part, told)),
        preempt_mode=every(lambda part: mode_of(part.settings["preemptmode"], part.where, told)
                           if "preemptmode" in part.settings else cluster_mode),
        grace_s=every(lambda part: _number(part, ("gracetime",), 0)),
        qos=every(lambda part: _qos(part, qos, told)),
        allowed_qos=_allowed(conf.partitions, "qos", qos, told),
        allowed_accounts=_allowed(conf.partitions, "accounts", tuple(accounts), told, accounts),
        up=np.array([part.settings.get("state", "UP").upper() == "UP"
                     for part in conf.partitions]),
        default=_default(conf.partitions, told),
    )


def cluster_mode_of(settings: SlurmSettings) -> int:
    """What happens to preempted jobs where neither partition nor QOS says it."""
    return mode_of(settings.text("PreemptMode", "OFF", matters=False),
                   settings.where("PreemptMode"), settings.told)


def mode_of(text: str, where: str, told: Told) -> int:
    """What happens to preempted jobs: a word of `PreemptMode`, GANG apart."""
    words = [word.strip().lower() for word in text.split(",") if word.strip()]
    for word in words:
        if word in ("gang", "within"):
            told.not_modelled.append(f"{where}: PreemptMode {word.upper()}: suspended jobs take "
                                     "turns, or jobs of one QOS preempt each other")
        elif word == "priority":
            told.not_modelled.append(f"{where}: PreemptMode PRIORITY: only jobs of more priority "
                                     "preempt others")
        elif word not in MODES:
            told.unknown.append(f"{where}: PreemptMode {word}")
    return next((MODES[word] for word in words if word in MODES), KEEP)


def _number(partition: Partition, keys: Iterable[str], usual: int) -> int:
    for key in keys:
        if key in partition.settings:
            return number_of(partition.settings[key], partition.spelt(key), partition.where)
    return usual


def _count(partition: Partition, key: str) -> int:
    if partition.settings.get(key, "unlimited").strip().lower() in ("unlimited", "infinite"):
        return int(NO_LIMIT)
    return _number(partition, (key,), 0)


def _time_s(partition: Partition, key: str) -> int:
    found = clock_s(partition.settings.get(key, "infinite"),
                    f"{partition.where}: {partition.spelt(key)}")
    return int(NO_LIMIT) if found is None else found


def _default_time_s(partition: Partition) -> int:
    given = partition.settings.get("defaulttime", "none").strip().lower()
    return -1 if given == "none" else _time_s(partition, "defaulttime")


def _memory(partition: Partition, cluster: dict[str, str], key: str, other: str = "") -> int:
    """The partition's own, else the cluster's unless the partition says it the other way."""
    own = partition.settings.get(key.lower())
    if own is None and other in partition.settings:
        return 0
    text = cluster[key] if own is None else own
    return 0 if text.strip().lower() == "unlimited" else number_of(text, key, partition.where)


def _sharing(partition: Partition, told: Told) -> int:
    text = partition.settings.get("oversubscribe", partition.settings.get("shared", "no"))
    word, _, times = text.strip().lower().partition(":")
    if word == "exclusive":
        return EXCLUSIVE
    if word in ("yes", "force") and (times or "4") != "1":
        told.not_modelled.append(f"{partition.where}: OverSubscribe={text}: several jobs use one "
                                 "CPU at a time")
    if says_yes(partition.settings.get("exclusiveuser", "no"), "ExclusiveUser", partition.where,
                told):
        return EXCLUSIVE_USER
    return SHARED


def _qos(partition: Partition, qos: Sequence[str], told: Told) -> int:
    name = partition.settings.get("qos", "").strip()
    if not name or name.lower() in ("n/a", "(null)"):
        return -1
    name = Spelling(qos).of(name)
    if name not in qos:
        told.contradictions.append(f"{partition.where}: QOS={name} of partition '{partition.name}' "
                                   "is no QOS of the accounts; it counts as none")
        return -1
    return list(qos).index(name)


def _allowed(partitions: Sequence[Partition], what: str, names: Sequence[str],
             told: Told, above: Mapping[str, str] | None = None) -> BoolArray:
    """`above` says in which other one each lies, whose lines count for it too."""
    found = np.ones((len(partitions), len(names)), dtype=np.bool_)
    spelling = Spelling(names)
    for row, partition in enumerate(partitions):
        text = partition.settings.get(f"allow{what}", "").strip()
        allow = [] if text.upper() == "ALL" else spelling.listed(text)
        deny = spelling.listed(partition.settings.get(f"deny{what}", ""))
        if allow:
            found[row] = [bool(_with_those_above(name, above) & set(allow)) for name in names]
        elif deny:
            found[row] = [not _with_those_above(name, above) & set(deny) for name in names]
        inherits = [name for name in names if name not in (allow or deny)
                    and _with_those_above(name, above) & set(allow or deny)]
        if inherits:
            told.assumed.append(f"{partition.where}: {what} below those that partition "
                                f"'{partition.name}' names count with them, as in Slurm since "
                                f"23.02: {', '.join(inherits[:5])}")
        strange = [name for name in allow or deny if name not in names]
        if strange and names:
            told.contradictions.append(f"{partition.where}: partition '{partition.name}' names "
                                       f"{what} that are nowhere defined: {', '.join(strange[:5])}")
    return found


def _with_those_above(name: str, above: Mapping[str, str] | None) -> set[str]:
    found = {name}
    while above and (name := above.get(name, "")) and name not in found:
        found.add(name)
    return found


def default_rows(partitions: Sequence[Partition]) -> list[int]:
    return [row for row, part in enumerate(partitions)
            if part.settings.get("default", "no").strip().lower() in ("yes", "up", "true", "1")]


def _default(partitions: Sequence[Partition], told: Told) -> int:
    """The last one that says so, as in Slurm."""
    chosen = default_rows(partitions)
    for earlier in chosen[:-1]:
        last = partitions[chosen[-1]]
        told.contradictions.append(
            f"{partitions[earlier].where}: Default=YES of partition '{partitions[earlier].name}', "
            f"and {last.where} of '{last.name}'; the last one counts")
    if not chosen:
        told.assumed.append("no partition is Default=YES: jobs that name none are refused")
    return chosen[-1] if chosen else -1


def _say_unused(partitions: Sequence[Partition], told: Told) -> None:
    for partition in partitions:
        for key, value in partition.settings.items():
            said = f"{partition.where}: {partition.spelt(key)}={value} of partition"
            if key in PARTITION_NOT_MODELLED:
                change = PARTITION_NOT_MODELLED[key]
                quiet = not change or value.strip().lower() in ("all", "no", "0", "")
                told.not_modelled += [] if quiet else [f"{said} '{partition.name}': {change}"]
            elif key not in PARTITION_USED:
                told.unknown.append(f"{said} '{partition.name}'")
