"""A run folder as a source: whole, at a second of it, or replayed."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from wattline.model.errors import InputError
from wattline.model.run import Run
from wattline.model.run_clock import RunClock
from wattline.model.signal import Signal
from wattline.web.sources.rates import log_rates
from wattline.web.sources.replaying import started
from wattline.web.sources.run_index import RunIndex
from wattline.web.sources.run_source import RunSource
from wattline.web.sources.shape import SourceName


def open_run_folder(
    folder: str | Path, *, speed: float = 0.0, at_s: float | None = None,
    price: float | str | None = None, carbon: float | str | None = None,
) -> RunSource:
    """At speed 0 it stands at `at_s` (seconds since its start; its end if not said); otherwise it
    is replayed from there, or from its start, and begins again after its end."""
    from wattline.analysis.rundir import read

    run = read(folder)
    length_s = run.end_s - run.start_s
    if at_s is not None and not 0 <= at_s <= length_s:
        raise InputError(f"the run lasts {length_s:g} s; it has no second {at_s:g}")
    begins_s = (length_s if speed == 0 else 0.0) if at_s is None else at_s
    clock = started(run.start_s + begins_s, run.start_s, run.end_s, speed)
    said = (f"the run is replayed at {speed:g} times its speed, and begins again after its end"
            if speed else f"the run stands still {begins_s:g} s after its start"
            + (", at its end" if at_s is None else ""))
    unix_start_s = _unix_start_s(run)
    submit_s = run.jobs.submit_s if len(run.jobs) else np.array([run.start_s])
    log = RunClock.of(float(submit_s[0]), float(submit_s[-1]), unix_start_s)
    rates = log_rates(price, carbon, log, run.end_s)
    return RunSource(RunIndex(run), clock, SourceName("run", run.name, speed), rates,
                     unix_start_s=unix_start_s, assumptions=(said,),
                     target_w=_target_w(Path(folder)))


def _target_w(folder: Path) -> Signal | None:
    """What a contract asked for, from the pieces of its bill: average and reserve times signal."""
    try:
        lines = (folder / "power.csv").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    rows = list(csv.DictReader(lines))
    steps = [(float(row["start_s"]),
              float(row["average_w"]) + float(row["reserve_w"]) * float(row["signal"]))
             for row in rows]
    return Signal.from_steps(steps, "W") if steps else None


def _unix_start_s(run: Run) -> float | None:
    trace = run.scenario.get("trace")
    found = trace.get("unix_start_s") if isinstance(trace, dict) else None
    return None if found is None else float(found)
