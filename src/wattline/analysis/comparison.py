"""Several runs as one table, with ratios to the first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wattline.analysis.metrics import metrics
from wattline.analysis.naming import named_runs
from wattline.analysis.other_caps import ABOVE_CAP_OF, against_other_caps, cap_givers, cap_notes
from wattline.analysis.result import Result, flattened, open_run
from wattline.analysis.rundir import runs_below
from wattline.analysis.summary import ComparedFigure, compare_table, comparison
from wattline.model.arguments import checked
from wattline.model.errors import InputError
from wattline.model.run import Run

if TYPE_CHECKING:
    import pandas as pd

    from wattline.analysis.accessor import Plots


Source = Run | str | Path
"""A run, or the folder that it was saved to."""


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Runs side by side: printed it is the table of `wattline compare`.

    >>> import wattline as wl
    >>> trace = wl.generate("lublin", seed=1, jobs=20, nodes=32)
    >>> machine = wl.Machine(nodes=32, node_idle_w=90, node_active_w=300)
    >>> found = wl.sweep(trace, machine=machine, vary={"order": ["fcfs", "sjf"]})
    >>> len(found.runs), found.to_pandas()["jobs.completed"].tolist()
    (2, [20, 20])
    """

    runs: Mapping[str, Result]
    said: tuple[str, ...] = ()
    """What is to be said of all runs together."""

    @property
    def remarks(self) -> tuple[str, ...]:
        """What must be known of the figures: of each run by its name, and of all together."""
        own = [f"{name}: {line}" for name, run in self.runs.items() for line in run.remarks]
        return (*own, *cap_notes(self.runs), *self.said)

    def to_dict(self) -> dict[str, Any]:
        """The figures of each run by its name, and the remarks."""
        return {"runs": dict(self.figures), "remarks": list(self.remarks)}

    @cached_property
    def figures(self) -> dict[str, dict[str, Any]]:
        """The metrics of each run, by its name.

        One without a cap is measured against that of the run most like it, which `above_cap_of`
        names.
        """
        own = {name: metrics(run) for name, run in self.runs.items()}
        return against_other_caps(self.runs, own)

    @property
    def rows(self) -> list[ComparedFigure]:
        """The figures that people look at first: values in SI, texts, ratios to the first run."""
        return compare_table(self.runs, self.figures)

    def to_pandas(self) -> pd.DataFrame:
        """A row per run and a column per figure, with dots in the names (`wait_s.mean`)."""
        import pandas as pd

        flat = {name: flattened(found) for name, found in self.figures.items()}
        table = pd.DataFrame.from_dict(flat, orient="index").rename_axis("run")
        givers = cap_givers(self.runs)
        return table.assign(**{ABOVE_CAP_OF: table.index.map(givers.get)}) if givers else table

    @property
    def plot(self) -> Plots:
        """Pictures of all runs over each other: `.plot.power()`, `.waits()` and others."""
        from wattline.analysis.accessor import Plots

        return Plots(self.runs)

    @checked
    def report(self, folder: str | Path = "report", pictures: str = "png") -> Path:
        """Write the HTML report that compares the runs; the path of its page.

        A name that ends in `.html` is that of the page, which is then written alone. `pictures` is
        the form of the files beside it: `png`, `svg` or `pdf`.
        """
        from wattline.analysis.report import report

        return report(self.runs, folder, pictures=pictures)

    def __len__(self) -> int:
        return len(self.runs)

    def __getitem__(self, name: str) -> Result:
        return self.runs[name]

    def __repr__(self) -> str:
        headers, lines = comparison(list(self.runs), self.rows)
        widths = [max(len(row[i]) for row in (headers, *lines)) for i in range(len(headers))]
        table = ["  ".join(text.ljust(w) for text, w in zip(row, widths, strict=True)).rstrip()
                 for row in (headers, ["-" * w for w in widths], *lines)]
        notes = (*cap_notes(self.runs), *self.said)
        return "\n".join([*table, *(f"note: {line}" for line in notes)])

    def _repr_html_(self) -> str:
        from wattline.analysis.html_tables import html_table

        return html_table(*comparison(list(self.runs), self.rows), self.remarks)


def compare(
    runs: Source | Iterable[Source] | Mapping[str, Source], *more: Source,
) -> Comparison:
    """Compare runs, or the run folders they were saved to, with the first of them.

    `wattline.scenario.side_by_side` also takes what is still to be simulated.
    """
    if isinstance(runs, Mapping):
        if more:
            raise InputError("runs with names come in one mapping; leave the others out")
        named = named_runs({name: _opened(run) for name, run in runs.items()})
    else:
        listed = [runs] if isinstance(runs, (Run, str, Path)) else list(runs)
        named = named_runs([_opened(run) for each in (*listed, *more) for run in _below(each)])
    return Comparison({name: run if isinstance(run, Result) else Result.of(run)
                       for name, run in named.items()})


def _below(run: Source) -> list[Source]:
    return [*runs_below(run)] if isinstance(run, (str, Path)) else [run]


def _opened(run: Source) -> Run:
    return open_run(run) if isinstance(run, (str, Path)) else run
