"""Journals of scenarios: a simulation that writes one, and asking one again.

A journal holds the scenario it was made with and then only what a real machine could tell: no run
times. Its replay makes the policy from the scenario and the submissions, and tells the events.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from wattline.analysis.result import Result
from wattline.books import Books, JournalWriter, Submitted
from wattline.books.events import Key
from wattline.books.journal import BEGIN, MARK, JournalEntry, read_journal
from wattline.books.record import Record
from wattline.books.replay import Replay, replay
from wattline.books.roll import NAMED, Roll, figures, name_of
from wattline.engine.plain_process import call_plain
from wattline.engine.simulate import collect
from wattline.engine.telling import Switch, Teller, declares_work
from wattline.model.errors import InputError
from wattline.model.files import replacing
from wattline.model.jobs import JobTable
from wattline.model.progress import Advance, Stages, silent, telling
from wattline.model.run import Run
from wattline.model.shown import Shown
from wattline.policies.contract import Composition
from wattline.policies.memory import memories
from wattline.policies.state import State
from wattline.scenario.build import Plan, plan
from wattline.scenario.load import validate
from wattline.scenario.model import CapPlan
from wattline.scenario.times import clock_of
from wattline.traces import Trace

MOST_TOLD = 2000
"""Up to so many are told, event by event, as plain Python: that is over long before kernels for it
are compiled, and about as soon as with compiled ones, which have to be loaded."""
JOBS_KNOWN = "jobs_known"
"""In the head: whether the policy was made with all jobs in sight, as a simulation's is."""
READING = 0.1
"""The part of asking a journal again that reading it takes."""
NO_TWIN = ("a journal is of a policy that decides for whole nodes, and a twin's nodes are shared; "
           "leave it out")
NO_AXES = ("a journal needs a policy along the axes: one written in Python keeps what it "
            "remembers to itself")


def run_with_journal(
    plan: Plan, path: str | Path, progress: Callable[[float], None] | None = None,
    changes: Sequence[tuple[float, Plan]] = (),
) -> Result:
    """The plan's run, event by event, with its journal written whole or not at all.

    `changes` are times, and plans whose policies decide from then on; all else stays as it is.
    """
    for each in (plan, *(other for _, other in changes)):
        along_axes(each)
    _spare_others(Path(path))
    told = call_plain(told_here, plan, path, changes) if len(plan.jobs) <= MOST_TOLD else None
    state, record, policy = told or told_here(plan, path, changes, progress)
    # Seconds in the engine are not measured: here they are mostly those of writing.
    run = collect(plan.jobs, plan.machine, plan.rules, state, record, 0.0)
    return plan.finished(replace(run, memories=memories(policy)))


def told_here(
    plan: Plan, path: str | Path, changes: Sequence[tuple[float, Plan]],
    progress: Callable[[float], None] | None = None,
) -> tuple[State, Record, Composition]:
    """What the books hold in the end, in this process; the journal is written on the way."""
    policies = [along_axes(each) for each in (plan, *(other for _, other in changes))]
    teller = Teller(plan.jobs, plan.machine, policies[0], plan.rules)
    teller.switch(Switch(time_s, along_axes(other), scenario_of(other))
                  for time_s, other in changes)
    with replacing(path, lasting=True) as draft, Path(draft).open("w", encoding="utf-8") as out:
        # Run times are written only where a policy goes by what jobs declare.
        journal = JournalWriter(out.write, keeps_work=any(map(declares_work, policies)))
        teller.books.keep_journal(journal, {"scenario": scenario_of(plan)})

        def watch(now_s: float, events: Any, decisions: Any, answers: Any) -> None:
            if answers:
                journal.entry(now_s, answers, None)
            if progress is not None:
                progress(float(teller.books.record.meter[0].done) / max(len(plan.jobs), 1))

        books = teller.run(watch)
        journal.end()
    return books.state, books.record, books.policy


def _spare_others(path: Path) -> None:
    """Refuse to write a journal over something else, such as the run's own scenario or log."""
    try:
        if not path.is_file() or not path.stat().st_size:
            return
        with path.open("rb") as file:
            begins = file.read(len(MARK) + 32)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
    if f'{{"{MARK}"'.encode() not in begins:
        raise InputError(f"{path} is there and is no journal; name a new file, or a journal to "
                         "write anew")


def scenario_of(plan: Plan) -> dict[str, Any]:
    """What a replay makes the policy from; the cap as it was found, in watts."""
    scenario = plan.scenario
    cap = plan.rules.cap_w
    if cap is not None and scenario.power.cap is not None and not isinstance(
        scenario.power.cap, CapPlan
    ):
        first_s = clock_of(scenario, plan.jobs).first_s
        steps = [{"time_s": 0.0, "watts": cap.at(first_s)},
                 *({"time_s": float(at_s) - first_s, "watts": float(watts)}
                   for at_s, watts in zip(cap.time_s, cap.value, strict=True) if at_s > first_s)]
        power = scenario.power.model_dump(mode="json", exclude_none=True) | {"cap": steps}
        scenario = validate(
            scenario.model_dump(mode="json", exclude_none=True) | {"power": power}, "journal")
    return scenario.model_dump(mode="json", exclude_none=True)


@dataclass(frozen=True, eq=False)
class Otherwise:
    """How another policy was asked."""

    from_s: float | None
    """From when on it decides; None: from the beginning."""
    simulated: bool
    """Whether jobs end as their new starts make them; otherwise only the journal's events count."""
    remarks: tuple[str, ...] = ()
    """What was assumed and what of the journal was left out."""
    run: Run | None = None
    """What became of all jobs, in a simulated world."""
    starts: Mapping[str, int] = field(default_factory=dict)
    """How many jobs start earlier, later, at the same time, only in the journal, only here."""


@dataclass(frozen=True)
class OtherStarts:
    """A moment at which other jobs would be started, or on other nodes."""

    time_s: float
    journal: tuple[str, ...]
    here: tuple[str, ...]


@dataclass(frozen=True)
class DecidedBeside:
    """Starts on shared nodes, from the pictures that a controller kept beside its journal."""

    decisions: int = 0
    """Starts that were made once more."""
    different: int = 0
    """Pictures from which others follow here."""
    first_difference: OtherStarts | None = None
    remarks: tuple[str, ...] = ()
    """What could not be compared, and why."""


@dataclass(frozen=True, eq=False, repr=False)
class JournalAsked(Shown):
    """A journal and what came of asking it again."""

    result: Replay
    jobs: int
    damaged: Sequence[int]
    """Lines whose checksum does not fit."""
    complete: bool
    """Whether the journal's writer came to its end."""
    other: Otherwise | None = None
    """How another policy was asked, where one was."""
    beside: DecidedBeside | None = None
    """What was decided about jobs that share nodes, which is not in the journal itself."""

    @property
    def equal(self) -> bool:
        beside = self.beside is None or self.beside.different == 0
        return self.result.equal and not self.damaged and beside

    @property
    def decisions(self) -> int:
        """Those that were compared: 0 where Slurm itself has decided, and nothing could be."""
        return self.result.decisions + (0 if self.beside is None else self.beside.decisions)


def ask_again(
    path: str | Path, *, allow_code: bool = False, progress: Advance = silent
) -> JournalAsked:
    """Tell the journal's events to fresh books and compare their decisions."""
    journal = journal_at(path)
    stages = Stages(progress)
    entries = entries_of(journal, stages.stage(READING))
    ready = plan_of(journal.head, entries, str(path), allow_code=allow_code)
    known = journal.head.get(JOBS_KNOWN, True)
    told = telling(entries, len(entries), stages.stage(1.0))
    result = replay(_begin(path, journal.head, ready), told,
                    lambda given: along_axes(plan_of({**given, JOBS_KNOWN: known}, entries,
                                                     str(path), allow_code=allow_code)))
    return JournalAsked(result, len(_told_of(entries)), tuple(journal.damaged), journal.complete)


def entries_of(journal: Any, progress: Callable[[float], None]) -> list[JournalEntry]:
    """All entries of a journal, which say how many of them are read."""
    return list(telling(journal.entries(), len(journal.lines), progress))


def _told_of(entries: Sequence[JournalEntry]) -> set[Key]:
    """The jobs of a journal; one that goes on from another may not have their submissions."""
    told = {getattr(event, "job", None) for entry in entries for event in entry.events}
    return {job for job in told if job is not None}


def journal_at(path: str | Path) -> Any:
    try:
        return read_journal(Path(path).read_text(encoding="utf-8"), str(path))
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read as a journal ({error})") from None


def plan_of(
    head: Mapping[str, Any], entries: Sequence[JournalEntry], source: str,
    work_s: Mapping[Any, float] | None = None, *, allow_code: bool,
) -> Plan:
    if not isinstance(head.get("scenario"), dict):
        raise InputError(f"{source}: it does not say the scenario that a policy is made from; "
                         "replay it in Python, with `wattline.books.replay`")
    scenario = validate(dict(head["scenario"]), source)
    known = head.get(JOBS_KNOWN, True)
    jobs, logged = _submissions(entries if known else (), work_s or {})
    return plan(scenario, Trace(jobs, source=source, logged=logged), allow_code=allow_code)


def along_axes(ready: Plan) -> Composition:
    if ready.scenario.twin is not None:
        raise InputError(NO_TWIN)
    if not isinstance(ready.policy, Composition):
        raise InputError(NO_AXES)
    return ready.policy


def _begin(path: str | Path, head: Mapping[str, Any], ready: Plan) -> Books:
    """The books that a journal begins with: fresh ones, or those saved beside it."""
    if BEGIN not in head:
        return books_of(head, ready)
    file = Path(path).parent / Path(str(head[BEGIN])).name
    try:
        data = file.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: it goes on from the books in {file}, which cannot be read: "
                         f"{error.strerror}") from None
    return Books.load(data, ready.machine, along_axes(ready), ready.rules.terms)


def books_of(head: Mapping[str, Any], ready: Plan) -> Books:
    try:
        start_s = float(head["start_s"])
        cap_w, highest_w = (float(head.get(name, "inf")) for name in ("cap_w", "cap_w_max"))
    except (KeyError, TypeError, ValueError, OverflowError):
        raise InputError("the first line of the journal does not say when it begins, or its "
                         "highest cap is no number") from None
    return Books.open(ready.machine, along_axes(ready), ready.rules.terms, start_s=start_s,
                      cap_w=cap_w, cap_w_max=highest_w)


def _submissions(
    entries: Sequence[JournalEntry], work_s: Mapping[Any, float]
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
            if code >= 0 and name_of(job, column):
                names[column][code] = name_of(job, column)
    table = JobTable.build(
        submit_s=[time_s for time_s, _ in found], requested_s=[job.requested_s for job in jobs],
        run_s=[work_s.get(job.job, job.requested_s) for job in jobs],
        procs=[job.procs or job.units for job in jobs], power_w=[job.watts for job in jobs],
        think_s=[job.think_s for job in jobs],
        after_job=[_before(rows, job.after, row) for row, job in enumerate(jobs)],
        names={column: tuple(known.get(code, str(code)) for code in range(max(known) + 1))
               for column, known in names.items() if known}, **codes,
    )
    return table, figures(jobs)


def _before(rows: Mapping[Key, int], after: Key | None, row: int) -> int:
    """The row of the job that one waits for, if that was submitted before it."""
    found = -1 if after is None else rows.get(after, -1)
    return found if found < row else -1
