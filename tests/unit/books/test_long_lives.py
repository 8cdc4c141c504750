"""Books that are kept for years: what is over is forgotten, and no decision depends on it."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
from tests.support.commands import ok, refused
from tests.support.told_books import machine, opened, told
from tests.support.workloads import compose

import wattline.books.books as keeping
from wattline.benchmarks import _books
from wattline.books import Books, Cancelled, Ended, NotStarted, Started, Submitted, Terms, roll
from wattline.policies.admission.block import Block


def flow(books, steps, at_once=8):
    decided, rows = [], []
    for number in range(steps):
        first = number * at_once
        over = [Ended(job) for job in range(first - at_once, first)] if number else []
        came = [Submitted(first + job, 1, 60.0 - job) for job in range(at_once)]
        decided += told(books.step(float(number), over + came))
        rows.append(len(books.roll))
    return decided, rows


def test_steps_forget_by_themselves_what_is_over_and_decide_the_same(
        monkeypatch: pytest.MonkeyPatch) -> None:
    """Two hundred jobs pass; with a bound of 20 no more than those and the next wave have rows."""
    kept = flow(opened(), 25)
    monkeypatch.setattr(keeping, "OVER_FROM", 20)
    forgetting = opened()
    short = flow(forgetting, 25)
    found = [kept[0] == short[0], len(kept[0]), kept[1][-1], max(short[1]),
             forgetting.forgotten, int(forgetting.record.meter[0].done)]
    same, starts, rows, most, forgotten, done = found
    assert same
    assert (starts, rows, done) == (200, 200, 192)
    assert most < 20 + 3 * 8
    assert forgotten > 150


def test_what_a_peak_took_is_given_back() -> None:
    """Three thousand jobs wait and are withdrawn: arrays then are as they were at the beginning."""
    books = opened()

    def sizes() -> list[int]:
        return [len(books.state.jobs), len(books.state.queue), len(books.state.profile),
                len(books.state.timers), len(books.record.log_time_s), len(books.record.decided)]

    books.step(0, [Submitted("a", 8, 100.0)])
    before = sizes()
    books.step(1, [Submitted(job, 8, 100.0) for job in range(3000)])
    peak = sizes()
    books.step(2, [Cancelled(job) for job in range(1, 3000)])
    books.compact()
    after = sizes()
    found = [before, peak, after, told(books.step(3, [Ended("a")])), len(books.save())]
    before, peak, after, decided, saved = found
    assert all(small * 2 <= large for small, large in zip(before, peak, strict=True))
    assert all(now * 2 <= large for now, large in zip(after, peak, strict=True))
    assert after[:5] == before[:5]
    assert decided == [["start", 0]]
    assert saved < 100_000


def test_the_job_that_stopped_the_others_is_known_after_forgetting() -> None:
    """`b` lacks watts and stops `c` until it would no longer end before `wide` begins, at 11 s."""
    def lived(forget: bool) -> list[object]:
        books = opened(compose(admission=Block()), cap_w=2000.0, cap_w_max=2400.0)
        waits = [Submitted("wide", 8, 50.0), Submitted("b", 3, 90.0), Submitted("c", 1, 20.0)]
        happens = {0: [Submitted("x", 1, 5.0)], 1: [Ended("x"), Submitted("a", 4, 100.0)],
                   2: waits, 10: [], 12: []}
        decided = []
        for now_s, events in happens.items():
            decided.append(told(books.step(now_s, events)))
            if forget and now_s >= 2:
                books.compact()
        return decided

    expected = [[["start", "x"]], [["start", "a"]], [], [], [["start", "c"]]]
    assert lived(False) == lived(True) == expected


def test_loaded_books_forget_as_those_that_were_saved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "OVER_FROM", 20)
    books = opened()
    flow(books, 4)
    loaded = Books.load(books.save(), machine, compose(), Terms())
    before = [loaded.forgotten, len(loaded.roll), len(loaded.state.jobs)]
    wave = [Submitted(500 + job, 1, 5.0) for job in range(30)]
    same = told(books.step(50.0, wave)) == told(loaded.step(50.0, wave))
    gone = [Cancelled(500 + job) for job in range(30)]
    for each in (books, loaded):
        each.step(51.0, gone)
        each.step(52.0, [])
    found = [before, same, [books.forgotten, loaded.forgotten],
             [len(books.roll), len(loaded.roll)]]
    before, same, forgotten, rows = found
    assert before == [24, 8, 1024]
    assert same
    assert forgotten == [54, 54]
    assert rows == [8, 8]


@pytest.mark.parametrize(("version", "lacks", "known"), [
    (5, ["shortest_s", "unplaced_s"], [0.0, 7.0]), (6, ["unplaced_s"], [40.0, 7.0])])
def test_books_that_an_earlier_version_saved_go_on_the_same(
    version: int, lacks: list[str], known: list[float]
) -> None:
    """Of a refused placement they do not know: it may have been at the time of saving."""
    books = opened()
    books.step(7, [Submitted("a", 12, 100.0), Submitted("b", 8, 50.0), Submitted("c", 4, 300.0),
                   Submitted("d", 2, 40.0)])

    def of_that_version(clock):
        fields = [name for name in clock.dtype.names if name not in lacks]
        kept = np.zeros(1, [(name, clock.dtype[name]) for name in fields])
        for name in fields:
            kept[name] = clock[name]
        return kept

    with np.load(io.BytesIO(books.save())) as archive:
        saved = dict(archive)
    head = json.loads(saved["head"].tobytes())
    saved["head"] = np.frombuffer(json.dumps({**head, "version": version}).encode(), dtype=np.uint8)
    saved["state.clock"] = of_that_version(saved["state.clock"])
    out = io.BytesIO()
    np.savez(out, **saved)
    loaded = Books.load(out.getvalue(), machine, compose(), Terms())
    clock = loaded.state.clock[0]
    result = [float(clock.shortest_s), float(clock.unplaced_s)]
    for time_s, event in ((60.0, Submitted("e", 1, 5.0)), (99.0, Ended("a")), (100.0, Ended("b"))):
        result.append(told(books.step(time_s, [event])) == told(loaded.step(time_s, [event])))
    assert result == [*known, True, True, True]


def test_all_that_was_said_of_jobs_is_saved_and_loaded() -> None:
    books = opened()
    said = [Submitted("a", 8, 100.0, names={"user": "ada"}, codes={"queue": np.int64(3)}),
            Submitted(0, 2, 10.0, procs=7, share=0.5, logged={"x": np.float32(0.5)}),
            Submitted("c", 1, 10.0, watts=120.0, after=0, think_s=3.0, work_s=8.0)]
    books.step(0, said)
    loaded = Books.load(books.save(), machine, compose(), Terms())
    found = [repr(loaded.roll.jobs) == repr(books.roll.jobs).replace("np.int64(3)", "3")
             .replace("np.float32(0.5)", "0.5"), [type(job.units).__name__ for job in
             loaded.roll.jobs], loaded.roll.codes == books.roll.codes]
    assert found == [True, ["int", "int", "int"], True]


def test_a_stream_of_jobs_is_measured_in_jobs_and_megabytes(
        monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_books, "AT_ONCE", 50)
    found = _books.stream(compose(), 200)
    assert found["streamed_jobs"] == 200
    assert 0 <= found["stream_grew_mb"] < found["memory_mb"]


def test_how_many_jobs_stream_through_the_books_is_an_option(monkeypatch, capsys) -> None:
    from wattline.benchmarks import core

    monkeypatch.setattr(core, "measure", lambda progress, streamed_jobs=0: {"jobs": streamed_jobs})
    words = ("bench", "core", "--streamed-jobs", "10000000", "--json")
    assert json.loads(ok(capsys, *words)) == {"jobs": 10_000_000}
    assert "core" in refused(capsys, "bench", "traces", "--streamed-jobs", "5000")
    assert "at least 1000" in refused(capsys, "bench", "core", "--streamed-jobs", "5")


def test_books_that_are_saved_know_the_same_names_as_others(
        monkeypatch: pytest.MonkeyPatch) -> None:
    """Few names are remembered here; when they are forgotten does not depend on saving."""
    monkeypatch.setattr(keeping, "OVER_FROM", 8)
    monkeypatch.setattr(roll, "REMEMBERED", 5)

    def lived(saves: int) -> tuple[object, ...]:
        books, known = opened(), []
        for number in range(30):
            books.step(10 * number, [Submitted(f"j{number}", 8, 5.0)])
            books.step(10 * number + 5, [Ended(f"j{number}")])
            if saves and number % saves == 0:
                books = Books.load(books.save(), books.machine, compose(), books.terms)
            known.append(sum(f"j{n}" in books.roll or f"j{n}" in books.roll.over
                             for n in range(30)))
        asked = books.step(400, [Submitted("z", 1, 5.0, after="j25", think_s=1e6),
                                 Submitted("y", 1, 5.0, after="j3", think_s=1e6)])
        return known, told(asked), [each.reason for each in books.refused], len(books.roll)

    one, *others = lived(0), lived(1), lived(7)
    found = [one, [other[:3] == one[:3] for other in others]]
    (known, asked, refused, _), same = found
    assert same == [True, True]
    assert asked == [["start", "y"]]
    assert refused == []
    assert max(known) < 20


def test_a_job_that_is_forgotten_does_not_make_another_eligible() -> None:
    """`x` was to wait until 1001 s and is withdrawn; the last row then is of a job that depends."""
    seen = []
    for saved in (False, True):
        books = opened()
        books.step(0, [Submitted("x", 2, 10.0)])
        books.step(1, [NotStarted("x", 1000.0)])
        books.step(2, [Cancelled("x")])
        if saved:
            books.save()
        room = len(books.state.jobs) - len(books.roll)
        books.step(3, [Submitted("long", 1, 1e5), Submitted("after", 1, 50.0, after="long"),
                       *(Submitted(number, 8, 1e5) for number in range(room - 3)),
                       Submitted("last", 1, 50.0, after="long")])
        books.step(4, [Started("long")])
        full = len(books.roll) == len(books.state.jobs)
        seen.append([full, told(books.step(1001, []))])
    assert seen == [[True, []], [True, []]]
