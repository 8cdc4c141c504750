"""Cells of sacct as values: joules, counts, clocks, frequencies; NaN or None where unknown."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from wattline.site.cells import LARGEST, Cell, is_missing
from wattline.site.slurm_energy import hosts_of

Cells = Mapping[str, Cell]
_HZ = {"": 1e3, "K": 1e3, "M": 1e6, "G": 1e9}
_CLOCK = re.compile(r"(?:(?:([0-9]{1,9})-)?([0-9]{1,9}):)?([0-9]{1,9}):([0-9]{1,9}(?:\.[0-9]+)?)"
                    r"|([0-9]{1,15}(?:\.[0-9]+)?)")


def state(cells: Cells) -> str:
    """`CANCELLED` of `CANCELLED by 1000`."""
    return (text(cells, "State").split() or [""])[0].rstrip("+").upper()


def text(cells: Cells, column: str) -> str:
    """A cell as text; empty where there is none."""
    cell = cells.get(column)
    return "" if cell is None else str(cell)


def nodes_of(cells: Cells, node_list: str) -> int:
    """How many nodes it had; 0 where nothing says so."""
    return count(cells, ("AllocNodes", "NNodes"), "node") or (
        len(hosts_of(node_list)) if node_list else 0)


def count(cells: Cells, columns: Sequence[str], kind: str) -> int:
    """From the first of these columns that says it, else from the TRES; 0 where nothing does."""
    for column in columns:
        said = text(cells, column).strip()
        if re.fullmatch(r"[0-9]{1,15}", said) and int(said):
            return int(said)
    found = re.search(rf"(?:^|,){kind}=([0-9]{{1,15}})(?=,|$)", text(cells, "AllocTRES"))
    return int(found[1]) if found else 0


def limit_s(cells: Cells) -> float:
    """The requested time, which the raw column has in minutes."""
    minutes = seconds(cells.get("TimelimitRaw"))
    return 60 * minutes if minutes is not None else known(seconds(cells.get("Timelimit")))


def asked_frequency(cells: Cells) -> str:
    """What the job asked of its cores: `1200000-2400000:OnDemand`, as --cpu-freq writes it."""
    low, high, governor, single = (
        "" if is_missing(cells.get(name)) or not text(cells, name).strip("0") else text(cells, name)
        for name in ("ReqCPUFreqMin", "ReqCPUFreqMax", "ReqCPUFreqGov", "ReqCPUFreq"))
    spread = f"{low}-{high}" if low and high else low or high or single
    return f"{spread}:{governor}" if spread and governor else spread or governor


def hz(cell: Cell) -> float:
    """kHz where nothing else is said, as Slurm keeps it; 0 is unknown."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([KMG]?)", str(cell or "").strip())
    return float(found[1]) * _HZ[found[2]] or math.nan if found else math.nan


def clock(cell: Cell) -> float | None:
    """Seconds of `1-02:03:04`, `03:04.567` or a number; ValueError for anything else."""
    if is_missing(cell):
        return None
    found = _CLOCK.fullmatch(str(cell).strip())
    if found is None:
        raise ValueError(cell)
    days, hours, minutes, last, plain = found.groups()
    if plain is not None:
        return float(plain)
    return int(days or 0) * 86400 + int(hours or 0) * 3600 + int(minutes) * 60 + float(last)


def seconds(cell: Cell) -> float | None:
    """The same where a cell that is none says nothing."""
    try:
        found = clock(cell)
    except ValueError:
        return None
    return found if found is not None and found < LARGEST else None


def known(value: float | None) -> float:
    return math.nan if value is None else value


def first(*values: float | None) -> float | None:
    return next((value for value in values if value is not None), None)
