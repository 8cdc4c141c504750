"""CSV and Parquet tables, read through a column map."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import numpy.typing as npt

from wattline.model.errors import InputError
from wattline.model.jobs import IntArray
from wattline.model.local_time import Instants, Stays, stays_of, zone_of
from wattline.model.signal import FloatArray
from wattline.model.units import plain_number
from wattline.site.cells import LARGEST, Cell, is_missing
from wattline.traces import frequencies
from wattline.traces.column_map import TARGETS, ColumnEntry, ColumnMap, built_in, load_map
from wattline.traces.convert import Converter, by_the_clock, slurm_state
from wattline.traces.raw import (
    CODES,
    NODE_RANGE,
    OWN_COLUMNS,
    RawJobs,
    encode,
    known,
    no_code,
    refuse_negative_power,
    unknown,
)
from wattline.traces.tables import (
    Cells,
    Table,
    csv_names,
    parquet_names,
    read_csv,
    read_parquet,
)

Mask = npt.NDArray[np.bool_]
MOST_BLAMED = 3
"""Of so many rows that cannot be read it is said why."""


def parse(
    data: bytes, source: str, column_map: ColumnMap | None, *, parquet: bool, zone: str = ""
) -> RawJobs:
    """Read a table; without a map it has to be one that we wrote."""
    columns = parquet_names(data, source) if parquet else csv_names(data, column_map, source)
    if column_map is None:
        if not set(columns) >= OWN_COLUMNS:
            known = ", ".join(name for name in built_in() if name != "wattline")
            raise InputError(f"{source}: a table needs a column map (--map): one that comes with "
                             f"the package ({known}), or a TOML file that says which column is "
                             "what")
        column_map = load_map("wattline")
        present = {t: e for t, e in column_map.entries.items() if e.column in columns}
        column_map = ColumnMap("wattline", present)
    wanted = _wanted(column_map, columns, source)
    if parquet:
        table = read_parquet(data, wanted, source)
    else:
        table = read_csv(data, wanted, column_map, source)
    return to_raw(table, column_map, source, zone)


def to_raw(table: Table, column_map: ColumnMap, source: str, zone: str = "") -> RawJobs:
    """Convert the mapped columns; rows with a cell that cannot be read are left out."""
    reader = _Reader(table, column_map, zone)
    count = table.line.size
    instants = [reader.instants(f"{name}_s") for name in ("submit", "start", "end")]
    run_s = reader.numbers("run_s")
    times = stays_of(instants, run_s)
    submit_s, start_s, end_s = times.submit_s, times.start_s, times.end_s
    run_s = np.where(np.isnan(run_s), end_s - start_s, run_s)
    wait_s = reader.numbers("wait_s")
    wait_s = np.where(np.isnan(wait_s), start_s - submit_s, wait_s)
    requested_procs = reader.numbers("requested_procs")
    allocated_procs = reader.numbers("allocated_procs")
    size = np.where(known(allocated_procs), allocated_procs, requested_procs)
    energy_j = reader.sized("energy_j", size)
    refuse_negative_power(reader.numbers("power_w"), table.line, source)
    power_w = reader.sized("power_w", size)
    with np.errstate(divide="ignore", invalid="ignore"):
        from_energy = np.where(known(run_s), energy_j / run_s, np.nan)
    power_w = np.where(known(power_w), power_w, from_energy)
    names: dict[str, tuple[str, ...]] = dict(table.names)
    codes = {name: reader.codes(name, names) for name in CODES}
    job_id, preceding = reader.ids()
    for target in ("requested_procs", "allocated_procs", "restart", *NODE_RANGE):
        sizes = reader.numbers(target)
        reader.refuse(target, ~np.isnan(sizes) & (sizes != np.floor(sizes)))
    restart = reader.numbers("restart")
    nodes = {name: np.where(known(reader.numbers(name)), reader.numbers(name), np.nan)
             for name in NODE_RANGE}
    least, most = nodes.values()
    reader.refuse("nodes_min", (least < 1) | (most < least))
    reader.refuse("nodes_max", most < 1)
    frequency, unclear_rows = reader.frequencies()
    good = ~reader.convert.bad
    raw = RawJobs(
        line=table.line[good], job_id=job_id[good], submit_s=submit_s[good], run_s=run_s[good],
        requested_s=reader.numbers("requested_s")[good], requested_procs=requested_procs[good],
        allocated_procs=allocated_procs[good], power_w=power_w[good],
        codes={name: values[good] for name, values in codes.items()},
        preceding=preceding[good], think_s=reader.numbers("think_s")[good], names=names,
        header={**column_map.header, **table.header},
        logged={"wait_s": wait_s[good], "allocated_procs": allocated_procs[good],
                **{name: hz[good] for name, hz in frequency.items()},
                **{name: values[good] for name, values in nodes.items()
                   if np.isfinite(values).any()}},
        restart=np.nan_to_num(restart[good]).astype(np.int64) if known(restart).any() else None,
        unreadable=tuple(sorted([*table.unreadable, *table.line[~good].tolist()])),
        bad_cells=tuple(reader.bad_cells),
        unclear_frequency=tuple(table.line[unclear_rows].tolist()),
        remarks=_said(times, column_map, zone, source),
    )
    if count and not good.any():
        why = f": {', '.join(reader.bad_cells)}" if reader.bad_cells else ""
        raise InputError(f"no row of the table could be read through the map '{column_map.name}'; "
                         f"check its units and formats{why}")
    return raw


def _said(times: Stays, column_map: ColumnMap, zone: str, source: str) -> tuple[str, ...]:
    """Of the zone of its times; a map knows that of its table, which is no assumption."""
    own = column_map.timezone
    found = times.remarks(zone_of(own or zone), source)
    return found[1:] if own and zone in ("", own) else found


class _Reader:
    """Converts the columns of one table as its map says."""

    def __init__(self, table: Table, column_map: ColumnMap, zone: str) -> None:
        self.table = table
        self.entries = column_map.entries
        self.rows = int(table.line.size)
        self.zone = zone_of(column_map.timezone or zone)
        self.convert = Converter(self.rows)
        self.done: dict[str, FloatArray] = {}
        self.times: dict[str, Instants] = {}
        """Columns of dates."""
        self.bad_cells: list[str] = []
        """Where the first rows that cannot be read have what."""

    def numbers(self, target: str) -> FloatArray:
        if target not in self.done:
            entry = self.entries.get(target)
            if entry is not None and entry.column in self.table.dates and (
                    TARGETS[target] != "instant"):
                raise InputError(f"the column {entry.column} has dates, and {target} is none: "
                                 "dates belong to submit_s, start_s and end_s")
            before = self.convert.bad.copy()
            self.done[target] = unknown(self.rows) if entry is None else self._convert(
                target, entry)
            self._blame(target, self.convert.bad & ~before)
        return self.done[target]

    def instants(self, target: str) -> Instants:
        """Times of a column, with the hour that each may be too where a clock was set back."""
        seconds = self.numbers(target)
        if target in self.times:
            return self.times[target]
        never = np.zeros(self.rows, dtype=np.bool_)
        return Instants(seconds, seconds, never, never)

    def refuse(self, target: str, rows: Mask) -> None:
        """Leave out rows whose number is none for this column."""
        self._blame(target, rows & ~self.convert.bad)
        self.convert.bad |= rows

    def _blame(self, target: str, rows: Mask) -> None:
        entry = self.entries.get(target)
        for row in np.flatnonzero(rows)[: MOST_BLAMED - len(self.bad_cells)].tolist():
            assert entry is not None
            cell = str(self._cells(entry)[row])[:40]
            self.bad_cells.append(f"{self.table.counts} {self.table.line[row]} has {cell!r} in "
                                  f"{entry.column or target}")

    def sized(self, target: str, size: FloatArray) -> FloatArray:
        """A power or energy of the whole job."""
        values = self.numbers(target)
        entry = self.entries.get(target)
        return values * size if entry is not None and entry.per_node else values

    def codes(self, target: str, names: dict[str, tuple[str, ...]]) -> IntArray:
        entry = self.entries.get(target)
        if entry is None:
            return no_code(self.rows)
        cells = self._cells(entry)
        whole = _whole_numbers(cells)
        if target == "status" and whole is None:
            known_codes = {text.upper(): code for text, code in entry.codes.items()}
            found = [known_codes.get(str(cell).upper(), slurm_state(cell)) for cell in cells]
            return np.array(found, dtype=np.int64)
        if whole is None:
            whole, names[target] = encode(["" if is_missing(c) else str(c) for c in cells])
        elif entry.name_column is not None and target not in names:
            names[target] = _names_of(whole, self.table.columns.get(entry.name_column, ()))
        if not names.get(target, ("",)):
            del names[target]
        return whole

    def ids(self) -> tuple[IntArray, IntArray]:
        """The id of each job, and of the job before it."""
        numbered = np.arange(1, self.rows + 1, dtype=np.int64)
        entry, before = self.entries.get("job_id"), self.entries.get("after_job")
        cells: Cells = numbered.tolist() if entry is None else self._cells(entry)
        asked: Cells = [None] * self.rows if before is None else self._cells(before)
        whole = _whole_numbers(cells, missing=None)
        if whole is not None and (whole >= 0).all():
            named = _whole_numbers(asked)
            return whole, no_code(self.rows) if named is None else named
        # Ids that are not numbers: the jobs are numbered as they come.
        row_of: dict[str, int] = {}
        for row, cell in enumerate(cells):
            row_of.setdefault(str(cell), row + 1)
        named = np.array([-1 if is_missing(c) else row_of.get(str(c), -1) for c in asked],
                         dtype=np.int64)
        return numbered, named

    def frequencies(self) -> tuple[dict[str, FloatArray], list[int]]:
        """What each job allows, by columns in hertz before one as `--cpu-freq`; unclear rows."""
        found = {name: self.numbers(name) for name in frequencies.COLUMNS}
        entry = self.entries.get("cpu_freq")
        unclear_rows: list[int] = []
        if entry is not None:
            said, unclear_rows = frequencies.of_texts(list(self._cells(entry)))
            found = {name: np.where(np.isnan(hz), said[name], hz) for name, hz in found.items()}
        nothing = all(np.isnan(hz).all() for hz in found.values())
        return {} if nothing else found, unclear_rows

    def _cells(self, entry: ColumnEntry) -> Cells:
        if entry.column is None:
            return [entry.constant] * self.rows
        return self.table.columns[entry.column]

    def _convert(self, target: str, entry: ColumnEntry) -> FloatArray:
        cells = self._cells(entry)
        if isinstance(cells, np.ndarray):
            found = self.convert.array(cells, entry.factor)
            if entry.column not in self.table.local:
                return found
            self.times[target] = by_the_clock(found, ~np.isnan(found), self.zone.info)
            return self.times[target].first_s
        if entry.reduce is not None:
            return self.convert.each(cells, lambda cell: _reduced(cell, entry))
        if entry.format == "timestamp":
            self.times[target] = self.convert.instants(cells, self.zone.info, entry.factor)
            return self.times[target].first_s
        if entry.format in ("clock", "hh:mm"):
            return self.convert.clock(cells, hours_first=entry.format == "hh:mm")
        return self.convert.each(cells, lambda cell: _plain_number(cell) * entry.factor)


def _plain_number(cell: Cell) -> float:
    if isinstance(cell, timedelta):
        return cell.total_seconds()
    if isinstance(cell, datetime):
        raise ValueError(cell)
    if isinstance(cell, str):
        return plain_number(cell)
    return float(cell)  # type: ignore[arg-type]


def _reduced(cell: Any, entry: ColumnEntry) -> float:
    values = json.loads(cell) if isinstance(cell, str) else cell
    numbers = np.array([v for v in values if v is not None], dtype=np.float64)
    if not numbers.size:
        return float("nan")
    if entry.reduce == "max":
        return float(numbers.max()) * entry.factor
    total = float(numbers.sum()) * entry.factor
    return total if entry.reduce == "sum" else total / numbers.size


def _whole_numbers(cells: Cells, missing: int | None = -1) -> IntArray | None:
    """The cells as whole numbers, or None where one of them is something else."""
    if isinstance(cells, np.ndarray):
        empty = np.isnan(cells)
        filled = np.where(empty, -1 if missing is None else missing, cells)
        fine = (filled == np.floor(filled)) & (np.abs(filled) < LARGEST)
        if not fine.all() or (missing is None and empty.any()):
            return None
        return filled.astype(np.int64)
    found = []
    for cell in cells:
        if is_missing(cell):
            if missing is None:
                return None
            found.append(missing)
            continue
        try:
            number = _plain_number(cell)
        except (ValueError, TypeError, OverflowError):
            return None
        if number != np.floor(number) or abs(number) >= 2**53:
            return None
        found.append(int(number))
    return np.array(found, dtype=np.int64)


def _names_of(codes: IntArray, texts: Cells) -> tuple[str, ...]:
    """The names that stand beside the codes, as a table by code."""
    named = {int(c): str(t) for c, t in zip(codes, texts, strict=False) if c >= 0 and t is not None}
    top = max(named, default=-1)
    if top > 1_000_000:
        return ()
    return tuple(named.get(code, str(code)) for code in range(top + 1))


def _wanted(column_map: ColumnMap, columns: Sequence[str], source: str) -> list[str]:
    wanted = []
    for target in TARGETS:
        entry = column_map.entries.get(target)
        for column in (entry.column, entry.name_column) if entry is not None else ():
            if column is None or column in wanted:
                continue
            if column in columns:
                wanted.append(column)
            elif entry is not None and column != entry.name_column:
                # Only what reads like a name: the file may be another than its author meant.
                there = [name for name in columns if re.fullmatch(r"[\w .()/%-]{1,60}", name)]
                raise InputError(f"{source}: has no column '{column}', which the map "
                                 f"'{column_map.name}' takes for {target}; it has "
                                 f"{', '.join(there[:30]) or 'no names of columns'}")
    return wanted
