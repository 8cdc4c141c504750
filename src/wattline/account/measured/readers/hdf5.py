"""Profiles as Slurm's acct_gather_profile/hdf5 writes them, and `wattline account --profile`."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from wattline.account.measured.readers.options import SeriesOptions
from wattline.account.measured.records import Found, Kind, Series
from wattline.account.profile import read_profile
from wattline.model.errors import InputError
from wattline.model.signal import FloatArray

METER = "slurm profile"
_JOB = re.compile(r"(?:job_)?([0-9]{1,19})(?=[._])")
"""The number of the job in the name of a profile: `job_12.h5`, `12_0_n1.h5`."""


def read_hdf5(path: Path, options: SeriesOptions) -> Found:
    """The power of each node, whatever steps saw it.

    A sample is the mean since the one before; of a step alone at a time the last one ends it.
    Several steps on a node read the same meter: they are taken together and not added up.
    """
    found: dict[str, list[tuple[FloatArray, FloatArray]]] = {}
    short = 0
    for (_, node), table in read_profile(path).items():
        names = table.dtype.names or ()
        if not {"EpochTime", "Power"} <= set(names):
            raise InputError(f"{path}: the energy of {node} has no columns EpochTime and Power")
        times = table["EpochTime"].astype(np.float64)
        watts = table["Power"].astype(np.float64)
        if times.size < 2 or not (np.diff(times) >= 0).all():
            short += 1
            continue
        found.setdefault(node, []).append((times, watts))
    skipped = {"steps with less than two samples in order": short} if short else {}
    series = tuple(_node(options, node, steps) for node, steps in sorted(found.items()))
    named = _JOB.match(path.name)
    return Found(str(path), series=series, skipped=skipped, job=named[1] if named else "")


def _node(
    options: SeriesOptions, node: str, steps: list[tuple[FloatArray, FloatArray]]
) -> Series:
    ends = np.array([times[-1] for times, _ in steps])
    alone = [all(not (other[0] <= end < other[-1]) for other, _ in steps) for end in ends]
    closing = np.unique(ends[np.array(alone)])
    # What a sample says of the time before it is kept at the beginning of that time.
    times = np.concatenate([times[:-1] for times, _ in steps] + [closing])
    watts = np.concatenate([watts[1:] for _, watts in steps] + [np.full(closing.size, np.nan)])
    gaps = np.concatenate([np.diff(times) for times, _ in steps])
    return Series(options.cluster, node, Kind.WATTS, times, watts, options.meter or METER,
                  float(np.max(gaps)))
