"""The controller's sign of life, and what is done when it stays away.

The lease is a file with a time of the clock that nobody can set, which all processes of one machine
share. A watchdog of its own reads it: when it is too old, waiting jobs are handed to Slurm with
their watts as licences, so that none stays held for ever. The file also has the cap of the moment:
what an operator or an event of the grid lowered stays low when the controller dies.
"""

from __future__ import annotations

import json
import math
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from wattline.controller.asking import most_nodes
from wattline.controller.configuration import SiteConfig
from wattline.controller.freed import Freed
from wattline.controller.lent_licences import restore_lent
from wattline.controller.licences import LicenceNet, allowed_w
from wattline.controller.node_power import NodePower
from wattline.controller.sharing.licences import allowed_above_w
from wattline.controller.writings import kept_written
from wattline.live.slurm.client import Slurm
from wattline.live.slurm.commands import SlurmError
from wattline.live.slurm.holding import devices_of
from wattline.live.slurm.reading import WATTS, SlurmJob

LEASE = "lease"
LONGEST_START_S = 900.0
"""A start that hangs for longer is no sign of life."""


def renew(folder: Path, mode: str, cap_w: float = math.inf, *, starts: bool = False) -> None:
    """Say that the controller lives; a reader finds the old file or the new one.

    `starts`: it does not decide yet.
    """
    made = folder / f".{LEASE}"
    made.write_text(json.dumps({"monotonic_s": time.monotonic(), "boot": _boot(),
                                "time_s": time.time(), "pid": os.getpid(), "mode": mode,
                                "starts": starts,
                                "cap_w": cap_w if math.isfinite(cap_w) else None}),
                    encoding="utf-8")
    made.replace(folder / LEASE)


@contextmanager
def renewing(folder: Path, mode: str, lease_s: float) -> Iterator[None]:
    """Renew the lease while a controller starts: it may have to compile its policies for longer
    than a lease, and nobody is to take its jobs away meanwhile."""
    cap_w, over = last_cap_w(folder), threading.Event()

    def renew_now_and_then() -> None:
        until_s = time.monotonic() + LONGEST_START_S
        with suppress(OSError):  # on a full disk: the first cycle says it
            while not over.is_set() and time.monotonic() < until_s:
                renew(folder, mode, cap_w, starts=True)
                over.wait(lease_s / 4)

    thread = threading.Thread(target=renew_now_and_then, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def age_s(folder: Path) -> float:
    """How long ago a controller last lived; infinite where none did since the machine booted."""
    try:
        said = json.loads((folder / LEASE).read_text(encoding="utf-8"))
        if said["boot"] != _boot():
            return math.inf
        return max(time.monotonic() - float(said["monotonic_s"]), 0.0)
    except (OSError, ValueError, KeyError, TypeError):
        return math.inf


def holder(folder: Path) -> int | None:
    """The process of the controller that renewed the lease last; None of one that still starts."""
    try:
        said = json.loads((folder / LEASE).read_text(encoding="utf-8"))
        return None if said.get("starts") else int(said["pid"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def last_cap_w(folder: Path) -> float:
    """The cap that the controller last kept, also before a boot; infinite where none is known."""
    try:
        cap_w = json.loads((folder / LEASE).read_text(encoding="utf-8"))["cap_w"]
        return math.inf if cap_w is None else float(cap_w)
    except (OSError, ValueError, KeyError, TypeError):
        return math.inf


def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def hand_over(
    site: SiteConfig, slurm: Slurm, cap_w: float, turns: Mapping[str, int] | None = None
) -> list[str]:
    """Let Slurm start what waits for us, under licences that keep the cap; which jobs.

    `turns` are of jobs by label, where somebody knows the policy's order. So many licences are
    right for the jobs of this moment: whoever calls it goes on to follow them.
    """
    seen = restore_lent(slurm, slurm.look().jobs, kept_written(Path(site.folder)))
    others = [job for job in seen if not job.held]
    # The net first: once a job is released Slurm may start it at any moment.
    licensed = [with_licences(site, job) for job in _for_us(site, seen)]
    LicenceNet(slurm.commands).allow(_allowed_w(site, others, licensed, cap_w))
    return pass_on_all(site, slurm, seen, turns)


def pass_on_all(
    site: SiteConfig, slurm: Slurm, seen: Sequence[SlurmJob], turns: Mapping[str, int] | None = None
) -> list[str]:
    """Let Slurm start those of these jobs that wait for us; which they are, as they follow."""
    waiting = by_turns(_for_us(site, seen), turns or {})
    written, freed = kept_written(Path(site.folder)), Freed.of(Path(site.folder))
    freed.only({job.label for job in seen})
    try:
        for job in waiting:
            pass_on(site, slurm, job,
                    anywhere=job.label in written and written[job.label].names(job))
            freed.add(job.label)
    finally:
        freed.flush()
    return [job.label for job in waiting]


def _for_us(site: SiteConfig, seen: Sequence[SlurmJob]) -> list[SlurmJob]:
    """Jobs that wait for us, and that nobody holds beside."""
    freed = Freed.of(Path(site.folder))
    return [job for job in seen if ours_and_held(site, job) and job.label not in freed]


def by_turns(jobs: Iterable[SlurmJob], turns: Mapping[str, int]) -> list[SlurmJob]:
    """Jobs in the order in which they are to be released: in that order Slurm gives priorities.

    First those that have a turn, by label, then by submission; squeue prints held jobs in another.
    """
    return sorted(jobs, key=lambda job: (turns.get(job.label, math.inf), *job.came))


def pass_on(site: SiteConfig, slurm: Slurm, job: SlurmJob, *, anywhere: bool) -> int:
    """Let Slurm start a job under licences; how many watts they are.

    `anywhere`: the nodes that it names are those of a start of ours, and not of its user.
    """
    watts = with_licences(site, job).licenses[WATTS]
    if WATTS not in job.licenses:
        slurm.license(job, watts)
    slurm.release(job.label, anywhere=anywhere)
    return watts


def _allowed_w(site: SiteConfig, others: Sequence[SlurmJob], waiting: Sequence[SlurmJob],
               cap_w: float) -> float:
    if site.parts is None:
        return allowed_w([*others, *waiting], NodePower.of(site), cap_w)
    return allowed_above_w(site.parts, others, cap_w, site.parts.drawn_w(others))


def with_licences(site: SiteConfig, job: SlurmJob) -> SlurmJob:
    """The job with as many licences called watts as its nodes usually draw, if it has none: all
    that Slurm may give it, of the class that draws most."""
    if site.parts is None:
        power = NodePower.of(site)
        watts = most_nodes(job, len(power.idle_w)) * power.most_active_w
    else:
        watts = site.parts.asked_w(job.cpus, devices_of(job.tres))
    usual = {WATTS: math.ceil(watts - 1e-9)}
    return replace(job, licenses=usual | dict(job.licenses))


def ours_and_held(site: SiteConfig, job: SlurmJob) -> bool:
    return (job.held and not job.held_by_operator and (not site.mark or job.marked(site.mark))
            and job.is_in(site.partitions))


def watchdog(
    site: SiteConfig, slurm: Slurm, say: Callable[[str], None], *,
    stop: Callable[[], bool] = lambda: False,
) -> None:
    """Look at the lease until told to stop; while it is too old, hand jobs over."""
    folder = Path(site.folder)
    gone = False
    while not stop():
        late = age_s(folder) > site.lease
        if late != gone:
            gone = late
            say(f"the controller was silent for {site.lease:g} s: waiting jobs go to Slurm, with "
                f"watts as licences under {_cap_w(site):g} W" if gone
                else "the controller is back")
        if gone:
            try:
                for label in hand_over(site, slurm, _cap_w(site)):
                    say(f"job {label} was released")
            except SlurmError as error:
                say(str(error))
        time.sleep(min(site.lease / 4, 5.0))


def _cap_w(site: SiteConfig) -> float:
    return min(last_cap_w(Path(site.folder)), site.cap)
