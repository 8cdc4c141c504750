"""An uploaded log, read in a worker by the readers that every command uses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wattline.model.errors import InputError
from wattline.model.reading import FileTooLarge
from wattline.scenario.remarks import cleaned
from wattline.traces import read
from wattline.traces.trace import header_sizes

MOST_JOBS = 1_000_000


def read_upload(given: Mapping[str, Any]) -> dict[str, Any]:
    """What the log holds; refused where no reader takes it, or with too many jobs."""
    path, name = str(given["path"]), str(given["name"])
    try:
        trace = read(path, column_map=given.get("map"))
    except InputError as error:
        hint = error.hint if isinstance(error, FileTooLarge) else ""
        raise InputError(str(error).removesuffix(hint).replace(path, name)) from None
    count = len(trace)
    if not count:
        raise InputError(f"{name}: no job is left of it")
    if count > MOST_JOBS:
        raise InputError(f"{name}: it has {count:,} jobs; at most {MOST_JOBS:,} are taken here, "
                         "and `wattline simulate` takes any number")
    nodes, procs = header_sizes(trace.header)
    return {"jobs": count, "nodes": nodes, "procs": procs,
            "span_s": float(trace.jobs.submit_s[-1] - trace.jobs.submit_s[0]),
            "remarks": [line.replace(path, name) for line in cleaned(trace)]}
