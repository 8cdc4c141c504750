"""Loading CSV and Parquet files as named columns, before anyone knows what they mean."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from wattline.model.arrow_columns import texts_column, values_of
from wattline.model.errors import InputError
from wattline.model.jobs import IntArray
from wattline.model.reading import check_parquet
from wattline.model.signal import FloatArray
from wattline.site.cells import Cell
from wattline.traces.column_map import ColumnMap

METADATA = b"wattline"
"""Key under which our own writer keeps names and header in a Parquet file."""
Cells = Sequence[Cell] | FloatArray


@dataclass(frozen=True)
class Table:
    """Named columns, and the row of the file that each row came from.

    A column is an array of floats (NaN is missing) where it could be had in bulk, else a list.
    """

    columns: Mapping[str, Cells]
    line: IntArray
    unreadable: tuple[int, ...] = ()
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    header: Mapping[str, str] = field(default_factory=dict)
    dates: frozenset[str] = frozenset()
    """Columns of points in time, which are seconds since 1970 here."""
    counts: str = "line"
    """What `line` numbers: lines of a file, or rows of a table, both from 1 on."""
    local: frozenset[str] = frozenset()
    """Columns of points in time that are seconds of a clock of no zone."""


def csv_names(data: bytes, column_map: ColumnMap | None, source: str) -> list[str]:
    if column_map is not None and column_map.columns:
        return list(column_map.columns)
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


def read_csv(data: bytes, wanted: list[str], column_map: ColumnMap, source: str) -> Table:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    headless = bool(column_map.columns)
    bad_rows: list[int] = []

    def skip(row: Any) -> str:
        bad_rows.append(int(row.number))
        return "skip"

    try:
        table = arrow_csv.read_csv(
            io.BytesIO(_text(data)),
            arrow_csv.ReadOptions(use_threads=False,
                            column_names=list(column_map.columns) if headless else None),
            arrow_csv.ParseOptions(delimiter=column_map.delimiter, newlines_in_values=True,
                             invalid_row_handler=skip),
            arrow_csv.ConvertOptions(column_types=dict.fromkeys(wanted, pa.string()),
                               include_columns=wanted, strings_can_be_null=False),
        )
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InputError(f"{source}: is not a table: {str(error).splitlines()[0]}") from None
    texts = {entry.name_column for entry in column_map.entries.values()}
    columns: dict[str, Cells] = {}
    for name in wanted:
        column = table.column(name)
        columns[name] = column.to_pylist() if name in texts else _numbers_or_text(column)
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


def parquet_names(data: bytes, source: str) -> list[str]:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        return [str(name) for name in parquet.read_schema(pa.BufferReader(data)).names]
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InputError(f"{source}: is not a Parquet file, or is cut off "
                         f"({str(error).splitlines()[0]})") from None


def read_parquet(data: bytes, wanted: list[str], source: str) -> Table:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        check_parquet(data, source, len(wanted))
        table = parquet.read_table(pa.BufferReader(data), columns=wanted)
        columns = {name: _cells(table.column(name)) for name in wanted}
        kinds = {name: table.schema.field(name).type for name in wanted}
        dates = frozenset(name for name in wanted if pa.types.is_timestamp(kinds[name]))
        local = frozenset(name for name in dates if kinds[name].tz is None)
    except (pa.ArrowException, OSError, ValueError, TypeError, OverflowError) as error:
        raise InputError(f"{source}: cannot be read as Parquet ({str(error).splitlines()[0]})"
                         ) from None
    if not table.num_rows:
        raise InputError(f"{source}: the table has no rows")
    line: npt.NDArray[np.int64] = np.arange(1, table.num_rows + 1, dtype=np.int64)
    own = _own_metadata((table.schema.metadata or {}).get(METADATA, b""))
    return Table(columns, line, (), own[0], own[1], dates, "row", local)


def _cells(column: Any) -> Cells:
    """A column of a Parquet table; timestamps become seconds."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_timestamp(kind):
        ticks = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[kind.unit]
        count = column.cast(pa.int64())
        whole = count.fill_null(0).to_numpy()
        seconds = whole // ticks + (whole % ticks) / ticks
        return np.where(column.is_null().to_numpy(), np.nan, seconds)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        floats = column.cast(pa.float64(), safe=False).fill_null(np.nan)
        return values_of(floats.combine_chunks(), np.float64)
    cells: list[Any] = column.to_pylist()
    return cells


def _numbers_or_text(column: Any) -> Cells:
    """A column of a text table, in bulk where every cell is a number or empty."""
    import pyarrow as pa
    from pyarrow import compute

    try:
        # As cells: to find out what plain texts are, pyarrow would import pandas.
        empty, missing = texts_column(("", "nan"))
        filled = compute.if_else(compute.equal(column, empty), missing, column)
        return values_of(filled.cast(pa.float64()).combine_chunks(), np.float64)
    except (pa.ArrowException, ValueError):
        texts: list[Cell] = column.to_pylist()
        return texts


def _own_metadata(text: bytes) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    """Names and header as our own writer put them beside the table."""
    try:
        content = json.loads(text)
        names = {str(k): tuple(str(v) for v in vs) for k, vs in content["names"].items()}
        return names, {str(k): str(v) for k, v in content["header"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}, {}
