"""Power profiles as HDF5 files, laid out as Slurm's acct_gather_profile/hdf5 lays them out.

One file per job, as `sh5util` leaves it after merging:

    /                                   attribute "Number of Steps"
    /Steps/<step>                       attribute "Number of Nodes"
    /Steps/<step>/Nodes/<node>          attributes "Node Index", "Node Name", "Number of Tasks",
                                        "CPUs per Task", "Start Time"
    /Steps/<step>/Nodes/<node>/Energy   packet table: ElapsedTime, EpochTime, Power (all uint64)

So `sh5util -j JOB --extract --series=Energy` and the scripts that read its files read ours.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from wattline.account.records import JobRecord, StepRecord
from wattline.model.errors import InputError
from wattline.model.files import replacing
from wattline.model.reading import check_unpacked
from wattline.model.signal import FloatArray, Signal

ENERGY_TYPE = np.dtype([("ElapsedTime", "<u8"), ("EpochTime", "<u8"), ("Power", "<u8")])
CHUNK = 1024
"""Rows of a chunk, which is packed as a whole."""
_SERIES = "Energy"


def profile_path(folder: Path, user: str, job_id: int, restart: int = 0) -> Path:
    """Where Slurm keeps the merged profile of a job; later lives of a job have their count."""
    return folder / user / (f"job_{job_id}_restart{restart}.h5" if restart else f"job_{job_id}.h5")


def write_profile(
    record: JobRecord, folder: Path, *, epoch_s: float = 0.0, interval_s: float = 30.0,
    nodes: Sequence[str] = (),
) -> Path:
    """Write the profile of one job, sampled at its start, at an interval and at its end.

    A sample holds the mean power of a node since the sample before, as Slurm's plug-ins report
    energy counters. Slurm has whole watts: what one sample is short of, the next ones make up, so
    that the joules of the profile are those of the job but for half a watt of the last sample.
    """
    import h5py

    if not interval_s > 0:
        raise InputError(f"the sampling interval is {interval_s} s, must be above 0")
    names = list(nodes) or _node_names(record)
    path = profile_path(folder, record.user, record.job_id, record.restart)
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as part, h5py.File(part, "w") as file:
        file.attrs["Number of Steps"] = np.int32(len(record.steps))
        for step in record.steps:
            group = file.create_group(f"Steps/{step.step_id}")
            group.attrs["Number of Nodes"] = np.int32(record.nodes)
            table = _energy_table(step, record.nodes, epoch_s, interval_s)
            series = None
            for index, name in enumerate(names):
                node = group.create_group(f"Nodes/{name}")
                node.attrs.update(_attributes(record, index, name, epoch_s + step.start_s))
                if series is None:
                    series = node.create_dataset(
                        _SERIES, data=table, chunks=(min(CHUNK, table.size),), maxshape=(None,),
                        compression="gzip", shuffle=True)
                else:  # nodes do not differ in a simulation: the same table, kept once
                    node[_SERIES] = series
    return path


def read_profile(path: Path) -> dict[tuple[str, str], np.ndarray[tuple[int], np.dtype[np.void]]]:
    """The energy series of a profile, ours or Slurm's, by (step, node).

    Nodes that share a series share the array.
    """
    import h5py

    try:
        file = h5py.File(path, "r")
    except OSError as error:
        raise InputError(f"{path} is not a readable HDF5 file: {error}") from None
    with file:
        try:
            series = {(step, node): group[_SERIES]
                      for step, nodes in file.get("Steps", {}).items()
                      for node, group in nodes["Nodes"].items() if _SERIES in group}
            return _tables(series, path)
        except InputError:
            raise
        except (AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError) as error:
            raise InputError(f"{path} has no readable /Steps/*/Nodes/*/Energy series: {error}"
                             ) from None


def _tables(series: dict[tuple[str, str], Any], path: Path) -> dict[
    tuple[str, str], np.ndarray[tuple[int], np.dtype[np.void]]
]:
    if not series:
        raise InputError(f"{path} has no /Steps/*/Nodes/*/Energy series")
    apart = dict.fromkeys(series.values())
    # A few bytes of HDF5 can stand for any number of rows that were never written.
    rows = sum(each.size for each in apart)
    check_unpacked(path, rows, max(each.dtype.itemsize for each in apart))
    tables = {each: each[:] for each in apart}
    return {key: tables[each] for key, each in series.items()}


def samples(
    power_w: Signal, start_s: float, end_s: float, interval_s: float
) -> tuple[FloatArray, FloatArray]:
    """Times from the start and the mean power since the time before, the last at the end."""
    count = max(1, int(np.ceil((end_s - start_s) / interval_s - 1e-9)))
    edges = np.minimum(start_s + interval_s * np.arange(count + 1), end_s)
    means = np.array([
        power_w.integral(a, b) / (b - a) if b > a else power_w.at(a)
        for a, b in itertools.pairwise(edges)
    ])
    return edges[1:] - start_s, means


def _energy_table(
    step: StepRecord, nodes: int, epoch_s: float, interval_s: float
) -> np.ndarray[tuple[int], np.dtype[np.void]]:
    elapsed, power_w = samples(step.power_w, step.start_s, step.end_s, interval_s)
    energy_j = power_w / nodes * np.diff(elapsed, prepend=0.0)
    whole_s = np.round(np.concatenate([[0.0], elapsed]))
    # The first sample is what the job draws as it starts; no time has passed to take a mean of.
    first_w = round(step.power_w.at(step.start_s) / nodes)
    table = np.empty(whole_s.size, dtype=ENERGY_TYPE)
    table["ElapsedTime"] = whole_s
    table["EpochTime"] = np.round(epoch_s + step.start_s) + whole_s
    table["Power"] = [first_w, *whole_watts(energy_j, np.diff(whole_s), first_w)]
    return table


def whole_watts(energy_j: FloatArray, lasts_s: FloatArray, before_w: int = 0) -> list[int]:
    """Whole watts of samples whose joules add up: each makes up for what was rounded before it.

    >>> whole_watts(np.full(4, 2.35 * 30), np.full(4, 30.0))
    [2, 3, 2, 2]
    """
    found = []
    owed_j = 0.0
    for drawn_j, time_s in zip(energy_j.tolist(), lasts_s.tolist(), strict=True):
        owed_j += drawn_j
        if time_s > 0:
            before_w = max(0, round(owed_j / time_s))
        owed_j -= before_w * time_s
        found.append(before_w)
    return found


def _attributes(record: JobRecord, index: int, name: str, start_s: float) -> dict[str, Any]:
    started = datetime.fromtimestamp(int(start_s), UTC)
    return {
        "Node Index": np.int32(index),
        "Node Name": np.bytes_(name),
        "Number of Tasks": np.int32(max(1, record.cores // record.nodes)),
        "CPUs per Task": np.int32(1),
        "Start Time": np.bytes_(started.strftime("%a %b %e %H:%M:%S %Y")),
    }


def _node_names(record: JobRecord) -> list[str]:
    """The names of the nodes; where nobody knows which they are, names that say so."""
    if not record.node_runs:
        return [f"unknown{number}" for number in range(record.nodes)]
    return [f"n{node}" for first, last in record.node_runs for node in range(first, last + 1)]
