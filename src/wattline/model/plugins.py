"""What is installed, as far as kernels and policies ask: other packages' policies, versions.

Python's own answer (`importlib.metadata`) takes longer to load than a short command has; it is
asked where the names of folders do not suffice.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

GROUP = "wattline.policies"


@cache
def installed() -> tuple[tuple[str, str], ...]:
    """Name and place of each policy that entry points name; once for a process.

    Few packages have any: reading the entry points of all took a twentieth of a short command.
    """
    if all(GROUP not in said for said in _entry_points()):
        return ()
    from importlib.metadata import distributions

    found: dict[str, list[tuple[str, str]]] = {}
    for each in distributions():
        if GROUP in (each.read_text("entry_points.txt") or ""):
            # Of a package that is installed twice, Python imports the one that it finds first.
            found.setdefault(each.name, [(point.name, point.value) for point in each.entry_points
                                         if point.group == GROUP])
    return tuple(point for points in found.values() for point in points)


def _entry_points() -> Iterator[str]:
    """What each package on Python's path writes of its own.

    What lies in an archive is not read: the group itself stands for it, so that Python is asked.
    """
    for place in sys.path:
        folder = place or "."
        if os.path.isfile(folder):
            yield GROUP
        elif os.path.isdir(folder):
            for name in os.listdir(folder):
                if name.endswith((".dist-info", ".egg-info", "EGG-INFO")):
                    yield _text(f"{folder}/{name}/entry_points.txt")


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError:
        return ""


def version_of(package: str) -> str:
    """The version of an installed package, which need not be loaded: its folder's name has it."""
    spec = find_spec(package)
    beside = Path(spec.origin).parent.parent if spec is not None and spec.origin else None
    named = [] if beside is None else list(beside.glob(f"{package}-*.dist-info"))
    if len(named) == 1:
        return named[0].name.removesuffix(".dist-info").removeprefix(f"{package}-")
    from importlib.metadata import version

    return version(package)
