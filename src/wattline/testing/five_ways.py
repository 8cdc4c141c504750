"""One simulation, five ways: the loop, event by event, replayed, saved in the middle, copied.

All must decide the same to the last bit, and from the middle on no job may wait for ever. What the
replay is told is a journal through its text, without run times: a policy that looks at what no
machine could tell is found out.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from wattline.books import Books, Submitted
from wattline.books.journal import JournalEntry, JournalLines, read_journal
from wattline.books.replay import replay
from wattline.engine.prepare import Rules, cap_steps
from wattline.engine.simulate import collect, simulate
from wattline.engine.telling import Teller, declares_work
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine
from wattline.model.run import Run
from wattline.policies.contract import Composition
from wattline.testing.liveness import stuck


def differences(
    jobs: JobTable, machine: Machine, policy: Composition, rules: Rules | None = None,
    whole: Run | None = None,
) -> list[str]:
    """Where the five ways part, a sentence each; none where they are one.

    `whole` is the run of the simulation, where that has been made already.
    """
    rules = rules or Rules()
    whole = whole or simulate(jobs, machine, policy, rules)
    teller = Teller(jobs, machine, policy, rules)
    entries = list(read_journal(_journal(teller, declares_work(policy)), "journal").entries())
    stepped = collect(jobs, machine, rules, teller.books.state, teller.books.record, 0.0)
    found = [f"event by event, {name} differs" for name in _differing(whole, stepped)]
    if found:
        return found

    half = len(entries) // 2
    books = _opened(jobs, machine, policy, rules)
    found += _again("replayed, in the first half", books, entries[:half])
    saved = Books.load(books.save(), machine, policy, rules.terms)
    copied = books.copy()
    highest_w = float(books.state.clock[0].cap_w_max)
    planned_s = float(cap_steps(rules, float(jobs.submit_s[0])).time_s.max(initial=-np.inf))
    found += [f"from the middle on, {each}" for each in stuck(books.copy(), highest_w, planned_s)]
    # These books have then heard the whole journal, and were looked at in the middle.
    for name, each in (("replayed, after saving and copying", books), ("saved and loaded", saved),
                       ("the copy, which forgets what is over", copied)):
        found += _again(name, each, entries[half:], forgets=each is copied)
    return found


def journal_of(
    jobs: JobTable, machine: Machine, policy: Composition, rules: Rules | None = None
) -> str:
    """What a simulation tells its policy and what that decides, as the text of a journal."""
    return _journal(Teller(jobs, machine, policy, rules or Rules()), declares_work(policy))


def parts_from(
    text: str, jobs: JobTable, machine: Machine, policy: Composition, rules: Rules | None = None
) -> list[str]:
    """Where this policy, told the events of a journal, decides otherwise: at most one sentence."""
    books = _opened(jobs, machine, policy, rules or Rules())
    return _again("replayed", books, list(read_journal(text, "journal").entries()))


def _opened(jobs: JobTable, machine: Machine, policy: Composition, rules: Rules) -> Books:
    start_s = float(jobs.submit_s[0])
    highest_w = float(cap_steps(rules, start_s).cap_w.max(initial=-np.inf))
    return Books.open(machine, policy, rules.terms, start_s=start_s,
                      cap_w_max=highest_w if rules.cap_w is not None else np.inf)


def _journal(teller: Teller, declares: bool) -> str:
    write = JournalLines()
    lines = [write.head({})]

    def watch(now_s: float, events: Any, decisions: Any, answers: Any) -> None:
        told = [replace(event, work_s=float("inf"))
                if isinstance(event, Submitted) and not declares else event for event in events]
        lines.append(write.entry(now_s, told, decisions))
        if answers:
            lines.append(write.entry(now_s, answers, None))

    teller.run(watch)
    return "".join(lines)


def _again(
    name: str, books: Books, entries: list[JournalEntry], forgets: bool = False
) -> list[str]:
    found = replay(books, entries, watch=lambda *_: books.compact() if forgets else None)
    if found.equal:
        return []
    first = found.first_difference
    return [f"{name}: differs at step {first.step}, {first.time_s:g} s" if first else
            f"{name}: {found.refused[0].reason}"]


def columns_of(run: Run) -> dict[str, Any]:
    """Everything that a run says, by name."""
    parts = {"schedule": run.schedule, "events": run.events}
    if run.placement is not None:
        parts["placement"] = run.placement
    found = {f"{part}.{name}": values for part, table in parts.items()
             for name, values in vars(table).items()}
    found["totals"] = np.array([run.energy_j, run.time_above_cap_s, run.energy_above_cap_j,
                                run.power_w_peak, run.end_s])
    return found


def _differing(one: Run, other: Run) -> list[str]:
    a, b = columns_of(one), columns_of(other)
    return [name for name in a
            if not np.array_equal(a[name], b[name], equal_nan=a[name].dtype.kind == "f")]
