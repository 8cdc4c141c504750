"""Runs side by side, also of logs and scenarios that are still to be simulated."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from wattline.analysis import comparison
from wattline.analysis.comparison import Comparison
from wattline.analysis.result import open_run
from wattline.model.errors import InputError
from wattline.model.jobs import JobTable
from wattline.model.reading import is_file
from wattline.model.run import Run
from wattline.scenario.api import simulate
from wattline.scenario.in_python import Source
from wattline.scenario.model import Scenario
from wattline.traces import Trace
from wattline.traces.frames import is_table

Compared = Run | Source
"""A run, its folder, or what `simulate` takes."""


def compare(
    runs: Compared | Iterable[Compared] | Mapping[str, Compared], *more: Compared, **given: Any
) -> Comparison:
    """Compare runs, folders of runs, logs and scenarios with the first of them.

    They are given one after the other, as a list, or as a folder that has folders of runs in it.
    Logs and scenarios are simulated first, with what `simulate` takes as `given`. Runs are called
    what their scenarios are, and what differs between those that are called the same; a mapping
    gives them other names.

    >>> import wattline as wl
    >>> trace = wl.generate("lublin", seed=1, jobs=20, nodes=32)
    >>> sizes = [wl.simulate(trace, machine=wl.Machine(nodes=n), name=f"{n}") for n in (32, 64)]
    >>> wl.compare(sizes).to_pandas()["jobs.completed"].to_dict()
    {'32': 20, '64': 20}
    """
    if isinstance(runs, Mapping):
        return comparison.compare({name: _run(each, given) for name, each in runs.items()},
                                  *(_run(each, given) for each in more))
    one = isinstance(runs, (Run, str, Path, Scenario, Trace, JobTable)) or is_table(runs)
    listed = [runs] if one or not isinstance(runs, Iterable) else runs
    return comparison.compare([_run(each, given) for each in (*listed, *more)])


def run_of(each: Compared) -> Run:
    """The run itself, read from its folder or simulated."""
    found = _run(each, {})
    return found if isinstance(found, Run) else open_run(found)


def _run(each: Compared, given: Mapping[str, Any]) -> Run | str | Path:
    """The run, or its folder; a log or a scenario is simulated."""
    done = isinstance(each, Run) or (isinstance(each, (str, Path)) and not (
        is_file(each) or str(each).startswith("bundled:")))
    if not done:
        return simulate(each, **given)
    if given:
        raise InputError(f"{', '.join(given)} cannot change a run that is done; give its scenario "
                         "instead")
    assert isinstance(each, (Run, str, Path))
    return each
