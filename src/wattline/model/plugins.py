"""Policies of other packages, as their entry points name them."""

from __future__ import annotations

from functools import cache

GROUP = "wattline.policies"


@cache
def installed() -> tuple[tuple[str, str], ...]:
    """Name and place of each; once for a process, because all that is installed is looked at.

    Few packages have any: reading the entry points of all took a twentieth of a short command.
    """
    from importlib.metadata import distributions

    found: dict[str, list[tuple[str, str]]] = {}
    for each in distributions():
        if GROUP in (each.read_text("entry_points.txt") or ""):
            # Of a package that is installed twice, Python imports the one that it finds first.
            found.setdefault(each.name, [(point.name, point.value) for point in each.entry_points
                                         if point.group == GROUP])
    return tuple(point for points in found.values() for point in points)
