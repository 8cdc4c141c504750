"""The examples: scenarios, a log, a policy and a tour, which travel with the package."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from wattline.model.errors import InputError
from wattline.model.files import possible_path, replacing

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
    source, folder = examples_folder(), possible_path(folder)
    if os.path.exists(folder) and not folder.is_dir():
        raise InputError(f"{folder} is a file; name a folder for the examples")
    names = [LIST, *(example.name for example in list_examples())]
    other = [name for name in names if os.path.exists(folder / name) and not _same(
        folder / name, source / name)]
    if other and not force:
        raise InputError(f"{folder / other[0]} is there already and differs; name another folder, "
                         "or give --force to write over it")
    with _new_folders({(folder / name).parent for name in names}), ExitStack() as drafts:
        # All are there before the first takes its place: on a full disk nothing changes.
        for name in names:
            data = (source / name).read_bytes()
            drafts.enter_context(replacing(folder / name)).write_bytes(data)
    for name in names:
        _share_mode(source / name, folder / name)
    return [folder / name for name in names]


def _share_mode(source: Path, target: Path) -> None:
    """A program stays one, for whoever may read it."""
    mode = stat.S_IMODE(target.stat().st_mode)
    if source.stat().st_mode & stat.S_IXUSR:
        target.chmod(mode | (mode & 0o444) >> 2)


@contextmanager
def _new_folders(places: set[Path]) -> Iterator[None]:
    """Make folders that are not there, and take away those that nothing came into."""
    made: list[Path] = []
    try:
        for place in sorted(places):
            missing = [each for each in (place, *place.parents) if not each.exists()]
            for each in reversed(missing):
                each.mkdir(exist_ok=True)
                made.append(each)
        yield
    except BaseException as error:
        for each in reversed(made):
            with suppress(OSError):
                each.rmdir()
        if isinstance(error, OSError):
            raise InputError(f"{error.filename} cannot be made: {error.strerror}") from None
        raise


def _same(path: Path, other: Path) -> bool:
    return path.is_file() and path.read_bytes() == other.read_bytes()
