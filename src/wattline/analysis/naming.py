"""Several runs by name: each by what its scenario is called, told apart where that is the same."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping

from wattline.model.errors import InputError
from wattline.model.run import Run


def named_runs(runs: Run | Iterable[Run] | Mapping[str, Run]) -> dict[str, Run]:
    """One run, several, or several with their names, as runs by name."""
    if isinstance(runs, Run):
        runs = [runs]
    if isinstance(runs, Mapping):
        found = {str(name): run for name, run in runs.items()}
    else:
        found = {}
        for run in runs:
            name = run.name if isinstance(run, Run) else "run"
            found[unique_name(name, found)] = run
    for run in found.values():
        if not isinstance(run, Run):
            raise InputError(f"this takes runs, not {type(run).__name__}; `open_run(FOLDER)` reads "
                             "one from its folder")
    if not found:
        raise InputError("there is no run; give at least one")
    return found


def unique_name(name: str, taken: Container[str]) -> str:
    """The name, or with a number where it is taken."""
    number = 2
    unique = name
    while unique in taken:
        unique = f"{name} ({number})"
        number += 1
    return unique
