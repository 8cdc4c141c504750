"""Generic resources that a job asks for: `gres/gpu=4` in what sacct prints of its TRES."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from wattline.model.errors import InputError
from wattline.model.signal import FloatArray
from wattline.site.cells import Cell

MOST_KINDS = 100
"""Each has a column of its own."""
_ASKED = re.compile(r"(?:^|,)(gres/[^=,\s]{1,80})=([0-9]{1,15})(?=,|$)", re.ASCII)


def gres(cells: Mapping[str, Sequence[Cell]], count: int, source: str) -> dict[str, FloatArray]:
    """A column `gres/NAME` per resource; NaN where a job says nothing of it.

    What was asked for counts before what was given.
    """
    found: dict[str, FloatArray] = {}
    nothing: list[Cell] = [None] * count
    asked, given = (cells.get(name, nothing) for name in ("ReqTRES", "AllocTRES"))
    for row in range(count):
        said = _ASKED.findall(str(asked[row] or "")) or _ASKED.findall(str(given[row] or ""))
        for name, number in said:
            if name not in found and len(found) == MOST_KINDS:
                raise InputError(f"{source}: more than {MOST_KINDS} kinds of generic resources")
            found.setdefault(name, np.full(count, np.nan))[row] = float(number)
    return found
