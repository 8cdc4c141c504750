"""The machine node by node and job by job: `machine.json` in the controller's folder.

`status.json` has the figures and is written after each cycle; this is larger, is for pages and
lists, and is written about once per second.
"""

from __future__ import annotations

import json
import math
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wattline.books import Decision
from wattline.books.energy_budget import budget_now
from wattline.books.explaining import reasons_in_short
from wattline.books.waiting import waiting_rows
from wattline.controller.priorities import usage_j
from wattline.live.slurm.reading import ACTIVE, ENDING, STARTING, WAITING, SlurmJob
from wattline.model.errors import InputError
from wattline.model.files import write_whole
from wattline.model.units import fold_hosts, format_power

if TYPE_CHECKING:
    from wattline.account.fairshare import ShareTree
    from wattline.controller.controller import Controller, Cycle

FILE = "machine.json"
EVERY_S = 1.0
KEPT = 30
"""Decisions and remarks that are shown."""
MOST_JOBS = 20_000
HOLDING = frozenset((*ACTIVE, *STARTING, *ENDING))
"""States in which a job has its nodes."""
MOST_REASONS = 200
"""Waiting jobs whose reason is said: each takes a look at the books."""


@dataclass(frozen=True, eq=False)
class _Written:
    """A job as JSON, and what that was made from."""

    job: SlurmJob
    said: tuple[float | None, float | None, str | None]
    """What the books say of it: what it draws, what it would add, and why it waits."""
    text: str


@dataclass
class MachineWriter:
    """Writes what each node draws and each job does; a listener of the controller's cycle."""

    controller: Controller
    folder: Path
    nodes_w: Callable[[float], Mapping[str, float]] = lambda now_s: {}
    """What nodes draw by their meters, without those of which it is not known."""
    monotonic: Callable[[], float] = time.monotonic
    shares: ShareTree | None = None
    """By which the queue is ordered, if it is."""
    decided: deque[dict[str, Any]] = field(default_factory=lambda: deque(maxlen=KEPT))
    wrote: bool = field(default=False, init=False)
    """Whether the last cycle was one in which it has written."""
    _last_s: float = field(default=-math.inf, init=False)
    _written: dict[str, _Written] = field(default_factory=dict, init=False)
    """By label, what was written of each job last."""

    def __call__(self, cycle: Cycle) -> None:
        self.decided.extend(
            {"time_s": cycle.time_s, "text": said, "job": job}
            for said, job in [*map(self._decision, cycle.decisions),
                              *((remark, None) for remark in cycle.remarks)] if said)
        self.wrote = self.monotonic() - self._last_s >= EVERY_S
        if not self.wrote:
            return
        self._last_s = self.monotonic()
        said = json.dumps({
            "time_s": cycle.time_s, "nodes": self._nodes(cycle.time_s),
            "decisions": list(self.decided), "budget": budget_of(self.controller, cycle.time_s),
            "fairshare": self._factors(cycle.time_s)})
        try:
            write_whole(self.folder / FILE,
                        f'{said[:-1]}, "jobs": [{", ".join(self._jobs(cycle.time_s))}]}}\n')
        except InputError as error:  # a full disk must not stop a controller
            self.controller.notes.append(str(error))

    def _factors(self, now_s: float) -> dict[str, float] | None:
        """The factor of each account and user."""
        if self.shares is None:
            return None
        used_j = usage_j(self.controller.books, self.shares, now_s)
        return {each.name: each.factor for each in self.shares.standings(used_j)}

    def _decision(self, decision: Decision) -> tuple[str, str | None]:
        """What was decided in words; a time to wake is nobody's news."""
        told = self.controller.watcher.told.get(str(decision.job))
        name = None if decision.job is None else str(decision.job) if told is None else told.label
        would = "" if self.controller.act else "would "
        watts = format_power(decision.power_w)
        words = {
            "start": f"job {name} {would}start{'' if would else 's'} with {watts}",
            "resume": f"job {name} {would}go{'' if would else 'es'} on with {watts}",
            "speed": f"job {name} {would}run{'' if would else 's'} with {watts}, to keep the cap",
            "pause": f"job {name} {would}step{'' if would else 's'} aside",
            "refuse": f"job {name} could never start here",
            "level": f"all jobs {would}run at {decision.power_w:.0%} of their power",
            "down": f"{decision.control.units} idle nodes {would}go off",
            "up": f"{decision.control.units} nodes {would}come on"}
        return words.get(decision.kind, ""), name

    def _nodes(self, now_s: float) -> dict[str, list[Any]]:
        watcher, nodes_w = self.controller.watcher, self.nodes_w(now_s)
        job_of: dict[str, str] = {}
        for job in watcher.seen:
            for node in job.node_list if job.state in HOLDING else ():
                job_of[node] = f"{job_of[node]},{job.label}" if node in job_of else job.label
        down, off, boots = watcher.down, watcher.switched_off, watcher.sleeping.booting
        state = ["waking" if name in boots else "off" if name in off else
                 "down" if name in down else
                 "busy" if name in job_of else "idle" for name in watcher.names]
        watts = [round(nodes_w[name], 3) if name in nodes_w else None for name in watcher.names]
        return {"name": list(watcher.names), "state": state, "power_w": watts,
                "job": [job_of.get(name) for name in watcher.names]}

    def _jobs(self, now_s: float) -> list[str]:
        """All jobs, each as JSON: most are as they were a second ago, and are not written anew."""
        books, watcher = self.controller.books, self.controller.watcher
        first = waiting_rows(books)[:MOST_REASONS]
        why = dict(zip(first, reasons_in_short(books, first, now_s), strict=True))
        power_w, added_w = self._figures()
        find, named, obstacles = books.roll.find, watcher.named, watcher.obstacles
        before, self._written = self._written, {}
        for job in watcher.seen[:MOST_JOBS]:  # thousands, once per second
            label = job.label
            row = find(named.get(label, ""))
            drawn_w = adds_w = reason = None
            if job.state in WAITING:
                adds_w = added_w[row] if row >= 0 else None
                reason = obstacles[label].reason if label in obstacles else job.reason
                reason = why.get(row, reason)
            elif row >= 0:
                drawn_w = power_w[row]
            said = (drawn_w, adds_w, reason)
            known = before.get(label)
            if known is None or known.job is not job or known.said != said:
                known = _Written(job, said, json.dumps(_shown(job, *said)))
            self._written[label] = known
        return [each.text for each in self._written.values()]

    def _figures(self) -> tuple[list[float | None], list[float | None]]:
        """Of each job of the books, what it draws and what it would add to its idle nodes."""
        books = self.controller.books
        live = books.state.live[: len(books.roll)]
        node_idle_w = books.machine.power_w_idle / books.machine.node_count
        added_w = np.maximum(live["watts"] - node_idle_w * live["units"], 0.0)
        return _known_all(live["power_w"]), _known_all(added_w)


def _shown(
    job: SlurmJob, power_w: float | None, adds_w: float | None, why: str | None
) -> dict[str, Any]:
    return {
        "job": job.label, "user": job.user, "account": job.account, "name": job.name,
        "state": job.state, "nodes": job.nodes, "submit_s": _known(job.submit_s),
        "start_s": None if job.state in WAITING else _known(job.start_s),
        "limit_s": _known(job.limit_s), "node_list": fold_hosts(job.node_list),
        "power_w": power_w, "adds_w": adds_w, "why": why}


def budget_of(controller: Controller, now_s: float) -> dict[str, float] | None:
    """The period of an energy budget that holds at a time; None where there is none."""
    now = budget_now(controller.books, now_s)
    return None if now is None else {
        "at_s": now.at_s, "start_s": now.start_s, "end_s": now.end_s,
        "budget_j": now.energy_j + now.saved_j, "left_j": now.left_j}


def read_machine(folder: Path) -> dict[str, Any] | None:
    """What the controller of a folder last said of its nodes and jobs; None where it has not."""
    try:
        found = json.loads((folder / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _known_all(values: NDArray[np.float64]) -> list[float | None]:
    found: list[float | None] = values.tolist()
    for place in np.flatnonzero(~np.isfinite(values)).tolist():
        found[place] = None
    return found


def _known(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
