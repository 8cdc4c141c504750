"""A job that comes back under another key stands where it stood, whatever happens in between."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
from tests.support.told_books import machine, opened, read, writing
from tests.support.workloads import compose

from wattline.books import Books, Cancelled, Ended, Submitted, Terms
from wattline.books.replay import replay
from wattline.books.waiting import waiting_rows
from wattline.policies.order.fcfs import Fcfs
from wattline.policies.order.multifactor import Multifactor
from wattline.policies.order.sjf import Sjf

ORDERS = {"fcfs": Fcfs(), "sjf": Sjf(), "age": Multifactor(age=1.0)}


def waiting(books):
    return [books.roll.key(row) for row in waiting_rows(books)]


def came(name, place=None):
    return Submitted(name, 4, 100.0, place=place)


def full(books):
    books.step(0, [Submitted("long", 8, 1000.0)])
    books.step(1, [came("a"), came("b"), came("c")])  # in one step: only turns tell them apart
    books.step(2, [came("d")])


@pytest.mark.parametrize("order", ["fcfs", "sjf", "age"])
@pytest.mark.parametrize("meanwhile", ["nothing", "saved", "forgotten", "other policy"])
def test_what_comes_back_stands_before_what_came_since(order: str, meanwhile: str) -> None:
    axes = {"order": ORDERS[order]}
    books = opened(compose(**axes))
    full(books)
    places = {name: books.place(name) for name in "abc"}
    books.step(3, [Cancelled("c"), Cancelled("b")])
    if meanwhile == "forgotten":
        books.compact()
    if meanwhile == "saved":
        books = Books.load(books.save(), machine, compose(**axes), Terms())
    books.step(4, [came("c~1", places["c"])])
    books.step(5, [came("b~1", places["b"]), came("e")])
    if meanwhile == "other policy":
        books = books.with_policy(compose(**axes))
    kept = [books.place("b~1") == places["b"], books.place("b~2")]
    ends = ["long", "a", "b~1", "c~1"]
    starts = [each.job for time_s, job in enumerate(ends, 6)
              for each in books.step(time_s, [Ended(job)])]
    found = [starts, *kept]
    assert found == [["a", "b~1", "c~1", "d", "e"], True, None]


def test_a_journal_gives_the_same_places_again() -> None:
    books, lines = writing(compose())
    full(books)
    books.step(3, [Cancelled("b"), came("b~1", books.place("b"))])
    books.step(4, [Ended("long")])
    again = replay(opened(compose()), read(lines))
    found = [again.equal, again.decisions, [books.roll.key(int(row)) for row in
             books.state.running[: books.state.clock[0].running]]]
    assert found == [True, 3, ["a", "b~1"]]


@pytest.mark.parametrize("place", [(99.0, 0), (-1.0, 0), (1.0, -1), (1.0, 0.5), (1.0,)])
def test_a_place_that_cannot_be_is_refused(place: tuple[float, ...]) -> None:
    books = opened()
    full(books)
    books.step(5, [came("z", place)])
    found = [len(books.refused), waiting(books)]
    assert found == [1, ["a", "b", "c", "d"]]


def test_books_of_a_version_without_turns_go_on_in_the_same_order() -> None:
    books = opened()
    full(books)
    with np.load(io.BytesIO(books.save())) as archive:
        saved = dict(archive)
    head = json.loads(saved["head"].tobytes())
    saved["head"] = np.frombuffer(json.dumps({**head, "version": 7}).encode(), dtype=np.uint8)
    fields = [name for name in saved["state.jobs"].dtype.names if name != "turn"]
    saved["state.jobs"] = np.ascontiguousarray(saved["state.jobs"][fields])
    out = io.BytesIO()
    np.savez(out, **saved)
    loaded = Books.load(out.getvalue(), machine, compose(), Terms())
    place = loaded.place("b")
    loaded.step(3, [Cancelled("b"), came("b~1", place), came("e")])
    assert waiting(loaded) == ["a", "b~1", "c", "d", "e"]
