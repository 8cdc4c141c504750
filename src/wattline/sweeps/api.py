"""Sweeps from Python: a file or a mapping in, a table out."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from wattline.analysis.folders import run_folder
from wattline.model.errors import InputError, warn
from wattline.model.files import replacing
from wattline.model.units import parse_duration
from wattline.sweeps.cache import NoCache, PointCache, cache_file
from wattline.sweeps.identity import keep_what_it_is
from wattline.sweeps.notes import Row
from wattline.sweeps.point import Point, points_of
from wattline.sweeps.results import OBJECTIVES, SweepResult
from wattline.sweeps.runners import Place, runner
from wattline.sweeps.running import Sweeping, check_folder, only_one_in, resumable
from wattline.sweeps.space import Space, read_space


def run_sweep(
    sweep: str | Path | Mapping[str, Any], out: str | Path | None = None, *,
    on: str = "local", workers: int | None = None, resume: bool = False, cache: bool = True,
    report: bool = True, allow_code: bool = False, time_limit: float | str | None = None,
    progress: Callable[[int, int], None] | None = None,
    say: Callable[[str], None] | None = None,
) -> SweepResult:
    """Simulate a scenario at every point of its axes, and keep figures, table and report.

    `sweep` is a file, or a mapping with `scenario` and `axes` as such a file has them. `on` is
    `local`, `slurm` or `dask://HOST:PORT`; `time_limit` (seconds, or `"2h"`) is that of a Slurm
    task, by default its partition's own. With `resume` a sweep that was interrupted goes on in
    its folder. Points that were computed before, here or in another sweep, are not computed again;
    `cache=False` computes all. A point that fails is kept with its error. `say` is told what must
    be known at once (a cluster has no workers); by default it is a warning.

    >>> import tempfile
    >>> import wattline as wl
    >>> scenario = {"trace": {"generate": "lublin", "jobs": 20}, "machine": {"nodes": 32}}
    >>> axes = {"policy.order": ["fcfs", "sjf"], "machine.nodes": [32, 64]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = wl.run_sweep({"scenario": scenario, "axes": axes}, f"{folder}/sweep", workers=1)
    >>> found.to_pandas()["jobs.completed"].tolist()
    [20.0, 20.0, 20.0, 20.0]
    """
    begin_s = time.monotonic()
    space = read_space(sweep)
    folder = run_folder("sweep", out)
    count = workers or os.cpu_count() or 1
    place = Place(count, str(folder.absolute()), workers is not None, _minutes(time_limit, on),
                  say or (lambda line: warn((line,))))
    chosen = None if on == "local" and count == 1 else runner(on, place)
    with ExitStack() as held, resumable(folder):
        with nullcontext() if chosen is None else chosen.begun():
            points = checked_points(space)
            check_folder(folder, resume)
            held.enter_context(only_one_in(folder))
            keep_what_it_is(folder, space)
            sweeping = Sweeping(
                folder, PointCache(cache_file()) if cache else NoCache(), chosen,
                count, allow_code, progress)
            rows = sweeping.rows(points)
        found = written(_result(space, points, rows, sweeping, folder, begin_s), folder, report)
        found = replace(found, seconds_in_all=time.monotonic() - begin_s)
    warn(found.sentences)
    return found


def _result(
    space: Space, points: Sequence[Point], rows: Mapping[int, Row], sweeping: Sweeping,
    folder: Path, begin_s: float,
) -> SweepResult:
    remarks = tuple(dict.fromkeys(
        line for point in points
        for line in (*point.said, *rows[point.number].get("remarks", ()))))
    return SweepResult(
        name=space.name,
        fields=tuple(dict.fromkeys(name for point in points for name in point.setting)),
        rows=tuple({**rows[point.number], "setting": dict(point.setting)} for point in points),
        counts=sweeping.counts, seconds=time.monotonic() - begin_s, folder=folder,
        remarks=remarks)


def _minutes(limit: float | str | None, on: str) -> int | None:
    """Whole minutes, as Slurm counts them."""
    if limit is None:
        return None
    if on != "slurm":
        raise InputError(f"a time limit is one of Slurm's tasks, and this sweep runs on {on}")
    limit_s = parse_duration(limit) if isinstance(limit, str) else float(limit)
    if not 0 < limit_s < math.inf:
        raise InputError(f"the time limit is {limit}, must be above 0, like 2h")
    return math.ceil(limit_s / 60)


def checked_points(space: Space) -> list[Point]:
    """All points; where none of them makes a scenario, the mistake is in the sweep."""
    points = list(points_of(space))
    if all(point.scenario is None for point in points):
        raise InputError(points[0].error)
    return points


def written(
    found: SweepResult, folder: Path, report: bool, objectives: Sequence[str] = OBJECTIVES
) -> SweepResult:
    """With its table, and with its page where that is wanted, in the sweep's folder."""
    import pyarrow.parquet as pq

    with replacing(folder / "results.parquet") as draft:
        pq.write_table(found.to_arrow(), draft)
    if not report:
        return found
    from wattline.sweeps.report import write_report

    return replace(found, page=write_report(found, folder / "report.html", objectives))
