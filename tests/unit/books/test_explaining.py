"""Why jobs wait, worked out by hand: eight nodes of 90 W idle and 300 W busy under 1,500 W."""

from __future__ import annotations

import pytest

import wattline as wl
from wattline.books import (
    Books,
    CapChanged,
    NodesDown,
    NotStarted,
    Reserved,
    Started,
    Submitted,
    explain,
)
from wattline.books.explaining import reasons_in_short
from wattline.model.errors import InputError


def opened(**more) -> Books:
    machine = wl.Machine(nodes=8, node_idle_w=90, node_active_w=300)
    return wl.open_books(machine=machine, **{"power": "block", "cap": "1500W", **more})


def job(key: str, units: int, requested_s: float = 600.0, **more) -> Submitted:
    return Submitted(key, units, requested_s, **more)


def short(books: Books, key: str) -> str:
    return reasons_in_short(books, [books.roll.row(key)])[0]


def test_a_job_waits_for_nodes() -> None:
    books = opened(cap=None, power="none")
    books.step(0.0, [job("a", 6), job("b", 3), NodesDown(units=1)])
    found = explain(books, "b")
    assert found.reason == short(books, "b") == "nodes"
    assert found.sentence == ("it waits for nodes: it asks for 3 and 1 of 8 are free, 1 down")
    assert found.expected_s == 600.0


def test_a_job_waits_for_watts_until_another_ends() -> None:
    books = opened()
    books.step(0.0, [job("a", 3), job("b", 2)])
    found = explain(books, "b")
    assert found.reason == short(books, "b") == "watts"
    assert (found.figures["adds_w"], found.figures["left_w"]) == (420.0, 150.0)
    assert found.expected_s == 600.0


def test_a_job_waits_for_its_turn_though_it_would_fit() -> None:
    """The head waits for watts and lets nobody pass: the cause of the second is the first."""
    books = opened()
    books.step(0.0, [job("a", 3), job("b", 2), job("c", 1, watts=200.0)])
    found = explain(books, "c")
    assert found.reason == "priority"
    assert found.sentence == "it waits for its turn: job b comes before it"
    assert found.expected_s == 600.0


@pytest.mark.parametrize("busy", [0, 1])
@pytest.mark.parametrize("behind", [0, 1, 2])
def test_a_job_that_the_lowered_cap_has_no_room_for_says_so_and_who_waits_behind_it(
    behind: int, busy: int
) -> None:
    """Eight nodes draw 720 W idle, four of them busy 840 W more."""
    books = opened(cap=2000.0)
    books.step(0.0, [CapChanged(1200.0), *(job(f"r{number}", 1) for number in range(busy))])
    books.step(1.0, [job("a", 4), *(job(f"b{number}", 1) for number in range(behind))])
    found = explain(books, "a")
    assert found.reason == "watts"
    assert found.sentence.startswith(
        "it waits for a higher cap: it does not fit under the cap of 1,200 W even on an empty "
        "machine, which would draw 1,560 W with it")
    assert found.figures["behind"] == behind
    assert ("behind it" in found.sentence) == (behind > 0)
    assert found.expected_s is None
    for number in range(behind):
        assert ", which does not fit under the cap of now" in explain(books, f"b{number}").sentence
    books.step(2.0, [CapChanged(1700.0 + 210.0 * busy)])
    assert explain(books, "a").reason == "starting"


def test_with_nodes_down_a_job_waits_for_nodes_where_no_cap_would_help_it() -> None:
    """Seven nodes are drained, whose 630 W idle are kept from the cap of 1,500 W."""
    books = opened(placement="first-fit")
    books.step(0.0, [NodesDown(nodes=tuple(range(1, 8))),
                     Reserved("nodes-without-jobs", 0.0, 1e6, watts=630.0)])
    books.step(1.0, [job("a", 2)])
    found = explain(books, "a")
    assert found.reason == "nodes"
    assert found.sentence == ("it waits for nodes: it asks for 2 and 1 of 8 are free, 7 down")


@pytest.mark.parametrize("classes", [1, 2])
def test_what_nodes_draw_that_are_down_is_not_counted_twice(classes: int) -> None:
    """Three nodes are drained and their 270 W kept from the cap: of 1,200 W 930 are left, and
    five nodes with a job of three draw 5 x 90 + 3 x 210 = 1,080 W."""
    machine = (wl.Machine(nodes=8, node_idle_w=90, node_active_w=300) if classes == 1 else
               wl.Machine(classes=[
                   wl.NodeClass(name="a", count=4, cores=1, idle_w=90, active_w=300),
                   wl.NodeClass(name="b", count=4, cores=1, idle_w=90, active_w=300)]))
    books = wl.open_books(machine=machine, power="block", cap=2000.0, placement="first-fit")
    books.step(0.0, [NodesDown(nodes=(5, 6, 7)), CapChanged(1200.0),
                     Reserved("nodes-without-jobs", 0.0, 1e6, watts=270.0)])
    books.step(1.0, [job("a", 3)])
    found = explain(books, "a")
    assert found.sentence.startswith(
        "it waits for a higher cap: it does not fit under the cap of 930 W even on an empty "
        "machine, which would draw 1,080 W with it")


def test_a_job_that_is_slowed_down_to_fit_is_not_stuck() -> None:
    books = opened(cap=2000.0, power="dvfs")
    books.step(0.0, [CapChanged(1300.0), job("r", 5)])
    books.step(1.0, [job("a", 5)])
    assert "higher cap" not in explain(books, "a").sentence


def test_a_job_waits_for_a_reservation() -> None:
    books = opened(cap=None, power="none")
    books.step(0.0, [Reserved("dawn", 300.0, 100.0, units=8)])
    books.step(1.0, [job("a", 2)])
    found = explain(books, "a")
    assert found.reason == "reservation"
    assert "(dawn)" in found.sentence
    assert found.expected_s == 400.0


def test_a_job_waits_for_another_and_for_a_failed_start() -> None:
    books = opened()
    books.step(0.0, [job("a", 1), job("b", 1, after="a"), job("c", 1)])
    found = explain(books, "b")
    assert (found.reason, found.figures["after"]) == ("dependency", "a")
    books.step(1.0, [NotStarted("c", 5.0)])
    assert explain(books, "c").reason == short(books, "c") == "back-off"
    assert explain(books, "c").expected_s == 6.0


def test_what_does_not_wait_says_so() -> None:
    books = opened()
    books.step(0.0, [job("a", 1), job("d", 5)])
    assert explain(books, "a").reason == "starting"
    books.step(1.0, [Started("a")])
    assert explain(books, "a").reason == "running"
    refused = explain(books, "d")
    assert refused.reason == "refused"
    assert "1,770 W, above the highest cap, 1,500 W" in refused.sentence
    with pytest.raises(InputError, match="know no job 'x'"):
        explain(books, "x")


def test_a_job_waits_for_joules() -> None:
    """20 kWh a day leave 2.72 kWh above idle; each of the two jobs needs 2.1 kWh."""
    books = opened(cap=None, power=wl.Budget(energy="20kWh", period="1d"))
    books.step(0.0, [job("a", 4, 2.5 * 3600.0), job("b", 4, 2.5 * 3600.0)])
    found = explain(books, "b")
    assert found.reason == short(books, "b") == "energy"
    assert found.figures["left_j"] < 4 * 210.0 * 2.5 * 3600.0


def test_asking_changes_nothing() -> None:
    told = [job("a", 3), job("b", 2), job("c", 1)]
    asked, silent = opened(), opened()
    for books in (asked, silent):
        books.step(0.0, told)
    before = asked.save()
    for key in "abc":
        explain(asked, key)
    assert asked.save() == before == silent.save()
