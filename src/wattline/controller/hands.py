"""Decisions carried out: by Slurm's commands, and by caps of nodes.

A frequency, a level or a configuration becomes a cap of the nodes of a job: what the policy
expects the job to draw there. Slurm itself cannot change the frequency of a job that runs. Threads
and cores are the job's own matter: its task prolog finds them in its admin comment.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from wattline.books import Decision
from wattline.controller.told import Told
from wattline.controller.where import NotFree, where_to
from wattline.live.slurm.client import NotHeldForUs
from wattline.live.slurm.commands import SlurmError
from wattline.live.slurm.reading import WATTS
from wattline.model.machine import Machine
from wattline.policies.control import Control

if TYPE_CHECKING:
    from wattline.controller.controller import Controller
    from wattline.controller.watching import Watcher


REFUSED = "could never start under the highest cap"


@dataclass
class Hands:
    """What has been asked of the machine beside starts."""

    caps_w: dict[str, float] = field(default_factory=dict)
    """Of each node that a policy has slowed down; the keeper of the cap goes below, never above."""
    _capped: dict[str, Told] = field(default_factory=dict)
    """For whose sake each of them is."""
    level: float = 1.0
    """Power of all jobs relative to full speed."""
    licences: bool = False
    """Whether a job that says nothing of its watts gets licences for them before it starts."""
    done: int = 0
    """Orders carried out."""
    keep_off: Callable[[Collection[str]], None] = lambda names: None
    """Told which nodes are off because of us: before one goes down, and after one came up."""
    keep_named: Callable[[Collection[str]], None] = lambda labels: None
    """Told which jobs have a list of nodes of ours, before Slurm is."""

    def carry_out(self, controller: Controller, decision: Decision, now_s: float) -> list[str]:
        """Do what was decided, or say what would be; what went wrong is said, not raised."""
        wish = _WISHES.get(decision.kind)
        if wish is None:  # `wake`: the books know when
            return []
        if not controller.act:
            return _would(controller, decision)
        try:
            said = wish(self, controller, decision, now_s)
        except SlurmError as error:  # it may have done half: the next looks will tell
            return [f"job {decision.job} could not be {_DONE[decision.kind]}: {error}"
                    if decision.job is not None else f"{decision.kind}: {error}"]
        self.done += 1
        return said

    def start(
        self, controller: Controller, decision: Decision, now_s: float
    ) -> list[str]:
        name = str(decision.job)
        told = controller.watcher.told[name]
        try:
            where = where_to(controller.watcher, told, decision.control.nodes)
        except NotFree as error:
            controller.watcher.asked(name, now_s, by_slurm=True)
            controller.watcher.failed(name, withdraw=False, why=str(error))
            return []
        controller.watcher.asked(name, now_s, by_slurm=where.own or where.anywhere)
        self.keep_named(controller.watcher.tried)
        told.resize(where.nodes)
        if where.nodes != decision.control.nodes:
            decision = replace(decision, control=replace(decision.control, nodes=where.nodes))
        self._cap_job(controller, told, decision)
        nodes = controller.watcher.node_names(where.nodes)
        chosen: dict[str, Any] = where.wishes()
        if is_configured(decision.control):
            words = settings_of(decision.control, controller.books.machine)
            chosen |= {"watts": math.ceil(decision.power_w - 1e-9),
                       "settings": controller.watcher.comment(words)}
        try:
            if self.licences and told.row is not None and WATTS not in told.row.licenses:
                controller.slurm.license(told.row, math.ceil(decision.power_w - 1e-9))
            controller.slurm.start(told.label, nodes, **chosen)
        except SlurmError as error:
            controller.watcher.failed(name, withdraw=not isinstance(error, NotHeldForUs))
            raise
        return []

    def pause(self, controller: Controller, decision: Decision, now_s: float) -> list[str]:
        controller.slurm.suspend(controller.watcher.told[str(decision.job)].label)
        return []

    def resume(self, controller: Controller, decision: Decision, now_s: float) -> list[str]:
        told = controller.watcher.told[str(decision.job)]
        self._cap_job(controller, told, decision)
        controller.watcher.asked(str(decision.job), now_s)
        controller.slurm.resume(told.label)
        return []

    def speed(self, controller: Controller, decision: Decision, now_s: float) -> list[str]:
        self._cap_job(controller, controller.watcher.told[str(decision.job)], decision)
        return []

    def set_level(self, controller: Controller, decision: Decision, now_s: float) -> list[str]:
        self.level = decision.power_w
        for told in controller.watcher.told.values():
            if told.running and told.units:
                self._cap_nodes(controller, told, self.level * told.watts / told.units)
        return []

    def switch(self, controller: Controller, decision: Decision, now_s: float) -> list[str]:
        if not decision.control.nodes:
            return [f"{decision.control.units} nodes should go {decision.kind}; which ones, only a "
                    "policy that chooses nodes says"]
        names = controller.watcher.node_names(decision.control.nodes)
        if decision.kind == "down":
            self.keep_off(controller.watcher.off | set(names))
        controller.slurm.power(names, decision.kind == "up")
        controller.watcher.switched(names, decision.kind == "up")
        self.keep_off(controller.watcher.off)
        return []

    def refuse(self, controller: Controller, decision: Decision, now_s: float) -> list[str]:
        label = controller.watcher.told[str(decision.job)].label
        controller.slurm.explain(label, controller.watcher.comment(REFUSED))
        return [f"job {label} {REFUSED}; it stays held"]

    def _cap_job(self, controller: Controller, told: Told, decision: Decision) -> None:
        control = decision.control
        if control.node_caps_w:
            names = controller.watcher.node_names(control.nodes or told.nodes)
            self.caps_w.update(zip(names, control.node_caps_w, strict=True))
            self._capped.update(dict.fromkeys(names, told))
        elif control.cap_w is not None and math.isfinite(control.cap_w):
            # A table's caps are of sockets; what it says that the job draws is of nodes.
            self._cap_nodes(controller, told, decision.power_w / told.units
                            if is_configured(control) and told.units else control.cap_w)
        elif _slowed(decision) and told.units:
            self._cap_nodes(controller, told, decision.power_w / told.units)
        else:
            self._cap_nodes(controller, told, math.inf)

    def _cap_nodes(self, controller: Controller, told: Told, cap_w: float) -> None:
        full_w = told.watts / told.units if told.units else math.inf
        for name in controller.watcher.node_names(told.nodes):
            if cap_w < full_w:
                self.caps_w[name], self._capped[name] = cap_w, told
            else:
                self.caps_w.pop(name, None)

    def lift_after_ends(self, watcher: Watcher) -> None:
        """A cap goes with its job: whoever starts the next one there may have said nothing."""
        if not self._capped:
            return
        there = {id(told) for told in watcher.told.values() if told.running}
        for name in [name for name, told in self._capped.items() if id(told) not in there]:
            del self._capped[name]
            self.caps_w.pop(name, None)


def is_configured(control: Control) -> bool:
    """Whether more than nodes and a speed was chosen: a row of a table, or what claims say."""
    return control.cores is not None or control.node_class is not None


def settings_of(control: Control, machine: Machine) -> str:
    """What was chosen for a job, in words that a prolog can read: `class=arm threads=8x2`."""
    found: dict[str, object] = {}
    if control.node_class is not None:
        found["class"] = machine.groups[control.node_class].node_class.name
    if control.threads:
        inner = f"x{control.inner_threads}" if control.inner_threads else ""
        found["threads"] = f"{control.threads}{inner}"
    for name in ("cores", "cap_w", "gpus", "gpu_cap_w"):
        value = getattr(control, name)
        if value is not None and math.isfinite(value):
            found[name] = f"{value:g}"
    return " ".join(f"{name}={value}" for name, value in found.items())


def _slowed(decision: Decision) -> bool:
    share, hertz = decision.control.frequency_share, decision.control.frequency_hz
    return hertz is not None or (share is not None and share < 1.0)


def _would(controller: Controller, decision: Decision) -> list[str]:
    if decision.kind == "start":
        nodes = controller.watcher.node_names(decision.control.nodes)
        return [f"would start {decision.job} on {','.join(nodes)}, {decision.power_w:.0f} W"]
    if decision.kind == "refuse":
        return [f"job {decision.job} {REFUSED}"]
    if decision.kind in ("up", "down"):
        names = controller.watcher.node_names(decision.control.nodes)
        return [f"would power {decision.kind} {','.join(names) or decision.control.units}"]
    if decision.kind == "level":
        return [f"would let all jobs draw {100 * decision.power_w:.0f} % of their power"]
    return [f"would {decision.kind} {decision.job}"]


_Wish = Callable[[Hands, "Controller", Decision, float], list[str]]
_WISHES: Mapping[str, _Wish] = {
    "start": Hands.start, "pause": Hands.pause, "resume": Hands.resume, "speed": Hands.speed,
    "level": Hands.set_level, "down": Hands.switch, "up": Hands.switch, "refuse": Hands.refuse}
_DONE = {"start": "started", "pause": "suspended", "resume": "resumed", "speed": "slowed down",
         "refuse": "told why it waits"}
