"""Figures that benchmarks make of measurements, by hand: nothing here is timed."""

from __future__ import annotations

import ssl
from types import SimpleNamespace
from typing import Any

import pytest

from wattline.benchmarks import _asking, _live_load, _measuring, _web_load, twin
from wattline.model.errors import InputError


def test_the_best_of_several_calls_is_the_shortest(monkeypatch: pytest.MonkeyPatch) -> None:
    took_s = iter([3.0, 1.0, 2.0])
    monkeypatch.setattr(_measuring, "seconds", lambda work: next(took_s))
    assert _measuring.best_seconds(lambda: None, 3) == 1.0


def test_the_speed_of_a_twin_is_jobs_for_each_second_of_the_processor_in_the_best_run() -> None:
    """8 jobs in 4 s and in 2 s of the processor: 4 a second."""
    runs: list[Any] = [SimpleNamespace(engine_s=5.0, engine_cpu_s=4.0),
                       SimpleNamespace(engine_s=6.0, engine_cpu_s=2.0)]
    assert twin._speed("week", 8, runs) == {
        "week_jobs": 8, "week_engine_s": 5.0, "week_engine_cpu_s": 2.0, "week_jobs_per_cpu_s": 4.0}


@pytest.mark.parametrize(("jobs", "refused"), [(999, True), (1000, False)])
def test_a_thousand_jobs_are_the_fewest_that_stream_through_the_books(
    monkeypatch: pytest.MonkeyPatch, jobs: int, refused: bool
) -> None:
    measured: list[dict[str, Any]] = []

    def measure(progress: Any, **options: Any) -> dict[str, Any]:
        measured.append(options)
        return options

    monkeypatch.setattr(_asking, "_module", lambda name: SimpleNamespace(measure=measure))
    if refused:
        with pytest.raises(InputError, match="999 streamed jobs are too few; at least 1000"):
            _asking.bench("core", streamed_jobs=jobs)
    else:
        _asking.bench("core", streamed_jobs=jobs)
    assert measured == ([] if refused else [{"streamed_jobs": jobs}])


def test_a_beat_counts_as_missed_half_a_second_after_it_was_due(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Beats come each second; the first of each page is not one. Of 1.0, 1.5, 1.75 and 1.0 s one
    is too long; one of three answers was refused, and 2 s of the processor were used."""
    pages = [([0.0, 0.25, 1.25, 2.75, 4.5], [b"200", b"503"]), ([0.0, 1.0, 2.0], [b"200"])]

    async def watch(*_: Any) -> Any:
        return pages

    used_s = iter([1.0, 3.0])
    monkeypatch.setattr(_web_load, "_watch", watch)
    monkeypatch.setattr(_web_load, "cpu_s", lambda pid: next(used_s))
    found = _web_load.viewers("http://127.0.0.1:1", 1, 2, 4.0)
    by_hand = {"viewers": 2, "beats": 4, "missed": 1, "least_beats_of_a_viewer": 3,
               "longest_gap_s": 1.75, "asked": 3, "refused": 1}
    assert {name: found[name] for name in by_hand} == by_hand


class Socket:
    """Gives what it has in pieces, and then nothing for now."""

    def __init__(self, *pieces: bytes) -> None:
        self._pieces = list(pieces)

    def recv(self, size: int) -> bytes:
        if not self._pieces:
            raise ssl.SSLWantReadError
        return self._pieces.pop(0)


def test_messages_of_a_broker_are_told_once_they_are_whole() -> None:
    """A length above 127 takes two bytes, the lower seven bits first; what is cut off waits."""
    long = _live_load.packet(0x30, _live_load.text("a/b") + b"x" * 300)
    short = _live_load.packet(0x30, _live_load.text("c") + b"y")
    other = _live_load.packet(0x40, b"\0\1")
    connection = object.__new__(_live_load.Connection)
    connection._came = b""
    connection._socket = Socket(long + other + short, long[:200])  # type: ignore[assignment]
    assert list(connection.published()) == [("a/b", b"x" * 300), ("c", b"y")]
    connection._socket = Socket(long[200:])  # type: ignore[assignment]
    assert list(connection.published()) == [("a/b", b"x" * 300)]
    assert connection._came == b""
