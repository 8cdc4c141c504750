"""Which frequencies a logged job allowed: `--cpu-freq` in a submit line, or sacct's columns."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from wattline.model.errors import InputError
from wattline.model.signal import FloatArray
from wattline.physics.core_power import parse_cpu_freq
from wattline.traces.convert import Cell

COLUMNS = ("frequency_hz_min", "frequency_hz_max")
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


def _from_line(text: str) -> tuple[float, float] | None:
    option = _OPTION.search(text)
    if option is None:
        return None
    try:
        wanted = parse_cpu_freq(option[1])
    except InputError:
        return None
    return wanted.min_hz, wanted.max_hz


def _hz(cell: Cell) -> float:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([KMG]?)", str(cell).strip())
    if not match or float(match[1]) == 0:
        return float("nan")
    return float(match[1]) * _SUFFIX_HZ[match[2]]
