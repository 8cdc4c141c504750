"""All pairs of choices, compiled with a check of every index: long, so it can be resumed.

Called by `make test-long`. Pairs are packed into compositions (`tests.support.packing`). Each pair
that is done is a line in a file under `.cache`; a later call with the same sources goes on where
the last one stopped. `--jobs 2` proves two compositions side by side; `--shard 2/5` does every
fifth part, from the second on, so that several machines or evenings can share the work; `--record`
writes what has been done up to now into the documentation.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from queue import SimpleQueue

from tests.support.packing import REFUSED, SAME, Bundle, Cases, families, is_wrong, tell_apart
from tests.support.plain import ROOT
from tests.support.plain_process import CheckedProcess, OtherProcess, PlainProcess
from tests.support.proving import pairs

DONE = ROOT / ".cache" / "long"
PAGE = ROOT / "docs" / "proofs.md"
BEGIN, END = "<!-- long run: begin -->", "<!-- long run: end -->"
COMPOSITIONS_A_PROCESS = 20
"""Compiled code is never given back, so the process is a new one now and then."""
ASK = "tests.support.checked"
Work = Sequence[Sequence[Bundle]]
"""Families of compositions: who has one has all of it, for it is compiled once."""


@dataclass(frozen=True)
class Result:
    """Outcome of one pair, or of a composition that is wrong where its pairs are not."""

    pair: str
    outcome: str
    """`same`, `refused: ` and the reason, or what was wrong."""
    composition: str
    """All choices that were compiled together."""
    cpu_s: float
    """Processor time since the line before."""
    finished: str


@dataclass(frozen=True)
class Proved:
    """Outcome of a composition, and the processor time that it took."""

    outcome: str
    cpu_s: float = 0.0


Prove = Callable[[Cases], Proved]


def name_of(cases: Cases) -> str:
    return " with ".join(cases)


def share(work: Work, shard: str) -> Work:
    """The part of the work that a shard like `2/5` has."""
    first, _, count = shard.partition("/")
    if not (first.isdigit() and count.isdigit() and 1 <= int(first) <= int(count)):
        raise SystemExit(f"--shard {shard}: write it like 2/5, the second of five parts")
    return work[int(first) - 1 :: int(count)]


def read(file: Path) -> dict[str, Result]:
    """Return what was done before; a line that was cut off counts for nothing."""
    found = {}
    for line in file.read_text().splitlines() if file.exists() else ():
        try:
            result = Result(**json.loads(line))
        except (ValueError, TypeError):
            continue
        found[result.pair] = result
    return found


class Notes:
    """The file of results, to which several threads write."""

    def __init__(self, file: Path, say: Callable[[str], None]) -> None:
        self.known = read(file)
        self._file = file
        self._say = say
        self._lock = threading.Lock()
        file.parent.mkdir(parents=True, exist_ok=True)

    def note(self, pair: Cases, outcome: str, composition: Cases, cpu_s: float) -> None:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        result = Result(name_of(pair), outcome, name_of(composition), round(cpu_s, 1), now)
        with self._lock:
            with self._file.open("a") as lines:
                lines.write(json.dumps(asdict(result)) + "\n")
            self.known[result.pair] = result
            self._say(f"[{len(self.known)}] {result.pair}: {outcome}, {result.cpu_s:.0f} s")

    def wrong(self) -> int:
        return sum(is_wrong(result.outcome) for result in self.known.values())


def carry_out(work: Work, notes: Notes, provers: Sequence[Prove]) -> None:
    """Prove what is not yet proved, with each prover at the same time as the others."""
    done = {tuple(pair.split(" with ")) for pair in notes.known}
    rest = [[bundle.without(done) for bundle in family] for family in work]
    idle: SimpleQueue[Prove] = SimpleQueue()
    for prover in provers:
        idle.put(prover)
    stopped = threading.Event()

    def prove(family: Sequence[Bundle]) -> None:
        if stopped.is_set():
            return
        prover = idle.get()
        try:
            for bundle in family:
                if bundle.pairs:
                    _prove(bundle, prover, notes)
        except BaseException:
            stopped.set()
            raise
        finally:
            idle.put(prover)

    with ThreadPoolExecutor(len(provers)) as pool:
        try:
            for each in [pool.submit(prove, family) for family in rest]:
                each.result()
        except BaseException:
            stopped.set()
            raise


def _prove(bundle: Bundle, prove: Prove, notes: Notes) -> None:
    """A line for each pair of a composition, as it becomes known."""
    asked: list[Cases] = []
    spent_s = 0.0

    def once(cases: Cases) -> str:
        nonlocal spent_s
        proved = prove(cases)
        asked.append(cases)
        spent_s += proved.cpu_s
        return proved.outcome

    for pair, outcome in tell_apart(bundle, once):
        notes.note(pair, outcome, bundle.cases if len(pair) > 2 else asked[-1], spent_s)
        spent_s = 0.0


def paragraph(results: Iterable[Result], of: int) -> str:
    """Return what is recorded of a run."""
    every = list(results)
    found = [each for each in every if each.pair.count(" with ") == 1]
    same = sum(each.outcome == SAME for each in found)
    wrong = sum(is_wrong(each.outcome) for each in found)
    compiled = {each.composition for each in found if each.outcome == SAME}
    days = sorted(each.finished[:10] for each in found)
    minutes = sum(each.cpu_s for each in found) / 60
    when = "never" if not days else days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"
    more = "" if len(found) == of else ", not finished"
    worse = len(every) - len(found)
    beside = f" {worse} compositions were wrong whose pairs are not." if worse else ""
    return (f"Last run: {when}{more}. Of {of} pairs {len(found)} were tried:\n"
            f"{same} decided the same, {len(found) - same - wrong} are refused, {wrong} were "
            f"wrong; {len(compiled)} compositions,\n"
            f"{minutes:.0f} minutes of processor time.{beside}")


def recorded(page: str, text: str) -> str:
    """The page with this text between its two marks."""
    before, _, rest = page.partition(BEGIN)
    _, found, after = rest.partition(END)
    if not found:
        raise SystemExit(f"{PAGE.name} lacks the marks {BEGIN} and {END}")
    return f"{before}{BEGIN}\n{text}\n{END}{after}"


class Prover:
    """Asks two processes of its own about one composition after the other."""

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._asked = 0
        self._counted_s = 0.0
        self._plain, self._checked = PlainProcess(), CheckedProcess()

    def _begin_again(self) -> None:
        self.close()
        self._begin()

    def __call__(self, cases: Cases) -> Proved:
        if self._asked == COMPOSITIONS_A_PROCESS:
            self._begin_again()
        self._asked += 1
        try:
            outcome = self._outcome(cases)
            return Proved(outcome, self._spent_s())
        except (AssertionError, EOFError, OSError) as error:  # the process says, or died
            self._begin_again()
            return Proved(f"{type(error).__name__}: {str(error)[-300:]}")

    def _outcome(self, cases: Cases) -> str:
        journal, refused = self._plain.call(ASK, "told_or_refused", cases)
        if refused:
            return f"{REFUSED}: {refused}"
        problems = self._checked.call(ASK, "told_otherwise", cases, journal)
        return str(problems[0]) if problems else SAME

    def _spent_s(self) -> float:
        """Since the last time that it was asked."""
        now_s = _cpu_s(self._plain) + _cpu_s(self._checked)
        before_s, self._counted_s = self._counted_s, now_s
        return now_s - before_s

    def close(self) -> None:
        self._plain.close()
        self._checked.close()


def _cpu_s(process: OtherProcess) -> float:
    return float(process.call("time", "process_time"))


def packed(names: Sequence[tuple[str, str]], notes: Notes) -> list[list[Bundle]]:
    """The work; pairs that are refused are noted at once, for nothing is compiled for them."""
    plain = PlainProcess()
    try:
        reasons = dict(zip(names, plain.call(ASK, "possible", list(names)), strict=True))
        for pair, reason in reasons.items():
            if reason and name_of(pair) not in notes.known:
                notes.note(pair, f"{REFUSED}: {reason}", pair, 0.0)
        return families([pair for pair in names if not reasons[pair]],
                        lambda cases, case: bool(plain.call(ASK, "joins", cases, case)))
    finally:
        plain.close()


def main(arguments: Sequence[str]) -> int:
    from wattline.model.kernel_cache import cache_folder

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shard", default="1/1")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)),
                        help="so many compositions at a time; as many as there are cores")
    parser.add_argument("--record", action="store_true", help="write it into docs/proofs.md")
    chosen = parser.parse_args(arguments)
    names = pairs()
    notes = Notes(DONE / f"{cache_folder().name}.jsonl", _say)
    _say(f"{len(notes.known)} of {len(names)} pairs were done before")
    if chosen.record:
        text = paragraph(notes.known.values(), len(names))
        PAGE.write_text(recorded(PAGE.read_text(), text))
    else:
        work = share(packed(names, notes), chosen.shard)
        provers = [Prover() for _ in range(max(chosen.jobs, 1))]
        try:
            carry_out(work, notes, provers)
        finally:
            for prover in provers:
                prover.close()
    _say(paragraph(notes.known.values(), len(names)))
    return 1 if notes.wrong() else 0


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
