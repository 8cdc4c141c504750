"""Tables of power: a row per node and time, or a row per time with a column per node."""

from __future__ import annotations

from typing import Any

import numpy as np

from wattline.account.measured.entities import without_port
from wattline.account.measured.readers.options import SeriesOptions
from wattline.account.measured.readers.times import Times
from wattline.account.measured.records import Found, Kind, Series
from wattline.model.errors import InputError
from wattline.model.reading import check_parquet
from wattline.model.signal import FloatArray

TIME = ("time", "timestamp", "date", "datetime", "time_s", "time_ms", "epoch", "unix", "ts")
NODE = ("node", "host", "hostname", "nodename", "entity", "instance")
GPU = ("gpu", "gpu_index")
METER = ("meter", "sensor")
VALUES = {
    "watts": (Kind.WATTS, 1.0), "power_w": (Kind.WATTS, 1.0), "power": (Kind.WATTS, 1.0),
    "watt": (Kind.WATTS, 1.0), "power_kw": (Kind.WATTS, 1e3),
    "kilowatts": (Kind.WATTS, 1e3), "milliwatts": (Kind.WATTS, 1e-3),
    "joules": (Kind.JOULES, 1.0), "energy_j": (Kind.JOULES, 1.0),
    "kilojoules": (Kind.JOULES, 1e3), "millijoules": (Kind.JOULES, 1e-3),
    "energy_kwh": (Kind.JOULES, 3.6e6),
}
EMPTY = ("", "nan", "NaN", "NA", "N/A", "n/a", "null", "NULL", "none", "None", "-")
MOST_COLUMNS = 100_000
EARLIEST_S = 1e8  # 1973: what is before it is no Unix time of a meter
RIGHT = ("right is a table with time, node and watts or joules, or with time and a column per node")


def read_csv(data: bytes, source: str, options: SeriesOptions) -> Found:
    """Text with commas, semicolons, tabs or bars."""
    import pyarrow as pa
    from pyarrow import csv

    head = data.removeprefix(b"\xef\xbb\xbf").split(b"\n", 1)[0]
    mark = max(b",;\t|", key=head.count)
    count = head.count(mark) + 1
    if count > MOST_COLUMNS:
        raise InputError(f"{source}: more than {MOST_COLUMNS:,} columns")
    text = csv.ConvertOptions(column_types={f"f{at}": pa.string() for at in range(count)},
                              strings_can_be_null=False)
    try:
        frame = csv.read_csv(pa.BufferReader(data), csv.ReadOptions(autogenerate_column_names=True),
                             csv.ParseOptions(delimiter=chr(mark)), text).to_pandas()
    except pa.ArrowException as error:
        raise InputError(f"{source}: not a table: {_line(error)}; {RIGHT}") from None
    body = frame.iloc[1:].reset_index(drop=True)
    body.columns = frame.iloc[0].tolist()
    return _found(body, source, options)


def read_parquet(data: bytes, source: str, options: SeriesOptions) -> Found:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        check_parquet(data, source)
        frame = pq.read_table(pa.BufferReader(data)).to_pandas()
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InputError(f"{source}: not a readable Parquet file: {_line(error)}") from None
    return _found(frame.reset_index(drop=frame.index.name is None), source, options)


def _found(frame: Any, source: str, options: SeriesOptions) -> Found:
    frame.columns = [str(name).strip() for name in frame.columns]
    if frame.columns.duplicated().any():
        twice = frame.columns[frame.columns.duplicated()][0]
        raise InputError(f"{source}: two columns are called '{twice}'")
    frame = _mapped(frame, source, options)
    names = {name.lower(): name for name in frame.columns}
    time = next((names[name] for name in TIME if name in names), None)
    if time is None or frame.columns.size < 2:
        raise InputError(f"{source}: no series of power; {RIGHT}")
    if not len(frame):
        raise InputError(f"{source}: a table without rows")
    values = [names[name] for name in VALUES if name in names]
    long = bool(values) and (options.entity or any(name in names for name in NODE))
    read = _long if long else _wide
    times = Times(options.zone)
    series = read(frame, source, options, names, time, times)
    return Found(source, series=tuple(series), mended=times.mended, remarks=tuple(times.remarks))


def _mapped(frame: Any, source: str, options: SeriesOptions) -> Any:
    """The columns that are named, under the names that are known; all where none are."""
    if not options.columns:
        return frame
    known = (TIME[0], NODE[0], GPU[0], METER[0], *VALUES)
    for what, name in options.columns.items():
        if what not in known:
            raise InputError(f"--columns: '{what}' is unknown; there are {', '.join(known)}")
        if name not in frame.columns:
            raise InputError(f"{source}: no column '{name}'; there are "
                             f"{', '.join(map(str, frame.columns[:20]))}")
    if len(set(options.columns.values())) < len(options.columns):
        raise InputError("--columns: one column cannot be two things")
    given = {name: what for what, name in options.columns.items()}
    return frame[list(given)].rename(columns=given)


def _since(time_s: FloatArray, source: str, options: SeriesOptions) -> FloatArray:
    """Times as they are, or from when they began to count."""
    if time_s.max() >= EARLIEST_S:
        return time_s
    if options.from_s is None:
        raise InputError(f"{source}: its times count from 0; --at TIME says when that was")
    return time_s + options.from_s


def _long(
    frame: Any, source: str, options: SeriesOptions, names: dict[str, str], time: str, times: Times
) -> list[Series]:
    def text(known: tuple[str, ...], otherwise: str) -> Any:
        name = next((names[each] for each in known if each in names), None)
        return otherwise if name is None else frame[name].astype(str).str.strip()

    frame = frame.assign(_entity=text(NODE, options.entity), _meter=text(METER, options.meter))
    gpu = text(GPU, "")
    if not isinstance(gpu, str):
        part = gpu.where(gpu == "", "/gpu" + gpu.str.removeprefix("gpu"))
        frame["_entity"] = frame["_entity"] + part
    found_s = times.read(frame[time], source, frame["_entity"] + "\n" + frame["_meter"])
    frame["_time_s"] = _since(found_s, source, options)
    found = []
    for column, (kind, scale) in VALUES.items():
        if column not in names:
            continue
        frame["_value"] = scale * _numbers(frame[names[column]], source)
        for (entity, meter), rows in frame.groupby(["_entity", "_meter"], sort=True):
            found.append(Series(
                options.cluster, without_port(str(entity)), kind, rows["_time_s"].to_numpy(),
                rows["_value"].to_numpy(), meter=str(meter)))
    return found


def _wide(
    frame: Any, source: str, options: SeriesOptions, names: dict[str, str], time: str, times: Times
) -> list[Series]:
    known = {"jobid", "job_id", "user", "start", "end", "submit", "state", *VALUES, *NODE}
    odd = [name for name in frame.columns if name != time and name.lower() in known]
    if odd:
        raise InputError(f"{source}: '{odd[0]}' is no node; {RIGHT}")
    time_s = _since(times.read(frame[time], source), source, options)
    return [Series(options.cluster, without_port(name), Kind.WATTS, time_s,
                   _numbers(frame[name], source), meter=options.meter)
            for name in frame.columns if name != time]


def _numbers(column: Any, source: str) -> FloatArray:
    """Numbers, and NaN for empty cells; whatever else is refused with its line."""
    import pandas as pd

    if pd.api.types.is_numeric_dtype(column):
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    text = column.fillna("").astype(str).str.strip()
    empty = text.isin(EMPTY)
    found: FloatArray = pd.to_numeric(text.where(~empty, "nan"), errors="coerce").to_numpy(
        dtype=np.float64)
    bad = np.flatnonzero(np.isnan(found) & ~empty.to_numpy())
    if bad.size:
        raise InputError(f"{source}, row {int(bad[0]) + 2}: '{text.iloc[bad[0]][:40]!s}' in column "
                         f"'{column.name}' is no number")
    return found


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
