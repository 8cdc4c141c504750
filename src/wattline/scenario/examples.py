"""The examples: scenarios, a log, a policy and a tour, which travel with the package."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from wattline.model.errors import InputError

PACKAGE = Path(__file__).resolve().parent.parent
PLACES = (PACKAGE / "_examples", PACKAGE.parent.parent / "examples")
"""In an installed package, and in a clone."""
LIST = "README.md"


@dataclass(frozen=True)
class Example:
    """A file of the examples.

    >>> import wattline as wl
    >>> [example.name for example in wl.list_examples() if "tiny" in example.name]
    ['tiny.swf']
    """

    name: str
    summary: str
    """What it shows, as the list of the examples says."""


def examples_folder() -> Path:
    """Where this installation keeps them."""
    for place in PLACES:
        if (place / LIST).is_file():
            return place
    raise InputError(f"this installation has no examples: there is no {PLACES[0]}; install the "
                     "package anew")


def list_examples() -> list[Example]:
    """The examples that come with the package.

    >>> import wattline as wl
    >>> "small.toml" in [example.name for example in wl.list_examples()]
    True
    """
    folder = examples_folder()
    found = []
    for line in (folder / LIST).read_text(encoding="utf-8").splitlines():
        names = re.findall(r"\[([\w./-]+)\]", line) if line.startswith("| [") else []
        found += [Example(name, line.rsplit("|", 2)[1].strip()) for name in names]
    return found


def copy_examples(folder: str | Path = "examples", *, force: bool = False) -> list[Path]:
    """Copy the examples into a folder, to run and to change; what is there already stays.

    A file that differs from the one that would take its place is an `InputError`, and nothing is
    copied, unless `force` says that it may be lost.

    >>> import wattline as wl
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     copied = wl.copy_examples(Path(folder) / "mine")
    ...     run = wl.simulate(Path(folder) / "mine" / "maintenance.toml")
    >>> len(run.jobs)
    12
    """
    source, folder = examples_folder(), Path(folder)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; name a folder for the examples")
    names = [LIST, *(example.name for example in list_examples())]
    other = [name for name in names if (folder / name).exists() and not _same(
        folder / name, source / name)]
    if other and not force:
        raise InputError(f"{folder / other[0]} is there already and differs; name another folder, "
                         "or give --force to write over it")
    try:
        for place in {(folder / name).parent for name in names}:
            place.mkdir(parents=True, exist_ok=True)
        return [Path(shutil.copy(source / name, folder / name)) for name in names]
    except OSError as error:
        raise InputError(f"{error.filename or folder} cannot be written: "
                         f"{error.strerror}") from None


def _same(path: Path, other: Path) -> bool:
    return path.is_file() and path.read_bytes() == other.read_bytes()
