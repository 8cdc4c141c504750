"""Job logs that come with the package, by name: `file = "bundled:week.swf"`."""

from __future__ import annotations

from pathlib import Path

from wattline.model.errors import InputError
from wattline.model.nearest import did_you_mean
from wattline.model.reading import is_file
from wattline.scenario.examples import examples_folder

MARK = "bundled:"


def bundled_logs() -> dict[str, Path]:
    """The logs among the examples, by name."""
    return {path.name: path for path in sorted(examples_folder().glob("*.swf"))}


def is_bundled(file: str | Path) -> bool:
    return str(file).startswith(MARK)


def log_path(file: str | Path) -> Path:
    """Where a log lies, whether it is named by its path or comes with the package."""
    if not is_bundled(file):
        return Path(file)
    name = str(file).removeprefix(MARK)
    known = bundled_logs()
    if name not in known:
        raise InputError(f"there is no bundled log '{name}'; there are: {', '.join(known)}"
                         + did_you_mean(name, known))
    return known[name]


def file_named(text: str | Path) -> Path | None:
    """The file that a text of a scenario names, also in the package; None of other texts."""
    if is_bundled(text):
        return bundled_logs().get(str(text).removeprefix(MARK))
    return Path(text) if is_file(text) else None
