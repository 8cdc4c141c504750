"""A run with what people ask of it: figures, tables, pictures, a report, a folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from wattline.model.arguments import checked
from wattline.model.errors import warn
from wattline.model.jobs import JobTable
from wattline.model.run import Run

if TYPE_CHECKING:
    import pyarrow as pa

    from wattline.analysis.accessor import Plots
    from wattline.results.verify.judge import Verification


Table = TypeVar("Table", bound=JobTable)


class JobsOfRun(JobTable):
    """The jobs of a run as they were given; called, the table of what became of them."""

    run: Run

    @classmethod
    def of(cls, run: Run) -> JobsOfRun:
        given = _as(cls, run.jobs)
        # Frozen, like every table; and its run is a plain one, which leads back to no other run.
        plain = run.jobs if type(run.jobs) is JobTable else _as(JobTable, run.jobs)
        object.__setattr__(given, "run", Run(**_parts(run) | {"jobs": plain}))
        return given

    def __call__(self) -> pa.Table:
        """One row per job, as an Arrow table: `.to_pandas()` makes a DataFrame.

        `elapsed_s` is what the job took in this run, `run_s` what it took by the log.
        """
        from wattline.analysis.tables import job_table

        return job_table(self.run)


@dataclass(frozen=True, eq=False, repr=False)
class Result(Run):
    """What `simulate` and `open_run` give: a `Run`, and what can be asked of it.

    >>> import wattline as wl
    >>> trace = wl.generate("lublin", seed=1, jobs=20, nodes=32)
    >>> run = wl.simulate(trace, machine=wl.Machine(nodes=32))
    >>> run
    Result('lublin seed 1': 20 of 20 jobs ran on 32 nodes; 32.4 kWh, peak 6.24 kW)
    >>> run.metrics()["wait_s"]["mean"] == run.metrics(flat=True)["wait_s.mean"]
    True
    >>> float(run.jobs().to_pandas()["wait_s"].max())
    0.0
    >>> len(run.jobs)
    20
    """

    jobs: JobsOfRun

    def __post_init__(self) -> None:
        # A run that is changed with `replace` tells of itself, not of the run that it was.
        object.__setattr__(self, "jobs", JobsOfRun.of(self))

    @classmethod
    def of(cls, run: Run) -> Result:
        """The same run, with the questions."""
        return cls(**_parts(run))

    def metrics(self, *, flat: bool = False) -> dict[str, Any]:
        """All figures of the run; docs/metrics.md defines each one.

        With `flat` one level with dots in the names (`wait_s.mean`), numbers only: tables by user,
        size and class, and sentences, have no place in it.
        """
        from wattline.analysis.metrics import metrics

        return flattened(metrics(self)) if flat else metrics(self)

    def event_table(self) -> pa.Table:
        """One row per event, as an Arrow table."""
        from wattline.analysis.tables import event_table

        return event_table(self)

    @property
    def plot(self) -> Plots:
        """Pictures: `run.plot.power()`, `.queue()`, `.waits()` and others."""
        from wattline.analysis.accessor import Plots

        return Plots({self.name: self})

    @checked
    def report(self, folder: str | Path = "report", pictures: str = "png") -> Path:
        """Write the HTML report into a folder; the path of its page.

        A name that ends in `.html` is that of the page, which is then written alone. `pictures` is
        the form of the files beside it: `png`, `svg` or `pdf`.
        """
        from wattline.analysis.report import report

        return report(self, folder, pictures=pictures)

    @checked
    def save(self, folder: str | Path | None = None) -> Path:
        """Write the run folder, by default the next free one under runs/; `open_run` reads it."""
        from wattline.analysis.folders import claimed_folder
        from wattline.analysis.rundir import replaces, write

        with claimed_folder(self.name, folder) as target:
            warn([said] if (said := replaces(target, self.name)) else [])
            return write(self, target)

    def verify(self) -> Verification:
        """Verify the run by its own records, with none of the code that made it.

        `verify().findings` is empty where nothing is broken; `judged` and `skipped` say what was
        looked at and what could not be.
        """
        return verify(self)

    def _repr_html_(self) -> str:
        from wattline.analysis.html_tables import run_html

        return run_html(self)


def _as(kind: type[Table], jobs: JobTable) -> Table:
    """The same columns as a table of this kind; they were checked when the first was made."""
    made = object.__new__(kind)
    for each in fields(JobTable):
        object.__setattr__(made, each.name, getattr(jobs, each.name))
    return made


def _parts(run: Run) -> dict[str, Any]:
    return {each.name: getattr(run, each.name) for each in fields(Run)}


def open_run(folder: str | Path) -> Result:
    """The run that a folder holds, as `simulate` gave it.

    >>> import tempfile
    >>> import wattline as wl
    >>> trace = wl.generate("lublin", seed=1, jobs=20, nodes=32)
    >>> run = wl.simulate(trace, machine=wl.Machine(nodes=32))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = wl.open_run(run.save(f"{folder}/run"))
    >>> again.energy_j == run.energy_j
    True
    """
    from wattline.analysis.rundir import read

    return Result.of(read(folder))


def verify(run: Run | str | Path) -> Verification:
    """Verify a run, or the one in a folder, by its own records; see docs/metrics.md.

    >>> import wattline as wl
    >>> trace = wl.generate("lublin", seed=1, jobs=20, nodes=32)
    >>> run = wl.simulate(trace, machine=wl.Machine(nodes=32, node_idle_w=90, node_active_w=300))
    >>> found = wl.verify(run)
    >>> found.kept, found.findings, found.judged[0].title
    (True, (), 'columns have a row for each job or event')
    """
    from wattline.analysis.metrics import metrics
    from wattline.analysis.rundir import read_derived, read_metrics
    from wattline.results.verify.judge import verify as judge

    if isinstance(run, Run):
        return judge(run, metrics(run))
    return judge(open_run(run), read_metrics(run), read_derived(run))


def flattened(figures: Mapping[str, Any], path: str = "") -> dict[str, float]:
    """Numbers at any depth, under their place with dots."""
    found: dict[str, float] = {}
    for key, value in figures.items():
        if isinstance(value, (int, float)):
            found[path + key] = value
        elif isinstance(value, (dict, Mapping)):  # the first is quick to tell
            found |= flattened(value, f"{path}{key}.")
    return found
