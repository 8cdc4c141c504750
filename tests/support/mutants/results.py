"""Changes that were tried, and what came of them: kept between calls, counted by room, written
down."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.support.mutants.trying import CAUGHT, ENDLESS, EQUIVALENT, WRONG

FIRST_SAMPLE = {
    "account": (7, 11), "advice": (2, 4), "analysis": (3, 5), "books": (4, 7),
    "controller": (7, 9), "demand_response": (2, 5), "engine": (3, 4), "grid": (6, 8),
    "live": (6, 7), "network": (4, 5), "physics": (4, 5), "policies": (6, 14),
    "scenario": (3, 4), "shared_nodes": (6, 10), "sweeps": (4, 4), "traces": (4, 5),
    "web": (4, 8), "all": (75, 115),
}
"""Number of changes killed of those that were tried before there were tables, 120 with five that
were equivalent or undecided."""
BEGIN, END = "<!-- mutants: begin -->", "<!-- mutants: end -->"


@dataclass(frozen=True)
class Result:
    """Outcome of one change."""

    key: str
    room: str
    file: str
    wrong: str
    outcome: str
    test: str
    """Test that failed, or that should have."""
    took_s: float
    finished: str

    @property
    def is_wrong(self) -> bool:
        return self.outcome in WRONG

    @property
    def line(self) -> str:
        by = f" ({self.test})" if self.test else ""
        return f"{self.file}: {self.wrong}: {self.outcome}{by}"


class Kept:
    """The file of results, to which several threads write."""

    def __init__(self, file: Path) -> None:
        self.known = read(file)
        self._file = file
        self._lock = threading.Lock()
        file.parent.mkdir(parents=True, exist_ok=True)

    def add(self, result: Result) -> None:
        with self._lock:
            with self._file.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps(asdict(result)) + "\n")
            self.known[result.key] = result


def read(file: Path) -> dict[str, Result]:
    """Return what was done before, by its key; a line that was cut off counts for nothing."""
    found = {}
    for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else ():
        try:
            result = Result(**json.loads(line))
        except (ValueError, TypeError):
            continue
        found[result.key] = result
    return found


@dataclass(frozen=True)
class Score:
    """Numbers of changes of a room, by what came of them."""

    room: str
    tried: int
    killed: int
    endless: int
    """Of the killed ones those that were ended after their time."""
    survived: int
    equivalent: int

    @property
    def percent(self) -> float:
        """Of those that a test can find; 100 where there are none."""
        of = self.tried - self.equivalent
        return 100.0 * self.killed / of if of else 100.0


def scores(results: Iterable[Result]) -> list[Score]:
    """By room, and of all together at the end."""
    every = sorted(results, key=lambda result: result.room)
    rooms = sorted({result.room for result in every})
    by_room = [_score(room, [each for each in every if each.room == room]) for room in rooms]
    return [*by_room, _score("all", every)]


def _score(room: str, results: Sequence[Result]) -> Score:
    outcomes = [result.outcome for result in results]
    equivalent = outcomes.count(EQUIVALENT)
    killed = sum(outcome in CAUGHT for outcome in outcomes)
    return Score(room, len(outcomes), killed, outcomes.count(ENDLESS),
                 len(outcomes) - killed - equivalent, equivalent)


def as_text(found: Sequence[Score]) -> str:
    """The table for a terminal."""
    head = f"{'room':<18}{'changes':>8}{'killed':>8}{'survived':>10}{'equivalent':>12}{'score':>8}"
    lines = [f"{each.room:<18}{each.tried:>8}{each.killed:>8}{each.survived:>10}"
             f"{each.equivalent:>12}{each.percent:>7.0f}%" for each in found]
    return "\n".join([head, *lines])


def as_markdown(found: Sequence[Score], first: Mapping[str, tuple[int, int]]) -> str:
    """The table for the documentation, beside the sample with which it began."""
    lines = ["| room | changes | killed | survived | equivalent | score | first sample |",
             "|---|---|---|---|---|---|---|"]
    for each in found:
        killed, of = first.get(each.room, (0, 0))
        before = f"{killed} of {of}" if of else ""
        lines.append(f"| {each.room} | {each.tried} | {each.killed} | {each.survived} "
                     f"| {each.equivalent} | {each.percent:.0f} % | {before} |")
    return "\n".join(lines)


def as_json(results: Sequence[Result]) -> str:
    """All of it for other programs."""
    found = [{**asdict(each), "score_percent": each.percent} for each in scores(results)]
    return json.dumps({"scores": found, "results": [asdict(each) for each in results]}, indent=2)
