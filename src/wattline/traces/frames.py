"""Jobs that are there already: tables of pandas, Arrow and the like as a trace."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from wattline.model.errors import InputError
from wattline.model.jobs import JobTable
from wattline.traces.cleaning import Size, clean
from wattline.traces.raw import OWN_COLUMNS
from wattline.traces.trace import Trace

TABLE = "table"
"""What a trace from such a table is called."""
OF_RUNS = {"start_s", "end_s", "nodes", "energy_j", "outcome", "after_row", "configuration",
           "state"}
"""What the table of a run has beside its jobs: it may be simulated again."""


def is_table(given: object) -> bool:
    """Whether this is a table of pandas, Arrow or polars, or a dict of columns."""
    return (hasattr(given, "__arrow_c_stream__") or type(given).__module__.startswith("pandas.")
            or (isinstance(given, Mapping) and bool(OWN_COLUMNS & set(given))))


def trace_of(
    given: Any, *, column_map: str | None = None, strict: bool = False, size: Size = "requested"
) -> Trace:
    """Jobs as a trace; a table goes through the same map and cleaning rules as a file.

    Without a map the columns are called as in a JobTable: `submit_s`, `run_s` and `procs` are
    needed, `requested_s`, `power_w`, `user`, `application` and others are understood.

    >>> import pandas as pd
    >>> trace_of(pd.DataFrame({"submit_s": [0, 60], "run_s": [600, 600], "procs": [4, 8]}))
    Trace('table': 2 jobs)
    """
    if isinstance(given, Trace):
        return given
    if isinstance(given, JobTable):
        return Trace(given, source="jobs")
    from wattline.traces import columnar
    from wattline.traces.column_map import load_map

    table = _arrow(given)
    if column_map is None:
        _check_columns(table.column_names)
    chosen = None if column_map is None else load_map(column_map)
    raw = columnar.parse(_parquet(_with_dependencies(table)), TABLE, chosen, parquet=True)
    read = clean(raw, TABLE, strict=strict, size=size)
    unread = [] if chosen is not None else _unread(table.column_names)
    if unread:
        said = (f"{TABLE}: column{'s' * (len(unread) > 1)} {', '.join(unread)} "
                f"{'are' if len(unread) > 1 else 'is'} not known and not used")
        return replace(read, remarks=(*read.remarks, said))
    return read


def rows_of(given: Any) -> list[dict[str, Any]]:
    """The rows of such a table, each by the names of its columns."""
    rows: list[dict[str, Any]] = _arrow(given).to_pylist()
    return rows


def _arrow(given: Any) -> Any:
    import pyarrow as pa

    if isinstance(given, Mapping):
        _check_lengths(given)
    try:
        return pa.table(given)
    except (pa.ArrowException, TypeError, ValueError) as error:
        found = re.search(r"Conversion failed for column (.+) with type", str(error))
        said = (f"column {found[1]} holds what is no number, text or time, or several of them"
                if found else str(error).splitlines()[0].rstrip("."))
        raise InputError(f"this {type(given).__name__} cannot be read as a table: {said}") from None


def _check_lengths(columns: Mapping[str, Any]) -> None:
    for name, values in columns.items():
        if isinstance(values, str) or not hasattr(values, "__len__"):
            raise InputError(f"column {name} of a table is a list or an array, not {values!r}")
    rows = {name: len(values) for name, values in columns.items()}
    if len(set(rows.values())) > 1:
        raise InputError("the columns of a table are of one length, and not "
                         + ", ".join(f"{name} {count:,}" for name, count in rows.items()))


def _check_columns(columns: Sequence[str]) -> None:
    missing = sorted(OWN_COLUMNS - set(columns))
    if not missing:
        return
    of_nodes = ("; procs are processors: nodes times the processors of each"
                if "procs" in missing and "nodes" in columns else "")
    raise InputError(f"a table of jobs needs the column{'s' * (len(missing) > 1)} "
                     f"{', '.join(missing)}: rename columns, or say with a column map "
                     f"(trace.map) which is what{of_nodes}")


def _parquet(table: Any) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    content = pa.BufferOutputStream()
    try:
        pq.write_table(table, content)
    except (pa.ArrowException, ValueError) as error:
        raise InputError(f"this table cannot be read: {str(error).splitlines()[0]}") from None
    written: bytes = content.getvalue().to_pybytes()
    return written


def _unread(columns: Sequence[str]) -> list[str]:
    """Columns that say nothing here; those of a run's own table are known and left aside."""
    from wattline.traces.column_map import load_map

    entries = load_map("wattline").entries.values()
    known = {name for each in entries for name in (each.column, each.name_column)}
    if "outcome" in columns:
        known |= OF_RUNS
    return [name for name in columns if name not in known]


def _with_dependencies(table: Any) -> Any:
    """The table of a run names the job before by its row; a log does by its id."""
    import numpy as np

    names = set(table.column_names)
    if "after_row" not in names or "after_job" in names:
        return table
    rows, ids = (table[name].to_numpy() for name in ("after_row", "job_id"))
    after = np.where(rows >= 0, ids[np.maximum(rows, 0)], -1)
    return table.append_column("after_job", [after])
