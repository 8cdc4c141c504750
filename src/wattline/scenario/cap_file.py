"""Writing `power.cap` into a scenario's text: what is not changed stays as its author wrote it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def with_cap(text: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """The text with the cap of `after`; both caps in the form of a `[power.cap]` table.

    Comments, blank lines, the order of fields and fields that are alike before and after stay.
    """
    import tomlkit
    from tomlkit.items import AbstractTable

    document = tomlkit.parse(text)
    if "power" not in document:
        document["power"] = tomlkit.table()
    power: Any = document["power"]
    there = power.get("cap")
    if not after:  # an empty table would say nothing
        power["cap"] = "none"
        return tomlkit.dumps(document)
    if not isinstance(there, (AbstractTable, dict)):
        power["cap"] = _inline(after)
        return tomlkit.dumps(document)
    for name in before:
        if name not in after:
            del there[name]
    for name, value in after.items():
        if name not in before or before[name] != value:
            _put(there, name, before.get(name), value)
    return tomlkit.dumps(document)


def _put(table: Any, name: str, before: Any, after: Any) -> None:
    """Set a field; what was added to the end of a list is added to the list that is there."""
    import tomlkit
    from tomlkit.items import AoT

    there = table.get(name)
    if isinstance(after, list) and there is not None and before == after[: len(there)]:
        for row in after[len(there):]:
            if isinstance(there, AoT):
                added = tomlkit.table()
                added.update(row)
                there.append(added)
            else:
                there.append(_inline(row))
        return
    table[name] = _array(after) if isinstance(after, list) else after


def _inline(given: Mapping[str, Any]) -> Any:
    import tomlkit

    found = tomlkit.inline_table()
    for name, value in given.items():
        found[name] = _array(value) if isinstance(value, list) else value
    return found


def _array(rows: list[Mapping[str, Any]]) -> Any:
    """A list on one line; tomlkit would make sections of it, in whose midst other fields stand."""
    import tomlkit

    found = tomlkit.array()
    for row in rows:
        found.append(_inline(row))
    return found
