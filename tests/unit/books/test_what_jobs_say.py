"""A job's own words at its submission reach policies alike, from a log or live."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from tests.support.choices import planned
from tests.support.told_books import opened, told
from tests.support.workloads import compose

from wattline.books import Books, Changed, Ended, JournalWriter, Started, Submitted, read_journal
from wattline.books.event_codes import event_from, event_values
from wattline.engine.prepare import Rules
from wattline.engine.simulate import knowing
from wattline.engine.telling import submissions
from wattline.model.machine import Machine
from wattline.policies.memory import Memory, memories
from wattline.policies.order.ranked import Ranked
from wattline.traces import read

MACHINE = Machine.uniform(8)
TABLE = """JobID|Submit|Start|End|NNodes|NCPUS|Timelimit|State|User|Account|JobName|ReqTRES
1|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T00:10:00|2|2|01:00:00|COMPLETED|ada|physics|\
lammps|cpu=2,gres/gpu=4,node=2
2|2026-01-01T00:01:00|2026-01-01T00:01:00|2026-01-01T00:10:00|1|1|01:00:00|COMPLETED|bob|biology|\
gromacs|cpu=1,node=1
3|2026-01-01T00:02:00|2026-01-01T00:02:00|2026-01-01T00:10:00|1|1|01:00:00|COMPLETED|ada|biology|\
lammps|cpu=1,gres/gpu=1,gres/gpu:a100=1,node=1
"""


class Said(Memory):
    """Facts that an axis may want to know of each job."""

    FIELDS = ("account", "application", "gpus")
    PER_JOB: ClassVar[Mapping[str, str]] = {"account": "i8", "application": "i8", "gpus": "f8"}
    account: Any
    application: Any
    gpus: Any


def named(column: str, *names: str) -> Any:
    """A way to find a job's place among the names that an axis knows."""
    return lambda jobs, logged: np.array([names.index(jobs.name_of(column, code))
                                          for code in getattr(jobs, column)])


def asking() -> Any:
    """A policy with an axis that knows accounts, applications and GPUs."""
    memory = Said.start({
        "account": named("group", "biology", "physics"),
        "application": named("application", "gromacs", "lammps"),
        "gpus": lambda jobs, logged: logged.get("gres/gpu", np.full(len(jobs), np.nan)),
    })
    return compose(order=Ranked(memory))


def entries(policy: Any, count: int) -> list[list[float]]:
    memory = next(iter(memories(policy).values()))
    return [np.nan_to_num(getattr(memory, name)[:count], nan=-1.0).tolist()
            for name in memory.FIELDS]


EXPECTED = [[1, 0, 0], [1, 0, 1], [4.0, -1.0, 1.0]]


def test_a_log_and_a_running_machine_tell_an_axis_the_same(tmp_path) -> None:
    path = tmp_path / "sacct.txt"
    path.write_text(TABLE)
    log = read(path)
    rules = Rules(logged=log.logged)
    assert entries(knowing(asking(), log.jobs, log.logged), 3) == EXPECTED
    told = submissions(log.jobs, MACHINE, rules)
    live = [Submitted("1", 2, 3600.0, account="physics", application="lammps", gres={"gpu": 4}),
            Submitted("2", 1, 3600.0, account="biology", application="gromacs"),
            Submitted("3", 1, 3600.0, names={"group": "biology"}, application="lammps",
                      gres={"gpu": 1, "gpu:a100": 1})]
    for jobs in ([told(row) for row in range(3)], live):
        books = Books.open(MACHINE, asking())
        books.admit([event_from(event_values(job)) for job in jobs], 0.0)  # as a journal has them
        assert entries(books.policy, 3) == EXPECTED
        loaded = Books.load(books.save(), MACHINE, asking(), books.terms)
        assert entries(loaded.policy, 3) == EXPECTED
        assert loaded.roll.jobs[0].gres == books.roll.jobs[0].gres
        assert loaded.roll.jobs[0].account == books.roll.jobs[0].account


def test_what_no_job_has_is_refused_by_its_name() -> None:
    books = Books.open(MACHINE, compose())
    wrong = {
        "'usr'": Submitted("a", 1, 1.0, names={"usr": "ada"}),
        "'colour'": Submitted("a", 1, 1.0, codes={"colour": 3}),
        "'gpu'": Submitted("a", 1, 1.0, gres={"gpu": -1}),
        "account": Submitted("a", 1, 1.0, account="physics", names={"group": "biology"}),
        "texts": Submitted("a", 1, 1.0, application=7),  # type: ignore[arg-type]
    }
    for word, job in wrong.items():
        books.step(0.0, [job])
        assert len(books.refused) == 1
        assert word in books.refused[0].reason
    assert len(books.roll) == 0


def test_a_key_is_a_text_or_any_whole_number_and_not_empty() -> None:
    """Decisions and journals name a job by a plain number, whoever counted it."""
    lines = []
    books = opened()
    books.keep_journal(JournalWriter(lines.append))
    decided = books.step(0, [Submitted(np.int64(5), 1, 60.0), Submitted("", 1, 60.0),
                             Submitted(True, 1, 60.0)])
    refused = [each.reason for each in books.refused]
    books.step(1, [Started(5), Submitted(np.int64(6), 1, 60.0, after=np.int64(5))])
    after = told(books.step(2, [Ended(np.int64(5))]))
    entries = list(read_journal("".join(lines), "journal").entries())
    found = [told(decided), refused, after, [told(each.decisions) for each in entries],
             len(books.save()) > 0]
    decided, refused, after, journal, saved = found
    assert decided == [["start", 5]]
    assert len(refused) == 2
    assert "not empty" in refused[0]
    assert after == [["start", 6]]
    assert journal == [[["start", 5]], [], [["start", 6]]]
    assert saved


def test_a_change_of_the_request_leaves_the_end_that_a_claim_gave() -> None:
    """Otherwise the job would be expected to have ended before it began."""
    ready = planned("configure.claims")
    live = ready.policy.configuration._replace(limit=1.2)  # a log's jobs keep their request
    policy = ready.policy._replace(configuration=live, placement=(
        ready.policy.placement._replace(claims=live)))
    seen = []
    for requested_s in (None, 100.0, 1000.0):
        books = Books.open(ready.machine, policy, ready.rules.terms, cap_w=3500.0,
                           cap_w_max=3500.0)
        books.step(0.0, [Submitted("a", 6, 500.0, application="EP.A", codes={"application": 0})])
        books.step(0.0, [Started("a")])
        if requested_s:
            books.step(1.0, [Changed("a", requested_s)])
        seen.append([[each.reason for each in books.refused],
                     float(books.state.live[0].expected_s)])
    assert seen[0][1] > 0
    assert seen == [[[], seen[0][1]]] * 3
