"""Job records of Slurm, from `sacct --parsable2` and from `sacct --json`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from wattline.model.errors import InputError
from wattline.model.jobs import IntArray
from wattline.model.local_time import Zone, stays_of, zone_of
from wattline.model.signal import FloatArray
from wattline.model.states import STATES
from wattline.site.cells import Cell, is_missing
from wattline.site.sacct_json import job_cells, read_jobs, step_cells
from wattline.site.sacct_text import COMMAND, SEPARATOR, read_records
from wattline.site.slurm_energy import Step, joules, step_joules, tres_joules
from wattline.traces.convert import Converter, slurm_state
from wattline.traces.frequencies import frequencies, unclear
from wattline.traces.gres import gres
from wattline.traces.raw import COUNTS, UNFINISHED, RawJobs, encode, known, unknown
from wattline.traces.sharing import sharing

_NEEDED = {"JobID", "Submit", "State"}
LARGEST_ID = 2**32 - 1
"""No job of Slurm's has a higher number, in federations neither."""


@dataclass
class _Records:
    """The columns of the job rows, in the words of sacct."""

    line: list[int] = field(default_factory=list)
    cells: dict[str, list[Cell]] = field(default_factory=dict)
    steps: list[tuple[int, Mapping[str, Cell]]] = field(default_factory=list)
    """The cells of each step, and the row of the job before it."""


def parse_text(data: bytes, source: str, unit: str = "nodes", zone: str = "") -> RawJobs:
    """The output of `sacct --parsable2` (or -p), with its line of column names."""
    text = data.decode("utf-8", "replace")
    columns = [name.strip() for name in text.partition("\n")[0].split(SEPARATOR)]
    missing = _NEEDED - set(columns)
    if missing:
        raise InputError(f"{source}:1: lacks the column {', '.join(sorted(missing))}; run, "
                         f"without --noheader, {COMMAND}")
    found = read_records(text, source)
    records = _Records(cells={column: [] for column in columns})
    for number, row in found.rows:
        if "." in row["JobID"]:
            records.steps.append((len(records.line) - 1, row))
        else:
            records.line.append(number)
            for column, cell in row.items():
                records.cells[column].append(cell)
    return _to_raw(records, source, unit, zone_of(zone),
                   sorted([*found.unreadable, *found.inside]))


def parse_json(data: bytes, source: str, unit: str = "nodes", zone: str = "") -> RawJobs:
    """The output of `sacct --json`; a job's number in the list stands for its line."""
    jobs = read_jobs(data, source)
    records = _Records()
    unreadable = []
    for number, job in enumerate(jobs, start=1):
        if not isinstance(job, dict) or not isinstance(job.get("time"), dict):
            unreadable.append(number)
            continue
        records.line.append(number)
        for column, cell in job_cells(job).items():
            records.cells.setdefault(column, []).append(cell)
        records.steps += [(len(records.line) - 1, cells) for cells in step_cells(job)]
    return _to_raw(records, source, unit, zone_of(zone), unreadable)


def _to_raw(
    records: _Records, source: str, unit: str, zone: Zone, unreadable: Sequence[int]
) -> RawJobs:
    count = len(records.line)
    if not count and not unreadable:
        raise InputError(f"{source}: has no jobs")
    convert = Converter(count)
    cells = records.cells

    def first(conversion: Callable[[Sequence[Cell]], FloatArray], *columns: str) -> FloatArray:
        """The first of these columns that says something, row by row."""
        values = unknown(count)
        for column in columns:
            if column in cells:
                values = np.where(np.isnan(values), conversion(cells[column]), values)
        return values

    run_s = first(convert.number, "ElapsedRaw")
    run_s = np.where(np.isnan(run_s), first(convert.clock, "Elapsed"), run_s)
    times = stays_of((convert.instants(cells.get(name, [None] * count), zone.info)
                      for name in ("Submit", "Start", "End")), run_s)
    submit_s, start_s, end_s = times.submit_s, times.start_s, times.end_s
    run_s = np.where(np.isnan(run_s), end_s - start_s, run_s)
    limit_s = first(lambda column: convert.number(column, 60.0), "TimelimitRaw")
    limit_s = np.where(np.isnan(limit_s), first(convert.clock, "Timelimit"), limit_s)
    allocated, requested = (first(convert.number, *columns) for columns in _size_columns(unit))
    if unit == "nodes":  # ReqNodes is the fewest: 1 of a job that asked for tasks alone
        requested = np.fmax(requested, allocated)
    energy_j = _energy(records, convert, start_s, zone)
    with np.errstate(divide="ignore", invalid="ignore"):
        power_w = np.where(known(run_s) & known(energy_j), energy_j / run_s, np.nan)
    job_id, preceding = _ids(cells, count)
    codes, names = _codes(cells, count)
    devices = gres(cells, count, source)
    good = ~convert.bad
    return RawJobs(
        line=np.array(records.line, dtype=np.int64)[good], job_id=job_id[good],
        submit_s=submit_s[good], run_s=run_s[good], requested_s=limit_s[good],
        requested_procs=requested[good], allocated_procs=allocated[good], power_w=power_w[good],
        codes={name: values[good] for name, values in codes.items()}, preceding=preceding[good],
        think_s=np.zeros(count)[good], names=names,
        header={"Note": "Read from sacct", COUNTS: unit},
        logged={"wait_s": (start_s - submit_s)[good], "allocated_procs": allocated[good],
                **{name: values[good] for name, values in
                   (frequencies(cells, count) | devices).items()}},
        energy_j=energy_j[good], restart=_lives(job_id, start_s)[good],
        unreadable=tuple(sorted([*unreadable, *np.array(records.line)[~good].tolist()])),
        unclear_frequency=tuple(int(records.line[row]) for row in unclear(cells, count)),
        remarks=(*times.remarks(zone, source),
                 *sharing(cells, start_s, end_s, run_s, devices, source, unit)),
    )


def _size_columns(unit: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Where the allocated and the requested size stand."""
    if unit == "nodes":
        return ("AllocNodes", "NNodes"), ("ReqNodes",)
    return ("AllocCPUS", "NCPUS"), ("ReqCPUS",)


def _energy(
    records: _Records, convert: Converter, start_s: FloatArray, zone: Zone
) -> FloatArray:
    """What the job's own row says, in its TRES or by itself, else what its steps measured."""
    cells = records.cells
    nothing: list[Cell] = [None] * len(start_s)
    tres = np.array([tres_joules(cell) for cell in cells.get("AllocTRES", nothing)])
    own = convert.each(cells.get("ConsumedEnergyRaw", nothing), joules)
    energy_j = np.where(known(tres), tres, own)
    jobs = [str(cell) for cell in cells.get("JobID", nothing)]
    steps = np.array(step_joules(_steps(records, zone), jobs, start_s.tolist()))
    return np.where(known(energy_j), energy_j, steps)


def _steps(records: _Records, zone: Zone) -> list[Step]:
    """The steps with what they measured; a cell that cannot be read says nothing."""
    convert = Converter(len(records.steps))

    def column(name: str) -> list[Cell]:
        return [cells.get(name) for _, cells in records.steps]

    run_s = convert.number(column("ElapsedRaw"))
    found = stays_of((convert.instants(column(name), zone.info)
                      for name in ("Submit", "Start", "End")), run_s)
    start_s, end_s = found.start_s, found.end_s
    energy_j = convert.each(column("ConsumedEnergyRaw"), joules)
    return [
        Step(str(cells["JobID"]).partition(".")[0], row, float(start_s[at]), float(end_s[at]),
             str(cells.get("NodeList") or ""), float(energy_j[at]))
        for at, (row, cells) in enumerate(records.steps)
    ]


def _ids(cells: Mapping[str, Sequence[Cell]], count: int) -> tuple[IntArray, IntArray]:
    raw = cells.get("JobIDRaw", cells.get("JobID", [None] * count))
    shown = cells.get("JobID", raw)
    ids = []
    by_name: dict[str, int] = {}
    numbers = [re.match(r"\d{1,15}", str(cell)) for cell in raw]
    fresh = max((int(digits[0]) for digits in numbers if digits), default=0)
    fresh = max(fresh, LARGEST_ID)
    for row, (cell, digits, name) in enumerate(zip(raw, numbers, shown, strict=True)):
        if digits and re.search("[_+]", str(cell)):
            # A task of an array, or a part of a job of several, bears a number that is not its own.
            fresh += 1
            ids.append(fresh)
        else:
            ids.append(int(digits[0]) if digits else row + 1)
        by_name.setdefault(str(name), ids[-1])
    before = cells.get("Dependency", [None] * count)
    preceding = [_predecessor(str(cell), by_name) if cell else -1 for cell in before]
    return np.array(ids, dtype=np.int64), np.array(preceding, dtype=np.int64)


def _lives(job_id: IntArray, start_s: FloatArray) -> IntArray:
    """How many starts of the same job each row's start comes after.

    The same start twice is no other life but the same record again, which cleaning counts.
    """
    start_s = np.nan_to_num(start_s, nan=np.inf)
    order = np.lexsort((start_s, job_id))
    found = np.zeros(len(order), dtype=np.int64)
    for row, before in zip(order[1:], order, strict=False):
        if job_id[row] == job_id[before]:
            found[row] = found[before] + (start_s[row] != start_s[before])
    return found


def _predecessor(text: str, by_name: Mapping[str, int]) -> int:
    """Of several jobs to wait for, the one with the highest id: it was submitted last."""
    found = re.findall(r"(?<=[:+])(\d{1,15}(?:_\d+)?)", text)
    return max((by_name.get(name, int(name.partition("_")[0])) for name in found), default=-1)


def _status(state: Cell, end: Cell) -> int:
    """A life that ended in a requeue, or a stretch before a change of size, has an end."""
    found = slurm_state(state)
    goes_on = STATES.get(found) in ("REQUEUED", "RESIZING") and is_missing(end)
    return UNFINISHED if goes_on else found


def _codes(
    cells: Mapping[str, Sequence[Cell]], count: int
) -> tuple[dict[str, IntArray], dict[str, tuple[str, ...]]]:
    sources = {"user": ("User", "UID"), "group": ("Account", "Group"), "queue": ("QOS",),
               "partition": ("Partition",), "application": ("JobName",)}
    nothing: list[Cell] = [None] * count
    codes: dict[str, IntArray] = {}
    names: dict[str, tuple[str, ...]] = {}
    for target, columns in sources.items():
        column = next((cells[name] for name in columns if name in cells), nothing)
        texts = ["" if is_missing(cell) else str(cell) for cell in column]
        codes[target], found = encode(texts)
        if found:
            names[target] = found
    ends = cells.get("End", nothing)
    codes["status"] = np.array([_status(*row) for row in zip(
        cells.get("State", nothing), ends, strict=True)], dtype=np.int64)
    return codes, names
