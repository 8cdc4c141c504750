"""Running jobs kept under the cap: by caps of nodes first, then by jobs that have to step aside.

Starts are admitted by the books and come at Slurm's ticks; what draws too much now is slowed down
here, at once. All busy nodes are lowered by the same part of what lies above their least, so that
no job is spared; when there is room again they rise together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from wattline.controller.free_nodes import FreeNodes
from wattline.controller.metering import Meters
from wattline.controller.suspended_jobs import (
    admit,
    by_priority,
    jobs_aside,
    jobs_resumed,
    resume,
    suspend_again,
    suspend_aside,
)
from wattline.controller.told import Told
from wattline.controller.watching import Watcher
from wattline.live.fleet import Fleet
from wattline.live.slurm.client import Slurm
from wattline.live.slurm.commands import SlurmError
from wattline.live.slurm.reading import put_back
from wattline.model.units import counted

MARGIN = 0.005
"""Part of the cap that is left free where nodes have to be lowered: they do not hold theirs
to the watt."""
BAND = 0.02
"""Caps of nodes that were lowered are lifted once so large a part of the cap is free: what is drawn
rises and falls by one or two per cent by itself, and caps are not to follow that."""
SHED_AFTER_S = 1.0
SETTLE_S = 1.5
"""So long an order takes to be seen in the meters."""


@dataclass
class CapKeeper:
    """Lowers and raises caps of nodes; where that is not enough, suspends or requeues jobs."""

    fleet: Fleet
    slurm: Slurm
    watcher: Watcher
    meters: Meters
    cap_w: Callable[[], float]
    """The cap that holds now."""
    policy_caps_w: Mapping[str, float]
    """What the policy has slowed nodes to: never more than that."""
    node_idle_w: float
    node_least_w: float
    """No cap takes a busy node below it; nodes of a class may have another."""
    when_short: str = ""
    """`suspend` or `requeue`: what may be done to jobs where caps are not enough."""
    act: bool = False
    lease_s: float = 30.0
    ending_caps_w: Mapping[str, float] = field(default_factory=dict)
    """What it had slowed nodes to whose job ends: they are free of it, and want no more."""
    target_w: Callable[[float], float] = lambda now_s: math.inf
    """A power to follow below the cap; no job steps aside for it."""
    close_too: Callable[[], None] = lambda: None
    """What is closed with the fleet."""
    throttled: set[str] = field(default_factory=set)
    remarks: list[str] = field(default_factory=list)
    """What was done since somebody last took them."""
    _free: FreeNodes = field(default_factory=FreeNodes)
    _order: int = 0
    _sent_w: dict[str, float] = field(default_factory=dict)
    _sent_s: float = -math.inf
    _bias_w: float = 0.0
    _biased_s: float = -math.inf
    _bias_cap_w: float = math.nan
    _short_s: float = math.nan
    """Since when caps of nodes are not enough."""
    _said_short: tuple[float, str] = (math.nan, "")
    """Under which cap it was last said, and why, that the cap cannot be kept."""
    _refused: set[str] = field(default_factory=set)
    """Jobs that Slurm would not put aside since caps of nodes were last enough."""

    def keep(self, now_s: float, *, caps_alone: bool = False) -> None:
        """Look at what is drawn and wanted, and order caps accordingly.

        By what the books were told of it: a node that is lowered before says no more what its job
        wants. `caps_alone`: Slurm is at something else, and no job is put aside or brought back.
        """
        highest_w, target_w = self.cap_w(), self.target_w(now_s)
        cap_w = min(highest_w, target_w)
        wanted_w = self._wanted(now_s)
        rest_w = self._rest(wanted_w, now_s)
        self._learn(cap_w, wanted_w, now_s)
        # A target is met, a cap is kept: only below a cap some room is left.
        stuck = {name for name in wanted_w if name in self.watcher.sleeping.booting
                 or self.meters.knobs.refuses(name, now_s)}
        least_w = self._least(wanted_w)
        caps_w, lacking_w = shared(
            wanted_w, cap_w - rest_w - self._bias_w,
            least_w | {name: wanted_w[name] for name in stuck} if stuck else least_w,
            MARGIN * cap_w if highest_w <= target_w else 0.0,
            BAND * cap_w if self.throttled and cap_w < math.inf else 0.0)
        # Jobs there are put aside for what they draw, and not for what they may draw; one that was
        # resumed is admitted by that, as at a start.
        resumed = jobs_resumed(self.watcher)
        begins = {name for told in resumed for name in self.watcher.node_names(told.nodes)}
        lacking_w -= sum(max(wanted_w[name] - self.meters.node_w(name, now_s), 0.0)
                         for name in stuck - begins)
        short_w = lacking_w - (highest_w - cap_w) if highest_w < math.inf else lacking_w
        lowered = caps_w.keys() - stuck
        self._say(lowered, cap_w)
        self.throttled = lowered
        # One that has not obeyed is asked for its least: should it do so after all, it is too much
        # for a cycle and not too little.
        self._send({**dict.fromkeys(self.watcher.names, math.inf), **self.policy_caps_w, **caps_w,
                    **{name: least_w[name] for name in stuck if caps_w}}, now_s)
        if short_w > 0.0 and resumed and self.act:
            if not caps_alone:
                self.remarks.append(suspend_again(self.slurm, self.watcher, resumed[-1]))
        elif short_w > 0.0:
            self._short_s = now_s if math.isnan(self._short_s) else self._short_s
            if now_s - self._short_s >= SHED_AFTER_S and not caps_alone:
                self._shed(now_s, short_w)
        else:
            self._short_s, self._said_short = math.nan, (math.nan, "")
            if not caps_alone:
                self._refused.clear()
                for told in resumed if self.act else ():
                    admit(self.slurm, self.watcher, told)
                self._bring_back(-short_w)

    def leave(self, now_s: float) -> None:
        """Leave the machine as it was found, with no caps of ours and no job aside because of us,
        as far as that keeps the cap: nobody would lower anything after us.

        Caps that are needed are ordered once more. When their lease ends, nodes go over to the
        safe cap of their own, as if we had died.
        """
        if not self.act:
            return
        full_w = self._wanted(now_s, slowed=False)
        drawn_w, cap_w = sum(full_w.values()) + self._rest(full_w, now_s), self.cap_w()
        stay = []
        for told in jobs_aside(self.watcher):
            more_w = told.watts - self._idle_w(told)
            if drawn_w + more_w <= cap_w:
                drawn_w += more_w
                self.remarks.append(resume(self.slurm, self.watcher, told))
            else:
                stay.append(told.label)
        kept_w = {} if drawn_w <= cap_w else {
            name: watts for name, watts in self._sent_w.items() if math.isfinite(watts)}
        if kept_w:
            self._order = max(self._order + 1, int(now_s * 1000))
            self.fleet.cap(self._order, kept_w, self.lease_s)
        self.fleet.restore([name for name in self.watcher.names if name not in kept_w])
        self._say_left(len(kept_w), stay, drawn_w, cap_w)

    def _say_left(self, kept: int, stay: list[str], drawn_w: float, cap_w: float) -> None:
        if kept:
            self.remarks.append(
                f"jobs that run would draw {drawn_w:,.0f} W at full speed, above the cap of "
                f"{cap_w:,.0f} W: caps of {counted(kept, 'node')} are left for {self.lease_s:g} s, "
                "then the nodes' own safe caps hold until a controller starts (or `wattline agent "
                "restore` on a node)")
        if stay:
            self.remarks.append(
                f"{'job' if len(stay) == 1 else 'jobs'} {', '.join(stay)} "
                f"{'stays' if len(stay) == 1 else 'stay'} suspended to keep the cap of "
                f"{cap_w:,.0f} W: the next controller, or scontrol resume, lets it go on")

    def close(self) -> None:
        self.close_too()
        self.fleet.close()

    def _wanted(self, now_s: float, *, slowed: bool = True) -> dict[str, float]:
        """What each busy node would draw if nothing but the policy slowed it, or not even that."""
        nodes_w = self.meters.nodes_w(now_s)
        found = self.watcher.wanted_w(self.meters.job_w)
        for node, said_w in found.items():
            if nodes_w.get(node, said_w) > said_w:
                found[node] = nodes_w[node]
        for slowed_w in (self.policy_caps_w if slowed else {}, self.ending_caps_w):
            for node, cap_w in slowed_w.items():
                if cap_w < found.get(node, -math.inf):
                    found[node] = cap_w
        for node in self.watcher.sleeping.booting & found.keys():
            found[node] = max(found[node], self.watcher.alone_w(node, self.node_idle_w))
        return found

    def _least(self, nodes: Iterable[str]) -> dict[str, float]:
        return self.watcher.least_w(nodes, self.node_least_w)

    def _idle_w(self, told: Told) -> float:
        """What the nodes of a job draw without it."""
        return sum(self.watcher.idle_w(name, self.node_idle_w)
                   for name in self.watcher.node_names(told.nodes))

    def _rest(self, busy: Mapping[str, float], now_s: float) -> float:
        """What nodes without jobs draw."""
        nodes_w, total_w = self.meters.nodes_w(now_s), 0.0
        self._free.forget(busy)
        booting = self.watcher.sleeping.booting
        for name in self.watcher.names:
            if name in busy:
                continue
            if name in booting:  # a reading may be of before it began to
                total_w += max(self.watcher.alone_w(name, self.node_idle_w),
                               nodes_w.get(name, 0.0))
            elif name in nodes_w:
                total_w += self._free.drawn_w(name, nodes_w[name], self.meters.heard_s(name))
            else:
                total_w += self.watcher.alone_w(name, self.node_idle_w)
        return total_w

    def _drawn_w(self, wanted_w: Mapping[str, float], now_s: float) -> float:
        """What is drawn by the meters, and on silent nodes what may be."""
        total_w, nodes_w = self._rest(wanted_w, now_s), self.meters.nodes_w(now_s)
        for name, most_w in wanted_w.items():
            total_w += (nodes_w[name] if name in nodes_w
                        else min(most_w, self._sent_w.get(name, math.inf)))
        return total_w

    def _learn(self, cap_w: float, wanted_w: Mapping[str, float], now_s: float) -> None:
        """Where the meters stay above the cap although caps are set, go further down."""
        if now_s - max(self._biased_s, self._sent_s) < SETTLE_S:
            return
        over_w = self._drawn_w(wanted_w, now_s) - cap_w
        if cap_w != self._bias_cap_w:
            self._bias_w, self._bias_cap_w = 0.0, cap_w
        elif over_w > 0.0 and self.throttled and math.isnan(self._short_s):
            self._bias_w += over_w
        elif self._bias_w > 0.0:
            self._bias_w *= 0.8 if self._bias_w > 1.0 else 0.0
        self._biased_s = now_s

    def _send(self, caps_w: dict[str, float], now_s: float) -> None:
        changed = caps_w != self._sent_w and any(
            _differs(self._sent_w.get(name, math.inf), cap_w) for name, cap_w in caps_w.items())
        if not self.act or (not changed and now_s - self._sent_s < self.lease_s / 3):
            return
        self._order = max(self._order + 1, int(now_s * 1000))  # rises over restarts too
        self.fleet.cap(self._order, caps_w, self.lease_s)
        self.meters.knobs.ordered(self._order, now_s)
        self._sent_w, self._sent_s = caps_w, now_s

    def _say(self, lowered: set[str], cap_w: float) -> None:
        if bool(lowered) != bool(self.throttled):
            would = "" if self.act else "would be "
            self.remarks.append(f"caps of {len(lowered)} nodes {would}lowered to keep {cap_w:.0f} W"
                                if lowered else f"caps of nodes {would}lifted again")

    def _shed(self, now_s: float, short_w: float) -> None:
        """One job at a time, the lowest priority first: what it drew is seen before the next."""
        if not self.when_short:
            self._say_short(short_w, "the site lets no job be suspended or requeued (when_short)")
            return
        left = [told for told in self.watcher.told.values()
                if told.draws and math.isnan(told.asked_s) and told.label not in self._refused]
        if not left:
            beside = f" beside {len(self._refused)} that Slurm refuses to" if self._refused else ""
            self._say_short(short_w, f"no running job is left to {self.when_short}{beside}")
            return
        least = by_priority(left, self.watcher.seen)[-1]
        if not self.act:
            self._say_short(short_w, f"a dry run leaves jobs alone: it would {self.when_short} "
                                     f"job {least.label} first")
            return
        try:
            self._put_aside(least)
        except SlurmError as error:
            # Such as one that was submitted with --no-requeue: the next one has to go instead.
            self._refused.add(least.label)
            self.remarks.append(f"job {least.label} could not be put aside: {error}")
            return
        self._short_s = now_s + SETTLE_S
        did = "suspended" if self.when_short == "suspend" else "requeued"
        self.remarks.append(f"job {least.label} was {did}: caps of nodes are not enough")

    def _put_aside(self, told: Told) -> None:
        if self.when_short == "requeue":
            self._put_back(told.label)
            return
        suspend_aside(self.slurm, self.watcher, told)

    def _put_back(self, label: str) -> None:
        """Queue a job again, held where it then waits for us. Any other nobody would release:
        Slurm starts it, by its licences if it has some."""
        ours = next((job for job in self.watcher.seen
                     if job.label == label and self.watcher.ours(job)), None)
        if ours is None:
            self.slurm.requeue(label, hold=False)
            return
        # Before, since a hold that is not known as ours is an operator's.
        self.slurm.explain(label, self.watcher.comment(put_back(ours.restarts + 1)))
        try:
            self.slurm.requeue(label, hold=True)
        except SlurmError:
            with suppress(SlurmError):
                self.slurm.explain(label, ours.admin_comment)
            raise

    def _say_short(self, short_w: float, why: str) -> None:
        """Once for each cap and reason: what is lacking changes with every reading."""
        cap_w = self.cap_w()
        if (cap_w, why) != self._said_short:
            self._said_short = cap_w, why
            self.remarks.append(f"the cap of {cap_w:,.0f} W cannot be kept: at the lowest caps of "
                                f"nodes {cap_w + short_w:,.0f} W are drawn, {short_w:,.0f} W more, "
                                f"and {why}")

    def _bring_back(self, room_w: float) -> None:
        """Let the first of those aside, by priority, go on where its least fits with room to spare:
        without, the next watt too many would put it aside again, every few seconds."""
        aside = jobs_aside(self.watcher)
        if aside and self.act:
            nodes = self.watcher.node_names(aside[0].nodes)
            needed_w = sum(self._least(nodes).values()) - self._idle_w(aside[0])
            spare_w = BAND * cap_w if (cap_w := self.cap_w()) < math.inf else 0.0
            if needed_w + spare_w <= room_w:
                self.remarks.append(resume(self.slurm, self.watcher, aside[0]))


def shared(
    wanted_w: Mapping[str, float], room_w: float, least_w: Mapping[str, float], margin_w: float,
    band_w: float = 0.0,
) -> tuple[dict[str, float], float]:
    """Caps that let nodes draw no more than the room together, and what is lacking at the least.

    Nodes that need no cap have none; what is lacking is negative where there is room to spare.
    `band_w` is what must be free beside what nodes want for them to have none.
    """
    watts_w = wanted_w.values()
    all_w = sum(watts_w)
    all_least_w = sum(map(min, map(least_w.__getitem__, wanted_w), watts_w))
    lacking_w, spread_w = all_least_w - room_w, all_w - all_least_w
    if all_w <= room_w - band_w:
        return {}, lacking_w
    least = {name: min(least_w[name], watts) for name, watts in wanted_w.items()}
    part = max(-lacking_w - margin_w, 0.0) / spread_w if spread_w > 0.0 else 0.0
    return ({name: least[name] + (watts - least[name]) * part
             for name, watts in wanted_w.items()}, lacking_w)


def _differs(one_w: float, other_w: float) -> bool:
    return one_w != other_w and not abs(one_w - other_w) < 1.0
