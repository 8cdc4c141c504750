"""Who starts jobs: the controller (`decide`), or Slurm under watts as licences (`guard`).

The mode can be changed while a controller runs. Its books go on, with the cap, reservations and
budgets that they have: they only wait for jobs no more that Slurm is to start, or for such again.
The mode is in the controller's folder before it holds, so that whatever ends the controller, the
next one goes on in it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from wattline.controller.configuration import SiteConfig
from wattline.controller.lease import by_turns, ours_and_held
from wattline.controller.licences import LicenceNet
from wattline.controller.status import SHOWN
from wattline.controller.watching import Watcher
from wattline.live.slurm.commands import Commands
from wattline.live.slurm.reading import WAITING, SlurmJob
from wattline.model.errors import InputError
from wattline.model.files import replacing

DECIDE, GUARD = "decide", "guard"
MODES = (DECIDE, GUARD)
FILE = "mode.json"


@dataclass(frozen=True)
class Mode:
    """Who starts jobs, and since when."""

    name: str
    since_s: float
    ordered: bool = False
    """Whether an operator said so, against the site's file."""
    taking_back: bool = False
    """Whether there may be jobs of ours that were left to Slurm and have to be held again."""


@dataclass
class ModeKeeper:
    """The mode that holds, and what follows where another is ordered."""

    site: SiteConfig
    now: Mode
    watcher: Watcher
    folder: Path | None = None
    """Where it is remembered; None: nowhere, as of a dry run."""
    remarks: list[str] = field(default_factory=list)
    """What must be known of the mode of a start."""
    given: str = ""
    """What the command was started with (`--mode`)."""
    turns: Mapping[str, int] = field(default_factory=dict)
    """By label, of the jobs that waited when Slurm was to start them: the books' order of then."""
    starting: Callable[[str], bool] = lambda label: False
    """Whether others than the books have just told a job to start."""

    def __post_init__(self) -> None:
        self._tell()

    @property
    def decides(self) -> bool:
        return self.now.name == DECIDE

    def check(self, name: object, commands: Commands) -> str:
        """The mode that is asked for, where it is one and the site can have it."""
        if name not in MODES:
            raise InputError(f"there is no mode {name!r}; there are: {', '.join(MODES)}")
        if name == GUARD and not self.site.licences:
            raise InputError("in guard mode Slurm starts jobs by licences called watts, which do "
                             "not follow the cap here: write licences = true into the site's file "
                             "and start the controller again")
        if name == GUARD and self.watcher.off:
            raise InputError(f"nodes are switched off by the policy ({len(self.watcher.off)}), and "
                             "Slurm would start jobs on them of which the books hear nothing: "
                             "order it when they are on, or start the controller again with --mode "
                             "guard, which switches them on")
        if name == GUARD:
            LicenceNet(commands).count()  # says what is missing where Slurm has none
        return str(name)

    def change(self, name: str, now_s: float) -> None:
        """From the next cycle on it holds; it is on disk before."""
        changes = name != self.now.name
        made = replace(self.now, ordered=name != self.site.mode)
        if changes:
            made = Mode(name, now_s, made.ordered, taking_back=name == DECIDE)
        self._keep(made)

    def took_back(self) -> None:
        """No job of ours waits at Slurm any more."""
        with suppress(InputError):  # a full disk: the next start looks once more
            self._keep(replace(self.now, taking_back=False))

    def standing(self) -> dict[str, Any]:
        """The mode, as `status.json` and answers have it."""
        return {"mode": self.now.name, "mode_since_s": self.now.since_s,
                "mode_ordered": self.now.ordered, "mode_by": self._by()}

    def _by(self) -> str:
        """Who says that this mode holds: an `order`, the `command` (--mode), or the site's `file`.
        """
        if self.now.ordered:
            return "order"
        return "file" if self.now.name == self.site.mode else "command"

    def status(self) -> dict[str, Any]:
        """That, and who waits where the books do not know it."""
        return self.standing() | ({} if self.watcher.decides else self._waiting())

    def _waiting(self) -> dict[str, Any]:
        managed = self.watcher.partitions
        found = [job for job in self.watcher.seen
                 if job.state in WAITING and job.is_in(managed)
                 and (not job.held or ours_and_held(self.site, job)
                      or job.label in self.watcher.obstacles)]
        waiting = self._listed([job for job in found if not self.starting(job.label)])
        if not self.site.twin:
            return {"waiting": waiting}
        return {"waiting": waiting,
                "starting": self._listed([job for job in found if self.starting(job.label)])}

    def _listed(self, jobs: Sequence[SlurmJob]) -> dict[str, Any]:
        keeps = self.watcher.obstacles
        return {"count": len(jobs), "jobs": [
            {"job": job.label, "nodes": job.nodes, "submit_s": job.submit_s,
             "why": keeps[job.label].reason if job.label in keeps else job.reason}
            for job in jobs[:SHOWN]]}

    def held(self) -> list[SlurmJob]:
        """Jobs that wait for us, and that nobody is starting, as they are to follow each other."""
        return by_turns((job for job in self.watcher.seen
                         if ours_and_held(self.site, job) and not self._starts(job)
                         and job.label not in self.watcher.freed), self.turns)

    def released(self) -> list[SlurmJob]:
        """Jobs of ours that wait, and that Slurm may start at any moment."""
        return [job for job in self.watcher.seen
                if job.state in WAITING and not job.held and self.watcher.ours(job)
                and not self._starts(job)]

    def others(self) -> list[SlurmJob]:
        """Jobs that wait in our partitions and are Slurm's, whatever the mode."""
        managed = self.watcher.partitions
        return [job for job in self.watcher.seen
                if job.state in WAITING and not job.held and not self.watcher.ours(job)
                and job.is_in(managed)]

    def _starts(self, job: SlurmJob) -> bool:
        """Whether it was told to start a moment ago: it is seen to, or taken back."""
        told = self.watcher.told.get(self.watcher.name(job))
        return (told is not None and told.running) or self.starting(job.label)

    def _keep(self, made: Mode) -> None:
        if self.folder is not None:
            with replacing(self.folder / FILE, lasting=True) as draft:
                draft.write_text(json.dumps(asdict(made), indent=1) + "\n", encoding="utf-8")
        self.now = made
        self._tell()

    def _tell(self) -> None:
        # On shared nodes the twin's rules decide, and the books only count.
        self.watcher.decides = self.decides and not self.site.twin
        self.watcher.only_held = self.now.taking_back


def open_modes(
    site: SiteConfig, watcher: Watcher, now_s: float, *, act: bool, given: str = ""
) -> ModeKeeper:
    """The mode of a start: as the command says, else as was ordered last, else as the site's file.

    Where it is another than before the start, that is a change like any other.
    """
    folder = Path(site.folder)
    before = read_mode(folder)
    made, remarks = _at_start(site, before, now_s, given)
    keeper = ModeKeeper(site, made, watcher, folder if act else None, remarks, given)
    if act and made != before:
        keeper._keep(made)
    return keeper


def mode_at_start(site: SiteConfig, given: str = "") -> str:
    """In which mode a controller would start."""
    return _at_start(site, read_mode(Path(site.folder)), 0.0, given)[0].name


def read_mode(folder: Path) -> Mode | None:
    """What the last controller of a folder has left; None where there was none."""
    try:
        found = Mode(**json.loads((folder / FILE).read_text(encoding="utf-8")))
        return found if found.name in MODES else None
    except (OSError, ValueError, TypeError):
        return None


def _at_start(
    site: SiteConfig, before: Mode | None, now_s: float, given: str
) -> tuple[Mode, list[str]]:
    remarks = []
    ordered = before.name if before is not None and before.ordered else ""
    if ordered and given and given != ordered:
        remarks.append(f"--mode {given} holds; that {ordered} mode was ordered is forgotten")
    elif ordered and not given and ordered != site.mode:
        remarks.append(f"{ordered} mode was ordered and holds, though the site's file says "
                       f"{site.mode}")
    name = given or ordered or site.mode
    if name == GUARD and not site.licences:
        remarks.append("in guard mode Slurm starts jobs by licences called watts, which do not "
                       "follow the cap here (licences = false): jobs that are held for the "
                       "controller stay held, and only caps of nodes keep the cap")
    if before is not None and before.name == name:
        return replace(before, ordered=before.ordered and name != site.mode), remarks
    return Mode(name, now_s, taking_back=before is not None and name == DECIDE), remarks
