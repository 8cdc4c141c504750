"""Licences called watts, which follow the cap cycle by cycle in either mode."""

from __future__ import annotations

from collections.abc import Sequence

from wattline.controller.bare_jobs import BareJobs, on_free_cpus, on_free_nodes, parts_w
from wattline.controller.controller import Controller, Cycle
from wattline.controller.elsewhere import part_here
from wattline.controller.lent_licences import LentLicences
from wattline.controller.licences import LicenceNet, allowed_w
from wattline.controller.modes import ModeKeeper
from wattline.controller.node_power import NodePower
from wattline.controller.passing import pass_on_held
from wattline.controller.resting import BOOTING, all_nodes_cap_w, cap_now_w, reserved_w
from wattline.controller.sharing.licences import allowed_above_w
from wattline.controller.sharing.watching import SharedWatcher
from wattline.controller.suspended_jobs import free_licences
from wattline.live.slurm.commands import SlurmError
from wattline.live.slurm.reading import SlurmJob


def keep_licences(net: LicenceNet, bare: BareJobs, controller: Controller, modes: ModeKeeper,
              lent: LentLicences, cycle: Cycle) -> None:
    """Licences follow the cap; in guard mode jobs that wait for us go to Slurm under them."""
    if not isinstance(controller.watcher, SharedWatcher) and cycle.looked:
        if modes.decides and not modes.now.taking_back:
            lent.fit(cap_now_w(controller.books))
        else:
            lent.restore()
    if _allow(net, bare, modes, controller) and cycle.looked and not modes.decides:
        pass_on_held(controller, modes)


def _allow(net: LicenceNet, bare: BareJobs, modes: ModeKeeper, controller: Controller) -> bool:
    watts = _allowed_w(bare, modes, controller)
    try:
        net.allow(watts)
        if modes.decides:
            net.say_too_few(watts)
    except SlurmError as error:
        if str(error) != net.failed:
            controller.notes.append(f"the licences do not follow the cap: {error}")
        net.failed = str(error)
        return False
    net.failed = ""
    return True


def _allowed_w(bare: BareJobs, modes: ModeKeeper, controller: Controller) -> float:
    """In guard mode Slurm must know that nodes without jobs draw too; the books know it. As long as
    jobs that were left to Slurm wait there, it would start them with what the books may use."""
    site, watcher, cap_w = modes.site, controller.watcher, cap_now_w(controller.books)
    decides = modes.decides and not modes.now.taking_back
    free = free_licences(watcher)
    if decides and not isinstance(watcher, SharedWatcher):
        return cap_w + sum(free.values())
    seen, now_s = [job for job in watcher.seen if job.label not in free], watcher.looked_s
    if isinstance(watcher, SharedWatcher):
        watts = allowed_above_w(watcher.parts, seen, cap_w, controller.books.power_w)
        watts += sum(free.values())
        if decides:
            return watts
        bare.say(seen, site.node_names, "what their CPUs and devices draw is taken from the others")
        return watts - parts_w(watcher.parts, bare.coming(
            seen, on_free_cpus(watcher.parts, seen, watcher.down), now_s))
    return _guarded_w(bare, controller, seen) + sum(free.values())


def _guarded_w(bare: BareJobs, controller: Controller, seen: Sequence[SlurmJob]) -> float:
    """On whole nodes: by what runs and may start now, and by what may when a job has ended."""
    watcher, books = controller.watcher, controller.books
    # Nodes that are off count as idle: Slurm may switch them on at any moment.
    cap_w = all_nodes_cap_w(books) - reserved_w(books, BOOTING)
    power, ours = watcher.power, set(watcher.names)
    jobs, now_s = [job for job in seen if not job.held], watcher.looked_s
    bare.say(jobs, ours, f"{_usual(power)} count on each node")
    coming = bare.coming(jobs, on_free_nodes(watcher.nodes_seen, jobs, ours), now_s)
    watts = allowed_w(jobs, power, cap_w,
                      coming=sum(max(job.nodes, job.most_nodes) for job in coming))
    free = ours.difference(watcher.down - watcher.sleeping.off, *(job.node_list for job in jobs))
    ending = None if coming else bare.at_an_end(
        [part_here(job, ours) for job in jobs], len(free), now_s)
    if ending is None:
        return watts
    then_w = allowed_w([job for job in jobs if job.label != ending[0].label], power, cap_w,
                       coming=ending[1])
    return min(watts, then_w)


def _usual(power: NodePower) -> str:
    """Say what nodes draw with a job that states no watts, by class where these differ."""
    return " or ".join(f"{watts:,.0f} W" for watts in sorted(set(power.active_w.values())))
