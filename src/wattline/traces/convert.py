"""Cells of a table to numbers: units, clocks, timestamps; a cell that fails marks its row."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, tzinfo

import numpy as np
import numpy.typing as npt

from wattline.model.errors import InputError
from wattline.model.signal import FloatArray
from wattline.model.states import PARTS, STATES
from wattline.model.units import parse_duration, plain_number
from wattline.site.cells import LARGEST, Cell, is_missing
from wattline.traces.raw import RUNNING, UNFINISHED

FACTORS: dict[str, dict[str, float]] = {
    "time": {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "min": 60.0, "h": 3600.0, "d": 86400.0},
    "power": {"W": 1.0, "mW": 1e-3, "kW": 1e3, "MW": 1e6},
    "energy": {"J": 1.0, "mJ": 1e-3, "kJ": 1e3, "MJ": 1e6, "Wh": 3600.0, "kWh": 3.6e6,
               "MWh": 3.6e9},
    "frequency": {"Hz": 1.0, "kHz": 1e3, "MHz": 1e6, "GHz": 1e9},
    "count": {"": 1.0},
}
"""What one unit of a cell is in seconds, watts, joules, hertz."""

SLURM_STATES = {**{name: code for code, name in STATES.items() if code not in PARTS},
                "COMPLETING": 1, "RUNNING": RUNNING, "SUSPENDED": RUNNING, "PENDING": UNFINISHED}
"""The status of each state of Slurm's."""

class Converter:
    """Converts columns of equal length and remembers the rows that could not be read."""

    def __init__(self, rows: int) -> None:
        self.bad: npt.NDArray[np.bool_] = np.zeros(rows, dtype=np.bool_)

    def array(self, values: FloatArray, factor: float = 1.0) -> FloatArray:
        """Numbers that are numbers already."""
        scaled = values * factor
        self.bad |= np.abs(scaled) >= LARGEST
        return scaled

    def each(self, cells: Sequence[Cell], convert: Callable[[Cell], float]) -> FloatArray:
        """One number a cell; NaN where the cell says nothing or cannot be converted."""
        values = np.full(len(cells), np.nan)
        for row, cell in enumerate(cells):
            if is_missing(cell):
                continue
            try:
                value = convert(cell)
            except (ValueError, OverflowError, InputError, TypeError):
                self.bad[row] = True
                continue
            # NaN: a list with nothing in it.
            self.bad[row] |= abs(value) >= LARGEST
            values[row] = value
        return values

    def number(self, cells: Sequence[Cell], factor: float = 1.0) -> FloatArray:
        return self.each(cells, lambda cell: _number(cell) * factor)

    def clock(self, cells: Sequence[Cell], *, hours_first: bool = False) -> FloatArray:
        """Durations like 1-02:03:04; `hours_first` reads two fields as hours and minutes."""
        return self.each(cells, lambda cell: _clock(cell, hours_first))

    def timestamp(
        self, cells: Sequence[Cell], zone: tzinfo = UTC, factor: float = 1.0
    ) -> FloatArray:
        """Seconds since 1970 from ISO text, datetimes, or numbers of a unit."""
        return self.each(cells, lambda cell: _timestamp(cell, zone, factor))


def slurm_state(cell: Cell) -> int:
    """The status of a Slurm state; -1 for an unknown one."""
    words = str(cell or "").split()
    return SLURM_STATES.get(words[0].rstrip("+").upper(), -1) if words else -1


def _number(cell: Cell) -> float:
    if isinstance(cell, datetime) or cell is None:
        raise ValueError(cell)
    return plain_number(cell) if isinstance(cell, str) else float(cell)


def _clock(cell: Cell, hours_first: bool) -> float:
    if not isinstance(cell, str):
        return _number(cell)
    if hours_first and re.fullmatch(r"\d+:\d{2}", cell.strip()):
        return parse_duration(cell.strip() + ":00")
    return parse_duration(cell)


def _timestamp(cell: Cell, zone: tzinfo, factor: float) -> float:
    if isinstance(cell, str):
        if "-" not in cell[1:]:
            return _number(cell) * factor
        cell = datetime.fromisoformat(cell.strip())
    if isinstance(cell, datetime):
        return (cell if cell.tzinfo else cell.replace(tzinfo=zone)).timestamp()
    return _number(cell) * factor
