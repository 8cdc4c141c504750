"""Several runs as one table, with ratios to the first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wattline.analysis.metrics import metrics
from wattline.analysis.naming import named_runs
from wattline.analysis.result import Result, flattened, open_run
from wattline.analysis.summary import Row, compare_table, comparison
from wattline.model.run import Run

if TYPE_CHECKING:
    import pandas as pd

    from wattline.analysis.accessor import Plots


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Runs side by side: printed it is the table of `wattline compare`."""

    runs: Mapping[str, Result]

    @cached_property
    def figures(self) -> dict[str, dict[str, Any]]:
        """The metrics of each run, by its name."""
        return {name: metrics(run) for name, run in self.runs.items()}

    @property
    def rows(self) -> list[Row]:
        """The figures that people look at first: values in SI, texts, ratios to the first run."""
        return compare_table(self.runs, self.figures)

    def to_pandas(self) -> pd.DataFrame:
        """A row per run and a column per figure, with dots in the names (`wait_s.mean`)."""
        import pandas as pd

        flat = {name: flattened(found) for name, found in self.figures.items()}
        return pd.DataFrame.from_dict(flat, orient="index").rename_axis("run")

    @property
    def plot(self) -> Plots:
        """Pictures of all runs over each other: `.plot.power()`, `.waits()` and others."""
        from wattline.analysis.accessor import Plots

        return Plots(self.runs)

    def report(self, folder: str | Path = "report", pictures: str = "png") -> Path:
        """Write the HTML report that compares the runs; the path of its page.

        `pictures` is the form of the files beside it: `png`, `svg` or `pdf`.
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
        return "\n".join("  ".join(text.ljust(w) for text, w in zip(row, widths, strict=True))
                         .rstrip() for row in (headers, ["-" * w for w in widths], *lines))

    def _repr_html_(self) -> str:
        from wattline.analysis.html_tables import html_table

        notes = [f"{name}: {line}" for name, run in self.runs.items() for line in run.remarks]
        return html_table(*comparison(list(self.runs), self.rows), notes)


def compare(
    runs: Run | str | Path | Iterable[Run | str | Path] | Mapping[str, Run | str | Path],
) -> Comparison:
    """Compare runs, or the run folders they were saved to, with the first of them.

    Runs are called what their scenarios are; a mapping gives them other names.

    >>> import wattline as wl
    >>> trace = wl.generate("lublin", seed=1, jobs=20, nodes=32)
    >>> sizes = [wl.simulate(trace, machine=wl.Machine(nodes=n), name=f"{n}") for n in (32, 64)]
    >>> wl.compare(sizes).to_pandas()["jobs.completed"].to_dict()
    {'32': 20, '64': 20}
    """
    if isinstance(runs, (Run, str, Path)):
        runs = [runs]
    if isinstance(runs, Mapping):
        named = named_runs({name: _opened(run) for name, run in runs.items()})
    else:
        named = named_runs([_opened(run) for run in runs])
    return Comparison({name: run if isinstance(run, Result) else Result.of(run)
                       for name, run in named.items()})


def _opened(run: Run | str | Path) -> Run:
    return open_run(run) if isinstance(run, (str, Path)) else run
