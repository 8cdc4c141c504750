"""Cells of a table to numbers: units, clocks, timestamps; a cell that fails marks its row."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, tzinfo

import numpy as np
import numpy.typing as npt

from wattline.model.errors import InputError
from wattline.model.local_time import Instants, meant
from wattline.model.signal import FloatArray
from wattline.model.states import PARTS, STATES
from wattline.model.units import parse_duration, plain_number
from wattline.site.cells import LARGEST, Cell, is_missing
from wattline.traces.raw import RUNNING, UNFINISHED

SLURM_STATES = {**{name: code for code, name in STATES.items() if code not in PARTS},
                "COMPLETING": 1, "RUNNING": RUNNING, "SUSPENDED": RUNNING, "PENDING": UNFINISHED}
"""The status of each state of Slurm's."""
_UNREADABLE = (ValueError, OverflowError, InputError, TypeError)

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
            except _UNREADABLE:
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

    def instants(
        self, cells: Sequence[Cell], zone: tzinfo = UTC, factor: float = 1.0
    ) -> Instants:
        """Seconds since 1970 from ISO text, datetimes, or numbers of a unit."""
        clock_s = np.full(len(cells), np.nan)
        local = np.zeros(len(cells), dtype=np.bool_)
        for row, cell in enumerate(cells):
            if is_missing(cell):
                continue
            try:
                clock_s[row], local[row] = _timestamp(cell, factor)
            except _UNREADABLE:
                self.bad[row] = True
        self.bad |= np.abs(clock_s) >= LARGEST
        return by_the_clock(clock_s, local, zone)


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


def by_the_clock(
    clock_s: FloatArray, local: npt.NDArray[np.bool_], zone: tzinfo
) -> Instants:
    """The times of a column of which some rows are seconds of a local clock."""
    first_s, later_s, shifted = clock_s.copy(), clock_s.copy(), np.zeros_like(local)
    first_s[local], later_s[local], shifted[local] = meant(clock_s[local], zone)
    return Instants(first_s, later_s, local, shifted)


def _timestamp(cell: Cell, factor: float) -> tuple[float, bool]:
    """Seconds since 1970, or by a local clock, and whether it is the latter."""
    if isinstance(cell, str):
        if "-" not in cell[1:]:
            return _number(cell) * factor, False
        cell = datetime.fromisoformat(cell.strip())
    if not isinstance(cell, datetime):
        return _number(cell) * factor, False
    if cell.tzinfo is not None:
        return cell.timestamp(), False
    return cell.replace(tzinfo=UTC).timestamp(), True
