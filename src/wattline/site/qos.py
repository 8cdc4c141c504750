"""Slurm's qualities of service, from `sacctmgr show qos -P` or from a script of `sacctmgr`."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from wattline.model.errors import InputError
from wattline.model.reading import read_text
from wattline.site.limits import put, settings_of
from wattline.site.lines import MOST_BYTES, refuse_name

USUAL = "normal"
"""The one that every cluster has from the beginning."""
_ADD, _CHANGE, _REMOVE = ("add", "create"), ("modify", "update"), ("delete", "remove")
_ASSOCIATIONS = ("account", "accounts", "user", "users", "cluster", "clusters")


@dataclass(frozen=True)
class Qos:
    """One quality of service; its settings by the names of `wattline.site.limits`."""

    name: str
    settings: Mapping[str, str] = field(default_factory=dict)
    where: str = field(default="", compare=False)


@dataclass(frozen=True)
class QosTable:
    source: str
    rows: tuple[Qos, ...]
    remarks: tuple[str, ...] = ()


def read_qos(path: str | Path) -> QosTable | None:
    """The QOS that a file of `sacctmgr` has; None where it is one of associations alone."""
    lines = [(number, line) for number, line in
             enumerate(read_text(path, MOST_BYTES).splitlines(), start=1)
             if line.strip() and not line.lstrip().startswith("#")]
    if not lines:
        raise InputError(f"{path}: is empty")
    first = lines[0][1]
    if first.lstrip().startswith("Cluster - "):
        return None
    if "|" in first:
        header = [name.strip() for name in first.split("|")]
        if "Name" not in header or "Account" in header:
            return None
        return _table(lines, header, str(path))
    return _script(lines, str(path))


def _table(lines: Sequence[tuple[int, str]], header: Sequence[str], source: str) -> QosTable:
    rows: dict[str, Qos] = {}
    for number, line in lines[1:]:
        where = f"{source}:{number}"
        cells = line.split("|")
        if len(cells) < len(header):
            raise InputError(f"{where}: has {len(cells)} columns, the header {len(header)}; the "
                             "line is cut off")
        row = dict(zip(header, cells, strict=False))
        name = row["Name"].strip()
        refuse_name(name, where)
        if name in rows:
            raise InputError(f"{where}: QOS '{name}' stands there twice (first in "
                             f"{rows[name].where})")
        settings = settings_of((key, value) for key, value in row.items() if value.strip())
        rows[name] = Qos(name, settings, where)
    if not rows:
        raise InputError(f"{source}: has no QOS below its header")
    return QosTable(source, tuple(rows.values()))


def _script(lines: Iterable[tuple[int, str]], source: str) -> QosTable:
    """What the commands leave; a cluster begins with `normal`."""
    rows = {USUAL: Qos(USUAL)}
    other: dict[str, int] = {}
    for number, line in lines:
        where = f"{source}:{number}"
        try:
            words = [word for word in shlex.split(line, comments=True)
                     if word != "sacctmgr" and word[:1] != "-"]
        except ValueError as error:
            raise InputError(f"{where}: cannot be taken apart: {str(error).lower()}") from None
        verb, thing = [word.lower() for word in [*words, "", ""][:2]]
        if thing == "qos":
            _run(rows, verb, words[2:], where)
        elif thing not in _ASSOCIATIONS and verb not in ("list", "show"):
            what = " ".join(words[:2])
            other[what] = other.get(what, 0) + 1
    said = ", ".join(f"{count} x '{what}'" for what, count in other.items())
    remarks = (f"{source}: commands that are about neither QOS nor associations were passed over: "
               f"{said}",) if other else ()
    return QosTable(source, tuple(rows.values()), remarks)


def _run(rows: dict[str, Qos], verb: str, words: Sequence[str], where: str) -> None:
    at = next((at for at, word in enumerate(words) if word.lower() == "set"), len(words))
    names = [name for word in words for name in _names(word)]
    given = words if verb in _ADD else words[at + 1:]
    for name in names if names or verb not in _CHANGE else list(rows):
        if verb in _REMOVE:
            rows.pop(name, None)
            continue
        if verb not in (*_ADD, *_CHANGE):
            continue
        refuse_name(name, where)
        if verb in _CHANGE and name not in rows:
            raise InputError(f"{where}: changes QOS '{name}', which no line before adds")
        settings = dict(rows[name].settings) if name in rows else {}
        for word in given:
            key, equals, value = word.partition("=")
            if equals:
                put(settings, key, value)
        rows[name] = Qos(name, settings, where)


def _names(word: str) -> list[str]:
    """Those that a word gives: bare, or after `Name=`."""
    key, equals, value = word.partition("=")
    if not equals:
        return [each for each in word.split(",") if each and word.lower() not in ("set", "where")]
    return [each for each in value.split(",") if each] if key.lower() in ("name", "names") else []
