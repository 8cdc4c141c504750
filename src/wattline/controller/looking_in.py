"""The books of a controller, for somebody beside it: nothing is written and no lock is taken.

Saved books are read before their journal, which then holds all that they know and more; a line that
is being written is left out. So what is found is one moment of the controller, however it goes on
meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wattline.books import Books, carry_on, read_journal
from wattline.books.encoding import saved_scenario
from wattline.controller.status import read_status
from wattline.model.errors import InputError, WattlineError
from wattline.scenario.build import Plan
from wattline.scenario.journals import JOBS_KNOWN, along_axes, plan_of

TRIES = 3
"""A controller that turns a page may delete the oldest journal while somebody looks at it."""


@dataclass(frozen=True, eq=False)
class KeptBooks:
    """What a controller knew when somebody looked in."""

    books: Books
    """They write into no journal."""
    plan: Plan
    """What the policy of these books is made from, without jobs."""
    journals: tuple[Path, ...]
    """All of the folder, the oldest first."""
    running: bool
    """Whether a controller keeps them now; otherwise they stand where the last one stopped."""
    mode: str
    """In which it does, as it says itself; empty where none runs."""


def look_in(folder: Path, *, allow_code: bool = False) -> KeptBooks:
    """The books of a folder as they are now, or as the last controller left them."""
    for _ in range(TRIES - 1):
        try:
            return _look(folder, allow_code)
        except FileNotFoundError:
            continue
    try:
        return _look(folder, allow_code)
    except FileNotFoundError as error:
        raise InputError(f"{error.filename} is gone: the controller's folder changes too "
                         "fast") from None


def _look(folder: Path, allow_code: bool) -> KeptBooks:
    journals = tuple(sorted(folder.glob("*.journal")))
    if not journals:
        raise InputError(f"there are no books in {folder}: no controller was started with that "
                         "folder, or only a dry run, which keeps none")
    path = journals[-1]
    try:
        data = path.with_suffix(".books").read_bytes()
        journal = read_journal(path.read_text(encoding="utf-8"), str(path)).reopened()
    except FileNotFoundError:
        raise
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}") from None

    def made(said: Mapping[str, Any]) -> Plan:
        return plan_of({"scenario": said.get("scenario"), JOBS_KNOWN: False}, (), str(path),
                       allow_code=allow_code)

    ready = made({"scenario": saved_scenario(data) or journal.head.get("scenario")})
    saved = Books.load(data, ready.machine, along_axes(ready), ready.rules.terms)
    if saved.written is not None:
        journal = journal.after(saved.written)
    books = carry_on(saved, journal, lambda line: None, lambda said: along_axes(made(said)))
    books.journal = None
    if books.scenario is not None and books.scenario != saved.scenario:
        ready = made({"scenario": books.scenario})
    said = _said(folder)
    if said and float(said["time_s"]) > books.now_s:
        books.apply(float(said["time_s"]), ())
    return KeptBooks(books, ready, journals, bool(said), str(said.get("mode", "")))


def _said(folder: Path) -> dict[str, Any]:
    """What a controller that runs and acts said last; empty where there is none."""
    try:
        said = read_status(folder)
    except WattlineError:
        return {}
    return said if said.get("act") else {}
