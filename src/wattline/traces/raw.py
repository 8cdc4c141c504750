"""Jobs as a reader found them: in file order, dirty, with the line that each came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from wattline.model.jobs import IntArray
from wattline.model.signal import FloatArray

CODES = ("user", "group", "queue", "partition", "application", "status")
"""The columns that hold codes."""

CANCELLED = 5
"""Status of a job that was cancelled, in the coding of SWF."""
UNFINISHED = -2
"""Status of a job that was pending or running when the log was written."""


@dataclass(frozen=True, eq=False)
class RawJobs:
    """One row a job line. In float columns NaN means "not known", in codes -1 does."""

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
    unreadable: tuple[int, ...] = ()
    """Lines that could not be read at all."""

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
