"""Policies of other packages, as their entry points name them."""

from __future__ import annotations

from functools import cache

GROUP = "wattline.policies"


@cache
def installed() -> tuple[tuple[str, str], ...]:
    """Name and place of each; once for a process, because all that is installed is looked at."""
    from importlib.metadata import entry_points

    return tuple((point.name, point.value) for point in entry_points(group=GROUP))
