"""Whether a controller's folder can hold what it writes, and what the last one left there."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

from wattline.books.journal import read_journal
from wattline.controller.doctor.check import Check, checked
from wattline.controller.status import FILE, read_status
from wattline.model.errors import InputError, WattlineError

LEAST_FREE = 2**30


def folder_checks(folder: Path) -> list[Check]:
    there = folder
    while not there.exists():
        there = there.parent
    writable = there.is_dir() and os.access(there, os.W_OK | os.X_OK, effective_ids=True)
    free = shutil.disk_usage(there).free
    return [
        checked("folder", writable, f"{folder} can be written to" if writable
                else f"{there} cannot be written to",
                f"mkdir -p {folder} and give it to the user that the controller runs as"),
        checked("free disk", free >= LEAST_FREE, f"{free / 2**30:,.1f} GiB",
                f"make {LEAST_FREE / 2**30:.0f} GiB free in {folder}: what cannot be written to "
                "the journal is not done"),
        _journal(folder), _controller(folder)]


def _journal(folder: Path) -> Check:
    journals = sorted(folder.glob("*.journal")) if folder.is_dir() else []
    if not journals:
        return checked("journal", True, "none yet", "")
    last = journals[-1]
    mend = f"move {last} away and keep it: another start of the controller writes a new one"
    try:
        journal = read_journal(last.read_text(encoding="utf-8"), str(last))
        entries = sum(1 for _ in journal.entries())
    except (InputError, OSError, UnicodeDecodeError) as error:
        return checked("journal", False, f"{last.name}: {error}", mend)
    # A last line in the middle of which the writer was stopped is no damage.
    damaged = journal.damaged[:-1] if journal.torn else journal.damaged
    return checked("journal", not damaged, f"{last.name}: {entries} steps" if not damaged else
                   f"{last.name}: the checksum of line {damaged[0]} does not fit", mend)


def _controller(folder: Path) -> Check:
    if not (folder / FILE).exists():
        return checked("controller", True, "none has run here", "")
    try:
        said = read_status(folder)
    except WattlineError as error:
        left = [path.name for path in (folder / "taken").glob("*")]
        killed = _was_killed(folder)
        return checked("controller", not left and not killed,
                       f"{error}{', with orders taken' if left else ''}"
                       f"{', was not stopped, and its lease is over' if killed else ''}",
                       ("start the controller again, or the watchdog (`wattline controller "
                        "watchdog`), which leaves waiting jobs to Slurm" if killed else "start the "
                        "controller") + ("; it answers orders that the last one had taken"
                                         if left else ""), must=False)
    doing = f"process {said['pid']} {'acts' if said['act'] else 'is a dry run'}"
    return checked("controller", bool(said["slurm_answers"]), doing if said["slurm_answers"]
                   else f"{doing}; {said['last_error']}", "Slurm does not answer it: see the "
                   "checks above, and the environment that it was started with")


def _was_killed(folder: Path) -> bool:
    """Whether one that acted went without a stop, so long ago that nobody may count on it."""
    try:
        said = read_status(folder, running=False)
        return bool("stopped" not in said and said.get("act") and said.get("lease") is not None
                    and time.time() - float(said["time_s"]) > float(said["lease"]))
    except (WattlineError, ValueError, TypeError):
        return False
