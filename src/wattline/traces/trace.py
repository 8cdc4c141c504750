"""What a reader or a generator gives: jobs, what the log says of itself, what was cleaned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from wattline.model.jobs import JobTable
from wattline.model.signal import FloatArray

if TYPE_CHECKING:
    import pandas as pd

REQUEST_FILLED = "request_filled"
"""A column beside the jobs of a log, 1 where the reader took the run time for a missing request."""


@dataclass(frozen=True)
class RuleCount:
    """How often one cleaning rule applied."""

    name: str
    statement: str
    """The rule in one sentence."""
    jobs: int
    """Number of jobs (or lines) that it touched."""
    first_line: int | None
    """Where it applied first: a line of a text file, a row of a table."""
    drops: bool
    """Whether a touched job is left out."""
    energy_j: float = 0.0
    """Joules of the touched jobs, as far as the log knows them."""

    @property
    def lacks_joules(self) -> bool:
        """Whether the table lacks joules that the log knows, or that running jobs used."""
        return self.drops and (self.energy_j > 0 or (self.name == "running" and self.jobs > 0))


@dataclass(frozen=True)
class CleaningReport:
    """What the reader did to a dirty log, rule by rule in the order of their application."""

    rules: tuple[RuleCount, ...] = ()
    read: int = 0
    """Job lines in the file, unreadable ones included."""
    kept: int = 0

    @property
    def touched(self) -> tuple[RuleCount, ...]:
        """The rules that applied at least once."""
        return tuple(rule for rule in self.rules if rule.jobs)

    @property
    def dropped(self) -> int:
        return self.read - self.kept

    def count(self, name: str) -> int:
        """How many jobs the rule of this name touched."""
        return {rule.name: rule.jobs for rule in self.rules}[name]


@dataclass(frozen=True, eq=False, repr=False)
class Trace:
    """A workload: read from a file or generated.

    >>> import wattline as wl
    >>> trace = wl.generate("lublin", seed=1, jobs=20, nodes=32)
    >>> len(trace), trace.source
    (20, 'lublin seed 1')
    """

    jobs: JobTable
    header: Mapping[str, str] = field(default_factory=dict)
    """What the log says of itself, such as MaxNodes or UnixStartTime in SWF."""
    cleaning: CleaningReport = field(default_factory=CleaningReport)
    source: str = ""
    logged: Mapping[str, FloatArray] = field(default_factory=dict)
    """Columns of the log that a simulation does not need, one value per job; NaN is unknown and a
    column that says nothing is left out."""
    remarks: tuple[str, ...] = ()
    """What else must be known of how it was read, a sentence each."""

    def __len__(self) -> int:
        return len(self.jobs)

    @property
    def unix_start_s(self) -> float | None:
        """The Unix time of the log's second 0 by its header; None where that says none."""
        try:
            return float(self.header["UnixStartTime"])
        except (KeyError, ValueError):
            return None

    def __repr__(self) -> str:
        count = len(self.jobs)
        return f"Trace({self.source!r}: {count:,} job{'' if count == 1 else 's'})"

    def first(self, count: int) -> Trace:
        """The same with its first `count` jobs, and what is logged of them."""
        return replace(self, jobs=self.jobs.take(np.arange(min(count, len(self)))),
                       logged={name: column[:count] for name, column in self.logged.items()})

    def to_pandas(self) -> pd.DataFrame:
        """A row per job, with the columns of the log that a simulation does not need."""
        return self.jobs.to_pandas().assign(**self.logged)

    def _repr_html_(self) -> str:
        said = "".join(f"<li>{escape(line)}</li>" for line in self.remarks)
        return f"<p>{escape(repr(self))}</p>{self.jobs._repr_html_()}" + (
            f"<ul>{said}</ul>" if said else "")

    def machine_procs(self) -> int | None:
        """The size of the logged machine by its header."""
        return header_procs(self.header)


def header_procs(header: Mapping[str, str]) -> int | None:
    """How large a log says that its machine is: MaxProcs, else MaxNodes."""
    nodes, procs = header_sizes(header)
    return nodes if procs is None else procs


def header_sizes(header: Mapping[str, str]) -> tuple[int | None, int | None]:
    """MaxNodes and MaxProcs of a log's header, where it has them."""
    nodes, procs = (_positive(header.get(key, "")) for key in ("MaxNodes", "MaxProcs"))
    return nodes, procs


def _positive(text: str) -> int | None:
    digits = text.split()
    whole = digits and digits[0].isascii() and digits[0].isdigit() and len(digits[0]) < 19
    if whole and int(digits[0]) > 0:
        return int(digits[0])
    return None
