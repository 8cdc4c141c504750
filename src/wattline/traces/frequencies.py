"""Which frequencies a job allows: `--cpu-freq` in a submit line or a table, or sacct's columns.

`low` and `high` become frequencies below and above all that cores have, because a log does not say
what its cores had; a scenario takes the nearest of its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from wattline.model.errors import InputError
from wattline.model.signal import FloatArray
from wattline.physics.core_power import SANDY_BRIDGE, WORDS, CorePower, parse_cpu_freq
from wattline.traces.convert import Cell, is_missing

COLUMNS = ("frequency_hz_min", "frequency_hz_max")
LOWEST_HZ, HIGHEST_HZ = 1.0, 1e12
_ANY_CORE = CorePower(
    (LOWEST_HZ, SANDY_BRIDGE.frequency_hz[3], SANDY_BRIDGE.frequency_hz[-2], HIGHEST_HZ),
    (1.0, 2.0, 3.0, 4.0), idle_w=0.0,
)
_OPTION = re.compile(r"--cpu-freq[= ]([^\s'\"]+)")
_SUFFIX_HZ = {"": 1e3, "K": 1e3, "M": 1e6, "G": 1e9}


def frequencies(cells: Mapping[str, Sequence[Cell]], count: int) -> dict[str, FloatArray]:
    """Lowest and highest frequency of each job; NaN where it did not say. Empty for no column.

    A submit line counts before the columns ReqCPUFreqMin and ReqCPUFreqMax, which hold kHz, or
    other units with a suffix. What cannot be understood counts as not said (see `unclear`).
    """
    lines = cells.get("SubmitLine")
    low, high = cells.get("ReqCPUFreqMin"), cells.get("ReqCPUFreqMax", cells.get("ReqCPUFreq"))
    if lines is None and low is None and high is None:
        return {}
    found = np.full((2, count), np.nan)
    for row in range(count):
        given = _from_line(str(lines[row])) if lines is not None else None
        if given is None:
            least = _hz(low[row]) if low is not None else np.nan
            most = _hz(high[row]) if high is not None else np.nan
            given = (least, most)
        found[:, row] = given
    return {} if np.all(np.isnan(found)) else dict(zip(COLUMNS, found, strict=True))


def unclear(cells: Mapping[str, Sequence[Cell]], count: int) -> list[int]:
    """Rows whose submit line names a frequency that cannot be understood."""
    lines = cells.get("SubmitLine")
    if lines is None:
        return []
    texts = [str(lines[row]) for row in range(count)]
    return [row for row, text in enumerate(texts)
            if _OPTION.search(text) is not None and _from_line(text) is None]


def of_texts(texts: Sequence[Cell]) -> tuple[dict[str, FloatArray], list[int]]:
    """The same of a column that holds what `--cpu-freq` takes; and the rows that are unclear."""
    found = np.full((2, len(texts)), np.nan)
    unclear_rows = []
    for row, cell in enumerate(texts):
        if is_missing(cell):
            continue
        whole = isinstance(cell, float) and cell.is_integer()
        given = _range(f"{cell:.0f}" if whole else str(cell))
        if given is None:
            unclear_rows.append(row)
        else:
            found[:, row] = given
    return dict(zip(COLUMNS, found, strict=True)), unclear_rows


def _from_line(text: str) -> tuple[float, float] | None:
    option = _OPTION.search(text)
    return None if option is None else _range(option[1])


def _range(text: str) -> tuple[float, float] | None:
    try:
        wanted = parse_cpu_freq(text, _ANY_CORE)
    except InputError:
        return None
    return wanted.min_hz, wanted.max_hz


def _hz(cell: Cell) -> float:
    text = str(cell).strip()
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([KMG]?)", text)
    if not match:
        word = _range(text) if text.lower() in WORDS else None
        return float("nan") if word is None else word[0]
    return float(match[1]) * _SUFFIX_HZ[match[2]] or float("nan")
