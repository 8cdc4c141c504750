"""Which frequencies a job allows: `--cpu-freq` in a submit line or a table, or sacct's columns.

`low` and `high` become frequencies below and above all that cores have, because a log does not say
what its cores had; a scenario takes the nearest of its own.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence

import numpy as np

from wattline.model.errors import InputError
from wattline.model.signal import FloatArray
from wattline.physics.core_power import SANDY_BRIDGE, WORDS, CorePower, parse_cpu_freq
from wattline.site.cells import Cell, is_missing

COLUMNS = ("frequency_hz_min", "frequency_hz_max")
LOWEST_HZ, HIGHEST_HZ = 1.0, 1e12
_ANY_CORE = CorePower(
    (LOWEST_HZ, SANDY_BRIDGE.frequency_hz[3], SANDY_BRIDGE.frequency_hz[-2], HIGHEST_HZ),
    (1.0, 2.0, 3.0, 4.0), idle_w=0.0,
)
_FLAGS = frozenset((
    "bell", "contiguous", "disable-status", "exact", "exclusive", "external", "get-user-env",
    "help", "hold", "ignore-pbs", "interactive", "kill-command", "label", "multi-prog", "nice",
    "no-allocate", "no-bell", "no-kill", "no-requeue", "no-shell", "overcommit", "overlap",
    "oversubscribe", "parsable", "preserve-env", "propagate", "pty", "quiet", "quit-on-interrupt",
    "reboot", "requeue", "resv-ports", "send-libs", "share", "spread-job", "test-only",
    "unbuffered", "usage", "use-min-nodes", "verbose", "version", "wait", "whole",
))
"""Options of sbatch, srun and salloc behind which no value stands, unless joined by `=`."""
_SHORT_FLAGS = frozenset("EHIKOQVXZhklsuv")
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
            if _option(text) is not None and _from_line(text) is None]


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
    option = _option(text)
    return None if option is None else _range(option)


def _option(line: str) -> str | None:
    """What `--cpu-freq` was given before the script's name; what follows that is the script's."""
    if "--cpu-freq" not in line:
        return None
    try:
        words = shlex.split(line)
    except ValueError:  # a quote that does not end
        words = line.split()
    sbatch = bool(words) and words[0].rpartition("/")[2] == "sbatch"
    place = 0 if words and words[0].startswith("-") else 1
    found = None
    while place < len(words) and words[place].startswith("-") and words[place] not in ("-", "--"):
        name, joined, value = words[place].partition("=")
        place += 1
        if not joined and _takes_next(name, sbatch):
            value = words[place] if place < len(words) else ""
            place += 1
        if name == "--cpu-freq":
            found = value
    return found


def _takes_next(option: str, sbatch: bool) -> bool:
    """Whether the value of an option is the next word."""
    if option.startswith("--"):
        # `srun --wait` has a value, `sbatch --wait` has none.
        return option[2:] not in _FLAGS or (option == "--wait" and not sbatch)
    for at, letter in enumerate(option[1:], 2):
        if letter not in _SHORT_FLAGS and not (sbatch and letter == "W"):
            return at == len(option)
    return False


def _range(text: str) -> tuple[float, float] | None:
    try:
        wanted = parse_cpu_freq(text, _ANY_CORE)
    except InputError:
        return None
    return wanted.min_hz, wanted.max_hz


def _hz(cell: Cell) -> float:
    text = str(cell).strip()
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([KMG]?)", text)
    if not match:
        word = _range(text) if text.lower() in WORDS else None
        return float("nan") if word is None else word[0]
    return float(match[1]) * _SUFFIX_HZ[match[2]] or float("nan")
