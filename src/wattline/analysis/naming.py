"""Several runs by name: each by what its scenario is called, told apart where that is the same."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence

from wattline.analysis.scenario_fields import fields
from wattline.model.errors import InputError
from wattline.model.run import Run

MOST_DIFFERENCES = 3
"""So many fields tell runs apart in their names; the report has all."""


def named_runs(runs: Run | Iterable[Run] | Mapping[str, Run]) -> dict[str, Run]:
    """One run, several, or several with their names, as runs by name."""
    if isinstance(runs, Run):
        runs = [runs]
    if isinstance(runs, Mapping):
        found = {str(name): run for name, run in runs.items()}
    else:
        found = {}
        listed = list(runs)
        for run, name in zip(listed, _names(listed), strict=True):
            found[unique_name(name, found)] = run
    for run in found.values():
        if not isinstance(run, Run):
            raise InputError(f"this takes runs, not {type(run).__name__}; `open_run(FOLDER)` reads "
                             "one from its folder")
    if not found:
        raise InputError("there is no run; give at least one")
    return found


def _names(runs: Sequence[object]) -> list[str]:
    """What each run is called, with what differs where several are called the same."""
    names = [run.name if isinstance(run, Run) else "run" for run in runs]
    found = list(names)
    for name in set(names):
        alike = [at for at, each in enumerate(names) if each == name]
        said = [_said(run) for at in alike if isinstance(run := runs[at], Run)]
        if len(said) < 2 or len(said) < len(alike):
            continue
        places = dict.fromkeys(place for each in said for place in each)
        differ = [place for place in places if len({each.get(place) for each in said}) > 1]
        for at, each in zip(alike, said, strict=True):
            special = ", ".join(f"{place.split('.')[-1]} {each.get(place, 'none')}"
                                for place in differ[:MOST_DIFFERENCES])
            found[at] = f"{name}: {special}" if special else name
    return found


def _said(run: Run) -> dict[str, str]:
    """The fields of its scenario; a policy with parameters has its name where one without has."""
    return {place.removesuffix(".name"): value for place, value in fields(run.scenario)}


def unique_name(name: str, taken: Container[str]) -> str:
    """The name, or with a number where it is taken."""
    number = 2
    unique = name
    while unique in taken:
        unique = f"{name} ({number})"
        number += 1
    return unique
