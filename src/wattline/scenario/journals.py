"""Journals of scenarios: a simulation that writes one, and asking one again.

A journal holds the scenario it was made with and then only what a real machine could tell: no run
times. Its replay makes the policy from the scenario and the submissions, and tells the events.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from wattline.books import Books, Ended, Paced, Submitted
from wattline.books.journal import Entry, JournalLines, read_journal
from wattline.books.replay import Difference, Replay, replay
from wattline.books.roll import NAMED, Roll
from wattline.engine.simulate import collect
from wattline.engine.telling import Teller, declares_work
from wattline.model.errors import InputError
from wattline.model.files import replacing
from wattline.model.jobs import JobTable
from wattline.model.reading import is_file
from wattline.model.run import Run
from wattline.policies.contract import Composition
from wattline.policies.memory import memories
from wattline.scenario.build import Plan, plan
from wattline.scenario.load import load, validate
from wattline.scenario.model import CapPlan, Scenario
from wattline.traces import Trace

NO_TRUTH = float("inf")
_NO_AXES = ("a journal needs a policy along the axes: one written in Python keeps what it "
            "remembers to itself")


def run_with_journal(
    plan: Plan, path: str | Path, progress: Callable[[float], None] | None = None
) -> Run:
    """The plan's run, event by event, with its journal written whole or not at all."""
    policy = _along_axes(plan)
    declares = declares_work(policy)
    teller = Teller(plan.jobs, plan.machine, policy, plan.rules)
    with replacing(path) as draft, Path(draft).open("w") as out:
        write = JournalLines()
        out.write(write.head(_head(plan, teller)))

        def watch(now_s: float, events: Any, decisions: Any, answers: Any) -> None:
            told = events if declares else [_without_truth(event) for event in events]
            out.write(write.entry(now_s, told, decisions))
            if answers:
                out.write(write.entry(now_s, answers, None))
            if progress is not None:
                progress(float(teller.books.record.meter[0].done) / max(len(plan.jobs), 1))

        books = teller.run(watch)
        out.write(write.end())
    run = collect(plan.jobs, plan.machine, plan.rules, books.state, books.record, 0.0)
    return plan.finished(replace(run, memories=memories(books.policy)))


def _without_truth(event: Any) -> Any:
    return replace(event, work_s=NO_TRUTH) if isinstance(event, Submitted) else event


def _head(plan: Plan, teller: Teller) -> dict[str, Any]:
    """What a replay needs beside the events; the cap as it was found, in watts."""
    scenario = plan.scenario
    cap = plan.rules.cap_w
    if cap is not None and scenario.power.cap is not None and not isinstance(
        scenario.power.cap, CapPlan
    ):
        steps = [{"time_s": max(float(at_s), 0.0), "watts": float(watts)}
                 for at_s, watts in zip(cap.time_s, cap.value, strict=True)]
        power = scenario.power.model_dump(mode="json", exclude_none=True) | {"cap": steps}
        scenario = validate(
            scenario.model_dump(mode="json", exclude_none=True) | {"power": power}, "journal")
    return {"scenario": scenario.model_dump(mode="json", exclude_none=True),
            "start_s": teller.books.now_s,
            "cap_w_max": float(teller.books.state.clock[0].cap_w_max)}


@dataclass(frozen=True, eq=False)
class Asked:
    """A journal and what came of asking it again."""

    result: Replay
    jobs: int
    damaged: Sequence[int]
    """Lines whose checksum does not fit."""
    complete: bool
    """Whether the journal's writer came to its end."""
    alternative: Run | None = None
    """The run of the same jobs under another policy, where one was asked for."""

    @property
    def equal(self) -> bool:
        return self.result.equal and not self.damaged


def replay_journal(
    journal: str | Path, scenario: str | Path | Scenario | None = None, *,
    allow_code: bool = False,
) -> Asked:
    """Ask a journal again, decision by decision; or what the policy of a scenario would do.

    A scenario's file that you name may run code; a journal, or a `Scenario`, with `allow_code`.
    """
    if scenario is None:
        return ask_again(journal, allow_code=allow_code)
    if isinstance(scenario, Scenario):
        return ask_another(journal, scenario, allow_code=allow_code)
    named = is_file(scenario) or str(scenario).startswith("bundled:")
    return ask_another(journal, load(scenario), allow_code=allow_code or named)


def ask_again(path: str | Path, *, allow_code: bool = False) -> Asked:
    """Tell the journal's events to fresh books and compare their decisions."""
    journal = _journal(path)
    entries = list(journal.entries())
    ready = _plan(journal.head, entries, str(path), allow_code=allow_code)
    result = replay(_books(journal.head, ready), entries,
                    lambda given: _along_axes(_plan({"scenario": given}, entries, str(path),
                                                    allow_code=allow_code)))
    return Asked(result, len(ready.jobs), tuple(journal.damaged), journal.complete)


def ask_another(path: str | Path, other: Scenario, *, allow_code: bool = False) -> Asked:
    """What another policy would have done with the same jobs.

    Jobs are as much work as they were seen to do; those that the journal does not see to their end
    are taken to run as long as they asked for.
    """
    if other.policy.python is not None:
        raise InputError(_NO_AXES)
    journal = _journal(path)
    entries = list(journal.entries())
    scenario = Scenario.model_validate(journal.head["scenario"]).model_copy(update={
        "policy": other.policy, "power": other.power, "network": other.network,
        "shares": other.shares or Scenario.model_validate(journal.head["scenario"]).shares,
    })
    head = {"scenario": scenario.model_dump(mode="json", exclude_none=True)}
    ready = _plan(head, entries, str(path), _work_seen(entries), allow_code=allow_code)
    teller = Teller(ready.jobs, ready.machine, _along_axes(ready), ready.rules)
    found = _compared(teller, [entry for entry in entries if entry.decisions is not None])
    books = teller.books
    run = collect(ready.jobs, ready.machine, ready.rules, books.state, books.record, 0.0)
    return Asked(found, len(ready.jobs), tuple(journal.damaged), journal.complete,
                 ready.finished(run))


def _compared(teller: Teller, entries: Sequence[Entry]) -> Replay:
    """Run the teller's world; steps are compared with the journal's while both go alike."""
    found = Replay(decisions=sum(len(entry.decisions or ()) for entry in entries))

    def watch(now_s: float, events: Any, decisions: Any, answers: Any) -> None:
        found.steps += 1
        if found.first_difference is not None:
            return
        theirs = entries[found.steps - 1] if found.steps <= len(entries) else None
        if theirs is None or theirs.time_s != now_s or theirs.decisions != decisions:
            found.different = 1
            there = () if theirs is None or theirs.decisions is None else theirs.decisions
            found.first_difference = Difference(found.steps, now_s, there, decisions)

    teller.run(watch)
    if found.first_difference is None and found.steps != len(entries):
        found.different = 1
    return found


def _journal(path: str | Path) -> Any:
    try:
        return read_journal(Path(path).read_text(), str(path))
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read as a journal ({error})") from None


def _plan(
    head: Mapping[str, Any], entries: Sequence[Entry], source: str,
    work_s: Mapping[Any, float] | None = None, *, allow_code: bool,
) -> Plan:
    if not isinstance(head.get("scenario"), dict):
        raise InputError(f"{source}: the first line names no scenario")
    scenario = validate(dict(head["scenario"]), source)
    jobs, logged = _submissions(entries, work_s or {})
    return plan(scenario, Trace(jobs, source=source, logged=logged), allow_code=allow_code)


def _along_axes(ready: Plan) -> Composition:
    if not isinstance(ready.policy, Composition):
        raise InputError(_NO_AXES)
    return ready.policy


def _books(head: Mapping[str, Any], ready: Plan) -> Books:
    try:
        start_s, highest_w = float(head["start_s"]), float(head["cap_w_max"])
    except (KeyError, TypeError, ValueError):
        raise InputError("the first line of the journal says neither when it begins nor the "
                         "highest cap") from None
    return Books.open(ready.machine, _along_axes(ready), ready.rules.terms, start_s=start_s,
                      cap_w_max=highest_w)


def _submissions(
    entries: Sequence[Entry], work_s: Mapping[Any, float]
) -> tuple[JobTable, dict[str, Any]]:
    """The jobs of a journal as a table, with the codes and names that it gives them."""
    found = [(entry.time_s, event) for entry in entries for event in entry.events
             if isinstance(event, Submitted)]
    jobs = [job for _, job in found]
    rows = {job.job: row for row, job in enumerate(jobs)}
    roll = Roll()
    codes: dict[str, list[int]] = {column: [] for column in NAMED}
    names: dict[str, dict[int, str]] = {column: {} for column in NAMED}
    for job in jobs:
        for column in NAMED:
            code = roll.code(job, column)
            codes[column].append(code)
            if code >= 0 and column in job.names:
                names[column][code] = job.names[column]
    table = JobTable.build(
        submit_s=[time_s for time_s, _ in found], requested_s=[job.requested_s for job in jobs],
        run_s=[work_s.get(job.job, job.requested_s) for job in jobs],
        procs=[job.procs or job.units for job in jobs], power_w=[job.watts for job in jobs],
        think_s=[job.think_s for job in jobs],
        after_job=[-1 if job.after is None else rows.get(job.after, -1) for job in jobs],
        names={column: tuple(known.get(code, str(code)) for code in range(max(known) + 1))
               for column, known in names.items() if known}, **codes,
    )
    columns = {name for job in jobs for name in job.logged}
    logged = {name: np.array([job.logged.get(name, np.nan) for job in jobs]) for name in columns}
    return table, logged


def _work_seen(entries: Sequence[Entry]) -> dict[Any, float]:
    """How much work each job did by its end, in seconds at full speed."""
    work: dict[Any, float] = {}
    pace: dict[Any, tuple[float, float]] = {}

    def settle(job: Any, now_s: float, rate: float | None) -> None:
        if job in pace:
            since_s, old = pace.pop(job)
            work[job] = work.get(job, 0.0) + (now_s - since_s) * old
        if rate is not None:
            pace[job] = (now_s, rate)

    ended: set[Any] = set()
    for entry in entries:
        for event in entry.events:
            if isinstance(event, Ended):
                settle(event.job, entry.time_s, None)
                ended.add(event.job)
            elif isinstance(event, Paced):
                settle(event.job, entry.time_s, event.rate)
        for decision in entry.decisions or ():
            if decision.kind in ("start", "resume", "speed"):
                settle(decision.job, entry.time_s, decision.rate)
            elif decision.kind == "pause":
                settle(decision.job, entry.time_s, None)
            elif decision.kind == "level":
                for job in list(pace):
                    settle(job, entry.time_s, decision.rate)
    return {job: seconds for job, seconds in work.items() if job in ended}
