"""Jobs from a table of jobs that had whole nodes (Parquet or CSV): submit, start, end, nodes.

Such tables have no requested times and often neither partition nor user; what is filled in, and
how often, is said. Columns that nothing is done with are named.
"""

from __future__ import annotations

import io
import math
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np

from wattline.model.errors import InputError
from wattline.model.local_time import BoolArray, Instants, Zone, stays_of, zone_of
from wattline.model.reading import check_parquet, read_unpacked, separator
from wattline.scenario.twin.asked import NEVER_ENDS_S, AskedJob, Counter, Log
from wattline.scenario.twin.repeated import each_once, last_of_each
from wattline.scenario.twin.unmeasured import put_watts
from wattline.site.limits import clock_s
from wattline.traces.convert import by_the_clock

COLUMNS = {
    "id": ("job_id", "jobid", "id"), "submit": ("submit", "submit_time", "submit_s"),
    "start": ("start", "start_time", "start_s"), "end": ("end", "end_time", "end_s"),
    "nodes": ("nodes", "node_count", "nnodes", "num_nodes"),
    "limit": ("timelimit_s", "requested_s", "limit_s"), "user": ("user",),
    "account": ("account",), "partition": ("partition",), "qos": ("qos",), "state": ("state",),
    "power": ("avg_power_per_node", "power_per_node_w"),
    "name": ("application", "job_name", "jobname"),
}
NEEDED = ("submit", "start", "end", "nodes")
HALF_HOUR_S = 1800
MOST_NODES = 2**31
_SUFFIXES = (".parquet", ".pq", ".csv")
_OFFSET = re.compile(r":[0-9]{2}([.,][0-9]+)?\s*(z|utc|gmt|[+-][0-9]{2}:?([0-9]{2})?)$",
                     re.IGNORECASE)
"""At the end of a time of day."""
_PACKED = (".gz", ".xz", ".bz2")
_WITHOUT_END = ("unlimited", "infinite", "partition_limit", "inf", "infinity")


def is_table(path: Path) -> bool:
    """Whether a file is a table by its name, also packed."""
    name = Path(path.stem) if path.suffix in _PACKED else path
    return name.suffix in _SUFFIXES


def read_table(path: str | Path, zone: str = "") -> Log:
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
    taken_as = zone_of(zone)
    stays = stays_of((_instants(frame[places[field]], str(path), field, taken_as)
                      for field in ("submit", "start", "end")), np.full(len(frame), np.nan))
    times = {"submit": stays.submit_s.tolist(), "start": stays.start_s.tolist(),
             "end": stays.end_s.tolist()}
    left_out, filled = Counter(), Counter()
    first_s = min((each for each in times["start"] if not math.isnan(each)), default=math.nan)
    if math.isnan(first_s):
        raise InputError(f"{path}: no row has a start")
    jobs = []
    ids = _ids(column.get("id"), len(frame))
    nodes = [_number(cell) for cell in column["nodes"]]
    # Rows are of jobs that have ended: two of one id that differ are two runs.
    for row in last_of_each(ids, (*times.values(), nodes), left_out):
        job = _job({field: values[row] for field, values in column.items()},
                   {field: values[row] for field, values in times.items()}, ids[row], first_s,
                   left_out, filled)
        if job is not None:
            jobs.append(job)
    if not jobs:
        raise InputError(f"{path}: no row is a job that ran: {'; '.join(left_out.lines())}")
    jobs = each_once(jobs, filled)
    jobs.sort(key=lambda job: job.submit_s)
    begin_s = math.floor(jobs[0].submit_s / 60.0) * 60  # minutes are those of the clock
    for job in jobs:
        job.submit_s, job.start_s, job.end_s = (each - begin_s for each in (
            job.submit_s, job.start_s, job.end_s))
    return Log(jobs, str(path), float(begin_s), filled.lines(), left_out.lines(),
               _unread(frame, places, str(path)), True, filled.counts(), filled.ids(),
               fills=filled, assumed=stays.remarks(taken_as, str(path)), zone=taken_as)


def _ids(cells: list[Any] | None, rows: int) -> list[str]:
    """The ids, and the numbers of rows where there is none."""
    if cells is None:
        return [str(row + 1) for row in range(rows)]
    return [_label(cell) or f"row {row + 1}" for row, cell in enumerate(cells)]


def _unread(frame: Any, places: dict[str, str | None], source: str) -> tuple[str, ...]:
    """The columns that no job gets anything from."""
    names = [str(name) for name in frame.columns if name not in places.values()]
    return (f"{source}: nothing is done with the column{'' if len(names) == 1 else 's'} "
            f"{', '.join(names)}",) if names else ()


def _frame(path: Path) -> Any:
    import pandas as pd

    if not path.is_file():
        raise InputError(f"{path}: there is no such file")
    data = read_unpacked(path)[0]
    try:
        if data.startswith(b"PAR1"):
            check_parquet(data, path)
            return pd.read_parquet(io.BytesIO(data))
        # As text: a user 017 is not 17, nor 17.0 because another row has none.
        first = data.partition(b"\n")[0].decode("utf-8-sig", "replace")
        return pd.read_csv(io.BytesIO(data), dtype=str, sep=separator(first))
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"{path}: cannot be read as a table: {error}") from None


def _instants(column: Any, source: str, field: str, zone: Zone) -> Instants:
    """Seconds since 1970, or as they are where they are numbers; NaN for none."""
    import pandas as pd

    local = np.zeros(len(column), dtype=np.bool_)
    try:
        if pd.api.types.is_numeric_dtype(column):
            found = [float(each) for each in column.astype("float64")]
        else:
            found, local = _times(column)
    except (ValueError, TypeError, OverflowError) as error:
        raise InputError(f"{source}: the times of '{field}' cannot be read: {error}") from None
    seconds = np.array(found)
    seconds[~np.isfinite(seconds)] = np.nan
    return by_the_clock(seconds, local & ~np.isnan(seconds), zone.info)


def _has_no_offset(cell: Any) -> bool:
    """Of a date, as text or not."""
    if isinstance(cell, str):
        return not _OFFSET.search(cell.strip())
    return getattr(cell, "tzinfo", None) is None


def _times(column: Any) -> tuple[list[float], BoolArray]:
    """Cells that are numbers as they are, others as times, and which of them are of a local clock;
    what is neither is NaN."""
    import pandas as pd

    found = [_number(cell) if isinstance(cell, str) else math.nan for cell in column.tolist()]
    rows = [row for row, each in enumerate(found) if math.isnan(each)]
    rest = column.iloc[rows]
    stamps = pd.to_datetime(rest, utc=True, errors="coerce", format="ISO8601")
    other = stamps.isna() & rest.notna()
    if other.any():
        stamps = stamps.where(~other, pd.to_datetime(rest[other], utc=True, errors="coerce"))
    for row, stamp in zip(rows, stamps.tolist(), strict=True):
        found[row] = math.nan if pd.isna(stamp) else stamp.timestamp()
    local = np.zeros(len(found), dtype=np.bool_)
    local[rows] = [_has_no_offset(cell) for cell in rest.tolist()]
    return found, local


def _number(cell: Any) -> float:
    """NaN for what is none."""
    try:
        return float(cell)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _label(cell: Any) -> str:
    """A name, also where it is a number: 17, and 17.0 of a column with empty cells, are '17'."""
    if isinstance(cell, str):
        return cell.strip()
    number = _number(cell)
    if math.isnan(number):
        return ""
    return str(int(number)) if number.is_integer() else str(cell)


def _limit_s(cell: Any) -> float:
    """Seconds, also by the clock (01:00:00); inf without end, NaN where it says nothing."""
    if isinstance(cell, timedelta):
        return cell.total_seconds()
    if isinstance(cell, str) and cell.strip().lower() in _WITHOUT_END:
        return math.inf
    if isinstance(cell, str) and (":" in cell or "-" in cell.strip()[1:]):
        try:
            return float(clock_s(cell, "limit") or math.nan)
        except InputError:
            return math.nan
    return _number(cell)


def _job(given: dict[str, Any], times: dict[str, float], job_id: str, first_s: float,
         left_out: Counter, filled: Counter) -> AskedJob | None:
    submit_s, start_s, end_s = times["submit"], times["start"], times["end"]
    state = (_label(given.get("state")).split() or ["COMPLETED"])[0].rstrip("+").upper()
    if not submit_s <= start_s <= end_s:
        left_out.note("its times do not follow each other, or one is missing", job_id)
        return None
    if state == "CANCELLED" and start_s == end_s:
        left_out.note("CANCELLED, it never started: it waited in the queue and is left out",
                      job_id)
        return None
    nodes = _number(given["nodes"])
    if not 1 <= nodes <= MOST_NODES or not nodes.is_integer():
        left_out.note("its number of nodes is missing, or is no whole number from 1", job_id)
        return None
    if submit_s < first_s:
        submit_s = first_s
        filled.note("submitted before the table begins: it waits from the first start on, in the "
                    "log and in the simulation", job_id)
    job = AskedJob(job_id, submit_s, end_s - start_s, min_nodes=int(nodes), max_nodes=int(nodes),
                   nodes=int(nodes), exclusive=True, start_s=start_s, end_s=end_s, state=state,
                   exit_ok=state == "COMPLETED")
    for field in ("user", "account", "partition", "qos", "name"):
        setattr(job, field, _label(given.get(field)))
    _fill_in(job, given, filled)
    return job


def _fill_in(job: AskedJob, given: dict[str, Any], filled: Counter) -> None:
    """What a table seldom has, by rules that are said."""
    limit_s = _limit_s(given.get("limit"))
    if limit_s > 0:
        job.limit_s = limit_s if math.isinf(limit_s) else math.ceil(limit_s / 60) * 60.0
    else:
        job.limit_s = max(HALF_HOUR_S, math.ceil(2 * job.run_s / HALF_HOUR_S) * HALF_HOUR_S)
        job.limit_filled = True
        filled.note("no time limit in the log: twice the run time, up to the next half hour, as "
                    "far as the partition allows", job.job_id)
    if job.state == "TIMEOUT" and not job.limit_filled and not math.isinf(job.limit_s):
        job.run_s = NEVER_ENDS_S
    if not job.partition:
        filled.note("no partition in the log: the default one", job.job_id)
    if not job.user:
        filled.note("no user in the log: all such jobs are of one user", job.job_id)
    filled.note("no resources in the log: whole nodes", job.job_id)
    if "power" in given:
        put_watts(job, _number(given["power"]), is_empty=not _label(given["power"]))
