"""Limits and other settings of QOS and associations, as `sacctmgr` takes and prints them.

One thing has several names there: `MaxTRESPerUser`, `MaxTRESPU`, and a column of a table. Here each
has one, in small letters. Values stay texts; `tres_of` and `clock_s` read them.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import NamedTuple

from wattline.model.errors import InputError

_NAMES = {
    "grptres": "grptres", "grptresmins": "grptresmins", "grptresrunmins": "grptresrunmins",
    "grptresrunmin": "grptresrunmins", "grpcpumins": "grptresmins:cpu", "grpcpus": "grptres:cpu",
    "grpcpurunmins": "grptresrunmins:cpu", "grpmemory": "grptres:mem", "grpmem": "grptres:mem",
    "grpnodes": "grptres:node", "grpjobs": "grpjobs", "grpjobsaccrue": "grpjobsaccrue",
    "grpsubmit": "grpsubmit", "grpsubmitjobs": "grpsubmit", "grpwall": "grpwall",
    "maxtres": "maxtres", "maxtresperjob": "maxtres", "maxtrespj": "maxtres",
    "maxcpus": "maxtres:cpu", "maxcpusperjob": "maxtres:cpu", "maxnodes": "maxtres:node",
    "maxnodesperjob": "maxtres:node", "maxtrespernode": "maxtrespernode",
    "maxtrespn": "maxtrespernode", "maxtresmins": "maxtresmins", "maxtresminsperjob": "maxtresmins",
    "maxcpumins": "maxtresmins:cpu", "maxtresrunmins": "maxtresrunmins",
    "maxtresrunminsperuser": "maxtresrunminspu", "maxtresrunminspu": "maxtresrunminspu",
    "maxtresrunminsperaccount": "maxtresrunminspa", "maxtresrunminspa": "maxtresrunminspa",
    "maxtresperuser": "maxtrespu", "maxtrespu": "maxtrespu", "maxcpusperuser": "maxtrespu:cpu",
    "maxcpuspu": "maxtrespu:cpu", "maxnodesperuser": "maxtrespu:node",
    "maxnodespu": "maxtrespu:node", "maxtresperaccount": "maxtrespa", "maxtrespa": "maxtrespa",
    "maxtresperacct": "maxtrespa", "maxjobs": "maxjobs", "maxjobsperuser": "maxjobspu",
    "maxjobspu": "maxjobspu", "maxjobsperaccount": "maxjobspa", "maxjobspa": "maxjobspa",
    "maxjobsaccrue": "maxjobsaccrue", "maxjobsaccrueperuser": "maxjobsaccruepu",
    "maxjobsaccruepu": "maxjobsaccruepu", "maxsubmit": "maxsubmit", "maxsubmitjobs": "maxsubmit",
    "maxsubmitjobsperuser": "maxsubmitpu", "maxsubmitpu": "maxsubmitpu",
    "maxsubmitjobspu": "maxsubmitpu", "maxsubmitperuser": "maxsubmitpu",
    "maxsubmitjobsperaccount": "maxsubmitpa", "maxsubmitpa": "maxsubmitpa",
    "maxsubmitjobspa": "maxsubmitpa", "maxwall": "maxwall", "maxwallduration": "maxwall",
    "maxwalldurationperjob": "maxwall", "maxwallperjob": "maxwall", "mintres": "mintres",
    "mintresperjob": "mintres", "mintrespj": "mintres", "minpriothres": "minpriothres",
    "minpriothreshold": "minpriothres",
    "priority": "priority", "qos": "qos", "qoslevel": "qos", "qoslevels": "qos",
    "defqos": "defaultqos", "defaultqos": "defaultqos", "flags": "flags", "gracetime": "gracetime",
    "preempt": "preempt", "preemptmode": "preemptmode", "preemptexempttime": "preemptexempttime",
    "usagefactor": "usagefactor", "usagethres": "usagethres", "usagethreshold": "usagethres",
    "limitfactor": "limitfactor",
}
LISTS = ("qos", "preempt", "flags")
"""Settings that are several words."""


class Written(NamedTuple):
    """How a file writes the name of a setting, and in which line."""

    name: str
    where: str


def canonical(name: str) -> str:
    """The one name of a setting, as `grptres` or `grptres:cpu`; empty for no such setting."""
    return _NAMES.get(re.sub(r"[\s_]", "", name).lower(), "")


def put(found: dict[str, str], name: str, value: str) -> bool:
    """Set what a name says among the settings; whether it is one of them.

    `-1` and nothing take a limit away; a resource with a name of its own joins the others.
    """
    known = canonical(name.rstrip("+-"))
    if not known:
        return False
    key, _, resource = known.partition(":")
    value = value.strip().strip("'\"")
    if resource:
        found[key] = joined(found.get(key, ""), f"{resource}={value}")
    elif key in LISTS and name.endswith(("+", "-")):
        old = [word for word in found.get(key, "").split(",") if word]
        new = [word for word in value.split(",") if word]
        kept = [word for word in old if word not in new]
        found[key] = ",".join(kept if name.endswith("-") else [*kept, *new])
    elif "tres" in key:
        found[key] = joined(found.get(key, ""), value)
    elif value == "-1":
        found.pop(key, None)
    elif value:
        found[key] = value
    return True


def joined(before: str, after: str) -> str:
    """Two lists of resources as one; the later counts, and -1 takes one away."""
    parts: dict[str, str] = {}
    for part in filter(None, f"{before},{after}".split(",")):
        resource, _, count = part.partition("=")
        parts[resource.strip().lower()] = count.strip()
    return ",".join(f"{resource}={count}" for resource, count in parts.items() if count != "-1")


def settings_of(pairs: Iterable[tuple[str, str]], before: Mapping[str, str] | None = None,
                ) -> dict[str, str]:
    """Settings among pairs of a name and a value; what is none of them is left out."""
    found = dict(before or {})
    for name, value in pairs:
        put(found, name, value)
    return found


def written_of(names: Iterable[str], where: str, before: Mapping[str, Written] | None = None,
               ) -> dict[str, Written]:
    """By the one name of each setting: how it is written, and where for the last time."""
    found = dict(before or {})
    for name in names:
        written = name.strip().rstrip("+-")
        if known := canonical(written):
            found[known.partition(":")[0]] = Written(written, where)
    return found


def unknown_among(names: Iterable[str], others: Container[str]) -> list[str]:
    """Names that are neither a setting nor, in small letters, one of these others."""
    return [name for name in names
            if not canonical(name.rstrip("+-")) and _small(name) not in others]


def bare_words(words: Sequence[str]) -> list[str]:
    """Words without a value in a command that names what it adds by `Name=`: cut off, perhaps."""
    named = any(_small(word.partition("=")[0]) in ("name", "names") and "=" in word
                for word in words)
    return [word for word in words if "=" not in word] if named else []


def _small(name: str) -> str:
    return re.sub(r"[\s_]", "", name).lower().rstrip("+-")


def tres_of(text: str, where: str) -> dict[str, int]:
    """`cpu=10,mem=5G,gres/gpu=4` by resource, memory in MB."""
    found = {}
    for part in filter(None, text.split(",")):
        name, equals, value = part.partition("=")
        number = re.fullmatch(r"([0-9]{1,15}(?:\.[0-9]+)?)([KMGTP]?)B?", value.strip().upper())
        if not equals or number is None:
            raise InputError(f"{where}: '{part}' is no resource; write it like cpu=10 or mem=5G")
        resource = name.strip().lower()
        scale = " KMGTP".index(number[2].upper() or " ")
        if resource == "mem":
            megabytes = float(number[1]) * 1024.0 ** (scale - 2 if scale else 0)
            found[resource] = int(megabytes)
        else:
            found[resource] = int(float(number[1]) * 1024**scale)
    return found


def clock_s(text: str, where: str) -> int | None:
    """Seconds of Slurm's times: `30`, `30:00`, `1:30:00`, `7-0`, `1-12:00:00`; None without end.

    A number alone is minutes.
    """
    word = text.strip().lower()
    if word in ("infinite", "unlimited", "-1", "none", ""):
        return None
    found = re.fullmatch(r"(?:([0-9]{1,9})-)?([0-9]{1,12}(?::[0-9]{1,9}){0,2})", word)
    if found is None:
        raise InputError(f"{where}: '{text}' is no time of Slurm's; write it like 30, 1:30:00 or "
                         "7-0")
    parts = [int(part) for part in found[2].split(":")]
    if found[1] is not None:
        hours, minutes, seconds = [*parts, 0, 0][:3]
        return int(found[1]) * 86400 + hours * 3600 + minutes * 60 + seconds
    if len(parts) == 3:
        return parts[0] * 3600 + parts[1] * 60 + parts[2]
    return parts[0] * 60 + (parts[1] if len(parts) == 2 else 0)
