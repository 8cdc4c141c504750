"""Decisions carried out: by Slurm's commands, and by caps of nodes.

A frequency, a level or a configuration becomes a cap of the nodes of a job: what the policy
expects the job to draw there. Slurm itself cannot change the frequency of a job that runs. Threads
and cores are the job's own matter: its task prolog finds them in its admin comment.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from wattline.books import Decision
from wattline.controller.job_caps import JobCaps
from wattline.controller.told import Told
from wattline.controller.where import NotFree, Where, busy_nodes, where_to
from wattline.controller.writings import Written, written
from wattline.live.slurm.client import AsksOtherwise, NotHeldForUs
from wattline.live.slurm.commands import SlurmError
from wattline.live.slurm.reading import WATTS, SlurmJob
from wattline.model.machine import Machine
from wattline.policies.configuration.moldable import Moldable
from wattline.policies.control import Control

if TYPE_CHECKING:
    from wattline.controller.controller import Controller


MOST_UNMEASURED = 10
REFUSED = "could never start under the highest cap"


@dataclass(frozen=True)
class _Start:
    """A start that is about to be ordered."""

    decision: Decision
    nodes: tuple[str, ...]
    chosen: Mapping[str, Any]
    """What Slurm's client has to know beside them."""

    @classmethod
    def of(cls, controller: Controller, told: Told, where: Where, decision: Decision,
           licences: bool) -> _Start:
        chosen: dict[str, Any] = where.wishes()
        power_w = math.ceil(decision.power_w - 1e-9)
        if is_configured(decision.control):
            words = settings_of(decision.control, controller.books.machine)
            chosen |= {"watts": power_w, "settings": controller.watcher.comment(words)}
        row = told.row
        if licences and row is not None and WATTS not in controller.watcher.as_asked(row).licenses:
            # Those of an earlier start are ours as well: this one may draw more.
            chosen["watts" if WATTS in row.licenses else "licence"] = power_w
        elif row is not None and "watts" not in chosen:
            claimed = controller.watcher.as_claimed(row).licenses
            if claimed != row.licenses:  # of its last life some were lent to others
                chosen["watts"] = claimed[WATTS]
        return cls(decision, tuple(controller.watcher.node_names(where.nodes)), chosen)

    def watts(self, job: SlurmJob) -> int | None:
        """The licences of that name that it gets from us; None: its own stay."""
        found: int | None = self.chosen.get("watts" if WATTS in job.licenses else "licence")
        return found


@dataclass
class Hands:
    """What has been asked of the machine beside starts."""

    caps: JobCaps = field(default_factory=JobCaps)
    """Of jobs that a policy has slowed down; the keeper of the cap goes below, never above."""
    level: float = 1.0
    """Power of all jobs relative to full speed."""
    licences: bool = False
    """Whether a job that says nothing of its watts gets licences for them before it starts."""
    done: int = 0
    """Orders carried out."""
    keep_off: Callable[[Collection[str]], None] = lambda names: None
    """Told which nodes are off because of us: before one goes down, and after one came up."""
    keep_written: Callable[[Mapping[str, Written]], None] = lambda written: None
    """Told what is written on jobs, before Slurm is."""
    unmeasured: set[str] = field(default_factory=set)
    """Applications without a table, of which it was said."""
    _starts: dict[str, _Start] = field(default_factory=dict)
    """By name those of this cycle that are to come."""
    _doubtful: set[str] = field(default_factory=set)
    """Nodes of this cycle that may have gone down or not."""
    _coming: set[str] = field(default_factory=set)
    """Nodes told to come up and not seen up: Slurm ignores that of one which is still going down.
    """

    def carry_out(
        self, controller: Controller, decisions: Sequence[Decision], now_s: float
    ) -> list[str]:
        """Do what was decided, or say what would be; what went wrong is said, not raised.

        What the next controller has to know is on disk before the first of it is done.
        """
        coming = self._coming & (controller.watcher.down | controller.watcher.sleeping.off)
        if coming != self._coming:  # they are up
            self._coming = coming
            self.keep_off(controller.watcher.off | coming)
        if controller.act:
            self._prepare(controller, decisions, now_s)
        said = [line for each in decisions for line in self._carry_out(controller, each, now_s)]
        self.caps.save()
        if controller.act and any(_switches(each) for each in decisions):
            self.keep_off(controller.watcher.off | self._doubtful | self._coming)
        self._doubtful.clear()
        return said

    def _prepare(
        self, controller: Controller, decisions: Sequence[Decision], now_s: float
    ) -> None:
        down = {number for each in decisions if each.kind == "down"
                for number in each.control.nodes}
        if down:
            names = set(controller.watcher.node_names(down))
            self.keep_off(controller.watcher.off | names | self._coming)
        self._starts = {}
        starts = [each for each in decisions if each.kind == "start"]
        busy = busy_nodes(controller.watcher) if starts else set()
        for decision in starts:
            told = controller.watcher.told[str(decision.job)]
            self._plan(controller, decision, now_s,
                       busy_nodes(controller.watcher, but=told) if told.running else busy)
            busy.update(told.nodes)
        if self._starts:
            self.keep_written(controller.watcher.written)
            self.caps.save()

    def _plan(self, controller: Controller, decision: Decision, now_s: float, busy: set[int]
              ) -> None:
        """Where a job starts, and what is written on it for that; not where nodes are in use."""
        name, watcher = str(decision.job), controller.watcher
        told = watcher.told[name]
        try:
            where = where_to(watcher, told, decision.control.nodes, busy,
                             decision.control.node_class)
        except NotFree as error:
            watcher.asked(name, now_s, by_slurm=True)
            watcher.failed(name, withdraw=False, why=str(error))
            return
        watcher.asked(name, now_s, by_slurm=where.own or where.anywhere)
        told.resize(where.nodes)
        if where.nodes != decision.control.nodes:
            decision = replace(decision, control=replace(decision.control, nodes=where.nodes))
        self._starts[name] = start = _Start.of(controller, told, where, decision, self.licences)
        if told.row is not None:
            watcher.written[told.label] = written(
                told.row, watcher.written.get(told.label),
                () if where.own or where.anywhere else start.nodes, len(start.nodes),
                start.watts(told.row))
        self._cap_job(controller, told, start.decision)

    def _carry_out(self, controller: Controller, decision: Decision, now_s: float) -> list[str]:
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
        start = self._starts.pop(name, None)
        if start is None:  # its nodes are in use
            return []
        told = controller.watcher.told[name]
        self._cap_job(controller, told, start.decision)
        try:
            controller.slurm.start(told.label, list(start.nodes), as_seen=told.row, **start.chosen)
        except AsksOtherwise as error:
            controller.watcher.failed(name, withdraw=False, why=str(error))
            raise
        except SlurmError as error:
            controller.watcher.failed(name, withdraw=not isinstance(error, NotHeldForUs))
            raise
        return self._unmeasured(controller, told, start.decision)

    def _unmeasured(self, controller: Controller, told: Told, decision: Decision) -> list[str]:
        """Said once of each of the first applications without a table, where jobs are started in
        configurations of tables."""
        rule = getattr(controller.books.policy, "configuration", None)
        name = told.row.name if told.row is not None else ""
        if (not isinstance(rule, Moldable) or is_configured(decision.control)
                or name in self.unmeasured or len(self.unmeasured) >= MOST_UNMEASURED):
            return []
        self.unmeasured.add(name)
        last = (" (of others it is no longer said)" if len(self.unmeasured) == MOST_UNMEASURED
                else "")
        return [f"job {told.label}: '{name}' has no table of configurations; such jobs run as "
                f"they were requested, at their watts or the rated power of nodes{last}"]

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
        for name, told in controller.watcher.told.items():
            if told.running and told.units:
                self._cap_nodes(controller, name, told.nodes,
                                self.level * told.watts / told.units)
        return []

    def switch(self, controller: Controller, decision: Decision, now_s: float) -> list[str]:
        if not decision.control.nodes:
            return [f"{decision.control.units} nodes should go {decision.kind}; which ones, only a "
                    "policy that chooses nodes says"]
        names = controller.watcher.node_names(decision.control.nodes)
        try:
            controller.slurm.power(names, decision.kind == "up")
        except SlurmError:  # some of them may go all the same
            self._doubtful.update(names if decision.kind == "down" else ())
            raise
        controller.watcher.switched(names, decision.kind == "up")
        self._coming = self._coming.union(names) if decision.kind == "up" else (
            self._coming.difference(names))
        return []

    def refuse(self, controller: Controller, decision: Decision, now_s: float) -> list[str]:
        told = controller.watcher.told[str(decision.job)]
        label = told.label
        if told.row is not None and told.row.node_list:
            # Slurm has started it: whose it is, and that it runs, is not for us to change.
            return [f"job {label} runs, and with its watts it {REFUSED}: its nodes are capped by "
                    "what they draw"]
        controller.slurm.explain(label, controller.watcher.comment(REFUSED))
        return [f"job {label} {REFUSED}; it stays held"]

    def _cap_job(self, controller: Controller, told: Told, decision: Decision) -> None:
        control = decision.control
        nodes = control.nodes or told.nodes
        if control.node_caps_w:
            names = controller.watcher.node_names(nodes)
            self.caps.put(str(decision.job), dict(zip(names, control.node_caps_w, strict=True)))
            return
        cap_w = math.inf
        if control.cap_w is not None and math.isfinite(control.cap_w):
            # A table's caps are of sockets; what it says that the job draws is of nodes.
            cap_w = (decision.power_w / told.units if is_configured(control) and told.units
                     else control.cap_w)
        elif _slowed(decision) and told.units:
            cap_w = decision.power_w / told.units
        self._cap_nodes(controller, str(decision.job), nodes, cap_w)

    def _cap_nodes(
        self, controller: Controller, name: str, nodes: Sequence[int], cap_w: float
    ) -> None:
        told = controller.watcher.told[name]
        full_w = told.watts / told.units if told.units else math.inf
        self.caps.put(name, dict.fromkeys(controller.watcher.node_names(nodes),
                                          cap_w if cap_w < full_w else math.inf))


def is_configured(control: Control) -> bool:
    """Whether more than nodes and a speed was chosen: a row of a table, or what claims say."""
    return any(getattr(control, name) is not None
               for name in ("cores", "gpus", "gpu_cap_w", "node_class"))


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


def _switches(decision: Decision) -> bool:
    return decision.kind in ("down", "up") and bool(decision.control.nodes)


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
