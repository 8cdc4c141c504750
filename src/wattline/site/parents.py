"""A table of two columns, child and parent: the tree that an inventory or a spreadsheet knows."""

from __future__ import annotations

import re
from pathlib import Path

from wattline.model.errors import InputError
from wattline.model.reading import read_text
from wattline.site.lines import MOST_BYTES, hosts_of, refuse_name

_FIELD = r'"(?:[^"]|"")*"|(?:[^{0}\[\]"]|\[[^\]]*\])*'


def read_parents(path: str | Path) -> dict[str, str]:
    """The parent of each child, empty for one at the top; a child may be a host list.

    Columns are apart by commas, semicolons or tabs (not within brackets); a first line
    `child,parent`, in either order, names them. A parent that is no child is at the top.
    """
    parents: dict[str, str] = {}
    places: dict[str, str] = {}
    turned, separator = False, ","
    lines = read_text(path, MOST_BYTES).splitlines()
    for number, line in enumerate(lines, start=1):
        where = f"{path}:{number}"
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if not places:
            separator = next((each for each in ";\t" if each in line), ",")
        fields = _fields(line, separator, where)
        named = [field.lower() for field in fields]
        if not places and sorted(named) == ["child", "parent"]:
            turned = named[0] == "parent"
            continue
        child, parent = reversed(fields) if turned else fields
        if parent:
            refuse_name(parent, where)
        if not child:
            refuse_name(child, where)
        for name in hosts_of(child, where):
            if parents.get(name, parent) != parent:
                raise InputError(f"{where}: '{name}' is in '{parent}', and by {places[name]} in "
                                 f"'{parents[name]}'; in one tree it may have one parent")
            parents[name], places[name] = parent, where
    if not parents:
        raise InputError(f"{path}: has no lines; write child,parent in each")
    tops = {parent: "" for parent in parents.values() if parent and parent not in parents}
    return {**tops, **parents}


def _fields(line: str, separator: str, where: str) -> list[str]:
    field = _FIELD.format(re.escape(separator))
    found = re.fullmatch(rf"\s*({field})\s*{re.escape(separator)}\s*({field})\s*", line)
    if not found:
        raise InputError(f"{where}: '{line.strip()[:40]}' is not two columns, child and parent")
    return [_unquoted(part.strip()) for part in found.groups()]


def _unquoted(text: str) -> str:
    return text[1:-1].replace('""', '"').strip() if text.startswith('"') else text
