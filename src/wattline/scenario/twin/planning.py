"""A scenario with a `[twin]` made ready: simulated by the rules for shared nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from wattline.analysis.budget import budget_lines
from wattline.analysis.result import Result
from wattline.engine.prepare import Rules as EngineRules
from wattline.model.cap_value import percentile_w
from wattline.model.errors import InputError, in_callers_terms
from wattline.model.fields import name_of
from wattline.model.machine import Machine
from wattline.model.promises import Promises
from wattline.model.reading import is_file
from wattline.model.run import PowerBound, Run
from wattline.model.run_clock import RunClock
from wattline.model.signal import Signal
from wattline.scenario.budget_notes import budget_notes
from wattline.scenario.build import Plan
from wattline.scenario.caps import is_cap_file, without_cap
from wattline.scenario.model import Scenario
from wattline.scenario.policies import Readers
from wattline.scenario.refusals import kept_aside
from wattline.scenario.times import clock_of, reservations_of
from wattline.scenario.twin.asked import Counter
from wattline.scenario.twin.beside import BACKFILLS, SLURM, beside_twin, without_effect
from wattline.scenario.twin.caps import cap_over_time
from wattline.scenario.twin.claimed_outcome import with_classes
from wattline.scenario.twin.claims import ClaimedJobs, claimed_jobs
from wattline.scenario.twin.energy_budget import (
    joule_budget,
    promised,
    said_of_room,
    what_it_kept,
)
from wattline.scenario.twin.energy_share import rules_by_joules
from wattline.scenario.twin.outcome import run_of
from wattline.scenario.twin.part_limits import part_limits, said_of_parts
from wattline.scenario.twin.record import record_of
from wattline.scenario.twin.section import FILES
from wattline.scenario.twin.site import Site, read_site
from wattline.scenario.twin.tables import machine_of, trace_of
from wattline.scenario.unused import WATTS_UNUSED
from wattline.shared_nodes import outcome
from wattline.shared_nodes.bound_sums import stays_of
from wattline.shared_nodes.giving_up import OVER_CAP
from wattline.shared_nodes.joule_budget import JouleBudget
from wattline.shared_nodes.requests import Requests
from wattline.shared_nodes.rules import BUILTIN, Rules
from wattline.traces import Trace

NOT_RUN = "not_run_"
"""Notes of a run that begin so count the jobs that never ran, by reason."""
REFUSED = "a twin decides as Slurm does, event by event in its own simulation"


class SlurmDecides:
    """In the place of a policy: nobody but the twin's own simulation may ask it."""

    def decide(self, view: Any) -> Any:
        raise InputError(f"{REFUSED}; this needs a policy along the axes")


@dataclass(frozen=True, eq=False)
class TwinPlan(Plan):
    """A plan whose run goes by Slurm's rules on shared nodes."""

    site: Site | None = None
    slurm: Rules = field(default_factory=Rules)
    cap_w: Signal | None = None
    """What is kept; a cap that is only watched is not among it."""
    parts: tuple[PowerBound, ...] = ()
    """Limits of parts of the machine. Not among `bounds`, which are of a run's units."""
    budget: JouleBudget | None = None
    claimed: ClaimedJobs | None = None
    """Where claims choose the class of node."""

    def run(
        self, progress: Callable[[float], None] | None = None,
        before_compiling: Callable[[], None] | None = None,
    ) -> Result:
        return self.finished(self.simulated(self.scenario.twin.phase_s, progress))  # type: ignore[union-attr]

    def plain_run(
        self, progress: Callable[[float], None] | None = None,
        before_compiling: Callable[[], None] | None = None,
    ) -> Run:
        return self.run(progress)

    def simulated(
        self, phase_s: float, progress: Callable[[float], None] | None = None
    ) -> Run:
        """One run with the scheduler's loop shifted by so much."""
        return self.simulated_and_told(phase_s, progress)[0]

    def simulated_and_told(
        self, phase_s: float, progress: Callable[[float], None] | None = None
    ) -> tuple[Run, tuple[str, ...]]:
        """The same, and which of its remarks are of jobs that did not run as others."""
        assert self.site is not None
        found = _simulate(self.site, self.slurm, self.cap_w, phase_s, self.parts, self.budget,
                          progress)
        run = run_of(found, self.jobs, self.site.machine, self.machine, self.rules.cap_w,
                     found.engine_s)
        kept = {} if self.budget is None else what_it_kept(self.budget, found, run)
        of_jobs = (*turned_away(found, self.site.made.requests), *said_of_room(kept))
        run = replace(run, notes={**run.notes, **_reasons(found),
                                  **(budget_notes(kept) if kept else {})}, budget=kept,
                      set_aside=tuple(np.flatnonzero(found.reason == OVER_CAP).tolist()),
                      reservations=reservations_of(self.scenario,
                                                   clock_of(self.scenario, self.jobs)),
                      promises=Promises(keeps_cap=self.cap_w is not None,
                                        budget=promised(self.budget, run.end_s)),
                      node_stays=stays_of(found), node_bounds=self.parts,
                      slurm=record_of(self.site.machine, self.site.made.requests, self.slurm, found,
                                      outages=self.site.outages, budget=self.budget),
                      remarks=(*of_jobs,
                               *said_of_parts(self.site.machine, found, self.parts)))
        if self.claimed is not None:
            run = with_classes(run, found, self.site.made.requests, self.claimed)
        return run, of_jobs

    def finished(self, run: Run) -> Result:
        found = replace(
            Result.of(run), assumed=self.assumed,
            scenario=self.scenario.model_dump(mode="json", exclude_none=True, by_alias=True))
        from wattline.scenario.remarks import outside_run

        said = (*self.trace.remarks, *run.remarks, *self.told(), *outside_run(self, found),
                *self.not_run(found),
                *self.assumed, *budget_lines(found))
        return replace(found, remarks=tuple(dict.fromkeys(said)))

    def told(self) -> list[str]:
        """What the files say and the twin does not follow, and what contradicts itself."""
        assert self.site is not None
        lists = self.site.lists
        found = [*self.left_out, *without_effect(self.scenario)]
        if self.scenario.reservations and self.rules.cap_w is None:
            found.append(WATTS_UNUSED)
        found += [f"contradiction: {line}" for line in lists.contradictions]
        for word, lines in (("not modelled", lists.not_modelled), ("unknown", lists.unknown)):
            if lines:
                found.append(f"{word}: {'; '.join(lines)}")
        return found

    def not_run(self, run: Run) -> list[str]:
        """Jobs that never ran, by reason."""
        missing = int((~run.ran).sum())
        if not missing:
            return []
        reasons = ", ".join(f"{of_several(reason, count)} ({count:,})"
                            for reason, count in not_run_reasons(run).items())
        aside = np.array(run.set_aside, dtype=np.int64)
        return [f"{missing:,} of {len(run.jobs):,} jobs never ran: {reasons}; the figures are of "
                "the others", *([kept_aside(self, aside)] if aside.size else [])]


def not_run_reasons(run: Run) -> dict[str, int]:
    """Why jobs never ran, and how many."""
    return {name.removeprefix(NOT_RUN).removesuffix("_jobs").replace("_", " "): int(count)
            for name, count in run.notes.items() if name.startswith(NOT_RUN)}


def of_several(reason: str, count: int) -> str:
    """A reason of one job as it is said of so many."""
    if count == 1:
        return reason
    for one, several in (("for it", "for them"), ("it asks", "they ask"), ("it waits", "they wait"),
                         ("that it may", "that they may"), ("that it would", "that they would"),
                         ("its ", "their ")):
        reason = reason.replace(one, several)
    return reason


def twin_plan(scenario: Scenario) -> TwinPlan:
    """Read the site's files and make its machine, jobs and rules."""
    scenario, left_out = without_cap(scenario)
    said = beside_twin(scenario)
    if said:
        raise InputError(f"{scenario.name}: {said}")
    scenario = _resolved(scenario)
    site = site_of(scenario)
    scenario = _with_date(scenario, site)
    machine = _machine(scenario, site)
    trace = trace_of(site, str(scenario.trace.file))
    rules, counted = rules_by_joules(scenario, site, site.rules)
    if name_of(scenario.policy.backfill) == "none":
        rules = replace(rules, scheduler=BUILTIN)
    claimed = claimed_jobs(scenario, site, rules, machine, Readers(
        scenario, trace.jobs, machine, dict(trace.logged)))
    if claimed is not None:
        site = _choosing(site, claimed)
    cap_w = _cap(scenario, site, rules, machine, clock_of(scenario, trace.jobs))
    kept = cap_w if scenario.power.watch_cap is None else None
    parts, assumed = part_limits(scenario, machine, site.machine)
    budget, kept_by = joule_budget(scenario, machine, trace.jobs)
    return TwinPlan(
        scenario, trace, trace.jobs, machine, SlurmDecides(),
        EngineRules(granularity="core", overrun="kill", cap_w=cap_w),
        tuple(in_callers_terms(line) for line in (
            *site.lists.assumed, *assumed, *kept_by, *counted,
            *(() if claimed is None else claimed.said))),
        left_out=left_out, site=site, slurm=rules, cap_w=kept, parts=parts, budget=budget,
        claimed=claimed)


def _with_date(scenario: Scenario, site: Site) -> Scenario:
    """With the date of the log's second 0, which tables with dates are put beside."""
    if scenario.trace.unix_start_s is not None or site.log.unix_start_s is None:
        return scenario
    section = scenario.trace.model_copy(update={"unix_start_s": site.log.unix_start_s})
    return scenario.model_copy(update={"trace": section})


def site_of(scenario: Scenario) -> Site:
    """The files of a scenario's twin, read."""
    assert scenario.twin is not None
    assert scenario.trace.file is not None
    return read_site(scenario.twin, scenario.trace.file, scenario.trace.jobs,
                     scenario.trace.zone or "")


def twin_trace(scenario: Scenario) -> Trace:
    """The jobs of a twin as a trace."""
    return trace_of(site_of(scenario), str(scenario.trace.file))


def twin_machine(scenario: Scenario) -> Machine:
    """The machine of a twin; the log is read too, whose accounts belong to it."""
    return _machine(scenario, site_of(scenario))


def _machine(scenario: Scenario, site: Site) -> Machine:
    made = machine_of(site.machine)
    given = scenario.machine.model_fields_set
    named = {name: getattr(scenario.machine, name) for name in ("name", "site") if name in given}
    return replace(made, **named)


def _simulate(site: Site, rules: Rules, cap_w: Signal | None, phase_s: float,
              parts: tuple[PowerBound, ...] = (), budget: JouleBudget | None = None,
              progress: Callable[[float], None] | None = None) -> outcome.Schedule:
    from wattline.shared_nodes.simulate import simulate_shared

    return simulate_shared(site.machine, site.made.requests, rules, cap=cap_w,
                           outages=site.outages, bounds=parts, budget=budget,
                           phase_s=phase_s, progress=progress)


def _choosing(site: Site, claimed: ClaimedJobs) -> Site:
    """The same jobs, which choose among classes of node."""
    requests = replace(site.made.requests, options=claimed.options)
    return replace(site, made=replace(site.made, requests=requests))


def _cap(scenario: Scenario, site: Site, rules: Rules, machine: Machine,
         clock: RunClock) -> Signal | None:
    """The cap in watts, kept or watched; a percentage of the run without one takes that run."""

    def uncapped_w(percent: float) -> float:
        free = _simulate(site, rules, None, scenario.twin.phase_s)  # type: ignore[union-attr]
        if percent == 100.0:
            return float(free.event_power_w.max(initial=machine.power_w_idle))
        steps_s = np.diff(free.event_time_s, append=np.nanmax(free.end_s, initial=0.0))
        return percentile_w(free.event_power_w, steps_s, percent)

    return cap_over_time(scenario, machine, uncapped_w, clock)


def _resolved(scenario: Scenario) -> Scenario:
    """With whole paths, so that its copy in a run's folder can be run again."""
    assert scenario.twin is not None
    files = {name: str(Path(value).resolve()) for name in FILES
             if (value := getattr(scenario.twin, name)) is not None and is_file(value)}
    changes: dict[str, Any] = {"twin": scenario.twin.model_copy(update=files)}
    if name_of(scenario.policy.backfill) not in BACKFILLS:
        changes["policy"] = scenario.policy.model_copy(update={"backfill": SLURM})
    file = scenario.trace.file
    if file is not None and is_file(file):
        changes["trace"] = scenario.trace.model_copy(update={"file": file.resolve()})
    caps = {name: getattr(scenario.power, name) for name in ("cap", "watch_cap")}
    found = {name: str(Path(cap).resolve()) for name, cap in caps.items()
             if is_cap_file(cap)}
    if found:
        changes["power"] = scenario.power.model_copy(update=found)
    return scenario.model_copy(update=changes)


def _reasons(found: outcome.Schedule) -> Mapping[str, float]:
    """How many jobs never ran, by reason."""
    never = ~(np.isfinite(found.start_s) & np.isfinite(found.end_s))
    counts: dict[str, float] = {}
    for row in np.flatnonzero(never).tolist():
        reason = outcome.REASONS[int(found.reason[row])] or "it waits for what never comes"
        name = f"{NOT_RUN}{reason.replace(' ', '_')}_jobs"
        counts[name] = counts.get(name, 0.0) + 1
    return counts


def turned_away(found: outcome.Schedule, requests: Requests) -> tuple[str, ...]:
    """Jobs that were refused, kept waiting, lost or requeued, with the first of their ids.

    Those that did not fit when the log was read are among the remarks of the log already.
    """
    said = Counter()
    ended = {outcome.REFUSED: "refused at its submission", outcome.NEVER: "waits for ever"}
    lost = {outcome.NODE_FAILED: "lost while it ran, as a node failed, and not requeued",
            outcome.PREEMPTED: "lost while it ran, as it was preempted, and not requeued"}
    known = np.zeros(len(found.state), np.int64) if requests.refused is None else requests.refused
    for row in np.flatnonzero(np.isin(found.state, list(ended)) & (known == 0)).tolist():
        reason = outcome.REASONS[int(found.reason[row])] or "what it waits for never comes"
        said.note(f"{ended[int(found.state[row])]}: {reason}", requests.job_ids[row])
    for row in np.flatnonzero(np.isin(found.state, list(lost))).tolist():
        said.note(lost[int(found.state[row])], requests.job_ids[row])
    for row in np.flatnonzero(found.requeues > 0).tolist():
        said.note("requeued while it ran; its start and end are those of its last run, and its "
                  "joules those of all runs", requests.job_ids[row])
    return said.lines()
