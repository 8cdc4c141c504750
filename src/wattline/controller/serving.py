"""A controller that goes on until it is told to stop: one per folder, whatever ends it."""

from __future__ import annotations

import gc
import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Any

from wattline.books import Books, Event
from wattline.controller.alone import alone_at
from wattline.controller.asking import watts_of_licences
from wattline.controller.bare_jobs import BareJobs
from wattline.controller.cap_file import CapFile
from wattline.controller.classes import Classes
from wattline.controller.configuration import SiteConfig
from wattline.controller.controller import Controller, Cycle
from wattline.controller.desk import open_desk
from wattline.controller.drawn_energy import DrawnEnergy
from wattline.controller.first_in_queue import FirstInQueue
from wattline.controller.fleet_news import FleetNews
from wattline.controller.freed import Freed
from wattline.controller.frequencies_asked import FrequenciesAsked
from wattline.controller.handing_back import keep_off, kept_off
from wattline.controller.job_caps import keep_caps, kept_caps
from wattline.controller.joules.keeping import LedgerKeeper
from wattline.controller.joules.memory import recalled
from wattline.controller.keeping_cap import CapKeeper
from wattline.controller.keeping_licences import keep_licences
from wattline.controller.lease import renew, renewing
from wattline.controller.lent_licences import LentLicences
from wattline.controller.licence_entries import LicenceEntries
from wattline.controller.licences import LicenceNet
from wattline.controller.metering import Meters
from wattline.controller.modes import ModeKeeper, mode_at_start, open_modes
from wattline.controller.named_cluster import misnamed, refuse_misnamed
from wattline.controller.node_power import NodePower
from wattline.controller.passing import take_back, turns_of
from wattline.controller.priorities import SharePriorities, shares_of
from wattline.controller.recalling import ran_before, recall
from wattline.controller.remembering import Remembered, open_remembered
from wattline.controller.resting import RestingNodes, all_nodes_cap_w, cap_now_w
from wattline.controller.safe_caps import SafeCaps
from wattline.controller.sharing.parts import read_section
from wattline.controller.sharing.starting import SharedStarter
from wattline.controller.sharing.watching import SharedWatcher
from wattline.controller.showing import MachineWriter
from wattline.controller.silent_nodes import SilentNodes
from wattline.controller.stopping import leave, leaving_to_slurm, switch_on
from wattline.controller.suspended_jobs import SuspendedJobs
from wattline.controller.target import FileSource, Target, TopicSource
from wattline.controller.unknown_names import UnknownNames
from wattline.controller.upkeep import Task, Upkeep, settled
from wattline.controller.waking import Waker
from wattline.controller.watching import Watcher
from wattline.controller.writings import keep_written, kept_written
from wattline.live.fleet import Fleet
from wattline.live.folder_lock import alone_in
from wattline.live.mqtt_fleet import MqttFleet
from wattline.live.slurm.client import Slurm
from wattline.live.slurm.commands import PATIENCE_S, Commands, SlurmError
from wattline.live.slurm.meanwhile import Meanwhile
from wattline.live.transport.link import read_key
from wattline.model.errors import WattlineError
from wattline.policies.configuration.claimed import Claimed
from wattline.policies.configuration.moldable import Moldable

BACK = 120
"""Readings that a node is asked for which nobody has heard before: jobs may have begun by then."""
ATTEND_S = 0.75
"""So long after it was last looked at, the cap is looked at again, whatever Slurm does: later than
the next of usual cycles, which do so too."""


@contextmanager
def serving(
    site: SiteConfig, *, act: bool, clock: Callable[[], float] = time.time, mode: str = "",
    slurm: Slurm | None = None, fleet: Fleet | None = None,
) -> Iterator[Controller]:
    """A controller with its books and journal open; what was known before a stop is known again.

    `mode` holds whatever the site's file says, and whatever was ordered before; `slurm` and `fleet`
    take the place of those that the file names. Differences between
    those books and what Slurm shows are found by the first look, as at any other time. At the end
    caps are restored, as far as the cap has room for that, and the books saved; after a failure
    nothing is saved, the journal has what the next start needs, and what waits is left to Slurm.
    """
    folder = Path(site.folder)
    refused = f"another controller holds {folder}: two would start the same jobs"
    with alone_in(folder, refused), alone_at(site.environment) if act else nullcontext():
        at_start = site.model_copy(update={"mode": mode_at_start(site, mode)})
        with ExitStack() as opened:
            with renewing(folder, at_start.mode, site.lease) if act else nullcontext():
                slurm = slurm or _slurm(site)
                refuse_misnamed(site, slurm)
                kept = opened.enter_context(closing(
                    open_remembered(at_start, folder, clock(), act=act)))
                controller, keeper, ledger, modes = _assembled(
                    site, kept, slurm, fleet or fleet_of(site, act=act), act=act, clock=clock,
                    mode=mode)
            with nullcontext() if keeper is None else closing(keeper):
                with (leaving_to_slurm(site, controller, modes), settled(),
                      _attending(controller, keeper, clock)):
                    yield controller
                if keeper is not None:
                    keeper.leave(clock())
                    keeper.meters.hear(clock())
            if ledger is not None:
                ledger.close()
            if act:
                switch_on(folder, controller)
                with suppress(SlurmError):  # the watchdog does it later
                    leave(site, controller, modes)
            kept.end(controller.books)


@contextmanager
def _attending(
    controller: Controller, keeper: CapKeeper | None, clock: Callable[[], float]
) -> Iterator[None]:
    """Keep the cap, by caps of nodes, while the controller waits for Slurm."""
    if keeper is None:
        yield
        return

    def attend() -> None:
        controller.attend()
        keeper.keep(clock(), caps_alone=True)

    with controller.slurm.commands.meanwhile.doing(attend, ATTEND_S):
        yield


def _slurm(site: SiteConfig) -> Slurm:
    # A command that hangs must not cost the lease.
    return Slurm(Commands(site.environment, min(PATIENCE_S, max(site.lease / 4, 2.0))))


def _assembled(
    site: SiteConfig, kept: Remembered, slurm: Slurm, fleet: Fleet | None, *, act: bool,
    clock: Callable[[], float], mode: str,
) -> tuple[Controller, CapKeeper | None, LedgerKeeper | None, ModeKeeper]:
    books, folder = kept.books, Path(site.folder)
    # Compile the policy before the first job comes; what a copy is asked is written nowhere.
    books.copy().step(max(clock(), books.now_s))
    watcher = _watcher(site, books, slurm)
    watcher.unfit.excluded = slurm.excluded
    recall(watcher, books, clock())
    watcher.off = kept_off(folder) & set(site.node_names) if act else set()
    controller = Controller(books, slurm, watcher, act=act, clock=clock)
    modes = open_modes(site, watcher, clock(), act=act, given=mode)
    modes.turns = turns_of(books)
    controller.notes += [*kept.remarks, *modes.remarks]
    if act:
        _recall_writings(site, controller, folder)
    ledger = _ledger(site, controller) if act and fleet is not None else None
    keeper = None if fleet is None else _keeper(site, controller, fleet)
    target = None if keeper is None else _target(site, controller, keeper)
    waker = Waker(controller, site.node_idle_w)
    resting = RestingNodes(watcher, lambda: controller.books, site.node_idle_w, controller.notes)
    sources: list[Callable[[float], list[Event]]] = [
        UnknownNames(watcher, controller.notes, partial(misnamed, site, slurm)).events,
        waker.events, resting.events, FrequenciesAsked(controller).events]
    suspended = SuspendedJobs(controller, site.node_idle_w,
                              math.nan if keeper is None else site.least_w)
    listeners: list[Callable[[Cycle], None]] = [waker]
    if keeper is None:
        listeners.append(lambda cycle: suspended.keep_cap() if cycle.looked else None)
    else:
        listeners.append(lambda cycle: _keep(keeper, controller, clock()))
        silent = SilentNodes(keeper.meters, controller.notes, clock())
        listeners.append(lambda cycle: silent.look(clock()))
    if ledger is not None and keeper is not None:
        keeper.meters.also = ledger.hear
        listeners.append(lambda cycle: _enter(ledger, controller.watcher, fleet, cycle))
    if isinstance(fleet, MqttFleet):
        listeners += [FleetNews(fleet.remarks, controller.notes),
                      _safe_caps(site, controller, fleet)]
    if target is not None:
        listeners.append(lambda cycle: target.sample(clock()))
    listeners += [FirstInQueue(controller), *_starting(site, controller, modes)]
    shares = shares_of(site)
    if shares is not None and act:
        priorities = SharePriorities(controller, shares)
        listeners.append(lambda cycle: None if modes.decides else priorities(cycle))
    if act:  # a dry run is no controller: nobody may count on it
        listeners.append(lambda cycle: renew(folder, modes.now.name,
                                             all_nodes_cap_w(controller.books)))
    machine = MachineWriter(controller, folder, shares=shares)
    if keeper is not None:
        machine.nodes_w = keeper.meters.nodes_w
    upkeep = _upkeep(site, controller, kept)
    listeners += [machine, lambda cycle: upkeep(cycle.time_s, busy=machine.wrote)]
    controller.urgent = _urgent(site, controller, keeper)
    controller.sources = [*sources, *_drawn(controller, keeper), *controller.urgent,
                          suspended.events]
    controller.listeners = listeners
    open_desk(controller, site, remembers=act, clock=clock, modes=modes,
              more=lambda: {**_standing(site, keeper, target, clock()), "journal": str(kept.path),
                            **({"nodes": watcher.counts()} if isinstance(watcher, SharedWatcher)
                               else {})})
    return controller, keeper, ledger, modes


def _recall_writings(site: SiteConfig, controller: Controller, folder: Path) -> None:
    """Recall what was done to jobs and nodes before, and set where the next of it is kept."""
    hands, watcher = controller.hands, controller.watcher
    hands.keep_off = partial(keep_off, folder)
    watcher.written, watcher.freed = kept_written(folder), Freed.of(folder)
    hands.keep_written = partial(keep_written, folder)
    hands.licences = site.licences
    hands.caps.recall(kept_caps(folder, site.node_names))
    hands.caps.keep = partial(keep_caps, folder)


def _urgent(site: SiteConfig, controller: Controller, keeper: CapKeeper | None
            ) -> list[Callable[[float], Sequence[Event]]]:
    found: list[Callable[[float], Sequence[Event]]] = []
    if site.cap_file:
        found.append(CapFile(Path(site.cap_file), site.cap, controller).events)
    return found if keeper is None else [*found, keeper.meters.events]


def _drawn(controller: Controller, keeper: CapKeeper | None
           ) -> list[Callable[[float], list[Event]]]:
    """Make the source of what jobs have drawn by the meters: told before what they draw now."""
    if keeper is None:
        return []
    meters, drawn = keeper.meters, DrawnEnergy(controller.watcher, controller.booked_j)
    controller.ended = drawn.ended
    return [lambda now_s: drawn.look(now_s, meters.nodes_w(now_s))]


def _safe_caps(site: SiteConfig, controller: Controller, fleet: MqttFleet) -> SafeCaps:
    return SafeCaps(fleet.safe_w, site.node_names, NodePower.of(site).active_w.__getitem__,
                    lambda: all_nodes_cap_w(controller.books), controller.notes)


def _upkeep(site: SiteConfig, controller: Controller, kept: Remembered) -> Upkeep:
    """As often as the books are saved; in a dry run there is nothing to save."""
    now_s = controller.now_s()

    def forget() -> None:  # the books may be others by then
        controller.books.compact()

    def save() -> None:
        kept.save_as_they_are(controller.books, controller.now_s())

    doing: list[Callable[[], object]] = [gc.collect, forget]
    doing += [] if kept.dry else [save]
    return Upkeep([Task(do, site.save, now_s) for do in doing],
                  lambda: None if kept.dry else controller.books.roll.write_out_new())


def _starting(
    site: SiteConfig, controller: Controller, modes: ModeKeeper
) -> list[Callable[[Cycle], None]]:
    """What lets jobs start beside the books' decisions, in the mode that holds."""
    found: list[Callable[[Cycle], None]] = []
    if site.licences and controller.act:
        net = LicenceNet(controller.slurm.commands, controller.notes)
        bare = BareJobs(controller.notes, site.partitions)
        lent = LentLicences(controller)
        found.append(lambda cycle: keep_licences(net, bare, controller, modes, lent, cycle))
        found.append(LicenceEntries(controller, net))
    if controller.act:
        found.append(lambda cycle: take_back(controller, modes)
                     if modes.now.taking_back and cycle.looked else None)
    if site.parts is not None:
        starter = SharedStarter(controller, site, read_section(site.twin),
                                lambda: cap_now_w(controller.books))
        starter.prepare()  # in guard mode too, which may be changed: no cycle has time for it
        modes.starting = controller.watcher.starting
        controller.why = lambda label: starter.why(label) if modes.decides else ""
        found.append(lambda cycle: starter(cycle) if modes.decides else None)
    return found


def _watcher(site: SiteConfig, books: Books, slurm: Slurm) -> Watcher:
    if site.parts is not None:
        return SharedWatcher(site.parts, site.partitions, holdings=slurm.holdings,
                             node_w=site.node_active_w, mark=site.mark, decides=False)
    power = NodePower.of(site)
    return Watcher(site.node_names, site.partitions, watts=watts_of_licences(power),
                   node_w=site.node_active_w, mark=site.mark, power=power,
                   molds=isinstance(books.policy.configuration, Moldable),
                   classes=(Classes.of(books.machine)
                            if isinstance(books.policy.configuration, Claimed) else None))


def _ledger(site: SiteConfig, controller: Controller) -> LedgerKeeper | None:
    if not site.ledger:
        return None
    keeper = LedgerKeeper(site.ledger, site.cluster, controller.slurm.commands, Path(site.folder),
                          site.store_every, controller.notes,
                          {"idle_w": NodePower.idle_rules(site)} if site.parts is None
                          else site.parts.ledger_rules())
    keeper.gathering.recall(ran_before(controller.watcher))
    return keeper


def _enter(ledger: LedgerKeeper, watcher: Watcher, fleet: Fleet | None, cycle: Cycle) -> None:
    if cycle.looked:
        ledger.look(watcher.seen, watcher.looked_s, watcher.dead)
    ledger.keep(fleet)


def _standing(site: SiteConfig, keeper: CapKeeper | None, target: Target | None, now_s: float
              ) -> dict[str, Any]:
    """What only an assembled controller knows, for its `status.json`."""
    measured_w = math.nan if keeper is None else keeper.meters.machine_w(now_s)
    return {"lease": site.lease,
            "measured_w": None if math.isnan(measured_w) else measured_w,
            "not_measured": [] if keeper is None else keeper.meters.left_out(now_s),
            "target": None if target is None else target.status(now_s)}


def fleet_of(site: SiteConfig, *, act: bool) -> MqttFleet | None:
    """The nodes that report and obey; None where a site has none, and only starts are decided."""
    if site.broker is None:
        return None
    # A broker ends the older of two connections of one name: a dry run has its own.
    name = "controller" if act else f"dry-{os.getpid()}"
    seen = recalled(Path(site.folder)).seen if act and site.ledger else {}
    return MqttFleet(site.broker, site.cluster, site.node_names, read_key(site.order_key),
                     name=name, seen=seen, back=BACK if act and site.ledger else 0)


def _keeper(site: SiteConfig, controller: Controller, fleet: Fleet) -> CapKeeper:
    """Meters and the keeper of the cap; each knows the nodes that the other has to leave alone."""
    meters = Meters(fleet, controller.watcher, lambda: controller.books.power_w,
                    lambda: float(controller.books.state.clock[0].rest_w),
                    node_idle_w=site.node_idle_w, node_least_w=site.least_w)
    keeper = CapKeeper(
        fleet, controller.slurm, controller.watcher, meters,
        lambda: all_nodes_cap_w(controller.books), controller.hands.caps.nodes_w, site.node_idle_w,
        site.least_w, site.when_short, controller.act, site.lease, remarks=controller.notes,
        ending_caps_w=controller.hands.caps.ending_w)
    meters.throttled = lambda: keeper.throttled
    return keeper


def _keep(keeper: CapKeeper, controller: Controller, now_s: float) -> None:
    rest = keeper.meters.rest(now_s)
    if rest:
        controller.tell(rest)
    keeper.keep(now_s)
    controller.slurm.commands.meanwhile.done()


def _target(site: SiteConfig, controller: Controller, keeper: CapKeeper) -> Target | None:
    """The power that the keeper of the cap follows, where the site has one."""
    if site.target_topic and site.broker is not None:
        name = f"{site.cluster}-target{'' if controller.act else os.getpid()}"
        source: FileSource | TopicSource = TopicSource(site.broker, site.target_topic, name)
    elif site.target_file:
        source = FileSource(Path(site.target_file))
    else:
        return None
    target = Target(source, site.cap, site.target_age, controller.notes,
                    lambda now_s: _measured(keeper.meters, now_s), site.target_reserve)
    keeper.target_w, keeper.close_too = target.watts, source.close
    return target


def _measured(meters: Meters, now_s: float) -> tuple[float, float]:
    """What the machine draws, and of when the readings are on average."""
    times_s = [meters.latest[name].time_s for name in meters.nodes_w(now_s)]
    return meters.machine_w(now_s), sum(times_s) / len(times_s) if times_s else math.nan


def run(
    controller: Controller, cycle_s: float, say: Callable[[Cycle], None], *,
    cycles: int | None = None, stop: Callable[[], bool] = lambda: False,
) -> int:
    """Cycle until told to stop, or so many times; how many times it was."""
    done = 0
    while not stop() and (cycles is None or done < cycles):
        start_s = time.monotonic()
        with _folder_needed():
            cycle = controller.cycle()
        say(cycle)
        done += 1
        if cycles is None or done < cycles:
            with _folder_needed():
                _rest_until(start_s + cycle_s, controller.slurm.commands.meanwhile)
    return done


@contextmanager
def _folder_needed() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise WattlineError(f"the controller's folder cannot be written ({error.strerror}): "
                            "nothing more is started; jobs that run go on") from None


def _rest_until(end_s: float, meanwhile: Meanwhile) -> None:
    while (left_s := end_s - time.monotonic()) > 0.0:
        time.sleep(min(left_s, meanwhile.wait_s()))
        meanwhile.look()
