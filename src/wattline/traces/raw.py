"""Jobs as a reader found them: in file order, dirty, with the line that each came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from wattline.model.errors import InputError
from wattline.model.jobs import IntArray
from wattline.model.signal import FloatArray

CODES = ("user", "group", "queue", "partition", "application", "status")
"""The columns that hold codes."""

CANCELLED = 5
"""Status of a job that was cancelled, in the coding of SWF."""
UNFINISHED = -2
"""Status of a job that was waiting when the log was written."""
RUNNING = -3
"""Status of a job that was running then."""
OWN_COLUMNS = {"submit_s", "run_s", "procs"}
"""A table with these columns is one that we wrote; it needs no map."""
COUNTS = "Counts"
"""In a header: whether sizes of jobs are `nodes` or `cores`, where the log says which."""
NODE_RANGE = ("nodes_min", "nodes_max")
"""Columns of jobs that ask for a range of nodes, of which a policy may choose."""


@dataclass(frozen=True, eq=False)
class RawJobs:
    """One row per job line. In float columns NaN means "not known", in codes -1 does."""

    line: IntArray
    job_id: IntArray
    submit_s: FloatArray
    run_s: FloatArray
    requested_s: FloatArray
    requested_procs: FloatArray
    allocated_procs: FloatArray
    power_w: FloatArray
    codes: Mapping[str, IntArray]
    preceding: IntArray
    """Id of the job that has to end first, or -1."""
    think_s: FloatArray
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    header: Mapping[str, str] = field(default_factory=dict)
    logged: Mapping[str, FloatArray] = field(default_factory=dict)
    energy_j: FloatArray | None = None
    """Joules of the jobs, where the log has them by themselves; else power times run time."""
    restart: IntArray | None = None
    """How often each job had been started before, where the log says so."""
    unreadable: tuple[int, ...] = ()
    """Lines that could not be read at all."""
    bad_cells: tuple[str, ...] = ()
    """Of these in tables, which cell of which row is to blame: a few words each."""
    unclear_frequency: tuple[int, ...] = ()
    """Lines of jobs that ask for a frequency that cannot be understood."""
    remarks: tuple[str, ...] = ()
    """Further facts to be known of how it was read, a sentence each."""

    def __len__(self) -> int:
        return len(self.line)


def unknown(count: int) -> FloatArray:
    """A column of which nothing is known."""
    return np.full(count, np.nan)


def no_code(count: int) -> IntArray:
    return np.full(count, -1, dtype=np.int64)


def encode(texts: list[str]) -> tuple[IntArray, tuple[str, ...]]:
    """Codes for names, numbered in the order of their first appearance; "" has none (-1)."""
    numbers: dict[str, int] = {}
    codes = [numbers.setdefault(text, len(numbers)) if text else -1 for text in texts]
    return np.array(codes, dtype=np.int64), tuple(numbers)


def known(values: FloatArray) -> npt.NDArray[np.bool_]:
    """Where a time or a size is given at all: logs write -1 or 0 for "not known"."""
    return np.asarray(values > 0, dtype=np.bool_)


NOT_KNOWN_W = (-1.0, -1e3, -1e6)
"""What -1 means in W, kW and MW: logs write it where a power is not known."""


def refuse_negative_power(power_w: FloatArray, line: IntArray, source: str) -> None:
    """A power below 0 is a mistake in the log; guessing another would hide it."""
    wrong = np.flatnonzero((power_w < 0) & ~np.isin(power_w, NOT_KNOWN_W))
    if wrong.size:
        raise InputError(f"{source}:{line[wrong[0]]}: power_w is {power_w[wrong[0]]:g} W, must be "
                         "at least 0 (-1 or nothing where it is not known)")
