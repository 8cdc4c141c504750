"""A run as Arrow tables, and back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from wattline.analysis.kept_promises import range_columns
from wattline.model.arrow_columns import column_of, texts_column, values_of
from wattline.model.jobs import COLUMNS, IntArray, JobTable
from wattline.model.run import (
    EventKind,
    EventLog,
    NodeStays,
    Outcome,
    Placement,
    Run,
    Schedule,
)
from wattline.model.signal import Signal
from wattline.model.states import WORDS, run_states

if TYPE_CHECKING:
    import pyarrow as pa

_NAMES_KEY = b"wattline.names"
_UNIT_KEY = b"wattline.unit"
_AFTER_ROW = "after_row"
"""The job that a job depends on, by its row; in logs, `after_job` names it by its id."""
_KINDS = tuple(kind.name.lower() for kind in EventKind)
_OUTCOMES = tuple(outcome.name.lower() for outcome in Outcome)
_LEADING = ("job_id", "submit_s", "start_s", "end_s", "nodes", "energy_j", "outcome", "wait_s",
            "elapsed_s", "requested_s", "run_s")
DERIVED = ("wait_s", "elapsed_s")
"""Columns of the table of jobs that follow from its others: nobody reads them back to a run."""


def job_table(run: Run) -> pa.Table:
    """One row per job: what the log said and what happened to it.

    `elapsed_s` is from start to end in the simulation, `run_s` the run time by the log: under a cap
    they differ. Codes stay in their columns (`user`); where the log has names they follow as
    `user_name`.

    >>> import wattline as wl
    >>> trace = wl.generate("lublin", seed=1, jobs=20, nodes=32)
    >>> run = wl.simulate(trace, machine=wl.Machine(nodes=32, node_idle_w=90, node_active_w=300))
    >>> wl.job_table(run).column_names[:4]
    ['job_id', 'submit_s', 'start_s', 'end_s']
    """
    jobs, schedule = run.jobs, run.schedule
    columns: dict[str, Any] = {
        _AFTER_ROW if name == "after_job" else name: column_of(getattr(jobs, name))
        for name in COLUMNS
    }
    columns |= {
        "start_s": column_of(schedule.start_s),
        "end_s": column_of(schedule.end_s),
        "wait_s": column_of(schedule.start_s - jobs.submit_s),
        "elapsed_s": column_of(schedule.end_s - schedule.start_s),
        "nodes": column_of(schedule.nodes),
        "energy_j": column_of(schedule.energy_j),
        "outcome": _coded(schedule.outcome, _OUTCOMES),
        "configuration": column_of(schedule.configuration),
        "state": _coded(run_states(run), WORDS),
    }
    columns |= {name: column_of(values) for name, values in range_columns(run).items()}
    for name, words in jobs.names.items():
        if name in COLUMNS and words:
            columns[f"{name}_name"] = _coded(getattr(jobs, name), words)
    order = [*_LEADING, *(name for name in columns if name not in _LEADING)]
    return _table({name: columns[name] for name in order}, {_NAMES_KEY: json.dumps(jobs.names)})


def event_table(run: Run) -> pa.Table:
    """One row per event, in the order in which they happened.

    >>> import wattline as wl
    >>> trace = wl.generate("lublin", seed=1, jobs=20, nodes=32)
    >>> run = wl.simulate(trace, machine=wl.Machine(nodes=32, node_idle_w=90, node_active_w=300))
    >>> wl.event_table(run).num_rows == len(run.events)
    True
    """
    log = run.events
    return _table({
        "time_s": column_of(log.time_s),
        "kind": _coded(log.kind, _KINDS),
        "job": column_of(log.job),
        "power_w": column_of(log.power_w),
        "busy": column_of(log.busy),
        "queued": column_of(log.queued),
        "value": column_of(log.value),
    })


def placement_table(placement: Placement) -> pa.Table:
    """Which units each job held: `count` units from `first` on."""
    return _table({
        "job": column_of(placement.job),
        "first": column_of(placement.first),
        "count": column_of(placement.count),
    })


def stays_table(held: NodeStays) -> pa.Table:
    """What each job had on each node, from when to when."""
    return _table({field.name: column_of(values) for field in fields(held)
                   if (values := getattr(held, field.name)) is not None})


def stays_from(table: pa.Table) -> NodeStays:
    return NodeStays(**{
        field.name: _values(table, field.name,
                            np.float64 if field.name.endswith(("_w", "_s")) else np.int64)
        for field in fields(NodeStays) if field.name in table.column_names})


def configuration_table(run: Run) -> pa.Table:
    """What the number in the column `configuration` of a job means; 0 is its request."""
    import pyarrow as pa

    return pa.table({"configuration": np.arange(1, 1 + _rows(run)), **run.configurations})


def configurations_from(table: pa.Table) -> dict[str, npt.NDArray[Any]]:
    return {name: table[name].to_numpy(zero_copy_only=False)
            for name in table.column_names if name != "configuration"}


def _rows(run: Run) -> int:
    return len(next(iter(run.configurations.values())))


def signal_table(signal: Signal) -> pa.Table:
    """A step function: each value holds from its time on."""
    columns = {"time_s": column_of(signal.time_s), "value": column_of(signal.value)}
    return _table(columns, {_UNIT_KEY: signal.unit})


def jobs_from(table: pa.Table) -> tuple[JobTable, Schedule]:
    names = json.loads((table.schema.metadata or {}).get(_NAMES_KEY, b"{}"))
    columns = {
        name: _values(table, _AFTER_ROW if name == "after_job" else name, dtype)
        for name, (dtype, _) in COLUMNS.items() if name != "restart"
    }
    # Run folders of the first versions lack it: there every job had an id of its own.
    if "restart" in table.column_names:
        columns["restart"] = _values(table, "restart", np.int64)
    else:
        columns["restart"] = np.zeros(table.num_rows, dtype=np.int64)
    jobs = JobTable(**columns, names={key: tuple(words) for key, words in names.items()})
    schedule = Schedule(
        start_s=_values(table, "start_s", np.float64),
        end_s=_values(table, "end_s", np.float64),
        nodes=_values(table, "nodes", np.int64),
        energy_j=_values(table, "energy_j", np.float64),
        outcome=_codes(table, "outcome", _OUTCOMES),
        configuration=_values(table, "configuration", np.int64),
    )
    return jobs, schedule


def columns_from(table: pa.Table, names: Iterable[str]) -> dict[str, npt.NDArray[Any]]:
    """Those columns of numbers that the table has."""
    return {name: _values(table, name, np.float64)
            for name in names if name in table.column_names}


def events_from(table: pa.Table) -> EventLog:
    return EventLog(
        time_s=_values(table, "time_s", np.float64),
        kind=_codes(table, "kind", _KINDS),
        job=_values(table, "job", np.int64),
        power_w=_values(table, "power_w", np.float64),
        busy=_values(table, "busy", np.int64),
        queued=_values(table, "queued", np.int64),
        value=_values(table, "value", np.float64),
    )


def placement_from(table: pa.Table) -> Placement:
    return Placement(
        job=_values(table, "job", np.int64),
        first=_values(table, "first", np.int64),
        count=_values(table, "count", np.int64),
    )


def signal_from(table: pa.Table) -> Signal:
    unit = (table.schema.metadata or {}).get(_UNIT_KEY, b"").decode()
    return Signal(_values(table, "time_s", np.float64), _values(table, "value", np.float64), unit)


def _table(columns: Mapping[str, Any], metadata: Mapping[bytes, str] | None = None) -> pa.Table:
    import pyarrow as pa

    table = pa.Table.from_arrays(list(columns.values()), names=list(columns))
    return table.replace_schema_metadata(dict(metadata)) if metadata else table


def _coded(codes: IntArray, words: Sequence[str]) -> pa.Array:
    """Words by code, null where a code has no word."""
    import pyarrow as pa

    valid = (codes >= 0) & (codes < len(words))
    small = np.where(valid, codes, 0).astype(np.int32)
    bits = None if valid.all() else pa.py_buffer(np.packbits(valid, bitorder="little"))
    indices = pa.Array.from_buffers(pa.int32(), len(small), [bits, pa.py_buffer(small)])
    return pa.DictionaryArray.from_arrays(indices, texts_column(words))


def _values(table: pa.Table, name: str, dtype: type) -> npt.NDArray[Any]:
    import pyarrow as pa

    column = table.column(name).combine_chunks()
    expected = pa.float64() if dtype is np.float64 else pa.int64()
    if column.type != expected or column.null_count:
        raise ValueError(f"column '{name}' is {column.type}, expected {expected} without nulls")
    return values_of(column, dtype)


def _codes(table: pa.Table, name: str, words: Sequence[str]) -> IntArray:
    column = table.column(name).combine_chunks()
    if column.null_count:
        raise ValueError(f"column '{name}' has gaps")
    column = column.dictionary_encode()  # does nothing where it already is
    code_of = np.array([words.index(word) for word in column.dictionary.to_pylist()], np.int64)
    return code_of[values_of(column.indices, np.int32)] if len(column) else np.zeros(0, np.int64)
