"""The books of a controller over its restarts: saved now and then, with a journal of what followed.

A folder has journals named by the time at which they were begun, and beside each the books as they
were last saved and the site that they were kept for. A start loads them, tells them what their
journal holds beyond that, and writes on at its end; a clean stop says there that it is the end. A
long journal is gone on with in another file,
with the books that this one begins with beside it; the oldest are deleted.
"""

from __future__ import annotations

import json
import math
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from wattline.books import Books, JournalWriter, carry_on, read_journal
from wattline.books.encoding import policy_names, saved_scenario
from wattline.books.journal import MARK
from wattline.controller.configuration import NodeKind, SiteConfig
from wattline.controller.status import policy_of
from wattline.model.errors import InputError, WattlineError
from wattline.model.units import parse_hosts
from wattline.policies.contract import Composition
from wattline.scenario.journals import JOBS_KNOWN, along_axes, plan_of
from wattline.scenario.objects import Machine, NodeClass
from wattline.scenario.opening import open_books

KEPT = ("cap", "nodes", "node_idle_w", "node_active_w", "node_off_w", "node_boot", "node_shutdown",
        "classes", "policy", "scenario", "mark", "partitions", "twin")
"""What of a site the books depend on: where it was changed they begin anew."""
KEPT_IF_GIVEN = ("node_base_w", "supply_efficiency")
"""And of these, where they are given."""

STAMP = "%Y-%m-%dT%H-%M-%S.%f"
"""How journals are named: by the time at which each begins."""
BEGUN = ".begin"
"""How the name of the books ends that a journal begins with, where it goes on from another."""
DRY = ".dry"
"""How the name of a dry run's journal ends: no controller goes on with it."""


@dataclass
class Remembered:
    """Books with the open file of their journal."""

    books: Books
    file: IO[str]
    path: Path
    remarks: list[str] = field(default_factory=list)
    largest_bytes: float = math.inf
    """A larger journal is gone on with in another file."""
    most: int = 10
    """Journals that are kept, with what they begin with."""

    def close(self) -> None:
        self.file.close()

    @property
    def dry(self) -> bool:
        return self.path.suffix == DRY

    def save(self, books: Books, *, compact: bool = True) -> None:
        """Put the books where the next start finds them, whole or not at all; not of a dry run."""
        if self.dry:
            return
        made = self.path.with_suffix(".saving")
        with made.open("wb") as file:
            file.write(books.save(compact=compact))
            file.flush()
            os.fsync(file.fileno())
        made.replace(self.path.with_suffix(".books"))

    def end(self, books: Books) -> None:
        """A clean stop: the books are saved, and the journal says that this is its end."""
        self.save(books)
        if books.journal is not None:
            books.journal.end()

    def save_as_they_are(self, books: Books, now_s: float) -> None:
        """In the middle of cycles: jobs that are over are forgotten at another time.

        Where the journal has grown large, the books go on in another, which they are saved for.
        """
        if not self.dry and self.file.tell() > self.largest_bytes:
            self._turn_page(books, now_s)
        else:
            self.save(books, compact=False)

    def _turn_page(self, books: Books, now_s: float) -> None:
        """Go on in another file; a kill on the way leaves the one before, or the new one whole."""
        with self.path.open(encoding="utf-8") as old:
            head = read_journal(old.readline(), str(self.path)).head
        path = self.path.with_name(f"{_stamp(now_s)}.journal")
        draft = path.with_suffix(".draft")
        file = draft.open("w", encoding="utf-8")
        about = {name: value for name, value in head.items() if name != MARK}
        if books.scenario is not None:  # the policy may have been changed since
            about["scenario"] = books.scenario
        ended = books.journal
        books.turn_page(JournalWriter(lambda line: synced(file, line)), about,
                        path.with_suffix(BEGUN).name)
        said = self.path.with_suffix(".site").read_text(encoding="utf-8")
        path.with_suffix(".site").write_text(said, encoding="utf-8")
        before, self.file, self.path = self.file, file, path
        self.save(books)
        shutil.copyfile(path.with_suffix(".books"), path.with_suffix(BEGUN))
        draft.replace(path)
        if ended is not None:
            ended.end()
        before.close()
        self._forget()

    def _forget(self) -> None:
        for old in sorted(self.path.parent.glob("*.journal"))[:-self.most]:
            for suffix in (".journal", ".site", ".books", BEGUN):
                old.with_suffix(suffix).unlink(missing_ok=True)


def open_remembered(
    site: SiteConfig, folder: Path, now_s: float, *, act: bool
) -> Remembered:
    """The books of the last start, or fresh ones; a dry run has its own."""
    last = max(folder.glob("*.journal"), default=None)
    remarks = []
    if act and last is not None:
        try:
            return _again(site, last, now_s)
        except InputError as error:
            remarks.append(f"the books begin anew: {error}")
    path = folder / f"{_stamp(now_s)}{'.journal' if act else DRY}"
    file = path.open("x", encoding="utf-8")
    books = fresh_books(site, now_s, lambda line: synced(file, line))
    kept = Remembered(books, file, path, remarks, 1e6 * site.journal_mb, site.journals)
    if act:
        path.with_suffix(".site").write_text(_said(site), encoding="utf-8")
        kept.save(kept.books)
    return kept


def _stamp(now_s: float) -> str:
    return datetime.fromtimestamp(now_s, UTC).strftime(STAMP)


def _again(site: SiteConfig, path: Path, now_s: float) -> Remembered:
    try:
        said = path.with_suffix(".site").read_text(encoding="utf-8")
        data = path.with_suffix(".books").read_bytes()
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be gone on with: {error}") from None
    if said != _said(site):
        raise InputError(f"{path.name} was kept for another site or other policies")
    journal = read_journal(text, str(path))

    def made(given: Mapping[str, Any]) -> Composition:
        return along_axes(plan_of({"scenario": given.get("scenario"), JOBS_KNOWN: False}, (),
                                  str(path), allow_code=bool(site.scenario)))

    fresh = fresh_books(site, now_s, None)
    scenario = saved_scenario(data)
    # The policy that they were kept under: an order may have changed it.
    policy = fresh.policy if scenario is None else made({"scenario": scenario})
    loaded = Books.load(data, fresh.machine, policy, fresh.terms)
    if site.mode == "guard" and int(loaded.state.clock[0].off):
        raise InputError(f"in {path.name} nodes are switched off, which Slurm starts jobs on")
    books = carry_on(loaded, journal.reopened(), lambda line: synced(file, line), made)
    cut = journal.end_line + journal.torn
    os.truncate(path, len(text.encode()) - len(cut.encode()))
    file = path.open("a", encoding="utf-8")
    return Remembered(books, file, path, _ordered(books, fresh), 1e6 * site.journal_mb,
                      site.journals)


def _ordered(books: Books, fresh: Books) -> list[str]:
    """What is to be said where another policy decides than that of the site's file."""
    if policy_names(books.policy) == policy_names(fresh.policy):
        return []
    now = ", ".join(f"{axis} {name}" for axis, name in policy_of(books).items())
    return [f"the policy that was ordered goes on, not that of the file: {now}"]


def fresh_books(site: SiteConfig, now_s: float, write: Callable[[str], None] | None) -> Books:
    """Books of a site that know nothing yet; what its file asks for and cannot be is an error."""
    parts = site.parts
    of_tables = {name: getattr(site, name) for name in KEPT_IF_GIVEN}
    machine = Machine(classes=parts.classes(), **of_tables) if parts is not None else Machine(
        classes=[_class(site, kind) for kind in site.kinds], node_names=site.nodes, **of_tables)
    cap = f"{site.cap}W"  # without the unit, one of a few nodes might be a fraction or per cent
    if site.scenario:
        return open_books(site.scenario, machine=machine, cap=cap, start_s=now_s,
                          journal=write)
    return open_books(machine=machine, order=site.policy.order, backfill=site.policy.backfill,
                      power=site.policy.power, configure=site.policy.configure,
                      placement=site.policy.placement, cap=cap, start_s=now_s, journal=write)


def _class(site: SiteConfig, kind: NodeKind) -> NodeClass:
    idle_w = site.node_idle_w if kind.idle_w is None else kind.idle_w
    active_w = site.node_active_w if kind.active_w is None else kind.active_w
    return NodeClass(
        name=kind.name, count=len(parse_hosts(kind.nodes)), idle_w=idle_w, active_w=active_w,
        off_w=site.node_off_w, boot_s=site.node_boot, boot_w=active_w,
        shutdown_s=site.node_shutdown, shutdown_w=idle_w)


def _said(site: SiteConfig) -> str:
    said = site.model_dump(mode="json")
    kept = {name: said[name] for name in KEPT}
    kept |= {name: said[name] for name in KEPT_IF_GIVEN if said[name] is not None}
    if site.parts is not None:  # the file may have changed
        kept["parts"] = [kind.said() for kind in site.parts.classes()]
    return json.dumps(kept)


def synced(file: IO[str], line: str) -> None:
    """Write a line that is on disk when it returns: the journal comes before the act."""
    try:
        file.write(line)
        file.flush()
        os.fsync(file.fileno())
    except OSError as error:
        raise WattlineError(f"the journal cannot be written ({error.strerror}): nothing more is "
                            "started; jobs that run go on") from None
