"""A sweep from its points to its rows: what is known is not repeated, what dies is tried again."""

from __future__ import annotations

import fcntl
import json
import os
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    wait,
)
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from wattline.model.errors import InputError, WattlineError
from wattline.scenario.model import Scenario
from wattline.sweeps.cache import NoCache, PointCache
from wattline.sweeps.notes import Notes, Row, lines_in, noted
from wattline.sweeps.point import Point
from wattline.sweeps.runners import Runner
from wattline.sweeps.work import run_chunk, run_chunk_apart, run_chunk_noting

MOST_TRIES = 3
"""A point whose worker died so often has killed it."""
MOST_IN_CHUNK = 64
LOOK_S = 5.0
"""From one look at what workers have written down to the next."""
DIED = "its worker died each of three times; it may need more memory than there is"

Chunk = list[tuple[int, Scenario]]
Tell = Callable[[int, int], None]
"""How many points are done, of how many."""


@dataclass
class Counts:
    """How the points of a sweep came to their rows."""

    points: int = 0
    computed: int = 0
    cached: int = 0
    """Known from an earlier sweep, from this one before it was interrupted, or from an equal
    point."""
    no_scenario: int = 0
    """Their settings make none, so nothing was computed. Every point is one of these three."""
    failed: int = 0
    """Those that have an error instead of figures: of these last, and of those computed or known.
    """

    def __str__(self) -> str:
        apart = f", {self.no_scenario:,} without a scenario" if self.no_scenario else ""
        return (f"{self.computed:,} computed, {self.cached:,} known before{apart}; "
                f"{self.failed:,} failed")


@dataclass
class Sweeping:
    """Points on their way to rows."""

    folder: Path
    cache: PointCache | NoCache
    runner: Runner | None
    """None: in this process, one after the other."""
    workers: int = 1
    allow_code: bool = False
    tell: Tell | None = None
    counts: Counts = field(default_factory=Counts)

    def rows(self, points: Sequence[Point]) -> dict[int, Row]:
        """The row of each point by its number."""
        found: dict[int, Row] = {}
        self._take_over_notes()
        done = dict(_journalled(self.journal))
        known = done | self.cache.find(each.key for each in points if each.key not in done)
        first: dict[str, int] = {}
        alike: dict[int, list[int]] = {}
        todo: list[Point] = []
        self.counts = Counts(points=len(points))
        for point in points:
            if point.scenario is None:
                found[point.number] = {"number": point.number, "error": point.error, "seconds": 0.0}
                self.counts.no_scenario += 1
            elif point.key and point.key in known:
                found[point.number] = {**known[point.key], "number": point.number}
                self.counts.cached += 1
            elif point.key and point.key in first:
                alike.setdefault(first[point.key], []).append(point.number)
                self.counts.cached += 1
            else:
                first[point.key] = point.number
                todo.append(point)
        self._said(len(found))
        keys = {point.number: point.key for point in todo}
        with self.journal.open("a", encoding="utf-8") as journal:
            for rows in self._computed(todo):
                self.cache.keep((keys[row["number"]], row) for row in rows if "error" not in row)
                self._write(journal, [{"key": keys[row["number"]], **row} for row in rows])
                for row in rows:
                    for number in (row["number"], *alike.get(row["number"], ())):
                        found[number] = {**row, "number": number}
                self.counts.computed += len(rows)
                self._said(len(found))
        self.counts.failed = sum("error" in row for row in found.values())
        self.notes.forget()
        return found

    def _take_over_notes(self) -> None:
        """What tasks wrote down for a sweep that was ended is what it has done."""
        _end_last_line(self.journal)
        for file in self.notes.files():
            with self.journal.open("a", encoding="utf-8") as journal:
                self._write(journal, [{"key": key, **row} for key, row in noted(file)])
        self.notes.forget()

    def _write(self, journal: TextIO, rows: Iterable[Row]) -> None:
        try:
            journal.write("".join(json.dumps(row) + "\n" for row in rows))
            journal.flush()
            os.fsync(journal.fileno())
        except OSError as error:
            with suppress(OSError):  # it would try again to write what there is no room for
                journal.close()
            raise WattlineError(
                f"{self.journal} cannot be written: {error.strerror}; what it has is kept: go on "
                f"with --out {self.folder} --resume (resume=True)") from None

    @property
    def journal(self) -> Path:
        return self.folder / JOURNAL

    @property
    def notes(self) -> Notes:
        return Notes(self.folder.absolute())

    def _said(self, done: int) -> None:
        self._done = done
        self._ahead(0)

    def _ahead(self, more: int) -> None:
        if self.tell is not None:
            self.tell(self._done + more, self.counts.points)

    def _computed(self, todo: Sequence[Point]) -> Iterator[list[Row]]:
        place = str(self.folder.absolute() / "traces")  # workers may stand in another folder
        work = [(point.number, point.scenario) for point in todo if point.scenario is not None]
        if self.runner is None:
            for each in work:
                yield run_chunk(place, [each], self.allow_code)
            return
        if self.runner.in_one_go:
            tries: Tries = NotedTries(
                self.runner, place, self.allow_code, self.notes,
                {point.number: point.key for point in todo}, self._ahead)
            chunks = _equal_chunks(work, self.workers)
            at_once = len(chunks)
        else:
            tries = Tries(self.runner, place, self.allow_code)
            workers = self.runner.workers()
            chunks = _chunks(work, workers)
            at_once = 2 * workers
        yield from tries.rows(chunks, at_once)


class Tries:
    """Chunks on an executor; those that come to grief are tried again.

    Where a worker dies, its pool does not say which chunk it had. So all that were in hand are
    suspects, and their points are tried one at a time: whose worker dies then is guilty. Where it
    is known which chunk it was, its halves are tried by themselves.
    """

    def __init__(self, runner: Runner, place: str, allow_code: bool) -> None:
        self._runner, self._place, self._allow_code = runner, place, allow_code
        self._tries: Counter[int] = Counter()

    def rows(self, chunks: Iterable[Chunk], at_once: int) -> Iterator[list[Row]]:
        waiting = deque(chunks)
        while waiting:
            suspects: list[Chunk] = []
            with self._runner.executor() as executor:
                yield from self._run(executor, waiting, at_once, suspects)
            for chunk in suspects:
                yield from self._one_by_one(chunk)

    def _one_by_one(self, chunk: Chunk) -> Iterator[list[Row]]:
        waiting = deque([each] for each in chunk)
        while waiting:
            lost: list[Chunk] = []
            with self._runner.executor() as executor:
                yield from self._run(executor, waiting, 1, lost)
            for each in lost:
                yield from self._again_or_failed(each, waiting, DIED)

    def _run(
        self, executor: Executor, waiting: deque[Chunk], at_once: int, suspects: list[Chunk]
    ) -> Iterator[list[Row]]:
        """What comes back, until all is done or a worker has died."""
        started: dict[Future[list[Row]], Chunk] = {}
        while waiting or started:
            try:
                while waiting and len(started) < at_once:
                    future = self._submit(executor, waiting[0])
                    started[future] = waiting.popleft()
            except BrokenExecutor:  # a worker died while nobody looked
                yield from _of_broken(started, suspects)
                return
            for future in self._first_of(started):
                chunk = started.pop(future)
                error = self._error_of(future)
                if error is None:
                    yield future.result()
                elif isinstance(error, WattlineError):  # there is no worker at all
                    raise error
                elif isinstance(error, BrokenExecutor):
                    yield from _of_broken({future: chunk, **started}, suspects)
                    return
                else:
                    rows = self._done_of(future)
                    if rows:
                        yield rows
                    yield from self._halved(_without(chunk, rows), waiting,
                                            f"its worker failed: {error}")

    def _error_of(self, future: Future[list[Row]]) -> BaseException | None:
        try:
            return future.exception()
        except CancelledError:  # by nobody here
            return WattlineError("the scheduler is lost, and with it what was in hand; what is "
                                 f"done is kept: go on with --out {Path(self._place).parent} "
                                 "--resume (resume=True)")

    def _submit(self, executor: Executor, chunk: Chunk) -> Future[list[Row]]:
        return executor.submit(run_chunk_apart, self._place, chunk, self._allow_code)

    def _first_of(self, started: Collection[Future[list[Row]]]) -> set[Future[list[Row]]]:
        return wait(started, return_when=FIRST_COMPLETED).done

    def _done_of(self, future: Future[list[Row]]) -> list[Row]:
        """What a worker that failed had done before."""
        return []

    def _halved(self, chunk: Chunk, waiting: deque[Chunk], why: str) -> Iterator[list[Row]]:
        """The others of a chunk must not fail with the one whose worker did."""
        if len(chunk) <= 1:
            if chunk:
                yield from self._again_or_failed(chunk, waiting, why)
            return
        middle = len(chunk) // 2
        waiting.extend((chunk[:middle], chunk[middle:]))

    def _again_or_failed(
        self, chunk: Chunk, waiting: deque[Chunk], why: str
    ) -> Iterator[list[Row]]:
        numbers = [number for number, _ in chunk]
        self._tries.update(numbers)
        if self._tries[numbers[0]] < MOST_TRIES:
            waiting.append(chunk)
        else:
            yield [{"number": number, "error": why, "seconds": 0.0} for number in numbers]


class NotedTries(Tries):
    """Chunks of which workers write each row down, so that none is lost with its worker."""

    def __init__(
        self, runner: Runner, place: str, allow_code: bool, notes: Notes, keys: Mapping[int, str],
        ahead: Callable[[int], None],
    ) -> None:
        """`ahead` is told how many rows are written down that have not come back yet."""
        super().__init__(runner, place, allow_code)
        self._notes, self._keys, self._ahead = notes, keys, ahead
        self._files: dict[Future[list[Row]], str] = {}

    def _submit(self, executor: Executor, chunk: Chunk) -> Future[list[Row]]:
        file = self._notes.begin()
        future = executor.submit(run_chunk_noting, self._place, chunk, self._allow_code, file,
                                 [self._keys[number] for number, _ in chunk])
        self._files[future] = file
        return future

    def _first_of(self, started: Collection[Future[list[Row]]]) -> set[Future[list[Row]]]:
        while not (done := wait(started, LOOK_S, FIRST_COMPLETED).done):
            self._ahead(sum(lines_in(self._files[each]) for each in started))
        return done

    def _done_of(self, future: Future[list[Row]]) -> list[Row]:
        return [row for _, row in noted(self._files[future])]


def _without(chunk: Chunk, rows: Iterable[Row]) -> Chunk:
    done = {row["number"] for row in rows}
    return [each for each in chunk if each[0] not in done]


def _of_broken(
    started: Mapping[Future[list[Row]], Chunk], suspects: list[Chunk]
) -> Iterator[list[Row]]:
    """What came back before a worker died; the rest of what was in hand is suspect."""
    suspects += [chunk for future, chunk in started.items() if not _is_fine(future)]
    for future in started:
        if _is_fine(future):
            yield future.result()


def _is_fine(future: Future[list[Row]]) -> bool:
    wait([future])  # of a broken pool all are done at once
    return future.exception() is None


def _chunks(work: Chunk, workers: int) -> list[Chunk]:
    """Large ones first, then smaller ones: no worker is left alone with much at the end."""
    found: list[Chunk] = []
    begin = 0
    while begin < len(work):
        size = max(1, min(MOST_IN_CHUNK, (len(work) - begin) // (4 * workers)))
        found.append(work[begin:begin + size])
        begin += size
    return found


def _equal_chunks(work: Chunk, parts: int) -> list[Chunk]:
    size = max(1, -(-len(work) // max(1, parts)))
    return [work[begin:begin + size] for begin in range(0, len(work), size)]


def _end_last_line(path: Path) -> None:
    """A line in which a sweep was killed must not take the next row with it."""
    if path.is_file() and path.stat().st_size and not path.read_bytes().endswith(b"\n"):
        with path.open("a", encoding="utf-8") as journal:
            journal.write("\n")


def _journalled(path: Path) -> Iterator[tuple[str, Row]]:
    """Rows that an interrupted sweep left."""
    for key, row in noted(path):
        if key and "error" not in row:
            yield key, row


JOURNAL = "points.jsonl"
SEARCH_JOURNAL = "search.jsonl"
"""Of a search, which is Optuna's own."""
_OTHER = {JOURNAL: "a sweep in it, not a search; go on with it without --optimise (run_sweep)",
          SEARCH_JOURNAL: "a search in it; go on with it with --optimise (optimise_sweep)"}


def check_folder(folder: Path, resume: bool, journal: str = JOURNAL) -> None:
    """A folder that has a sweep in it is only gone on with where that is asked for."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; name a folder")
    if folder.is_dir() and any(folder.iterdir()):
        for other, said in _OTHER.items():
            if other != journal and (folder / other).is_file():
                raise InputError(f"{folder} has {said}, or name another folder")
        if not (folder / journal).is_file():
            raise InputError(f"{folder} is not empty and has nothing in it to go on with; name "
                             "another folder")
        if not resume:
            raise InputError(f"{folder} has a sweep in it; go on with it with --resume "
                             "(resume=True), or name another folder")
    folder.mkdir(parents=True, exist_ok=True)


@contextmanager
def only_one_in(folder: Path) -> Iterator[None]:
    """Keep other sweeps out of a folder; the lock ends with the process, however that ends."""
    place = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(f"another sweep is at work in {folder}; wait for it, or name another "
                             "folder") from None
        except OSError:
            pass  # a file system that knows no locks
        yield
    finally:
        os.close(place)


@contextmanager
def resumable(folder: Path, journal: str = JOURNAL) -> Iterator[None]:
    """Tell whoever interrupts what is done here how it goes on."""
    try:
        yield
    except KeyboardInterrupt:
        if not (folder / journal).is_file():
            raise  # nothing is done yet
        raise KeyboardInterrupt(f"interrupted; what is done is kept: go on with --out {folder} "
                                "--resume (resume=True)") from None
