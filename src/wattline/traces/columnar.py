"""CSV and Parquet tables, read through a column map."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt

from wattline.model.errors import InputError
from wattline.model.jobs import IntArray
from wattline.model.signal import FloatArray
from wattline.traces.column_map import TARGETS, ColumnMap, Entry, load_map
from wattline.traces.convert import Cell, Converter, is_missing, slurm_state
from wattline.traces.raw import CODES, RawJobs, encode, known, no_code, unknown

OWN_COLUMNS = {"submit_s", "run_s", "procs"}
"""A table with these columns is one that we wrote; it needs no map."""
METADATA = b"wattline"


@dataclass(frozen=True)
class Table:
    """Named columns of cells, and the row of the file that each came from."""

    columns: Mapping[str, Sequence[Cell]]
    line: IntArray
    unreadable: tuple[int, ...] = ()
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    header: Mapping[str, str] = field(default_factory=dict)


def parse(data: bytes, source: str, column_map: ColumnMap | None, *, parquet: bool) -> RawJobs:
    """Read a table; without a map it has to be one that we wrote."""
    columns = _parquet_names(data, source) if parquet else _csv_names(data, column_map, source)
    if column_map is None:
        if not set(columns) >= OWN_COLUMNS:
            raise InputError(f"{source}: a table needs a column map (--map): one that comes with "
                             "the package or a TOML file that says which column is what")
        column_map = load_map("wattline")
        present = {t: e for t, e in column_map.entries.items() if e.column in columns}
        column_map = ColumnMap("wattline", present)
    wanted = _wanted(column_map, columns, source)
    if parquet:
        table = _read_parquet(data, wanted, source)
    else:
        table = _read_csv(data, wanted, column_map, source)
    return to_raw(table, column_map)


def to_raw(table: Table, column_map: ColumnMap) -> RawJobs:
    """Convert the mapped columns; rows with a cell that cannot be read are left out."""
    reader = _Reader(table, column_map)
    count = table.line.size
    submit_s, start_s, end_s = (reader.numbers(f"{name}_s") for name in ("submit", "start", "end"))
    run_s = reader.numbers("run_s")
    run_s = np.where(np.isnan(run_s), end_s - start_s, run_s)
    wait_s = reader.numbers("wait_s")
    wait_s = np.where(np.isnan(wait_s), start_s - submit_s, wait_s)
    requested_procs = reader.numbers("requested_procs")
    allocated_procs = reader.numbers("allocated_procs")
    size = np.where(known(allocated_procs), allocated_procs, requested_procs)
    energy_j = reader.sized("energy_j", size)
    power_w = reader.sized("power_w", size)
    with np.errstate(divide="ignore", invalid="ignore"):
        from_energy = np.where(known(run_s), energy_j / run_s, np.nan)
    power_w = np.where(known(power_w), power_w, from_energy)
    names: dict[str, tuple[str, ...]] = dict(table.names)
    codes = {name: reader.codes(name, names) for name in CODES}
    job_id, preceding = reader.ids()
    for sizes in (requested_procs, allocated_procs):
        reader.convert.bad |= ~np.isnan(sizes) & (sizes != np.floor(sizes))
    good = ~reader.convert.bad
    raw = RawJobs(
        line=table.line[good], job_id=job_id[good], submit_s=submit_s[good], run_s=run_s[good],
        requested_s=reader.numbers("requested_s")[good], requested_procs=requested_procs[good],
        allocated_procs=allocated_procs[good], power_w=power_w[good],
        codes={name: values[good] for name, values in codes.items()},
        preceding=preceding[good], think_s=reader.numbers("think_s")[good], names=names,
        header={**column_map.header, **table.header},
        logged={"wait_s": wait_s[good], "allocated_procs": allocated_procs[good]},
        unreadable=tuple(sorted([*table.unreadable, *table.line[~good].tolist()])),
    )
    if count and not good.any():
        raise InputError(f"no row of the table could be read through the map '{column_map.name}'; "
                         "check its units and formats")
    return raw


class _Reader:
    """Converts the columns of one table as its map says."""

    def __init__(self, table: Table, column_map: ColumnMap) -> None:
        self.table = table
        self.entries = column_map.entries
        self.rows = int(table.line.size)
        self.zone = ZoneInfo(column_map.timezone)
        self.convert = Converter(self.rows)
        self.done: dict[str, FloatArray] = {}

    def numbers(self, target: str) -> FloatArray:
        if target not in self.done:
            entry = self.entries.get(target)
            self.done[target] = unknown(self.rows) if entry is None else self._convert(entry)
        return self.done[target]

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
        cells = numbered.tolist() if entry is None else self._cells(entry)
        asked: Sequence[Cell] = [None] * self.rows if before is None else self._cells(before)
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

    def _cells(self, entry: Entry) -> Sequence[Cell]:
        if entry.column is None:
            return [entry.constant] * self.rows
        return self.table.columns[entry.column]

    def _convert(self, entry: Entry) -> FloatArray:
        cells = self._cells(entry)
        if entry.reduce is not None:
            return self.convert.each(cells, lambda cell: _reduced(cell, entry))
        if entry.format == "timestamp":
            return self.convert.timestamp(cells, self.zone, entry.factor)
        if entry.format in ("clock", "hh:mm"):
            return self.convert.clock(cells, hours_first=entry.format == "hh:mm")
        return self.convert.each(cells, lambda cell: _plain_number(cell) * entry.factor)


def _plain_number(cell: Cell) -> float:
    if isinstance(cell, timedelta):
        return cell.total_seconds()
    if isinstance(cell, datetime) or (isinstance(cell, str) and "_" in cell):
        raise ValueError(cell)
    return float(cell)  # type: ignore[arg-type]


def _reduced(cell: Any, entry: Entry) -> float:
    values = json.loads(cell) if isinstance(cell, str) else cell
    numbers = np.array([v for v in values if v is not None], dtype=np.float64)
    if not numbers.size:
        return float("nan")
    if entry.reduce == "max":
        return float(numbers.max()) * entry.factor
    total = float(numbers.sum()) * entry.factor
    return total if entry.reduce == "sum" else total / numbers.size


def _whole_numbers(cells: Sequence[Cell], missing: int | None = -1) -> IntArray | None:
    """The cells as whole numbers, or None where one of them is something else."""
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


def _names_of(codes: IntArray, texts: Sequence[Cell]) -> tuple[str, ...]:
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
                raise InputError(f"{source}: has no column '{column}', which the map "
                                 f"'{column_map.name}' takes for {target}; it has "
                                 f"{', '.join(list(columns)[:30])}")
    return wanted


def _csv_names(data: bytes, column_map: ColumnMap | None, source: str) -> list[str]:
    if column_map is not None and column_map.columns:
        return list(column_map.columns)
    import csv

    first = _text(data[: data.find(b"\n") + 1 or len(data)]).decode()
    delimiter = column_map.delimiter if column_map is not None else ","
    try:
        names = next(csv.reader([first.strip("\r\n")], delimiter=delimiter), [])
    except csv.Error as error:
        raise InputError(f"{source}:1: is not a table: {error}") from None
    if len(set(names)) != len(names):
        raise InputError(f"{source}:1: has two columns of the same name")
    return names


def _text(data: bytes) -> bytes:
    """UTF-8, whatever it was."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1").encode("utf-8")
    return data.removeprefix(b"\xef\xbb\xbf")


def _read_csv(data: bytes, wanted: list[str], column_map: ColumnMap, source: str) -> Table:
    import pyarrow as pa
    from pyarrow import csv

    headless = bool(column_map.columns)
    bad_rows: list[int] = []

    def skip(row: Any) -> str:
        bad_rows.append(int(row.number))
        return "skip"

    try:
        table = csv.read_csv(
            io.BytesIO(_text(data)),
            csv.ReadOptions(use_threads=False,
                            column_names=list(column_map.columns) if headless else None),
            csv.ParseOptions(delimiter=column_map.delimiter, newlines_in_values=True,
                             invalid_row_handler=skip),
            csv.ConvertOptions(column_types=dict.fromkeys(wanted, pa.string()),
                               include_columns=wanted, strings_can_be_null=False),
        )
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InputError(f"{source}: is not a table: {str(error).splitlines()[0]}") from None
    columns = {name: table.column(name).to_pylist() for name in wanted}
    rows = np.arange(1 if headless else 2, table.num_rows + len(bad_rows) + 2)
    kept = rows[~np.isin(rows, bad_rows)][: table.num_rows]
    _cut_off(data, bad_rows, table.num_rows, source)
    return Table(columns, kept.astype(np.int64), tuple(bad_rows))


def _cut_off(data: bytes, bad_rows: list[int], rows: int, source: str) -> None:
    if bad_rows and not data.endswith(b"\n") and bad_rows[-1] > rows + len(bad_rows) - 1:
        raise InputError(f"{source}:{bad_rows[-1]}: the file is cut off: its last row lacks cells")
    if len(bad_rows) > rows:
        raise InputError(f"{source}:{bad_rows[0]}: is not a table: most rows have another number "
                         "of cells than the header")
    if not rows:
        raise InputError(f"{source}: the table has no rows")


def _parquet_names(data: bytes, source: str) -> list[str]:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        return [str(name) for name in parquet.read_schema(pa.BufferReader(data)).names]
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InputError(f"{source}: is not a Parquet file, or is cut off "
                         f"({str(error).splitlines()[0]})") from None


def _read_parquet(data: bytes, wanted: list[str], source: str) -> Table:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        table = parquet.read_table(pa.BufferReader(data), columns=wanted)
        columns = {name: _cells(table.column(name)) for name in wanted}
    except (pa.ArrowException, OSError, ValueError, TypeError, OverflowError) as error:
        raise InputError(f"{source}: cannot be read as Parquet ({str(error).splitlines()[0]})"
                         ) from None
    if not table.num_rows:
        raise InputError(f"{source}: the table has no rows")
    line: npt.NDArray[np.int64] = np.arange(1, table.num_rows + 1, dtype=np.int64)
    own = _own_metadata((table.schema.metadata or {}).get(METADATA, b""))
    return Table(columns, line, (), own[0], own[1])


def _cells(column: Any) -> list[Any]:
    import pyarrow as pa

    kind = column.type
    if pa.types.is_timestamp(kind):
        # Straight to seconds: Python's datetimes know no nanoseconds.
        ticks = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[kind.unit]
        return [None if v is None else v / ticks for v in column.cast(pa.int64()).to_pylist()]
    cells: list[Any] = column.to_pylist()
    return cells


def _own_metadata(text: bytes) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    """Names and header as our own writer put them beside the table."""
    try:
        content = json.loads(text)
        names = {str(k): tuple(str(v) for v in vs) for k, vs in content["names"].items()}
        return names, {str(k): str(v) for k, v in content["header"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}, {}
