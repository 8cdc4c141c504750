"""`verify`: run every rule on a finished run, and say what was judged and what could not be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from wattline.model.promises import ALL
from wattline.model.run import Run
from wattline.results.verify import caps, job_limits, log, placement, power
from wattline.results.verify._base import Counted, Finding, Judged, Rule, Skipped
from wattline.results.verify.budget.periods import reported, starts
from wattline.results.verify.budget.use import used
from wattline.results.verify.figures import figures, job_columns
from wattline.results.verify.named_policy import by_known_rule
from wattline.results.verify.node_stays import node_stays
from wattline.results.verify.queue.plan import plan
from wattline.results.verify.queue.rules import queue
from wattline.results.verify.run_times import run_times, units_asked
from wattline.results.verify.shared.rules import RULES as SHARED
from wattline.results.verify.shared.rules import is_shared


@dataclass(frozen=True)
class Verification:
    """Findings about one run, the rules that were judged, and those that could not be.

    >>> import wattline as wl
    >>> trace = wl.generate("lublin", seed=1, jobs=20, nodes=32)
    >>> machine = wl.Machine(nodes=32, node_idle_w=90, node_active_w=300)
    >>> found = wl.verify(wl.simulate(trace, machine=machine))
    >>> found.kept, found.sentences
    (True, [])
    >>> [each.why for each in found.skipped]
    ['units were counted, not named']
    """

    findings: tuple[Finding, ...]
    judged: tuple[Judged, ...]
    skipped: tuple[Skipped, ...]

    @property
    def kept(self) -> bool:
        """True where nothing is broken."""
        return not self.findings

    @property
    def sentences(self) -> list[str]:
        """One sentence for each finding; none where all is well."""
        return [found.sentence for found in self.findings]

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain JSON."""
        return {
            "findings": [_plain(found, "rule", "sentence", "job", "time_s")
                         for found in self.findings],
            "judged": [_plain(each, "rule", "title", "decisions", "of") for each in self.judged],
            "not_judged": [_plain(each, "rule", "why") for each in self.skipped],
        }


def verify(
    run: Run, told: Mapping[str, Any] | None = None, columns: Mapping[str, Any] | None = None
) -> Verification:
    """Verify a run by its own records: its log, placement, job table and promises.

    `told` are the metrics that were printed of it, or stand in its folder; `columns` those of its
    table of jobs that follow from others.

    Where the log itself is no log (its columns differ in length, time goes back), only that is
    judged: all else would stumble over the same stone.
    """
    found: list[Finding] = []
    skipped: list[Skipped] = []
    judged: list[Judged] = []
    printed: tuple[Rule[Run], ...] = () if told is None else (
        Rule("metrics", "the metrics are those of the records", lambda run: figures(run, told)),)
    printed += () if columns is None else (
        Rule("jobs.columns", "waits and run times of the table of jobs are those between its times",
             lambda run: job_columns(run, columns)),)
    for rules in (BEFORE_ALL, (*RULES, *printed)):
        for rule in rules:
            if not rule.applies(run):
                continue
            before, counted = len(skipped), Counted(None, None)
            for remark in rule.judge(run):
                if isinstance(remark, Finding):
                    found.append(replace(remark, rule=rule.code))
                elif isinstance(remark, Skipped):
                    skipped.append(replace(remark, rule=rule.code))
                else:
                    counted = remark
            if len(skipped) == before:
                judged.append(Judged(rule.code, rule.title, counted.decisions, counted.of))
        if found:
            break
    return Verification(tuple(found), tuple(judged), tuple(skipped))


def _plain(each: Finding | Judged | Skipped, *names: str) -> Mapping[str, Any]:
    return {name: getattr(each, name) for name in names}


def rules() -> Iterator[Rule[Run]]:
    """All rules, in the order in which they are judged."""
    yield from BEFORE_ALL
    yield from RULES


def _has_cap(run: Run) -> bool:
    return run.cap_w is not None and run.promises.keeps_cap


def _has_whole_units(run: Run) -> bool:
    return not is_shared(run)


def _plans(run: Run) -> bool:
    return run.promises.queue is not None and run.promises.queue.keeps == ALL


def _has_windows(run: Run) -> bool:
    return run.cap_w is not None and bool(run.promises.windows)


def _has_budget(run: Run) -> bool:
    return run.promises.budget is not None and len(run.events) > 0


def _waits_for_energy(run: Run) -> bool:
    return _has_budget(run) and run.node_stays is None


BEFORE_ALL = (
    Rule("log.columns", "columns have a row for each job or event", log.lengths),
    Rule("log.order", "the log goes forward in time, inside the run", log.log_order),
)
RULES = (
    Rule("log.jobs", "each job is submitted, started and ended once, when its table says",
         log.each_job_once),
    Rule("jobs.times", "jobs run after their submission, on units that there are", log.job_times),
    Rule("jobs.units", "jobs run on as many units as they asked for", units_asked,
         _has_whole_units),
    Rule("jobs.run-times", "jobs end when their work is done, or by the rule of overrun",
         run_times, _has_whole_units),
    Rule("jobs.dependencies", "jobs start after those that they depend on", log.dependencies),
    Rule("units.busy", "busy units are the sum over running jobs", log.busy_units),
    Rule("queue.length", "the queue is what was submitted and not started", log.queue_length),
    Rule("units.placement", "no unit is held twice", placement.placement),
    Rule("queue.rule", "nobody is passed, delayed or kept waiting against the rule of the queue",
         by_known_rule(queue), lambda run: not _plans(run) and not _waits_for_energy(run)),
    Rule("queue.plan", "nobody starts later than he could count on when he arrived", plan,
         lambda run: _plans(run) and not _waits_for_energy(run)),
    Rule("energy.machine", "the machine's energy is the integral of its power", power.energy),
    Rule("energy.parts", "energies of jobs and idle units make the whole", power.idle_and_jobs),
    Rule("power.jobs", "the machine's power is that of its jobs and idle units",
         power.power_of_jobs),
    Rule("power.own", "jobs draw the power that is known of them", power.own_power,
         lambda run: run.promises.full_speed),
    Rule("power.nodes", "no job draws more than at full speed", power.jobs_within_nodes),
    Rule("power.machine", "the power is one that the machine can draw",
         power.power_within_machine),
    Rule("cap.totals", "peak, and time and energy above the cap, are those of the log",
         power.cap_and_peak),
    Rule("cap.parts", "no rack, feed or view is above its bound", caps.within_bounds,
         lambda run: bool(run.bounds)),
    Rule("jobs.share", "no job is started with more than its share of the power",
         job_limits.within_shares, lambda run: run.promises.shares is not None),
    Rule("units.shared", "what jobs had on shared nodes is what the log has of them",
         node_stays, lambda run: run.node_stays is not None or bool(run.node_bounds)),
    Rule("jobs.frequency", "each job runs at a frequency that it allows", job_limits.frequencies,
         lambda run: run.promises.frequencies is not None),
    Rule("units.reserved", "no job is on reserved units", placement.reserved_units,
         lambda run: bool(run.reservations)),
    Rule("cap.starts", "no start takes the machine above its cap", caps.cap_at_starts, _has_cap),
    Rule("cap.events", "no end or change takes the machine above its cap",
         caps.cap_at_every_event, _has_cap),
    Rule("cap.windows", "caps that are known beforehand are kept", caps.cap_windows, _has_windows),
    Rule("budget.starts", "no job starts without energy for it", starts, _has_budget),
    Rule("budget.reported", "periods above their energy budget are reported", reported,
         _has_budget),
    Rule("budget.used", "nobody waits who could start under the energy budget, nor starts who "
         "could not", by_known_rule(used), _waits_for_energy),
    *SHARED,
)
