"""Writing a workload as SWF, CSV or Parquet; what is written reads back the same."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np

from wattline.model.arrow_columns import column_of
from wattline.model.errors import InputError
from wattline.model.files import write_whole
from wattline.model.jobs import COLUMNS, NO_JOB, IntArray, JobTable
from wattline.model.signal import FloatArray
from wattline.model.states import FAILED_CODE, LAST_SWF_CODE
from wattline.traces.files import compress, inner_name
from wattline.traces.frequencies import COLUMNS as FREQUENCIES
from wattline.traces.raw import CODES, NODE_RANGE
from wattline.traces.swf import EXTRA_FIELDS, NAME_DIRECTIVES
from wattline.traces.trace import Trace

SUFFIXES = (".swf", ".csv", ".parquet")


def write(workload: Trace | JobTable, path: str | Path) -> None:
    """Write in the format that the file's name asks for; .gz, .xz and .bz2 compress.

    The file appears whole or not at all.

    >>> import wattline as wl
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     wl.write(wl.generate("lublin", seed=1, jobs=50, nodes=32), f"{folder}/log.parquet")
    ...     len(wl.read(f"{folder}/log.parquet"))
    50
    """
    path = Path(path)
    trace = Trace(workload) if isinstance(workload, JobTable) else workload
    suffix = Path(inner_name(path)).suffix
    if suffix not in SUFFIXES:
        raise InputError(f"{path}: write to a name that ends in {', '.join(SUFFIXES)}, with "
                         ".gz, .xz or .bz2 behind it if you like")
    keys = np.stack((trace.jobs.job_id, trace.jobs.restart))
    if np.unique(keys, axis=1).shape[1] != len(trace.jobs):
        raise InputError("two jobs have the same id and the same restart; a log needs one id for "
                         "each job")
    make = {".swf": swf_text, ".csv": csv_text, ".parquet": parquet_bytes}[suffix]
    write_whole(path, compress(make(trace), path))


def swf_text(trace: Trace) -> bytes:
    """The 18 fields; mean power, frequencies, states that SWF does not have and restarts follow
    where there are any."""
    jobs = trace.jobs
    nothing = np.full(len(jobs), np.nan)
    logged = {name: trace.logged.get(name, nothing) for name in
              ("wait_s", "allocated_procs", "cpu_s", "memory_kb", "requested_memory_kb")}
    allocated = np.where(np.isnan(logged["allocated_procs"]), jobs.procs,
                         logged["allocated_procs"])
    fields: list[FloatArray | IntArray] = [
        jobs.job_id, jobs.submit_s, logged["wait_s"], jobs.run_s, allocated, logged["cpu_s"],
        logged["memory_kb"], jobs.procs, jobs.requested_s, logged["requested_memory_kb"],
        np.where(jobs.status > LAST_SWF_CODE, FAILED_CODE, jobs.status), jobs.user,
        jobs.group, jobs.application, jobs.queue, jobs.partition,
        _predecessors(jobs), np.where(jobs.after_job == NO_JOB, -1.0, jobs.think_s),
    ]
    header = dict(trace.header)
    extra: dict[str, FloatArray | IntArray] = {
        "power_w": jobs.power_w,
        **{name: trace.logged.get(name, nothing) for name in (*FREQUENCIES, *NODE_RANGE)},
    }
    extra = {name: values for name, values in extra.items() if not np.isnan(values).all()}
    whole = {"status": jobs.status} if (jobs.status > LAST_SWF_CODE).any() else {}
    whole |= {"restart": jobs.restart} if jobs.restart.any() else {}
    fields += [*extra.values(), *whole.values()]
    extra |= whole
    if extra:
        header[EXTRA_FIELDS] = " ".join(extra)
    lines = map(" ".join, zip(*(_words(column) for column in fields), strict=True))
    return "\n".join([*_swf_header(header, jobs.names), *lines, ""]).encode("utf-8", "replace")


def csv_text(trace: Trace) -> bytes:
    """One column for each column of the job table, and one for the names behind codes."""
    columns = _own_columns(trace)
    texts: dict[str, list[str]] = {}
    for name, values in columns.items():
        texts[name] = _words(values, missing="")
        if name in CODES and name in trace.jobs.names:
            names = trace.jobs.names[name]
            # Always in quotes: a name may hold anything, line ends included.
            quoted = ['"' + text.replace('"', '""') + '"' for text in names]
            texts[f"{name}_name"] = [quoted[c] if 0 <= c < len(names) else "" for c in values]
    rows = map(",".join, zip(*texts.values(), strict=True))
    return "\n".join([",".join(texts), *rows, ""]).encode("utf-8", "replace")


def parquet_bytes(trace: Trace) -> bytes:
    """The same columns; names and header travel in the file's metadata."""
    import pyarrow as pa
    from pyarrow import parquet

    from wattline.traces.tables import METADATA

    about = {"names": trace.jobs.names, "header": dict(trace.header)}
    columns = {name: column_of(values) for name, values in _own_columns(trace).items()}
    table = pa.table(columns).replace_schema_metadata({METADATA: json.dumps(about).encode()})
    out = io.BytesIO()
    parquet.write_table(table, out, compression="zstd")
    return out.getvalue()


def _own_columns(trace: Trace) -> dict[str, Any]:
    columns = {name: getattr(trace.jobs, name) for name in COLUMNS}
    columns["after_job"] = _predecessors(trace.jobs)
    for name in ("wait_s", "allocated_procs", *FREQUENCIES, *NODE_RANGE):
        if name in trace.logged:
            columns[name] = trace.logged[name]
    return columns


def _predecessors(jobs: JobTable) -> IntArray:
    """The id of the job that each waits for, or -1."""
    after = np.maximum(jobs.after_job, 0)
    return np.where(jobs.after_job == NO_JOB, -1, jobs.job_id[after] if len(jobs) else after)


def _words(values: FloatArray | IntArray, missing: str = "-1") -> list[str]:
    """Shortest text that reads back as the same number."""
    if values.dtype != np.float64:
        return [str(value) for value in values.tolist()]
    return [missing if isnan(value) else str(int(value)) if value.is_integer() else repr(value)
            for value in values.tolist()]


def _swf_header(
    header: Mapping[str, str], names: Mapping[str, tuple[str, ...]]
) -> Iterable[str]:
    for key, value in header.items():
        for line in value.split("\n") or [""]:
            yield f"; {key}: {line}"
    directives = {column: directive for directive, column in NAME_DIRECTIVES.items()}
    for column, texts in names.items():
        for code, text in enumerate(texts):
            if column in directives:
                yield f"; {directives[column]}: {code} {_name(text)}"


def _name(text: str) -> str:
    plain = text.isprintable() and text == text.strip() and not text.startswith('"') and text
    return text if plain else json.dumps(text)
