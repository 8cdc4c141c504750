"""Jobs as a table of columns: the form in which logs are read, generated, simulated and stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from wattline.model.errors import InputError
from wattline.model.signal import FloatArray

if TYPE_CHECKING:
    import pandas as pd

IntArray = npt.NDArray[np.int64]

NO_JOB = -1
"""Stands in `after_job` for "depends on nothing"."""
SHOWN_ROWS = 5
"""So many jobs a notebook shows of a table."""


@dataclass(frozen=True, eq=False, repr=False)
class JobTable:
    """One row per job, sorted by submission; every column has the same length.

    `procs` counts what the log counts: nodes on some machines, cores on others. The machine says
    how many of them make a node. `power_w` is the mean power of the whole job while it runs at
    full speed, and NaN where the log does not say. `user`, `group`, `queue`, `partition` and
    `application` are codes; `names` maps a column to the names that its codes stand for. `status`
    is how the job ended by its log (`wattline.model.states`). A job that was started again has a
    row for each of its lives, with the same `job_id`; `restart` counts them from 0.

    >>> import wattline as wl
    >>> jobs = wl.generate("lublin", seed=1, jobs=20, nodes=32).jobs
    >>> len(jobs), float(jobs.submit_s[0])
    (20, 108.0)
    """

    job_id: IntArray
    submit_s: FloatArray
    run_s: FloatArray
    requested_s: FloatArray
    procs: IntArray
    power_w: FloatArray
    user: IntArray
    group: IntArray
    queue: IntArray
    partition: IntArray
    application: IntArray
    status: IntArray
    after_job: IntArray
    think_s: FloatArray
    restart: IntArray
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        count = len(self.job_id)
        for column in COLUMNS:
            values = getattr(self, column)
            if values.shape != (count,):
                raise InputError(f"job column '{column}' has {values.shape}, expected ({count},)")
            values.setflags(write=False)
        if count and np.any(np.diff(self.submit_s) < 0):
            raise InputError("a job table must be sorted by submit_s; use JobTable.sorted()")
        if np.any(self.after_job >= np.arange(count)):
            raise InputError("after_job must name an earlier row of the table, or -1")

    @classmethod
    def build(
        cls,
        *,
        submit_s: npt.ArrayLike,
        run_s: npt.ArrayLike,
        procs: npt.ArrayLike,
        requested_s: npt.ArrayLike | None = None,
        names: Mapping[str, tuple[str, ...]] | None = None,
        **columns: npt.ArrayLike | None,
    ) -> JobTable:
        """Make a table from the columns that are known; the others get their neutral values.

        Rows must come in order of submission, ties in the order in which they are to be served.
        """
        submit = np.array(submit_s, dtype=np.float64)
        count = submit.size
        known: dict[str, npt.ArrayLike | None] = {
            "submit_s": submit,
            "run_s": run_s,
            "procs": procs,
            "requested_s": run_s if requested_s is None else requested_s,
            **columns,
        }
        unknown = set(known) - set(COLUMNS)
        if unknown:
            raise InputError(f"unknown job columns: {', '.join(sorted(unknown))}")
        arrays: dict[str, Any] = {}
        for column, (dtype, default) in COLUMNS.items():
            values = known.get(column)
            if values is not None:
                arrays[column] = np.array(values, dtype=dtype)
            elif column == "job_id":
                arrays[column] = np.arange(1, count + 1, dtype=np.int64)
            else:
                arrays[column] = np.full(count, default, dtype=dtype)
        return cls(**arrays, names=dict(names or {}))

    def __len__(self) -> int:
        return len(self.job_id)

    def __repr__(self) -> str:
        count = len(self)
        jobs = f"{count:,} job{'' if count == 1 else 's'}"
        if not count:
            return f"{type(self).__name__}({jobs})"
        return (f"{type(self).__name__}({jobs} of {self.procs.min():,} to {self.procs.max():,}, "
                f"submitted from {self.submit_s[0]:g} s to {self.submit_s[-1]:g} s)")

    def to_pandas(self) -> pd.DataFrame:
        """A row per job as given, with codes; names of users and others follow as `user_name`."""
        import pandas as pd

        table = pd.DataFrame({column: getattr(self, column) for column in COLUMNS})
        for column, words in self.names.items():
            if column in COLUMNS and words:
                named = dict(enumerate(words))
                table[f"{column}_name"] = table[column].map(named.get)
        return table

    def _repr_html_(self) -> str:
        from html import escape

        names = ("job_id", "submit_s", "run_s", "requested_s", "procs", "power_w", "user")
        head = "".join(f"<th>{name}</th>" for name in names)
        body = "".join(
            "<tr>" + "".join(f"<td>{getattr(self, name)[row]:g}</td>" for name in names) + "</tr>"
            for row in range(min(len(self), SHOWN_ROWS)))
        return (f"<p>{escape(repr(self))}</p><table><thead><tr>{head}</tr></thead>"
                f"<tbody>{body}</tbody></table>")

    def take(self, rows: npt.NDArray[np.intp] | npt.NDArray[np.bool_]) -> JobTable:
        """A table of these rows (indices in increasing order, or a mask)."""
        index = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows
        new_row = np.full(len(self), NO_JOB, dtype=np.int64)
        new_row[index] = np.arange(index.size)
        columns = {column: getattr(self, column)[index] for column in COLUMNS}
        after = columns["after_job"]
        # A dependency on a job that is left out counts as fulfilled.
        columns["after_job"] = np.where(after == NO_JOB, NO_JOB, new_row[after])
        return JobTable(**columns, names=self.names)

    def with_columns(self, **columns: npt.ArrayLike) -> JobTable:
        """The same jobs with some columns replaced."""
        arrays: dict[str, Any] = {
            name: np.array(values, dtype=COLUMNS[name][0]) for name, values in columns.items()
        }
        kept = {column: getattr(self, column) for column in COLUMNS}
        return JobTable(**kept | arrays, names=self.names)

    def name_of(self, column: str, code: int) -> str:
        """The name behind a code, or the code itself where the log has no names."""
        names = self.names.get(column, ())
        return names[code] if 0 <= code < len(names) else str(code)


COLUMNS: Mapping[str, tuple[type, float]] = {
    # column: (type, value where the log says nothing)
    "job_id": (np.int64, 0),
    "submit_s": (np.float64, 0.0),
    "run_s": (np.float64, 0.0),
    "requested_s": (np.float64, 0.0),
    "procs": (np.int64, 1),
    "power_w": (np.float64, np.nan),
    "user": (np.int64, -1),
    "group": (np.int64, -1),
    "queue": (np.int64, -1),
    "partition": (np.int64, -1),
    "application": (np.int64, -1),
    "status": (np.int64, -1),
    "after_job": (np.int64, NO_JOB),
    "think_s": (np.float64, 0.0),
    "restart": (np.int64, 0),
}

assert set(COLUMNS) == {f.name for f in fields(JobTable)} - {"names"}
