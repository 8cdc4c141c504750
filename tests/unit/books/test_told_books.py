"""Books that are told what really happens: out of order, by others, late, or wrongly."""

from __future__ import annotations

from tests.support.told_books import machine, opened, told
from tests.support.workloads import compose

from wattline.books import (
    Books,
    Cancelled,
    CapChanged,
    Changed,
    Ended,
    JournalWriter,
    Measured,
    NodesDown,
    NotStarted,
    Paced,
    Reserved,
    Stalled,
    Started,
    Submitted,
    Terms,
)
from wattline.model.errors import InputError
from wattline.policies.admission.block import Block
from wattline.policies.placement.first_fit import FirstFit


def test_units_out_of_order_are_not_given_to_the_next_job() -> None:
    """Five of eight units fail under a job of eight: when it ends, three are left."""
    books = opened()
    books.step(0, [Submitted("a", 8, 100.0), Submitted("b", 4, 10.0), Submitted("c", 3, 10.0)])
    books.step(1, [NodesDown(5)])
    power_w = books.power_w
    decided = books.step(2, [Ended("a"), Started("b")])
    found = [told(decided), [each.reason for each in books.refused],
             int(books.state.clock[0].free), power_w, books.power_w]
    decided, refused, free, before_w, after_w = found
    assert decided == [["start", "c"]]
    assert refused == ["job 'b' needs 4 units, 3 are free"]
    assert free == 0
    assert (before_w, after_w) == (8 * 300.0, 3 * 300.0 + 5 * 5.0)


def test_a_job_may_start_where_another_has_just_ended() -> None:
    books = opened(compose(placement=FirstFit()), nodes=True)
    books.step(0, [Submitted("a", 8, 100.0), Submitted("b", 4, 10.0)])
    books.step(2, [Ended("a"), Started("b", (4, 5, 6, 7))])
    decided = books.step(3, [Submitted("c", 4, 10.0)])
    found = [[each.reason for each in books.refused], decided[0].control.nodes]
    assert found == [[], (0, 1, 2, 3)]


def test_a_start_on_other_nodes_than_asked_is_where_the_job_is() -> None:
    books = opened(compose(placement=FirstFit()), nodes=True)
    asked = books.step(0, [Submitted("a", 4, 100.0)])
    books.step(1, [Started("a", (4, 5, 6, 7))])
    next_ = books.step(2, [Submitted("b", 4, 10.0)])
    found = [asked[0].control.nodes, next_[0].control.nodes, int(books.state.clock[0].free)]
    assert found == [(0, 1, 2, 3), (0, 1, 2, 3), 0]


def test_a_start_that_does_not_happen_gives_all_back_and_is_asked_for_again() -> None:
    books = opened()
    first = told(books.step(0, [Submitted("a", 8, 100.0)]))
    held_w = books.power_w
    books.step(1, [NotStarted("a", 30.0, "node failure")])
    again_s, idle_w = books.next_s(), books.power_w
    found = [first, held_w, again_s, idle_w, told(books.step(31, []))]
    assert found == [[["start", "a"]], 2400.0, 31.0, 720.0, [["start", "a"]]]


def test_jobs_wait_for_others_that_are_cancelled_or_forgotten_as_for_any() -> None:
    """Think time counts from the end also when the job before it is forgotten already."""
    def late(forget: bool) -> list[object]:
        books = opened()
        books.step(0, [Submitted("a", 1, 10.0)])
        books.step(20, [Ended("a")])
        if forget:
            books.compact()
        books.step(25, [Submitted("d", 1, 10.0, after="a", think_s=100.0)])
        return [books.next_s(), told(books.step(120, []))]

    books = opened()
    books.step(0, [Submitted("x", 8, 50.0), Submitted("a", 1, 10.0)])
    books.step(1, [Cancelled("a")])
    books.step(2, [Submitted("d", 1, 10.0, after="a")])
    books.compact()
    books.step(3, [Submitted("a", 1, 5.0)])
    found = [late(False), late(True), told(books.step(50, [Ended("x")])),
             [each.reason for each in books.refused]]
    assert found[0] == found[1] == [120.0, [["start", "d"]]]
    assert found[2] == [["start", "d"]]


def test_jobs_that_can_never_start_are_said_to_be_refused() -> None:
    books = opened(compose(admission=Block()), cap_w=1000.0, cap_w_max=1000.0)
    first = told(books.step(0, [Submitted("wide", 8, 10.0), Submitted("narrow", 1, 10.0)]))
    books.step(1, [CapChanged(2400.0)])
    found = [first, told(books.step(2, [Submitted("later", 7, 10.0)]))]
    assert found == [[["refuse", "wide"], ["start", "narrow"]], [["start", "later"]]]


def test_what_cannot_be_is_named_and_changes_nothing() -> None:
    books = opened()
    books.step(0, [Submitted("a", 2, 10.0)])
    strange = [Ended([1]), Stalled({-1: 2.0}), Stalled({3: float("nan")}), Submitted(None, 1, 1.0),
               Submitted(True, 1, 1.0), Submitted("b", True, 1.0),
               Submitted("b", 1, 1.0, procs="x"), Submitted("b", 1, 1.0, share=float("nan")),
               Submitted("b", 1, 1.0, names={"user": 5}),
               Submitted("b", 1, 1.0, codes={"user": 10**12}), Submitted("b", 1, 1.0, after="b"),
               Submitted("b", 1, 1.0, logged={"x": "y"}), Submitted("b", 1, 1.0, names=None)]
    before = books.save()
    books.step(1, strange)
    named = [each.reason for each in books.refused]
    late = []
    for time_s in (float("nan"), float("inf"), 0.5):
        books.step(time_s, [Ended("a")])
        late.append([len(books.refused), books.now_s])
    loads = []
    for data, terms in ((before[:100], Terms()), (before, Terms(choose_nodes=True))):
        try:
            Books.load(data, machine, compose(), terms)
        except InputError as error:
            loads.append(str(error))
    found = [len(strange), named, late, loads, told(books.step(2, [Ended("a")])), books.power_w]
    count, named, late, loads, last, power_w = found
    assert len(named) == count
    assert all(reason and "\n" not in reason for reason in named)
    assert late == [[1, 1.0], [1, 1.0], [1, 1.0]]
    assert len(loads) == 2
    assert last == []
    assert power_w == 8 * 90.0


def test_values_beyond_all_bounds_are_refused_by_name_and_the_rest_of_the_step_counts() -> None:
    """No value ends a step in the middle, and none leaves power or energy without a figure."""
    huge = 10**400
    strange = [Submitted("b", 1, 1.0, procs=2**70), Submitted("b", 1, huge),
               Submitted("b", 1, 1e300), Submitted("b", 1, 1.0, watts=huge),
               Submitted("b", 1, 1.0, watts=1e308), Submitted("b", 1, 1.0, logged={"x": huge}),
               Submitted("b", 1, 1.0, logged={1: 1.0, "x": 2.0}),
               Submitted("b", 1, 1.0, gres={"gpu": huge}), Submitted(10**5000, 1, 1.0),
               Submitted("b", 1, 1.0, after=10**5000), Submitted("b", 1, 1.0, work_s=object()),
               Stalled({10**30: 2.0}), Stalled({3: huge}), CapChanged(True),
               CapChanged(float("nan")), CapChanged(huge), CapChanged(1e13), Measured(1e308),
               Measured(1e308, "a"), Paced("a", 1e-300, 10.0), Paced("a", 1.0, 1e308),
               Changed("a", huge), Changed("a", True), NotStarted("a", huge),
               Ended("a", completed=object()), Started("a", (huge,)), NodesDown(10**5000),
               Reserved("night", 5.0, 10.0, watts=8 * 300.0 + 1.0),
               Reserved("night", huge, 10.0, units=1)]
    books = opened()
    lines = []
    books.keep_journal(JournalWriter(lines.append))
    books.step(0, [Submitted("a", 2, 10.0)])
    books.step(1, [Reserved("dawn", 50.0, 10.0, units=4), *strange, Submitted("c", 1, 5.0)])
    named = [each.reason for each in books.refused]
    times = []
    for time_s in ("x", None, huge, True, [1]):
        books.step(time_s, [Ended("a")])
        times.append([each.reason for each in books.refused])
    found = [len(strange), named, times, books.power_w, "dawn" in books.reservations,
             Books.load(books.save(), machine, compose(), Terms()).power_w, len(lines)]
    count, named, times, power_w, reserved, saved_w, lines = found
    assert len(named) == count
    assert all(reason and "\n" not in reason and len(reason) < 150 for reason in named)
    assert all(len(each) == 1 and "is no time from 1 s on" in each[0] for each in times)
    assert power_w == saved_w == 5 * 90.0 + 3 * 300.0
    assert reserved
    assert lines == 8


def test_another_policy_takes_over_in_the_middle() -> None:
    """Running jobs go on; those that wait and can never start under the next policy are refused."""
    books = opened(cap_w=1500.0, cap_w_max=1500.0)
    books.step(0, [Submitted("a", 8, 100.0), Submitted("wide", 8, 10.0), Submitted("b", 2, 10.0)])
    capped = books.with_policy(compose(admission=Block()))
    free = books.step(50, [Ended("a")])
    found = [told(free), told(capped.step(50, [Ended("a")])), books.power_w, capped.power_w]
    assert found[0] == [["start", "wide"]]
    assert found[1] == [["refuse", "wide"], ["start", "b"]]
    assert found[2:] == [2400.0, 720.0 + 2 * 210.0]


def test_a_job_may_be_told_in_one_step_before_the_one_that_it_waits_for() -> None:
    """Others keep their turn; jobs that wait for each other are refused, unknown ones are over."""
    books = opened()
    first = told(books.step(0, [Submitted("c", 1, 10.0, after="a"), Submitted("x", 1, 10.0),
                                Submitted("a", 1, 10.0, after="b"), Submitted("b", 1, 10.0),
                                Submitted("p", 1, 10.0, after="q"),
                                Submitted("q", 1, 10.0, after="p"),
                                Submitted("late", 1, 10.0, after="long ago")]))
    refused = [each.reason for each in books.refused]
    found = [first, refused, told(books.step(5, [Ended("b")])), told(books.step(9, [Ended("a")]))]
    first, refused, second, third = found
    assert sorted(first) == [["start", "b"], ["start", "late"], ["start", "x"]]
    assert refused == ["job 'p' would wait for itself", "job 'q' would wait for itself"]
    assert second == [["start", "a"]]
    assert third == [["start", "c"]]
