"""The live machine as a source: what its controller shows, and what its ledger has measured."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from wattline.controller.configuration import SiteConfig, read_configuration
from wattline.controller.course import read_course
from wattline.controller.node_power import NodePower
from wattline.controller.showing import read_machine
from wattline.controller.speaking import USUAL_CONFIG, live_order
from wattline.controller.status import read_status
from wattline.model.cap_slack import CAP_SLACK
from wattline.model.clock import unix_s
from wattline.model.errors import InputError, WattlineError
from wattline.model.signal import FloatArray
from wattline.model.units import format_power, parse_hosts
from wattline.web.places import ServerPlaces
from wattline.web.settings import HELD_S
from wattline.web.sources import live_course, live_jobs, live_joules, live_parts
from wattline.web.sources.acting import ACTIONS, checked
from wattline.web.sources.live_ledger import LedgerPages
from wattline.web.sources.part_alarms import part_alarms
from wattline.web.sources.rates import live_rates
from wattline.web.sources.shape import (
    About,
    AccountTable,
    Act,
    Alarm,
    BillTable,
    BudgetTable,
    Decision,
    Done,
    History,
    JobDetail,
    JobPage,
    JobQuestion,
    NodePage,
    Now,
    RackTable,
    SourceName,
)

DAY_S = 86_400.0


@dataclass(frozen=True)
class Seen:
    """What the controller's folder says at one moment."""

    status: dict[str, Any]
    machine: dict[str, Any]
    read_s: float


class LiveSource:
    """Reads the controller's folder once per beat, whoever asks how often."""

    def __init__(
        self, config: str | Path = USUAL_CONFIG, *, stale_after_s: float = 10.0,
        price: float | str | None = None, carbon: float | str | None = None,
        clock: Callable[[], float] = unix_s,
    ) -> None:
        self.site: SiteConfig = _site(Path(config))
        self.config, self.folder = Path(config).absolute(), Path(self.site.folder)
        self.places = ServerPlaces({
            str(self.config): "the site's file", str(self.folder): "the controller's folder",
            self.site.ledger: "the ledger", self.site.cap_file: "of the site"})
        self.stale_after_s, self.clock = stale_after_s, clock
        self.rates = live_rates(price, carbon, clock())
        # Second 0 is the midnight before last, so that what jobs did lately has times above 0 and
        # a server that is started again the same day counts alike.
        self.epoch_s = math.floor(clock() / DAY_S - 1) * DAY_S
        self.ledger = LedgerPages(self.site.ledger)
        self.lock = threading.Lock()
        self._seen: Seen | None = None

    def seen(self) -> Seen:
        with self.lock:
            now_s = self.clock()
            if self._seen is None or abs(now_s - self._seen.read_s) >= HELD_S:
                status = read_status(self.folder, running=False)
                self._seen = Seen(status, read_machine(self.folder) or {}, now_s)
            return self._seen

    def turn(self) -> None:
        with self.lock:
            self._seen = None

    def users(self, jobs: Collection[str]) -> dict[str, str | None]:
        """From what Slurm shows; of jobs that are over, from the ledger."""
        shown = {str(each["job"]): each["user"] or None
                 for each in self.seen().machine.get("jobs", [])}
        over = [job for job in jobs if job not in shown]
        return self.ledger.users(over) | {job: shown[job] for job in jobs if job in shown}

    def about(self) -> About:
        from importlib.metadata import version

        said = [] if self.site.broker is not None else [
            "nodes have no agents: the power is that of the books, and no joules are measured"]
        said += ["the course of power is that of the last day, as the controller wrote it down",
                 *live_parts.missing(self.site).values(), *self.rates.assumptions()]
        try:
            if not self.seen().status["act"]:
                said.append("the controller is a dry run: it starts nothing")
        except WattlineError as error:
            said.append(self.places.withheld(str(error)))
        return About(version("wattline"), SourceName("live", self.site.cluster, 1.0), said,
                     list(ACTIONS))

    def now(self) -> Now:
        seen = self.seen()
        status = seen.status
        nodes, stale_s = status["nodes"], self._stale_s(seen)
        power_w, cap_w = _power_w(status), status["cap_w"]
        target = status.get("target") or {}
        idle = int(nodes["free"]) + int(nodes["off"]) + int(nodes["changing"]) + int(nodes["down"])
        decisions = [Decision(each["time_s"] - self.epoch_s, self.places.withheld(each["text"]),
                              each["job"]) for each in reversed(seen.machine.get("decisions", []))]
        by = live_parts.parts(self.site, self._node_powers(seen))
        return Now(
            time_s=self._time_s(seen), epoch_s=self.epoch_s, power_w=power_w, cap_w=cap_w,
            target_w=target.get("watts"), idle_w=status["idle_w"], max_w=status["machine_w"], by=by,
            running=status["running"]["count"], queued=status["waiting"]["count"],
            busy_nodes=max(int(nodes["units"]) - idle, 0), nodes=int(nodes["units"]),
            decisions=decisions[:12],
            alarms=sorted([*self._alarms(seen, stale_s), *part_alarms(by)],
                          key=lambda alarm: alarm.level != "critical"), stale_s=stale_s,
            reservations=live_jobs.reservations(status, self.epoch_s),
            measured=status["measured_w"] is not None, missing=live_parts.missing(self.site),
            mode=status.get("mode"), mode_since_s=self._mode_since_s(status),
            node_max_w=live_parts.node_max_w(self.site))

    def history(self, from_s: float | None, to_s: float | None, points: int) -> History:
        if from_s is not None and to_s is not None and to_s < from_s:
            raise InputError(f"to_s ({to_s:g}) is before from_s ({from_s:g})")
        return live_course.history(self._course(), -math.inf if from_s is None else from_s,
                                   math.inf if to_s is None else to_s, points)

    def nodes(self, offset: int, limit: int) -> NodePage:
        """Rack by rack, so that those of a rack are a page."""
        seen = self.seen()
        names = [name for _, members in live_parts.by_rack(self.site, _column(seen, "name"))
                 for name in members]
        rows = names[offset : offset + limit]
        state, job, watts = _named(seen, "state"), _named(seen, "job"), self._node_powers(seen)
        return NodePage(self._heard_s(seen) - self.epoch_s, len(names), offset, rows,
                        [state[name] for name in rows], [watts[name] for name in rows],
                        [job[name] for name in rows])

    def racks(self) -> RackTable:
        seen = self.seen()
        return live_parts.rack_table(self._heard_s(seen) - self.epoch_s,
                                     live_parts.by_rack(self.site, _column(seen, "name")),
                                     _named(seen, "state"), self._node_powers(seen))

    def queue(self, offset: int, limit: int) -> JobPage:
        seen = self.seen()
        return live_jobs.queue(seen.machine, self.epoch_s, self._heard_s(seen), offset, limit)

    def jobs(self, question: JobQuestion) -> JobPage:
        seen = self.seen()
        return live_jobs.page(seen.machine, self.ledger, self.epoch_s, self._heard_s(seen),
                              question)

    def job(self, job: str) -> JobDetail:
        found = live_jobs.detail(self.seen().machine, self.ledger, self.config, self.epoch_s,
                                 self.clock(), job, self.rates)
        return replace(found, explanation=self.places.withheld(found.explanation))

    def accounts(self, by: str, owner: str | None) -> AccountTable:
        return live_joules.accounts(self.ledger, by, owner, self.rates,
                                    self.seen().machine.get("fairshare"))

    def budget(self) -> BudgetTable:
        return live_joules.budget(self.seen().machine.get("budget"), self.epoch_s)

    def bill(self, by: str, owner: str | None) -> BillTable:
        return live_joules.bill(self.ledger, by, owner, self.rates, self.epoch_s, self.clock())

    def energy_j(self) -> float | None:
        found = self.seen().status.get("energy_j")
        return None if found is None else float(found)

    def finished(self) -> dict[str, int]:
        return self.ledger.finished()

    def consequences(self, act: Act) -> list[str]:
        checked(act)
        seen = self.seen()
        if self._stale_s(seen):
            raise WattlineError(f"the controller has been silent for {self._stale_s(seen):,.0f} s: "
                                "nothing can be ordered of it")
        if act.action == "set_mode":  # which jobs are whose only the controller knows
            found = live_order(self.config, "preview_mode", **act.value)
            return [*map(self.places.withheld, (found.said, *map(str, found.result["remarks"])))]
        return live_jobs.consequences(act, seen.status, seen.machine)

    def apply(self, act: Act, who: str) -> Done:
        """Order it at the controller's desk, as `wattline power set --live` does."""
        checked(act)
        fields = {name: value for name, value in act.value.items() if name != "in_s"}
        if act.action == "reserve":
            fields["start_s"] = self.clock() + float(act.value.get("in_s") or 0.0)
        found = live_order(self.config, act.action, **fields, for_whom=who)
        self.turn()
        return Done(self.places.withheld(found.said), self.clock() - self.epoch_s,
                    [self.places.withheld(str(each)) for each in found.result.get("remarks", ())])

    def _time_s(self, seen: Seen) -> float:
        return seen.read_s - self.epoch_s

    def _heard_s(self, seen: Seen) -> float:
        """Of when the controller's figures are: the last that it said, once it is silent."""
        return float(seen.status["time_s"]) if self._stale_s(seen) else seen.read_s

    def _mode_since_s(self, status: dict[str, Any]) -> float | None:
        since_s = status.get("mode_since_s")
        return None if since_s is None else float(since_s) - self.epoch_s

    def _stale_s(self, seen: Seen) -> float:
        silent_s = self.clock() - float(seen.status["time_s"])
        return silent_s if silent_s > self.stale_after_s else 0.0

    def _course(self) -> FloatArray:
        """The last day, in seconds of this source."""
        rows = read_course(self.folder, self.clock())
        rows[:, 0] -= self.epoch_s
        return rows

    def _node_powers(self, seen: Seen) -> dict[str, float | None]:
        """By its meter, else by the books: a job's power over its nodes, idle power elsewhere."""
        jobs = {each["job"]: each for each in seen.machine.get("jobs", [])}
        idle_w, booting_w = self._idle_w(), NodePower.of(self.site).booting_w
        found: dict[str, float | None] = {}
        for name, state, drawn_w, job in zip(*(
                _column(seen, column) for column in ("name", "state", "power_w", "job")),
                strict=True):
            if drawn_w is not None:
                found[name] = drawn_w
            elif state in ("off", "down"):
                found[name] = self.site.node_off_w if state == "off" else None
            elif state == "waking":
                found[name] = booting_w(name, self.site.node_active_w)
            else:
                job_w = (jobs.get(job) or {}).get("power_w")
                found[name] = (idle_w[name] if job_w is None else
                               job_w / max(int(jobs[job]["nodes"]), 1))
        return found

    def _idle_w(self) -> dict[str, float]:
        return {name: self.site.node_idle_w if kind.idle_w is None else kind.idle_w
                for kind in self.site.kinds for name in parse_hosts(kind.nodes)}

    def _alarms(self, seen: Seen, stale_s: float) -> list[Alarm]:
        status = seen.status
        heard_s = float(status["time_s"]) - self.epoch_s
        found = []
        if stale_s:
            found.append(Alarm("critical", f"the controller has been silent for {stale_s:,.0f} s; "
                               "figures are the last that it said", heard_s))
        if not status["slurm_answers"]:
            why = self.places.withheld(str(status["last_error"]))
            found.append(Alarm("critical", f"Slurm does not answer: {why}",
                               status["last_error_s"] - self.epoch_s
                               if status["last_error_s"] is not None else None))
        power_w, cap_w = _power_w(status), status["cap_w"]
        if power_w is not None and cap_w is not None and power_w > cap_w * (1 + CAP_SLACK):
            found.append(Alarm("critical", f"{format_power(power_w - cap_w)} above the cap of "
                               f"{format_power(cap_w)}", live_course.above_since(self._course())))
        silent = sum(drawn_w is None and state not in ("off", "down", "waking")
                     for drawn_w, state in zip(
            _column(seen, "power_w"), _column(seen, "state"), strict=True))
        if self.site.broker is not None and silent:
            found.append(Alarm("warning", f"the meters of {silent:,} nodes are silent: the books "
                               "stand in for them", None))
        if not status["act"]:
            found.append(Alarm("warning", "the controller is a dry run: it starts nothing", None))
        return found


def _site(config: Path) -> SiteConfig:
    if not config.is_file():
        raise InputError(f"there is no file {config}: name the controller's with --config")
    return read_configuration(config)


def _power_w(status: dict[str, Any]) -> float | None:
    found = status["power_w"] if status["measured_w"] is None else status["measured_w"]
    return None if found is None else float(found)


def _column(seen: Seen, name: str) -> list[Any]:
    return list(seen.machine.get("nodes", {}).get(name, []))


def _named(seen: Seen, column: str) -> dict[str, Any]:
    return dict(zip(_column(seen, "name"), _column(seen, column), strict=True))
