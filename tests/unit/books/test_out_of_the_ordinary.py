"""Two things at once: failures within reservations, measurements at levels, resumes that fail."""

from __future__ import annotations

import numpy as np
import pytest
from tests.property.hostile_events import wrong
from tests.support import regulated as contract
from tests.support.told_books import machine, opened, told
from tests.support.workloads import compose

import wattline as wl
import wattline.books.books as keeping
from wattline.books import (
    Books,
    Cancelled,
    Ended,
    JournalWriter,
    Measured,
    NodesDown,
    NodesUp,
    NotStarted,
    ReservationRemoved,
    Reserved,
    Stalled,
    Started,
    Submitted,
    carry_on,
)
from wattline.books.journal import read_journal
from wattline.books.replay import replay
from wattline.model.errors import InputError
from wattline.policies.admission.block import Block
from wattline.policies.admission.dvfs import Dvfs
from wattline.policies.control import nodes_of
from wattline.policies.placement.first_fit import FirstFit
from wattline.testing.five_ways import journal_of

MACHINE = wl.Machine(nodes=10, node_idle_w=90, node_active_w=300)


def reasons(books: Books) -> list[str]:
    return [each.reason for each in books.refused]


def choosing() -> Books:
    """Books that choose the first nodes that are free."""
    return opened(compose(placement=FirstFit()), nodes=True)


@pytest.mark.parametrize("over", [[], [ReservationRemoved("r")]])
@pytest.mark.parametrize("chosen", [False, True])
def test_units_that_fail_while_they_are_reserved_run_no_job_afterwards(over, chosen) -> None:
    """Eight units, six of them reserved; five fail: three are left when the reservation is over."""
    policy = compose(placement=FirstFit()) if chosen else None
    books = opened(policy, nodes=chosen)
    books.step(0, [Reserved("r", 0.0, 100.0, units=6)])
    books.step(10, [NodesDown(nodes=(0, 1, 2, 3, 4)) if chosen else NodesDown(5)])
    books.step(100, over)
    free = int(books.state.clock[0].free)
    too_many = told(books.step(101, [Submitted("a", 4, 60.0)]))
    started = books.step(102, [Cancelled("a"), Submitted("b", 3, 60.0)])
    found = [free, too_many, told(started), [list(each.control.nodes) for each in started],
             int(books.state.clock[0].down), int(books.state.clock[0].down_owed)]
    free, too_many, started, nodes, down, owed = found
    assert free == 3
    assert too_many == []
    assert started == [["start", "b"]]
    assert nodes == [[5, 6, 7] if chosen else []]
    assert (down, owed) == (5, 0)


def test_a_node_that_comes_back_makes_no_broken_one_free() -> None:
    """Six of eight are reserved when all but one fail; one is mended and still none is free."""
    books = opened(compose(placement=FirstFit()), nodes=True)
    books.step(0, [Reserved("r", 0.0, 100.0, units=6)])
    books.step(10, [NodesDown(nodes=(0, 1, 2, 3, 4, 5, 6))])
    decided = books.step(20, [NodesUp(nodes=(0,)), Submitted("a", 1, 60.0)])
    later = books.step(100, [])
    found = [told(decided), [[each.kind, list(each.control.nodes)] for each in later]]
    assert found == [[], [["start", [0]]]]


def test_what_was_measured_of_a_job_holds_at_another_level_too() -> None:
    """Twice the expected watts are measured at full speed: at 0.6 of the power twice as many."""
    share = np.array([0.5, 1.0])
    books = opened(compose(admission=Dvfs(share, np.array([0.6, 1.0]), share=share)), cap_w=2400.0)
    books.step(0, [Submitted("a", 4, 600.0)])
    books.step(1, [Started("a")])
    kinds = [[[each.kind, each.rate] for each in books.step(2, [Measured(2400.0, "a")])]]
    powers = [books.power_w]
    for now_s in (3, 4, 5):
        kinds.append(told(books.step(now_s, [])))
        powers.append(books.power_w)
    found = [kinds, powers]
    kinds, powers = found
    assert kinds == [[["level", 0.5]], [], [], []]
    assert powers == [2400.0 * 0.6 + 4 * 90.0] * 4


def test_a_reading_of_nothing_is_forgotten_with_the_next_one() -> None:
    dvfs = Dvfs(np.array([0.5, 1.0]), np.array([0.6, 1.0]))
    books, powers = opened(compose(admission=dvfs), cap_w=2400.0), []
    books.step(0, [Submitted("a", 4, 600.0)])
    books.step(1, [Started("a")])
    for now_s, watts in ((2, 0.0), (3, 2400.0), (4, 1000.0)):
        books.step(now_s, [Measured(watts, "a")])
        powers.append(books.power_w)
    found = [powers, float(books.state.clock[0].running_watts)]
    # At the slow level of the second reading, 1,000 W are what is 1,667 W at full speed.
    assert found[0] == [360.0, 360.0 + 0.6 * 2400.0, pytest.approx(360.0 + 1000.0 / 0.6)]
    assert found[1] == pytest.approx(1000.0 / 0.6)


def test_a_job_that_is_held_is_refused_by_a_policy_that_could_never_start_it() -> None:
    """`b` waits for `a`, and needs more than the cap: it must not stand before others for ever."""
    dvfs = Dvfs(np.array([0.5, 1.0]), np.array([0.4, 1.0]))
    books = opened(compose(admission=dvfs), cap_w=1500.0, cap_w_max=1500.0)
    books.step(0, [Submitted("a", 2, 100.0), Submitted("b", 8, 100.0, after="a"),
                   Submitted("c", 1, 10.0, after="b")])
    books.step(1, [Started("a")])
    books = books.with_policy(compose(admission=Block()))
    decided = told(books.step(10, []))
    found = [decided, told(books.step(50, [Ended("a"), Ended("c"), Submitted("d", 1, 9.0)]))]
    assert found == [[["refuse", "b"], ["start", "c"]], [["start", "d"]]]


def test_a_resume_that_fails_leaves_what_the_job_has_done() -> None:
    """The events of a simulated contract up to the first resume, which then does not happen."""
    policy = contract.regulated("qoscap", preempt=True)
    text = journal_of(contract.typed_jobs(1, 30), contract.MACHINE, policy)
    entries = list(read_journal(text, "journal").entries())
    books = Books.open(contract.MACHINE, policy)
    for entry in entries:
        decided = books.step(entry.time_s, entry.events)
        books.apply(entry.time_s, [Started(each.job) for each in decided if each.kind == "start"])
        resumed = [each.job for each in decided if each.kind == "resume"]
        if resumed:
            break

    def past(books: Books) -> list[float]:
        live = books.state.live[books.roll.row(resumed[0])]
        return [float(live.start_s), float(live.energy_j)]

    before = past(books)
    confirmed = books.copy()
    confirmed.apply(entry.time_s + 1.0, [Started(resumed[0])])
    books.apply(entry.time_s + 1.0, [NotStarted(resumed[0])])
    after = past(books)
    kinds = []
    while not kinds:
        now_s = books.next_s()
        kinds = [each.kind for each in books.step(now_s, []) if each.job == resumed[0]]
    start_s, before_j = before
    assert before_j > 0
    assert after == before
    assert past(confirmed)[0] == start_s
    assert kinds[0] == "resume"


def test_a_journal_holds_the_cap_that_the_books_began_with() -> None:
    lines = []
    books = opened(compose(admission=Block()), cap_w=1500.0)
    books.keep_journal(JournalWriter(lines.append))
    books.step(0, [Submitted("a", 3, 100.0), Submitted("b", 3, 100.0)])
    journal = read_journal("".join(lines), "journal")
    fresh = opened(compose(admission=Block()), cap_w=journal.head["cap_w"])
    late = opened()
    late.step(0, [NodesDown(3)])
    with pytest.raises(InputError, match="nothing was told of"):
        late.keep_journal(JournalWriter(lines.append))
    assert replay(fresh, journal.entries()).equal


@pytest.mark.parametrize("rule", ["traditional", "fixed", "naive", "adaptive"])
def test_jobs_choose_configurations_where_no_log_is_known(rule: str) -> None:
    for unknown, started in (("refuse", ["a"]), ("traditional", ["a", "b"])):
        books = wl.open_books(machine=wl.Machine(nodes=40, node_idle_w=80), power="watts",
                              cap="9kW", configure={"name": rule, "unknown": unknown})
        decided = books.step(0.0, [Submitted("a", 8, 3600.0, application="BT-MZ"),
                                   Submitted("b", 1, 3600.0, application="nothing known")])
        assert [each.job for each in decided if each.kind == "start"] == started
        assert decided[0].control.cores
        assert [each.control.cores for each in decided[1:]] == [None] * (len(started) - 1)
        assert ["nothing known" in each.reason for each in books.refused] == [True] * (
            2 - len(started))


def test_a_table_that_draws_less_than_idle_nodes_stops_no_books() -> None:
    """Jobs of that application run as requested; those of others in their configurations."""
    with pytest.warns(wl.WattlineWarning, match="'NAS-CG' as .* less than its .* not measured"):
        books = wl.open_books(machine=wl.Machine(nodes=40, node_idle_w=80), power="watts",
                              cap="9kW", configure="naive")
    low, own = books.step(0.0, [Submitted("a", 8, 3600.0, application="NAS-CG"),
                                Submitted("b", 8, 3600.0, application="BT-MZ")])
    assert (low.control.cores, own.control.cores is not None) == (None, True)
    with pytest.raises(wl.InputError, match=r"less than its .* nodes idle"):
        wl.open_books(machine=wl.Machine(nodes=40, node_idle_w=250), power="watts", cap="19kW",
                      configure="naive")


def test_what_of_a_scenario_lies_ahead_is_said() -> None:
    with pytest.warns(wl.WattlineWarning, match="CapChanged"):
        wl.open_books("examples/maintenance.toml")


@pytest.mark.parametrize(("given", "said"), [
    ({"start_s": float("nan")}, "start_s"), ({"start_s": 1e300}, "start_s"),
    ({"start_s": "x"}, "start_s"), ({"cap": "80%peak", "power": "block"}, "take watts"),
    ({"cap": 0.8, "power": "block"}, "write 80% of rated power"),
    ({"cap": -5, "power": "block"}, "must be a positive number of watts"),
])
def test_books_that_cannot_begin_are_refused(given, said: str) -> None:
    with pytest.raises(InputError, match=said):
        wl.open_books(machine=MACHINE, **given)


def test_a_time_that_no_machine_reaches_is_refused_and_the_books_go_on() -> None:
    books = wl.open_books(machine=MACHINE)
    assert books.step(1e300, []) == ()
    assert "is no time" in books.refused[0].reason
    books.step(10.0, [])
    assert books.refused == ()


def test_what_contradicts_what_was_told_before_is_refused() -> None:
    chosen, counted = opened(compose(placement=FirstFit()), nodes=True), opened()
    for books in (chosen, counted):
        books.step(0, [Submitted("a", 3, 100.0)])
    reasons = []
    for books, events in ((chosen, [NodesDown(nodes=(6,))]), (chosen, [NodesDown(nodes=(6, 7))]),
                          (chosen, [NodesUp(nodes=(5,))]), (chosen, [NodesUp(nodes=(6,))]),
                          (counted, [Started("a", (1, 2))]), (counted, [Started("a", (1, 2, 3))])):
        books.step(1, events)
        reasons.append([each.reason for each in books.refused])
    found = [reasons, int(chosen.state.clock[0].down)]
    reasons, down = found
    assert reasons == [[], ["node 6 is out of order already"], ["node 5 is in order"], [],
                       ["job 'a' is on 2 nodes and asked for 3"], []]
    assert down == 0


def test_a_refused_job_that_somebody_starts_is_counted() -> None:
    """Whoever started it knows better: its units and watts are gone, and its end is heard of."""
    books = opened(compose(admission=Block()), cap_w=1000.0, cap_w_max=1000.0)
    first = told(books.step(0, [Submitted("a", 6, 60.0)]))
    books.step(5, [Started("a")])
    held = [[each.reason for each in books.refused], int(books.state.clock[0].free),
            int(books.record.meter[0].done)]
    books.step(9, [Ended("a")])
    found = [first, held, int(books.state.clock[0].free), int(books.record.meter[0].done),
             float(books.power_w)]
    assert found == [[["refuse", "a"]], [[], 2, 0], 8, 1, 720.0]


def test_stalls_are_refused_where_nobody_reads_them() -> None:
    books = opened()
    books.step(0, [Stalled({3: 7.0})])
    found = [each.reason for each in books.refused]
    assert found == ["the placement of these books reads no counters of routers"]


@pytest.mark.parametrize(("first", "second", "reason"), [
    ({"names": {"user": "ann"}}, {"codes": {"user": 0}}, "has a number for its user"),
    ({"codes": {"user": 0}}, {"names": {"user": "ann"}}, "names its user without a number"),
])
def test_numbers_of_the_teller_and_of_the_books_are_not_mixed(first, second, reason) -> None:
    """Otherwise two users would be one. It holds after loading, too."""
    books = opened()
    books.step(0, [Submitted("a", 1, 60.0, **first)])
    books = Books.load(books.save(), books.machine, compose(), books.terms)
    books.step(1, [Submitted("b", 1, 60.0, **second), Submitted("c", 1, 60.0, **first)])
    found = [[each.event.job, each.reason] for each in books.refused]
    assert [job for job, _ in found] == ["b"]
    assert reason in found[0][1]


def submit(books: Books, job: str, units: int, application: str, kind: int,
           **more: float) -> list[str]:
    books.step(books.now_s, [Submitted(job, units, 60.0, application=application,
                                       codes={"application": kind}, **more)])
    return reasons(books)


@pytest.mark.parametrize(("servers", "application", "kind", "work", "reason"), [
    (3, "small", 0, {"work_s": 9.0}, "a job of 3 servers; those of type small have 1"),
    (1, "large", 0, {"work_s": 9.0}, "that of type 'small'"),
    (1, "other", 2, {"work_s": 9.0}, "every job needs a type"),
    (1, "small", 0, {}, "declares no work"),
])
def test_a_contract_takes_only_jobs_of_its_types(
        servers: int, application: str, kind: int, work: dict[str, float], reason: str) -> None:
    """One of another size would be given servers that are not free."""
    books = Books.open(contract.MACHINE, contract.regulated("qoscap"))
    [refused] = submit(books, "a", servers, application, kind, **work)
    assert reason in refused
    assert submit(books, "b", 3, "large", 1, work_s=9.0) == []


def test_books_that_cannot_carry_on_stay_as_they_were() -> None:
    lines = []
    books = opened()
    books.keep_journal(JournalWriter(lines.append))
    books.step(0, [Submitted("a", 8, 60.0)])
    saved = books.save()
    books.step(5, [Submitted("b", 2, 60.0)])
    books.step(9, [Ended("a")])
    loaded = Books.load(saved, books.machine, compose(), books.terms)
    loaded.state.clock[0].free = -8  # as if they had been kept under other rules
    with pytest.raises(InputError, match="decide otherwise"):
        carry_on(loaded, read_journal("".join(lines), "journal"), lines.append)
    assert (loaded.now_s, len(loaded.roll)) == (0.0, 1)


def test_a_refused_job_is_known_to_saved_books_as_to_others() -> None:
    seen = []
    for saved in (False, True):
        books = opened(compose(admission=Block()), cap_w=1000.0, cap_w_max=1000.0)
        books.step(0, [Submitted("a", 6, 60.0), Submitted("b", 1, 60.0)])
        books.step(1, [Started("b")])
        books.step(2, [Ended("b")])
        if saved:
            books = Books.load(books.save(), machine, compose(admission=Block()), books.terms)
        seen.append([])
        for now_s, event in ((5, Started("a")), (6, Submitted("a", 6, 60.0)), (9, Ended("a"))):
            books.step(now_s, [event])
            seen[-1].append([[each.reason for each in books.refused], books.power_w])
    assert seen[0][0] == [[], 6 * 300.0 + 2 * 90.0]
    assert seen[0][2] == [[], 8 * 90.0]
    assert seen[1] == seen[0]


def test_books_forget_refused_jobs_with_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "OVER_FROM", 80)
    books = opened(compose(admission=Block()), cap_w=1000.0, cap_w_max=1000.0)
    books.step(0, [Submitted(job, 6, 60.0) for job in range(100)])
    before = len(books.roll)
    books.save()
    kept = len(books.roll)
    books.step(1, [Submitted("b", 1, 60.0)])
    found = [before, kept, len(books.roll)]
    assert found == [100, 100, 1]


@pytest.mark.parametrize("ends", [True, False])
def test_units_that_come_back_pay_for_older_failures_first(ends: bool) -> None:
    """Two of eight nodes failed within a reservation that has all that is free."""
    books = choosing()
    books.step(0, [Submitted("a", 4, 1000.0)])
    books.step(1, [*([Started("a")] if ends else []), Reserved("r", 1.0, 500.0, units=4)])
    books.step(2, [NodesDown(nodes=(4, 5))])
    books.apply(3, [Submitted("b", 4, 100.0)])
    events = [Ended("a"), Started("b", (0, 1, 2, 3))] if ends else [Started("a", (0, 1, 6, 7))]
    books.step(4, events)
    clock = books.state.clock[0]
    found = [reasons(books), [int(clock[name]) for name in ("free", "down", "reserved", "owed")],
             wrong(books)]
    assert found == [[], [0, 2, 2, 2], []]


def test_jobs_that_changed_places_are_where_they_are() -> None:
    books = choosing()

    def where() -> dict[str, list[int]]:
        return {key: list(nodes_of(books.state, books.roll.row(key))) for key in "abc"}

    books.step(0, [Submitted("a", 3, 100.0), Submitted("b", 3, 100.0), Submitted("c", 2, 100.0)])
    books.step(1, [Started("a", (3, 4, 5)), Started("b", (0, 1, 7)), Started("c")])
    first = [reasons(books), where()]
    books.step(2, [Started("a", (3, 4, 5)), Started("b", (0, 1, 2))])
    found = [first, reasons(books), where(), wrong(books)]
    (refused, before), again, after, problems = found
    assert refused == ["node 3 is not free for job 'a'", "node 7 is not free for job 'b'"]
    assert before == {"a": [0, 1, 2], "b": [3, 4, 5], "c": [6, 7]}
    assert again == []
    assert after == {"a": [3, 4, 5], "b": [0, 1, 2], "c": [6, 7]}
    assert problems == []


@pytest.mark.parametrize("chosen", [False, True])
def test_a_job_that_runs_within_a_reservation_takes_its_units(chosen: bool) -> None:
    """The reservation has them back when the job ends, and the machine when it is over."""
    nodes = (0, 1, 2, 3) if chosen else ()
    books = choosing() if chosen else opened()

    def units() -> list[int]:
        clock = books.state.clock[0]
        return [int(clock.free), int(clock.reserved), int(clock.owed)]

    books.step(0, [Reserved("r", 0.0, 1000.0, units=7)])
    seen = [units()]
    books.apply(1, [Submitted("own", 4, 100.0), Submitted("large", 6, 100.0)])
    for now_s, events in ((2, [Started("own", nodes)]), (3, [Started("large", (4, 5, 6, 7, 0, 1))]),
                          (4, [Ended("own")]), (1000, [])):
        decided = told(books.step(now_s, events))
        seen.append([reasons(books), units(), wrong(books)])
    found = [seen, decided]
    seen, decided = found
    assert seen[0] == [1, 7, 0]
    assert seen[1] == [[], [0, 4, 3], []]
    assert seen[2] == [["job 'large' needs 6 units, 4 are free"], [0, 4, 3], []]
    assert seen[3] == [[], [1, 7, 0], []]
    assert seen[4][1:] == [[2, 0, 0], []]
    assert decided == [["start", "large"]]
