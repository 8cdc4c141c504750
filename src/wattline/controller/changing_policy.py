"""Another policy for a controller that runs: made ready beside its cycles, then taken over in one.

A policy that was never asked has to be compiled, which takes longer than a lease may wait. So a
thread makes it and asks it once, of a copy of the books; the next cycle lets it take them over. The
journal says so and with what scenario, so that a replay decides as the controller did.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from wattline.books import Books
from wattline.controller.orders import Order, OrderOutcome
from wattline.model.errors import InputError, WattlineError
from wattline.model.fields import name_of
from wattline.policies.contract import Composition
from wattline.policies.declaration import AXES
from wattline.scenario.journals import JOBS_KNOWN, along_axes, plan_of, scenario_of
from wattline.scenario.load import changed, validate
from wattline.scenario.model import Scenario

if TYPE_CHECKING:
    from wattline.controller.configuration import SiteConfig
    from wattline.controller.controller import Controller

SET_POLICY = "set_policy"
USUAL = "requested"
"""How jobs are configured that run as they asked."""
COUNTING = {"order": "energy-share", "power": "budget"}
"""Policies that count what was used, by their axis: another one would not know it."""


@dataclass
class _Change:
    """A policy in the making."""

    order: Order
    scenario: Scenario
    allow_code: bool
    policy: Composition | None = None
    said: Mapping[str, Any] = field(default_factory=dict)
    failed: str = ""
    thread: threading.Thread | None = None

    def make(self, books: Books, now_s: float) -> None:
        """Make the policy, and let it decide once about books that nobody keeps."""
        try:
            fields = self.scenario.model_dump(mode="json", exclude_none=True)
            ready = plan_of({"scenario": fields, JOBS_KNOWN: False}, (), SET_POLICY,
                            allow_code=self.allow_code)
            policy = along_axes(ready)
            self.said = scenario_of(ready)
            books.with_policy(policy, self.said).step(max(now_s, books.now_s))
            self.policy = policy
        except WattlineError as error:
            self.failed = str(error)
        except Exception as error:  # a thread has nobody else to say it to
            self.failed = f"the policy cannot be made: {type(error).__name__}: {error}"


class PolicyChanges:
    """Takes the orders that change the policy."""

    def __init__(self, controller: Controller, site: SiteConfig) -> None:
        self.controller, self.site = controller, site
        self._change: _Change | None = None

    def begin(self, order: Order, now_s: float) -> None:
        """Make ready what an order asks for; what cannot be is refused at once."""
        if self._change is not None:
            raise InputError("another change of the policy is being made ready: wait for it")
        refused = self._why_not()
        if refused:
            raise InputError(refused)
        scenario = _with(self.controller.books.scenario, order.fields.get("changes"))
        _refuse_counting(scenario)
        change = _Change(order, scenario, bool(self.site.scenario))
        change.thread = threading.Thread(
            target=change.make, args=(self.controller.books.copy(), now_s), daemon=True)
        change.thread.start()
        self._change = change

    def done(self, now_s: float) -> Iterator[tuple[Order, OrderOutcome]]:
        """What is ready takes over now; each order with what came of it."""
        change = self._change
        if change is None or (change.thread is not None and change.thread.is_alive()):
            return
        self._change = None
        if change.policy is None:
            yield change.order, OrderOutcome(False, change.failed)
            return
        self.controller.change_policy(change.policy, change.said, now_s)
        yield change.order, self._outcome(change)

    def _outcome(self, change: _Change) -> OrderOutcome:
        policies = names_of(change.scenario)
        remarks = [] if self.controller.act else [
            "the controller is a dry run: it starts nothing, under this policy or another"]
        remarks.append("a controller that is started again goes on with it, unless its file was "
                       "changed")
        said = ", ".join(f"{axis} {name}" for axis, name in policies.items())
        return OrderOutcome(True, f"from now on: {said}",
                            {"policy": policies, "power_w": self.controller.books.power_w,
                             "remarks": remarks})

    def _why_not(self) -> str:
        """Why no other policy can decide here; empty where one can."""
        books = self.controller.books
        if self.site.twin:
            return "jobs share nodes here, and Slurm's rules decide: there is no policy to change"
        if not self.controller.watcher.decides:
            return "in guard mode Slurm starts the jobs: another policy would change nothing"
        if books.scenario is None:
            return ("the books do not say what their policy was made from: they were begun by an "
                    "earlier version; start the controller with an empty folder")
        now = validate(dict(books.scenario), SET_POLICY)
        return _configured(now) or _counting(now)


def names_of(scenario: Scenario) -> dict[str, str]:
    """The policy along each axis, by name."""
    return {axis: name_of(getattr(scenario.policy, axis)) for axis in AXES}


def _with(scenario: Mapping[str, Any] | None, changes: Any) -> Scenario:
    if not isinstance(changes, Mapping) or not changes:
        raise InputError("`changes` is missing: fields of a scenario, like policy.order, and what "
                         "they are to be")
    for name in map(str, changes):
        if name == "power.cap" or name.startswith("power.cap."):
            raise InputError("the cap is no part of the policy: order set_cap")
        if not name.startswith(("policy.", "power.")):
            raise InputError(f"{name} is no part of the policy: policy.AXIS and power.FIELD are")
    found = validate(changed(dict(scenario or {}), dict(changes)), SET_POLICY)
    refused = _configured(found)
    if refused:
        raise InputError(refused)
    return found


def _configured(scenario: Scenario) -> str:
    """Jobs were told how many nodes and threads they get: that cannot be taken back."""
    name = name_of(scenario.policy.configure)
    return "" if name == USUAL else (
        f"jobs are configured by '{name}': where nodes and threads of jobs are chosen, the policy "
        "is that of the site's file")


def _counting(scenario: Scenario) -> str:
    names = names_of(scenario)
    return next((f"{axis} '{name}' counts what was used, which another policy would forget: it is "
                 "changed in the site's file" for axis, name in COUNTING.items()
                 if names[axis] == name), "")


def _refuse_counting(scenario: Scenario) -> None:
    refused = _counting(scenario)
    if refused:
        raise InputError(refused)
