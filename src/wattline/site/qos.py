"""Slurm's qualities of service, from `sacctmgr show qos -P` or from a script of `sacctmgr`."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from wattline.model.errors import InputError
from wattline.site.limits import Written, bare_words, put, settings_of, unknown_among, written_of
from wattline.site.lines import refuse_name, site_text

USUAL = "normal"
"""The one that every cluster has from the beginning."""
_ADD, _CHANGE, _REMOVE = ("add", "create"), ("modify", "update"), ("delete", "remove")
_OTHER = frozenset({"name", "names", "description", "descr", "id", "rawusage", "parentid"})
"""Keys and columns of a QOS that change no start."""
_ASSOCIATIONS = ("account", "accounts", "user", "users", "cluster", "clusters")


@dataclass(frozen=True)
class Qos:
    """One quality of service; its settings by the names of `wattline.site.limits`."""

    name: str
    settings: Mapping[str, str] = field(default_factory=dict)
    where: str = field(default="", compare=False)
    written: Mapping[str, Written] = field(default_factory=dict, compare=False)
    """How and where each of these settings is written."""


@dataclass(frozen=True)
class QosTable:
    source: str
    rows: tuple[Qos, ...]
    remarks: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    """Keys and columns that nothing is known of, with their places."""
    stated: bool = True
    """Whether the file is about QOS at all; a cluster has `normal` without a word."""


def read_qos(path: str | Path) -> QosTable | None:
    """The QOS that a file of `sacctmgr` has; None where it is one of associations alone."""
    lines = _lines(path)
    first = lines[0][1]
    if first.lstrip().startswith("Cluster - "):
        return None
    if "|" in first:
        header = [name.strip() for name in first.split("|")]
        return _table(lines, header, str(path)) if _is_header(header) else None
    return _script(lines, str(path))


def is_qos_table(path: str | Path) -> bool:
    """Whether a file is a table of QOS, and so has no accounts."""
    return _is_header([name.strip() for name in _lines(path)[0][1].split("|")])


def _is_header(names: Sequence[str]) -> bool:
    return len(names) > 1 and "Name" in names and "Account" not in names


def _lines(path: str | Path) -> list[tuple[int, str]]:
    found = [(number, line) for number, line in
             enumerate(site_text(path).splitlines(), start=1)
             if line.strip() and not line.lstrip().startswith("#")]
    if not found:
        raise InputError(f"{path}: is empty")
    return found


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
        rows[name] = Qos(name, settings, where, written_of(header, where))
    if not rows:
        raise InputError(f"{source}: has no QOS below its header")
    unknown = tuple(f"{source}:{lines[0][0]}: column {column}"
                    for column in unknown_among(filter(None, header), _OTHER))
    return QosTable(source, tuple(rows.values()), unknown=unknown)


def _script(lines: Iterable[tuple[int, str]], source: str) -> QosTable:
    """What the commands leave; a cluster begins with `normal`."""
    rows = {USUAL: Qos(USUAL)}
    other: dict[str, int] = {}
    unknown: list[str] = []
    stated = False
    for number, line in lines:
        where = f"{source}:{number}"
        try:
            words = [word for word in shlex.split(line, comments=True)
                     if word != "sacctmgr" and word[:1] != "-"]
        except ValueError as error:
            raise InputError(f"{where}: cannot be taken apart: {str(error).lower()}") from None
        verb, thing = [word.lower() for word in [*words, "", ""][:2]]
        if thing == "qos":
            stated = stated or verb in (*_ADD, *_CHANGE, *_REMOVE)
            unknown += _run(rows, verb, words[2:], where)
        elif thing not in _ASSOCIATIONS and verb not in ("list", "show"):
            what = " ".join(words[:2])
            other[what] = other.get(what, 0) + 1
    said = ", ".join(f"{count} x '{what}'" for what, count in other.items())
    remarks = (f"{source}: commands that are about neither QOS nor associations were passed over: "
               f"{said}",) if other else ()
    return QosTable(source, tuple(rows.values()), remarks, tuple(unknown), stated)


def _run(rows: dict[str, Qos], verb: str, words: Sequence[str], where: str) -> list[str]:
    """Do what a command says; what of it nothing is known of."""
    if verb not in (*_ADD, *_CHANGE, *_REMOVE):
        return [] if verb in ("list", "show") else [
            f"{where}: '{verb} qos' is no command of sacctmgr's"]
    at = next((at for at, word in enumerate(words) if word.lower() == "set"), len(words))
    if verb in _CHANGE and at == len(words):
        return [f"{where}: modifies a QOS without 'set', which changes nothing"]
    names = [name for word in words for name in _names(word)]
    given = words if verb in _ADD else words[at + 1:]
    for name in names if names or verb not in _CHANGE else list(rows):
        if verb in _REMOVE:
            rows.pop(name, None)
            continue
        refuse_name(name, where)
        if verb in _CHANGE and name not in rows:
            raise InputError(f"{where}: changes QOS '{name}', which no line before adds")
        before = rows.get(name, Qos(name))
        settings = dict(before.settings)
        for word in given:
            key, equals, value = word.partition("=")
            if equals:
                put(settings, key, value)
        rows[name] = Qos(name, settings, where, written_of(
            (word.partition("=")[0] for word in given if "=" in word), where, before.written))
    if verb in _ADD and not names:
        raise InputError(f"{where}: adds a QOS without a name")
    bare = bare_words(words) if verb in _ADD else []
    asked = {key: value for key, equals, value in (word.partition("=") for word in words) if equals}
    return [f"{where}: '{word}' has no value, and counts as the name of a further QOS"
            for word in bare] + [f"{where}: {key}={asked[key]} of QOS '{', '.join(names)}'"
            for key in unknown_among(asked, _OTHER)]


def _names(word: str) -> list[str]:
    """Those that a word gives: bare, or after `Name=`."""
    key, equals, value = word.partition("=")
    if not equals:
        return [each for each in word.split(",") if each and word.lower() not in ("set", "where")]
    return [each for each in value.split(",") if each] if key.lower() in ("name", "names") else []
