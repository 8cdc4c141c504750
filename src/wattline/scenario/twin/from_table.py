"""Jobs from a table of jobs that had whole nodes (Parquet or CSV): submit, start, end, nodes.

Such tables have no requested times and often neither partition nor user; what is filled in, and
how often, is said.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from wattline.model.errors import InputError
from wattline.scenario.twin.asked import Asked, Counter, Log

COLUMNS = {
    "id": ("job_id", "jobid", "id"), "submit": ("submit", "submit_time", "submit_s"),
    "start": ("start", "start_time", "start_s"), "end": ("end", "end_time", "end_s"),
    "nodes": ("nodes", "node_count", "nnodes", "num_nodes"),
    "limit": ("timelimit_s", "requested_s", "limit_s"), "user": ("user",),
    "account": ("account",), "partition": ("partition",), "qos": ("qos",),
    "power": ("avg_power_per_node", "power_per_node_w"),
}
NEEDED = ("submit", "start", "end", "nodes")
HALF_HOUR_S = 1800


def read_table(path: str | Path) -> Log:
    """The rows that ran; submissions before the first start of the table count from then."""
    frame = _frame(Path(path))
    places = {field: next((name for name in names if name in frame.columns), None)
              for field, names in COLUMNS.items()}
    missing = [field for field in NEEDED if places[field] is None]
    if missing:
        raise InputError(f"{path}: has no column for {', '.join(missing)}; it needs submit, start, "
                         "end and nodes")
    column: dict[str, Any] = {field: frame[name].tolist() for field, name in places.items()
                              if name is not None}
    times = {field: _seconds(frame[places[field]], str(path), field)
             for field in ("submit", "start", "end")}
    left_out, filled = Counter(), Counter()
    first_s = min((each for each in times["start"] if not math.isnan(each)), default=math.nan)
    if math.isnan(first_s):
        raise InputError(f"{path}: no row has a start")
    jobs = []
    for row in range(len(frame)):
        job = _job({field: values[row] for field, values in column.items()},
                   {field: values[row] for field, values in times.items()}, row, first_s, left_out,
                   filled)
        if job is not None:
            jobs.append(job)
    if not jobs:
        raise InputError(f"{path}: no row has a submission, a start and an end")
    jobs.sort(key=lambda job: job.submit_s)
    begin_s = math.floor(jobs[0].submit_s / 60.0) * 60  # minutes are those of the clock
    for job in jobs:
        job.submit_s, job.start_s, job.end_s = (each - begin_s for each in (
            job.submit_s, job.start_s, job.end_s))
    return Log(jobs, str(path), float(begin_s), filled.lines(), left_out.lines(), (), True,
               filled.counts(), filled.ids())


def _frame(path: Path) -> Any:
    import pandas as pd

    if not path.is_file():
        raise InputError(f"{path}: there is no such file")
    try:
        return pd.read_csv(path) if path.suffix == ".csv" else pd.read_parquet(path)
    except Exception as error:
        raise InputError(f"{path}: cannot be read as a table: {error}") from None


def _seconds(column: Any, source: str, field: str) -> list[float]:
    """Seconds since 1970, or as they are where they are numbers."""
    import pandas as pd

    try:
        if pd.api.types.is_numeric_dtype(column):
            return [float(each) for each in column]
        stamps = pd.to_datetime(column, utc=True, errors="coerce")
        return [math.nan if pd.isna(each) else each.timestamp() for each in stamps]
    except (ValueError, TypeError, OverflowError) as error:
        raise InputError(f"{source}: the times of '{field}' cannot be read: {error}") from None


def _job(given: dict[str, Any], times: dict[str, float], row: int, first_s: float,
         left_out: Counter, filled: Counter) -> Asked | None:
    job_id = str(given.get("id", row + 1))
    submit_s, start_s, end_s = times["submit"], times["start"], times["end"]
    if not submit_s <= start_s <= end_s:
        left_out.note("its times do not follow each other, or one is missing", job_id)
        return None
    if submit_s < first_s:
        submit_s = first_s
        filled.note("submitted before the table begins: it waits from the first start on, in the "
                    "log and in the simulation", job_id)
    run_s = end_s - start_s
    nodes = int(given["nodes"])
    job = Asked(job_id, submit_s, run_s, min_nodes=nodes, max_nodes=nodes, nodes=nodes,
                exclusive=True, start_s=start_s, end_s=end_s, state="COMPLETED")
    for field in ("user", "account", "partition", "qos"):
        value = given.get(field)
        if isinstance(value, str):
            setattr(job, field, value)
    limit_s = given.get("limit")
    if isinstance(limit_s, (int, float)) and limit_s > 0:
        job.limit_s = math.ceil(limit_s / 60) * 60.0
    else:
        job.limit_s = max(HALF_HOUR_S, math.ceil(2 * run_s / HALF_HOUR_S) * HALF_HOUR_S)
        job.limit_filled = True
        filled.note("no time limit in the log: twice the run time, up to the next half hour, as "
                    "far as the partition allows", job_id)
    if not job.partition:
        filled.note("no partition in the log: the default one", job_id)
    if not job.user:
        filled.note("no user in the log: all such jobs are of one user", job_id)
    filled.note("no resources in the log: whole nodes", job_id)
    power = given.get("power")
    if isinstance(power, (int, float)) and power > 0:
        job.power_per_node_w = float(power)
    return job
