"""What nodes report, as powers of jobs and of the machine: admission counts what is measured.

A job that has just begun draws little, and one that waits for its disk draws less than it will: so
the books are told the highest of a while, and only after that while that a job draws less than it
said. More than it said they are told at once where it is much, else as soon as it lasts for some
seconds: a power is joules by the time between two readings, either of which may be late, and the
highest of many such readings would always be above what a job draws.

Less counts only as far as the caps of the job's nodes can take the difference back, should it begin
to draw as much as it said: else others would have been started on it, and nothing would keep the
cap. So it does where nodes obey, down to their lowest caps, and of a job whose nodes still boot it
never does.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from wattline.books import Event, Measured
from wattline.controller.knobs import Knobs
from wattline.controller.told import Told
from wattline.controller.watching import Watcher
from wattline.live.fleet import Fleet, NodeReport
from wattline.live.sensor import Quality
from wattline.live.slurm.reading import STARTING as CONFIGURING

STALE_S = 5.0
"""A report older than this says nothing of now."""
JOB_WINDOW_S = 15.0
STEADY_S = 4.0
"""Readings of so long are averaged before the highest is looked for."""
REST_WINDOW_S = 5.0
"""So long what nobody accounts for must last to be counted: jobs come and go within ticks."""
CLEARLY = 0.2
"""So much above what is known of a job no late reading shows: that counts at once, before nodes
are brought down for it and say no more what it wants."""
_MISSING = Quality.MISSING
"""Looked up once: each look at an enum's member costs a call."""
NEWS = 0.03
"""Changes smaller than this part are not worth a decision."""


@dataclass
class Meters:
    """Keeps the last report of each node, and tells the books what is new."""

    fleet: Fleet
    watcher: Watcher
    expected_w: Callable[[], float]
    """What the books think that the machine draws, the rest included."""
    rest_w: Callable[[], float]
    throttled: Callable[[], Collection[str]] = lambda: ()
    """Nodes that are kept below what their jobs want: their readings say the least of it."""
    latest: dict[str, NodeReport] = field(default_factory=dict)
    also: Callable[[Sequence[NodeReport]], None] = lambda _: None
    """Who else hears all that nodes say."""
    node_idle_w: float = 0.0
    node_least_w: float = 0.0
    """Of a node that the watcher knows no power, or no lowest cap of."""
    knobs: Knobs = field(default_factory=Knobs)
    """Record of which nodes obey their orders."""
    why_silent: dict[str, str] = field(default_factory=dict)
    """Of nodes that report that they have no reading: the reason."""
    _power_w: dict[str, float] = field(default_factory=dict)
    """What each node said last."""
    _heard_s: dict[str, float] = field(default_factory=dict)
    """When that was by our own clock: a node's may be wrong."""
    _heard_between_s: tuple[float, float] = (-math.inf, math.inf)
    """The first and the last of these times."""
    _jobs: dict[str, _JobPower] = field(default_factory=dict)
    _held: dict[str, _JobPower] = field(default_factory=dict)
    """Of jobs whose nodes are kept below what they want."""
    _excess: deque[tuple[float, float]] = field(default_factory=deque)
    _told_w: dict[str, float] = field(default_factory=dict)

    def hear(self, now_s: float) -> None:
        """Take what nodes have said since."""
        reports = self.fleet.reports()
        self.also(reports)
        for report in reports:
            if report.late or report.job:  # they say what was
                continue
            self.knobs.hear(report, now_s)
            if report.quality is _MISSING:
                self.why_silent[report.node] = report.reason
                continue
            self.why_silent.pop(report.node, None)
            self.latest[report.node] = report
            self._power_w[report.node] = report.power_w
            self._heard_s[report.node] = -math.inf if math.isnan(report.power_w) else now_s
        if self._heard_s:
            times_s = self._heard_s.values()
            self._heard_between_s = min(times_s), max(times_s)

    def node_w(self, name: str, now_s: float) -> float:
        """What a node draws now; NaN where it is not known."""
        heard_s = self._heard_s.get(name, -math.inf)
        return self._power_w[name] if abs(now_s - heard_s) <= STALE_S else math.nan

    def heard_s(self, name: str) -> float:
        """When a node last said what it draws, by our own clock."""
        return self._heard_s.get(name, -math.inf)

    def nodes_w(self, now_s: float) -> Mapping[str, float]:
        """What nodes draw now, without those of which it is not known; not to be kept."""
        first_s, last_s = self._heard_between_s
        # Several times per cycle, of thousands of nodes, of which hardly ever one is silent.
        if now_s - first_s <= STALE_S and last_s - now_s <= STALE_S:
            return self._power_w
        return {name: self._power_w[name] for name, heard_s in self._heard_s.items()
                if abs(now_s - heard_s) <= STALE_S}

    def job_w(self, name: str, told: Told) -> float:
        """What a job draws when nothing slows it: as it says, or as measured if that is more."""
        return max(told.watts, self._told_w.get(name, 0.0))

    def machine_w(self, now_s: float) -> float:
        """All nodes together; NaN where one that is in use is silent. A node that reports draws,
        whatever Slurm says of it: one that drains goes on with its job."""
        nodes_w, out = self.nodes_w(now_s), self._out_of_use()
        names = ([name for name in self.watcher.names if name not in out] if out
                 else self.watcher.names)
        out_w = sum(nodes_w[name] if name in nodes_w else self._switched_w(name) for name in out)
        try:
            return float(sum(map(nodes_w.__getitem__, names)) + out_w)
        except KeyError:
            return math.nan

    def _switched_w(self, name: str) -> float:
        """Return what an off or booting node without a reading draws; 0 of others, not known."""
        watcher = self.watcher
        known = name in watcher.switched_off or name in watcher.sleeping.booting
        return watcher.alone_w(name, self.node_idle_w) if known else 0.0

    def silent(self, now_s: float) -> set[str]:
        """Nodes that are in use and have no reading."""
        nodes_w, out = self.nodes_w(now_s), self._out_of_use()
        return set(self.watcher.names).difference(nodes_w, out, self.watcher.sleeping.up_s)

    def left_out(self, now_s: float) -> list[str]:
        """Nodes that take no jobs and have no reading: what the machine draws is without them.
        Those that are switched off are none of them."""
        nodes_w, out = self.nodes_w(now_s), self._out_of_use()
        sleeping = self.watcher.sleeping
        return sorted(out.difference(nodes_w, self.watcher.off, sleeping.off, sleeping.booting))

    def _out_of_use(self) -> set[str]:
        """Nodes that take no jobs and have none, and those that still boot for one."""
        out = self.watcher.down | self.watcher.off
        if not out:
            return out
        has_job = {name for told in self.watcher.told.values() if told.running or told.untold
                   for name in self.watcher.node_names(told.nodes)}
        return (out - has_job) | self.watcher.sleeping.booting

    def events(self, now_s: float) -> list[Event]:
        """A source of events: what the books do not know yet of jobs."""
        self.hear(now_s)
        found: list[Event] = []
        throttled = set(self.throttled())
        nodes_w = self.nodes_w(now_s)
        known = self.knobs.known(now_s)
        for name, told in self.watcher.told.items():
            if told.suspended:  # what it drew says nothing of what it draws once it goes on
                self._jobs.pop(name, None)
                self._told_w[name] = told.watts
            elif told.running and told.nodes:
                job_w = self.watcher.drawn_w(told, nodes_w)
                found += ((self._taken_back(name, told, now_s) if known else [])
                          or self._job(name, told, throttled, now_s, job_w))
        for name in self._jobs.keys() - self.watcher.told.keys():
            for kept in (self._jobs, self._held, self._told_w):
                kept.pop(name, None)
        return found

    def _job(
        self, name: str, told: Told, throttled: set[str], now_s: float, drawn_w: float
    ) -> list[Event]:
        power = self._jobs.get(name)
        if power is None:
            power = self._jobs[name] = _JobPower()
        before_w = self._counted_w(name, told)
        boots = told.row is not None and told.row.state in CONFIGURING
        lowered = boots or (throttled and not throttled.isdisjoint(
            self.watcher.node_names(told.nodes)))
        if lowered or math.isnan(drawn_w):
            power.forget()
            return [] if math.isnan(drawn_w) else self._at_least(name, now_s, drawn_w, before_w)
        if self._held:
            self._held.pop(name, None)
        most_w = power.highest(now_s, drawn_w)
        if drawn_w > (1.0 + CLEARLY) * before_w:
            most_w = drawn_w
        if most_w < before_w:
            most_w = min(max(most_w, self._least_w(told, before_w, now_s)), before_w)
        if (math.isnan(most_w) or abs(most_w - before_w) <= NEWS * before_w
                or (most_w < before_w and not power.lasts)):
            return []
        self._told_w[name] = most_w
        return [Measured(most_w, name)]

    def _counted_w(self, name: str, told: Told) -> float:
        """Return the power that the books count for a job: as told last, also before a restart."""
        if name not in self._told_w:
            counted_w = self.watcher.counted_w(name)
            return told.watts if math.isnan(counted_w) else counted_w
        return self._told_w[name]

    def _least_w(self, told: Told, counted_w: float, now_s: float) -> float:
        """The least that a job counts with, however little it draws: what it says, or was seen to
        draw, on nodes that do not obey, and on others no less than their lowest caps leave it."""
        more = max(counted_w / told.watts, 1.0) if told.watts > 0.0 else 1.0
        return sum(least_w if self.knobs.answers(node, now_s) else more * said_w
                   for node, (said_w, least_w)
                   in self.watcher.said_and_least_w(told, self.node_least_w).items())

    def _taken_back(self, name: str, told: Told, now_s: float) -> list[Event]:
        """Count a job with what it says again where its nodes obey no more."""
        before_w = self._counted_w(name, told)
        if before_w >= told.watts or before_w >= (
                least_w := self._least_w(told, 0.0, now_s)) * (1.0 - NEWS):
            return []
        self._told_w[name] = least_w
        return [Measured(least_w, name)]

    def _at_least(self, name: str, now_s: float, drawn_w: float, before_w: float) -> list[Event]:
        """A job that is slowed and still draws more than is known of it wants as much at least."""
        most_w = self._held.setdefault(name, _JobPower()).highest(now_s, drawn_w)
        if math.isnan(most_w) or most_w <= (1.0 + NEWS) * before_w:
            return []
        self._told_w[name] = most_w
        return [Measured(most_w, name)]

    def rest(self, now_s: float) -> list[Event]:
        """What nobody accounts for, where it is news. It is the difference to what the books count
        now, so it is told apart: beside a start or an end it would be that job's power too."""
        machine_w = self.machine_w(now_s)
        if math.isnan(machine_w):
            return []
        known_w = self.expected_w() - self.rest_w()
        excess_w = machine_w - known_w - self._resting_w(now_s) + self._left_w(now_s)
        _slide(self._excess, now_s, excess_w, REST_WINDOW_S)
        if now_s - self._excess[0][0] < 0.9 * REST_WINDOW_S:
            return []
        rest_w = max(min(watts for _, watts in self._excess), 0.0)
        if abs(rest_w - self.rest_w()) <= NEWS * max(known_w, 1.0):
            return []
        return [Measured(known_w + rest_w)]

    def _left_w(self, now_s: float) -> float:
        """Sum what jobs draw less than is counted for them, beside which other watts go unseen."""
        nodes_w, left_w = self.nodes_w(now_s), 0.0
        for name, told in self.watcher.told.items():
            if told.running and told.nodes and not told.suspended:
                job_w = self.watcher.booked_w(name) - self.watcher.drawn_w(told, nodes_w)
                left_w += job_w if job_w > 0.0 else 0.0  # also where one of them is not known
        return left_w

    def _resting_w(self, now_s: float) -> float:
        """What is kept from the cap for nodes that take no jobs, of those that report."""
        nodes_w = self.nodes_w(now_s)
        off_w = self.watcher.power.off_w
        return sum(max(self.watcher.resting_w(name, self.node_idle_w) - off_w, 0.0)
                   for name in self.watcher.resting if name in nodes_w
                   ) + self.watcher.changing_w(self.node_idle_w)


@dataclass
class _JobPower:
    """What one job draws: readings, and their averages."""

    _readings: deque[tuple[float, float]] = field(default_factory=deque)
    _means_s: deque[float] = field(default_factory=deque)
    """Of which times there are averages."""
    _highest: deque[tuple[float, float]] = field(default_factory=deque)
    """Those averages that no later one has reached, so that the first is the highest of all."""

    @property
    def lasts(self) -> bool:
        """Whether it is known for as long as we look back."""
        return self._means_s[-1] - self._means_s[0] >= 0.9 * JOB_WINDOW_S

    def forget(self) -> None:
        """Nothing from before says anything of what comes."""
        for kept in (self._readings, self._means_s, self._highest):
            kept.clear()

    def highest(self, now_s: float, drawn_w: float) -> float:
        """The highest average of the window with this reading; NaN while none is steady."""
        readings = self._readings
        _slide(readings, now_s, drawn_w, STEADY_S)
        if now_s - readings[0][0] >= 0.7 * STEADY_S:
            mean_w = math.fsum([watts for _, watts in readings]) / len(readings)
            means_s, highest = self._means_s, self._highest
            means_s.append(now_s)
            while now_s - means_s[0] > JOB_WINDOW_S:
                means_s.popleft()
            while highest and highest[-1][1] <= mean_w:
                highest.pop()
            _slide(highest, now_s, mean_w, JOB_WINDOW_S)
        return self._highest[0][1] if self._highest else math.nan


def _slide(window: deque[tuple[float, float]], now_s: float, value: float, span_s: float) -> None:
    window.append((now_s, value))
    while now_s - window[0][0] > span_s:
        window.popleft()
