"""The operator's desk: what a running controller does about orders, and what it answers.

It is two callables of the controller's cycle. Before a decision it hands over the events that
orders ask for, which the journal then has; after it, it says what came of each.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wattline.books import Books, CapChanged, Event, ReservationRemoved, Reserved
from wattline.books.possible import no_cap, no_figure, no_power, no_reservation
from wattline.books.stuck import Stuck, first_stuck, set_aside
from wattline.books.waiting import queued_rows
from wattline.controller.answers import QUESTIONS
from wattline.controller.changing_policy import SET_POLICY, PolicyChanges
from wattline.controller.mode_orders import MODE_ORDERS, SET_MODE
from wattline.controller.modes import ModeKeeper, open_modes
from wattline.controller.orders import PATIENCE_S, Inbox, Order, OrderOutcome
from wattline.controller.resting import KEPT, resting_w
from wattline.controller.status import StatusWriter, ahead
from wattline.model.errors import InputError, WattlineError
from wattline.physics.powercap import DrawLimits
from wattline.policies.admission.adaptive import Adaptive
from wattline.policies.admission.budget import Budget
from wattline.policies.state import REFUSED

if TYPE_CHECKING:
    from wattline.controller.configuration import SiteConfig
    from wattline.controller.controller import Controller, Cycle


@dataclass
class Desk:
    """Takes orders for a controller."""

    controller: Controller
    site: SiteConfig
    inbox: Inbox
    modes: ModeKeeper
    remembers: bool = False
    """Whether a controller that is started again knows what was ordered of the last."""
    taken: list[tuple[Order, Event | None]] = field(default_factory=list)
    about_mode: dict[str, OrderOutcome] = field(default_factory=dict)
    """By the names of orders what came of those that are about the mode."""
    changed: list[tuple[Order, OrderOutcome]] = field(default_factory=list)
    """Orders that changed the policy, or could not, and are answered after the cycle."""
    policies: PolicyChanges = field(init=False)
    before_w: float = math.nan
    """The cap that was told before the orders of this cycle."""

    def __post_init__(self) -> None:
        self.policies = PolicyChanges(self.controller, self.site)

    def events(self, now_s: float) -> Sequence[Event]:
        """What the orders that have come ask the books to be told."""
        self.changed += self.policies.done(now_s)
        return self.urgent(now_s)

    def urgent(self, now_s: float) -> Sequence[Event]:
        """The same at any time: a policy is changed between two cycles alone."""
        found = []
        if not self.taken:
            self.before_w = _told_w(self.controller)
        for order in self.inbox.take():
            try:
                if order.kind == SET_POLICY:
                    self.policies.begin(order, now_s)
                    continue
                event = self._event(order, now_s)
            except InputError as error:
                self._say(order, OrderOutcome(False, str(error)))
                continue
            self.taken.append((order, event))
            found += [] if event is None else [event]
        return found

    def change_mode(self, cycle: Cycle) -> None:
        """After the decisions of a cycle, so that the next one is in the new mode as a whole."""
        for order, _ in self.taken:
            if order.kind in MODE_ORDERS:
                try:
                    found = MODE_ORDERS[order.kind](self.controller, self.modes, order.fields,
                                                    cycle.time_s)
                except WattlineError as error:
                    found = OrderOutcome(False, str(error))
                self.about_mode[order.name] = found

    def answer(self, cycle: Cycle) -> None:
        """After the cycle: say what came of what was taken."""
        taken, self.taken = self.taken, []
        changed, self.changed = self.changed, []
        for order, outcome in changed:
            self._note(order, outcome)
            self._say(order, outcome)
        refused = {id(each.event): each.reason for each in self.controller.refused}
        for order, event in taken:
            try:
                outcome = self._outcome(order, event, refused)
            except WattlineError as error:
                outcome = OrderOutcome(False, str(error))
            if event is not None or order.kind == SET_MODE:
                self._note(order, outcome)
            self._say(order, outcome)

    def _note(self, order: Order, outcome: OrderOutcome) -> None:
        """Say in the controller's own output what was ordered, and by whom."""
        if outcome.ok:
            self.controller.notes.append(f"{order.who} ordered: {outcome.said}")

    def _outcome(
        self, order: Order, event: Event | None, refused: Mapping[int, str]
    ) -> OrderOutcome:
        if order.kind in MODE_ORDERS:
            return self.about_mode.pop(order.name)
        if event is None:
            return QUESTIONS[order.kind](self.controller, self.site, order.fields)
        return self._done(event, refused.get(id(event), ""))

    def _say(self, order: Order, outcome: OrderOutcome) -> None:
        with suppress(InputError):  # a full disk: whoever waits is told that no answer came
            self.inbox.answer(order, outcome)

    def _event(self, order: Order, now_s: float) -> Event | None:
        if order.kind in QUESTIONS or order.kind in MODE_ORDERS:
            return None
        if order.kind not in ORDERS:
            raise InputError(f"there is no order '{order.kind}'; there are: "
                             f"{', '.join((*ORDERS, SET_POLICY, *MODE_ORDERS, *QUESTIONS))}")
        if order.kind == "set_cap" and self.site.cap_file:
            raise InputError(f"the cap follows the file {self.site.cap_file}: write it there")
        event = ORDERS[order.kind](order.fields, self.controller, now_s)
        return self._within_site(event) if isinstance(event, CapChanged) else event

    def _within_site(self, event: CapChanged) -> CapChanged:
        """No cap is the highest that the site allows; nothing is above it."""
        if self.site.cap < event.watts < math.inf:
            raise InputError(f"a cap of {event.watts:,.0f} W; the site's file allows at most "
                             f"{self.site.cap:,.0f} W (cap)")
        return CapChanged(min(event.watts, self.site.cap))

    def _forgotten(self) -> list[str]:
        return [] if self.remembers else [
            "a controller that is started again takes the cap of its file"]

    def _done(self, event: Event, refused: str) -> OrderOutcome:
        if refused:
            return OrderOutcome(False, refused)
        books = self.controller.books
        remarks = [*_remarks(event, self.controller, self.before_w), *self._forgotten()]
        result = {"cap_w": _finite(float(books.state.clock[0].cap_w)), "power_w": books.power_w,
                  "ahead": ahead(books), "remarks": remarks}
        return OrderOutcome(True, _said(event), result)


def open_desk(
    controller: Controller, site: SiteConfig, *, remembers: bool = False,
    more: Callable[[], Mapping[str, Any]] = dict, clock: Callable[[], float] = time.time,
    modes: ModeKeeper | None = None,
) -> None:
    """Let a controller be spoken to through its folder, and show there how it stands."""
    folder = Path(site.folder)
    modes = modes or open_modes(site, controller.watcher, clock(), act=False)
    desk = Desk(controller, site, Inbox(folder, clock=clock), modes, remembers)
    journal = max((str(file) for file in folder.glob("*.journal")), default="")
    controller.sources = (*controller.sources, desk.events)
    controller.urgent = (*controller.urgent, desk.urgent)
    status = StatusWriter(controller, folder, journal, lambda: {**modes.status(), **more()})
    controller.listeners = (*controller.listeners, desk.change_mode, status, desk.answer)


def _set_cap(fields: Mapping[str, Any], controller: Controller, now_s: float) -> Event:
    watts = _figure(fields, "watts", none=math.inf)
    reason = no_cap(watts)
    if reason:
        raise InputError(reason)
    refuse_below_idle("a cap", watts, controller.books)
    return CapChanged(watts)


def _reserve(fields: Mapping[str, Any], controller: Controller, now_s: float) -> Event:
    name = str(fields.get("name") or f"reserved-{now_s:.0f}")
    if name in KEPT:
        raise InputError(f"the controller keeps watts by the name {name} for nodes that take no "
                         "jobs: take another name")
    start_s = _figure(fields, "start_s", none=now_s)
    if start_s < now_s - PATIENCE_S:  # an order for now takes a moment to come
        raise InputError(f"it would begin at {_moment(start_s)}, which is past")
    start_s = max(start_s, now_s)
    duration_s, watts = _figure(fields, "duration_s"), _figure(fields, "watts")
    reason = no_power(watts) or no_figure("duration_s", duration_s)
    if reason:
        raise InputError(reason)
    event, books = Reserved(name, start_s, duration_s, watts=watts), controller.books
    reason = no_reservation(event, books, now_s, set())
    if reason:
        raise InputError(reason)
    held_w = sum(each["watts"] for each in ahead(books)
                 if each["start_s"] < start_s + duration_s and each["end_s"] > start_s)
    # Nodes without jobs are reserved for, and their watts are among those of an idle machine.
    left_w = min(_told_w(controller), books.machine.power_w_max) - held_w + resting_w(books)
    refuse_below_idle("it would leave a cap", left_w - watts, controller.books)
    return event


def refuse_below_idle(what: str, watts: float, books: Books) -> None:
    """As of the cap in the site's file; a policy that switches nodes off keeps lower ones."""
    draws = DrawLimits.of(books.machine)
    off = _switches_off(books.policy.admission)
    least_w, which = (draws.off_w, "with all nodes off") if off else (draws.min_w, "idle")
    if watts < least_w or watts <= 0.0:
        raise InputError(f"{what} of {watts:,.0f} W; the machine draws {least_w:,.0f} W {which}, "
                         "and no cap is below that")


def _told_w(controller: Controller) -> float:
    """The cap that was last told, whatever is reserved."""
    return float(controller.books.record.meter[0].told_cap_w)


def _unreserve(fields: Mapping[str, Any], controller: Controller, now_s: float) -> Event:
    name = str(fields.get("name", ""))
    known = [each["name"] for each in ahead(controller.books)]
    if name not in known:
        raise InputError(f"there is no reservation '{name}'; there "
                         f"{'are: ' + ', '.join(known) if known else 'is none'}")
    if name in KEPT:
        raise InputError(f"the controller keeps {name} for nodes that take no jobs, as long as "
                         "they take none")
    return ReservationRemoved(name)


ORDERS: Mapping[str, Callable[[Mapping[str, Any], Controller, float], Event]] = {
    "set_cap": _set_cap, "reserve": _reserve, "unreserve": _unreserve}
"""What can be ordered, and the event that it is."""


def _figure(fields: Mapping[str, Any], name: str, none: float | None = None) -> float:
    value = fields.get(name)
    if value is None and none is not None:
        return none
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        raise InputError(f"{name} is {value!r}, must be a number")
    return float(value)


def _said(event: Event) -> str:
    if isinstance(event, CapChanged):
        return ("there is no cap now" if math.isinf(event.watts)
                else f"the cap is {event.watts:,.0f} W from now on")
    if isinstance(event, Reserved):
        return (f"{event.watts:,.0f} W are reserved ({event.name}) from {_moment(event.start_s)} "
                f"for {event.duration_s:,.0f} s")
    assert isinstance(event, ReservationRemoved)
    return f"the reservation {event.name} is withdrawn"


def _remarks(event: Event, controller: Controller, before_w: float) -> list[str]:
    """What must be known of it, under the cap before: what it does not do."""
    books = controller.books
    said = []
    if not controller.act:
        said.append("the controller is a dry run: it starts nothing, under this cap or another")
    cap_w = float(books.state.clock[0].cap_w)
    begun = isinstance(event, Reserved) and event.start_s <= books.now_s
    if (isinstance(event, CapChanged) or begun) and books.power_w > cap_w:
        said.append(f"the machine draws {books.power_w:,.0f} W by the books: nothing starts before "
                    "it is below the cap")
    if isinstance(event, CapChanged) or begun:
        said += [f"job {each.job}: {each.sentence}" for each in _never(books)]
    raised = isinstance(event, CapChanged) and event.watts > before_w
    if raised and (books.state.live.state == REFUSED).any():
        said.append("jobs that were refused under the last cap stay refused: submit them again")
    if isinstance(event, Reserved) and not begun and not _plans_ahead(books.policy.admission):
        said.append("the power policy does not plan ahead: the cap falls when the window begins, "
                    "and jobs that run then go on")
    return said


def _never(books: Books) -> list[Stuck]:
    """Jobs that the cap of now has no room for: those set aside, or the first that blocks others.
    """
    first = first_stuck(books)
    others = set_aside(books, queued_rows(books.state))
    return others or ([] if first is None else [first])


def _plans_ahead(admission: Any) -> bool:
    """Whether a power policy looks at reserved watts before they are due."""
    return isinstance(admission, Adaptive | Budget)


def _switches_off(admission: Any) -> bool:
    return bool(getattr(getattr(admission, "adaptive", admission), "shut", False))


def _moment(time_s: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time_s))


def _finite(watts: float) -> float | None:
    return watts if math.isfinite(watts) else None
