"""Asking a journal what another policy would have done, from the beginning or from a time on.

Up to that time the journal's own policy decides. From there on either a simulated world goes on, in
which jobs end as their new starts make them and take as long as the journal saw them run; or, where
it did not see that, the books are told its events as they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from wattline.books import (
    Books,
    Cancelled,
    CapChanged,
    Changed,
    Event,
    Measured,
    NodesDown,
    NodesUp,
    NotStarted,
    ReservationRemoved,
    Reserved,
    Started,
    Submitted,
)
from wattline.books.events import Key
from wattline.books.journal import BEGIN, JournalEntry
from wattline.books.replay import Replay, replay
from wattline.engine.plain_process import call_plain
from wattline.engine.simulate import collect
from wattline.engine.telling import Switch, Teller
from wattline.model.errors import InputError
from wattline.model.progress import Advance, Stages, silent, telling
from wattline.model.reading import is_file
from wattline.model.units import parse_duration
from wattline.scenario.build import Plan
from wattline.scenario.comparing import DecisionComparison, starts
from wattline.scenario.journals import (
    JOBS_KNOWN,
    MOST_TOLD,
    NO_AXES,
    READING,
    JournalAsked,
    Otherwise,
    along_axes,
    ask_again,
    books_of,
    entries_of,
    journal_at,
    plan_of,
)
from wattline.scenario.load import fields_of, validate
from wattline.scenario.model import CapPlan, Scenario
from wattline.scenario.start_delays import StartDelays
from wattline.scenario.work_seen import WorkSeen

OUTSIDE = (NodesDown, NodesUp, Reserved, ReservationRemoved, CapChanged, Cancelled, Changed)
"""Events that no policy brings about: they happen whatever is decided."""
TAKEN = ("policy", "power", "network", "shares")
"""Parts of the other scenario that are asked; jobs, machine and all else are the journal's."""
NOT_UP_TO_THERE = ("up to there its own policy decides otherwise than the journal says: the other "
                   "was not asked")


@dataclass(frozen=True)
class Since:
    """From where on the other policy decides: a time, or the step with that decision in it."""

    time_s: float | None = None
    decision: int | None = None

    @classmethod
    def parse(cls, text: str) -> Since:
        """`90m`, or `decision:17`."""
        kind, colon, number = text.partition(":")
        if kind != "decision" or not colon:
            time_s = parse_duration(text)
            if time_s < 0:
                raise InputError(f"'{text}' is before the journal begins; times count from 0 on")
            return cls(time_s=time_s)
        if not number.isdecimal() or not number.isascii() or int(number[:12]) < 1:
            raise InputError(f"'{text}' names no decision; they count from 1, as in decision:17")
        return cls(decision=int(number[:12]))

    def cut(self, entries: Sequence[JournalEntry]) -> tuple[int, float]:
        """The first entry that is decided anew, and from when on."""
        seen = 0
        for place, entry in enumerate(entries):
            seen += len(entry.decisions or ())
            if self.decision is not None and seen >= self.decision:
                return place, entry.time_s
            if self.time_s is not None and entry.time_s >= self.time_s:
                return place, self.time_s
        last_s = entries[-1].time_s if entries else 0.0
        raise InputError(f"the journal has {seen} decisions and ends at {last_s:g} s; nothing is "
                         "left to be asked from there")


def replay_journal(
    journal: str | Path, scenario: str | Path | Scenario | None = None, *,
    since: Since | str | None = None, assume_requested: bool = False, allow_code: bool = False,
    progress: Advance = silent,
) -> JournalAsked:
    """The journal's own decisions asked again, or another policy: `wl.replay`, which adds those
    that a controller keeps beside its journal."""
    asked = (journal, scenario, since, assume_requested, allow_code)
    answer: JournalAsked | None = call_plain(answered_here, *asked) if _is_short(journal) else None
    return answer or answered_here(*asked, progress)


def _is_short(journal: str | Path) -> bool:
    """Whether it is answered sooner as plain Python; what cannot be read is said elsewhere."""
    try:
        with Path(journal).open("rb") as lines:
            return sum(1 for _ in lines) <= 2 * MOST_TOLD  # a job is submitted, and ends
    except (OSError, ValueError):
        return False


def answered_here(
    journal: str | Path, scenario: str | Path | Scenario | None, since: Since | str | None,
    assume_requested: bool, allow_code: bool, progress: Advance = silent,
) -> JournalAsked:
    """The answer, found in this process."""
    if scenario is None:
        return ask_again(journal, allow_code=allow_code, progress=progress)
    place = Since.parse(since) if isinstance(since, str) else since
    if isinstance(scenario, Scenario):
        return ask_another(journal, scenario, place, assume_requested, allow_code=allow_code,
                           progress=progress)
    named = is_file(scenario) or str(scenario).startswith("bundled:")
    return ask_another(journal, _policies_in(scenario, journal), place, assume_requested,
                       allow_code=allow_code or named, progress=progress)


def _policies_in(scenario: str | Path, journal: str | Path) -> Scenario:
    """A scenario's file; its jobs are the journal's, so it need not name any."""
    return validate({"trace": {"file": str(journal)}, **fields_of(scenario)}, str(scenario))


def ask_another(
    path: str | Path, other: Scenario, since: Since | None = None,
    assume_requested: bool = False, *, allow_code: bool = False, progress: Advance = silent,
) -> JournalAsked:
    """What another policy would have done with the same jobs.

    `assume_requested`: a job that began and that the journal does not see to its end runs as long
    as it asked for, and a simulated world goes on. Jobs that did not begin are always taken so.
    """
    if other.policy.python is not None:
        raise InputError(NO_AXES)
    journal = journal_at(path)
    if BEGIN in journal.head:
        raise InputError(f"{path}: it goes on from an earlier journal, whose jobs it does not hold:"
                         " another policy can be asked of a first journal; this one can be asked "
                         "again")
    stages = Stages(progress)
    entries = entries_of(journal, stages.stage(READING))
    question = _Question.of(journal.head, entries, other, since, str(path), allow_code)
    simulated = assume_requested or not question.unknown
    rest = stages.stage(1.0)
    result, answer = question.simulated(rest) if simulated else question.told(rest)
    return JournalAsked(result, len(question.ready.jobs), tuple(journal.damaged), journal.complete,
                        answer)


@dataclass(frozen=True, eq=False)
class _Question:
    """A journal, a policy, and from where on it is asked."""

    head: Mapping[str, Any]
    entries: Sequence[JournalEntry]
    place: int
    """The first entry that is decided anew."""
    from_s: float | None
    ready: Plan
    """The journal's jobs under the other policy."""
    own_cap: bool
    """Whether the other scenario has a cap; otherwise the journal's goes on."""
    left_out: tuple[str, ...]
    """What the other scenario says otherwise and is no matter of the policy."""
    seen: WorkSeen
    source: str
    allow_code: bool

    @classmethod
    def of(
        cls, head: Mapping[str, Any], entries: Sequence[JournalEntry], other: Scenario,
        since: Since | None, source: str, allow_code: bool,
    ) -> _Question:
        place, from_s = (0, None) if since is None else since.cut(entries)
        seen = WorkSeen()
        seen.read(entries[:place])
        if from_s is not None:
            seen.cut(from_s)
        seen.read(entries[place:])
        own_cap = other.power.cap is not None or other.power.watch_cap is not None
        ready = plan_of({"scenario": _scenario(head, other, own_cap)}, entries, source,
                        {job: seen.total_s(job) for job in seen.ended}, allow_code=allow_code)
        left_out = _said_otherwise(head, other)
        return cls(head, entries, place, from_s, ready, own_cap, left_out, seen, source, allow_code)

    @cached_property
    def jobs(self) -> list[Submitted]:
        """In the order of their rows."""
        return [event for entry in self.entries for event in entry.events
                if isinstance(event, Submitted)]

    @cached_property
    def delays(self) -> StartDelays:
        return StartDelays.of(self.seen)

    @cached_property
    def unknown(self) -> list[Key]:
        """Jobs that began, and whose end the journal does not see."""
        return [each.job for each in self.jobs
                if each.job in self.seen.begun_s and each.job not in self.seen.ended]

    @cached_property
    def unseen(self) -> list[Key]:
        """Jobs that did not even begin, and that nobody withdraws."""
        gone = {event.job for entry in self.entries for event in entry.events
                if isinstance(event, Cancelled)}
        return [each.job for each in self.jobs if each.job not in gone | self.seen.begun_s.keys()]

    def simulated(self, progress: Callable[[float], None]) -> tuple[Replay, Otherwise]:
        """Let a simulated world go on from there."""
        if self.from_s is None:
            found = Replay()
            teller = Teller(self.ready.jobs, self.ready.machine, along_axes(self.ready),
                            self.ready.rules)
            teller.delay_s = self.delays
        else:
            found, books = self._up_to_there()
            if not found.equal:
                return found, Otherwise(self.from_s, False, (NOT_UP_TO_THERE,))
            teller = Teller.carrying_on(books, self.ready.jobs, self.ready.rules, self._left_s(),
                                        self.delays)
            teller.switch([Switch(self.from_s, along_axes(self.ready))])
        self._tell(teller)
        comparison = DecisionComparison(found, self.entries[self.place:], teller)
        jobs = max(len(self.ready.jobs), 1)

        def watch(*happened: Any) -> None:
            comparison.watch(*happened)
            progress(float(teller.books.record.meter[0].done) / jobs)

        teller.run(watch)
        found = replace(comparison.end(), decisions=self._decisions())
        books, ready = teller.books, self.ready
        run = collect(ready.jobs, ready.machine, ready.rules, books.state, books.record, 0.0)
        moved = starts([job.job for job in self.jobs], self.seen.begun_s, run.schedule.start_s)
        return found, Otherwise(self.from_s, True, self._remarks(), ready.finished(run), moved)

    def told(self, progress: Callable[[float], None]) -> tuple[Replay, Otherwise]:
        """Tell the rest of the journal's events as they are."""
        found, books = Replay(), books_of(self.head, self.ready)
        if self.from_s is not None:
            found, books = self._up_to_there()
            if not found.equal:
                return found, Otherwise(self.from_s, False, (NOT_UP_TO_THERE,))
            books = books.with_policy(along_axes(self.ready))
        left = [entry for entry in self.entries[self.place:] if not entry.policy]
        rest = replay(books, telling(left, len(left), progress))
        first = rest.first_difference
        if first is not None:
            rest.first_difference = replace(first, step=first.step + found.steps)
        rest = replace(rest, steps=rest.steps + found.steps, decisions=self._decisions())
        said = [f"{counted(self.unknown)} not seen to end: told are the journal's events as they "
                "are, and after the first difference they contradict what is decided here"]
        if self.own_cap:
            said.append("the cap is the journal's: that of the other scenario is left out")
        return rest, Otherwise(self.from_s, False, (*said, *self._journals_own()))

    def _decisions(self) -> int:
        return sum(len(entry.decisions or ()) for entry in self.entries)

    def _up_to_there(self) -> tuple[Replay, Books]:
        """Books under the journal's own policy, told all up to there."""
        books = books_of(self.head, self._plan(self.head))
        books.keeps_log = True
        found = replay(books, self.entries[: self.place],
                       lambda given: along_axes(self._plan(given)))
        books = found.books or books
        books.apply(max(self.from_s or 0.0, books.now_s), ())
        return found, books

    def _plan(self, head: Mapping[str, Any]) -> Plan:
        known = self.head.get(JOBS_KNOWN, True)  # of a later policy as of the first
        return plan_of({**head, JOBS_KNOWN: known}, self.entries, self.source,
                       allow_code=self.allow_code)

    def _left_s(self) -> dict[Key, float]:
        """The work that is left of jobs that have begun."""
        return {job.job: self.seen.left_s(job.job) if job.job in self.seen.ended
                else max(job.requested_s - self.seen.done_s(job.job), 0.0) for job in self.jobs}

    def _tell(self, teller: Teller) -> None:
        """Let the world do what the journal says, and call jobs as it does."""
        if len(self.ready.jobs) != len(self.jobs):
            raise InputError(f"{self.source}: not all of its jobs fit the machine")
        own = teller.submissions
        teller.submissions = lambda row: self._named(own(row), self.jobs[row])
        if not self.own_cap:
            teller.caps = teller.caps[:0]
        teller.further = [*self._first_cap(), *(
            (entry.time_s, event) for entry in self.entries[self.place:]
            for event in entry.events if isinstance(event, OUTSIDE)
            and not (self.own_cap and isinstance(event, CapChanged)))]

    def _named(self, job: Submitted, said: Submitted) -> Submitted:
        """A job as the journal calls it; users and the like as its books were told before."""
        found = replace(job, job=said.job, after=said.after, place=said.place)
        return found if self.from_s is None else replace(found, names=said.names, codes=said.codes)

    def _first_cap(self) -> list[tuple[float, Event]]:
        """The cap that the journal's books were opened under, as a live machine's are."""
        cap_w = float(self.head.get("cap_w", "inf"))
        if self.own_cap or self.from_s is not None or cap_w == float("inf"):
            return []
        return [(-float("inf"), CapChanged(cap_w))]

    def _remarks(self) -> tuple[str, ...]:
        """What was assumed, and what of the journal was left out."""
        rest = self.entries[self.place:]
        said = ["the cap is that of the other scenario" if self.own_cap
                else "the cap is the journal's"]
        for jobs, lack in ((self.unknown, "end"), (self.unseen, "begin")):
            if jobs:
                said.append(f"{counted(jobs)} not seen to {lack}: taken to run as long as asked")
        later = sum(1 for entry in rest if entry.policy)
        if later:
            said.append(f"later changes of the policy are left out ({later})")
        said += self.delays.remarks([job.job for job in self.jobs])
        inside = Counter(type(event).__name__ for entry in rest for event in entry.events
                         if isinstance(event, NotStarted | Measured)
                         or (isinstance(event, Started) and event.job not in self.seen.delay_s))
        said += [f"events {name} are left out, the world here is a simulated one ({count})"
                 for name, count in sorted(inside.items())]
        return (*said, *self._journals_own())

    def _journals_own(self) -> list[str]:
        return [f"{name} is the journal's: that of the other scenario is left out"
                for name in self.left_out]


def counted(unknown: Sequence[Key]) -> str:
    """How many jobs, and the first."""
    if len(unknown) == 1:
        return f"1 job ('{unknown[0]}') is"
    return f"{len(unknown)} jobs (the first is '{unknown[0]}') are"


def _own(head: Mapping[str, Any]) -> Scenario:
    """The scenario that the journal was written with."""
    try:
        return Scenario.model_validate(head["scenario"])
    except (KeyError, ValueError):
        raise InputError("the first line of the journal says no scenario; ask it in Python, with "
                         "`wattline.books.replay`") from None


def _said_otherwise(head: Mapping[str, Any], other: Scenario) -> tuple[str, ...]:
    """Parts in which the other scenario differs and that are taken from the journal."""
    own = _own(head)
    return tuple(sorted(
        name for name in other.model_fields_set - {*TAKEN, "name", "trace"}
        if getattr(own, name) != getattr(other, name)))


def _scenario(head: Mapping[str, Any], other: Scenario, own_cap: bool) -> dict[str, Any]:
    """The journal's scenario with what the other says of decisions; its cap where that has none."""
    own = _own(head)
    power = other.power
    cap = own.power.cap if own.power.cap is not None else own.power.watch_cap
    if not own_cap and cap is not None:
        watched = other.policy.power == "none" and not isinstance(cap, CapPlan)
        power = power.model_copy(update={"watch_cap" if watched else "cap": cap})
    update = {"policy": other.policy, "power": power, "network": other.network,
              "shares": other.shares or own.shares}
    return own.model_copy(update=update).model_dump(mode="json", exclude_none=True)
