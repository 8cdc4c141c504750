"""Try small wrong changes of the package, one at a time, in copies of the checkout.

Called by `make test-mutants`. Each change of `tests/mutants/ROOM.toml` is made in a copy; then its
test is run as plain Python, and where that passes, the test files that import the changed module.
One that no test finds has survived: then the exit status is 1. A simulation that a change makes
endless is ended and counts as found. What was tried is kept under `.cache`, by the row and the
text of the changed file and of the test's: a later call goes on from there.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from datetime import UTC, datetime
from pathlib import Path
from queue import SimpleQueue

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from tests.support.long_run import share
from tests.support.mutants.results import (
    BEGIN,
    END,
    FIRST_SAMPLE,
    Kept,
    Result,
    as_json,
    as_markdown,
    as_text,
    scores,
)
from tests.support.mutants.table import Mutant, mistakes, read_tables
from tests.support.mutants.trying import FAILS_ANYWAY, WRONG, Copy, Tried, attempt
from tests.support.plain import ROOT
from tests.support.reaching import Reaching

KEPT = ROOT / ".cache" / "mutants" / "results.jsonl"
PAGE = ROOT / "docs" / "proofs.md"
LIMIT_S = 60.0
"""Of the processor for the tests of a change."""
NOT_HERE = ("tests/slurm", "tests/browser", "tests/docs", "tests/style")
TOGETHER = 20
"""So many named tests are tried at a time without their changes."""


def chosen(mutants: Sequence[Mutant], only: Sequence[str], changed: set[str] | None,
           shard: str) -> list[Mutant]:
    """The rows that are asked for."""
    rooms = {mutant.room for mutant in mutants}
    if unknown := sorted(set(only) - rooms):
        raise SystemExit(f"--only {unknown[0]}: no such room; there are {', '.join(sorted(rooms))}")
    some = [mutant for mutant in mutants if not only or mutant.room in only]
    if changed is not None:
        some = [mutant for mutant in some
                if changed & {str(mutant.path), mutant.test_file, table_of(mutant)}]
    return list(share(some, shard))


def table_of(mutant: Mutant) -> str:
    return f"tests/mutants/{mutant.room}.toml"


def changed_since(base: str, root: Path = ROOT) -> set[str]:
    """Files that differ from a commit, and new ones."""
    asked = ("git", "diff", "--name-only", base)
    said = subprocess.run(asked, cwd=root, check=False, capture_output=True, text=True)
    if said.returncode:
        raise SystemExit(f"--changed {base}: {said.stderr.strip().splitlines()[0]}")
    new = ("git", "ls-files", "--others", "--exclude-standard")
    others = subprocess.run(new, cwd=root, check=True, capture_output=True, text=True).stdout
    return {*said.stdout.splitlines(), *others.splitlines()}




class Nearest:
    """The test files that reach a changed module: near ones first, of those the small ones."""

    def __init__(self, root: Path = ROOT) -> None:
        self._root, self._reaching = root, Reaching(root)

    def __call__(self, mutant: Mutant) -> list[str]:
        found = {name: between for name, between
                 in self._reaching.tests_of(str(mutant.path)).items()
                 if not name.startswith(NOT_HERE)}
        return sorted(found, key=lambda name: (
            found[name], f"/{mutant.room}/" not in name, (self._root / name).stat().st_size))


class Trial:
    """Tries changes side by side, each worker in a copy of its own."""

    def __init__(self, folder: Path, workers: int, limit_s: float, root: Path = ROOT) -> None:
        self._copies: SimpleQueue[Copy] = SimpleQueue()
        self._workers, self._limit_s, self._root = workers, limit_s, root
        for number in range(workers):
            self._copies.put(Copy(folder / str(number), root))

    def run(self, mutants: Sequence[Mutant], told: Callable[[Result], None],
            find: Callable[[Mutant], Sequence[str]]) -> None:
        """Tell what became of each; before that, that its test passes as things are."""
        names = sorted({mutant.killed_by for mutant in mutants})
        parts = [names[first : first + TOGETHER] for first in range(0, len(names), TOGETHER)]
        waiting: list[Future[Result]] = []

        def tell(done: Future[Result]) -> None:
            if not done.cancelled() and done.exception() is None:
                told(done.result())

        with ThreadPoolExecutor(self._workers) as pool:
            try:
                checks = {pool.submit(self._failing, part): part for part in parts}
                for check in as_completed(checks):
                    broken = check.result()
                    for mutant in mutants:
                        if mutant.killed_by in checks[check]:
                            tried = pool.submit(self._try, mutant, find,
                                                mutant.killed_by in broken)
                            tried.add_done_callback(tell)
                            waiting.append(tried)
                for each in waiting:
                    each.result()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _failing(self, names: Sequence[str]) -> set[str]:
        copy = self._copies.get()
        try:
            return copy.failing([name for name in names if name], self._limit_s * len(names))
        finally:
            self._copies.put(copy)

    def _try(self, mutant: Mutant, find: Callable[[Mutant], Sequence[str]], broken: bool) -> Result:
        copy = self._copies.get()
        begun_s = time.monotonic()
        try:
            tried = (Tried(FAILS_ANYWAY, mutant.killed_by) if broken
                     else attempt(copy, mutant, find, self._limit_s))
        finally:
            self._copies.put(copy)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        return Result(mutant.key(self._root), mutant.room, mutant.file, mutant.wrong,
                      tried.outcome, tried.test, round(time.monotonic() - begun_s, 1), now)


def record(page: Path, results: Sequence[Result], of: int) -> None:
    """Write the scores between the marks of a page, and how many of the changes were tried."""
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, found, after = rest.partition(END)
    if not found:
        raise SystemExit(f"{page.name} lacks the marks {BEGIN} and {END}")
    days = sorted(result.finished[:10] for result in results)
    when = days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"
    tried = f"Last run: {when}, {len(results)} of {of} changes."
    text = f"{tried}\n\n{as_markdown(scores(results), FIRST_SAMPLE)}"
    page.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="make test-mutants", description=__doc__)
    parser.add_argument("--only", action="append", default=[], metavar="ROOM",
                        help="changes of this room; may be given more than once")
    parser.add_argument("--changed", nargs="?", const="HEAD", metavar="COMMIT",
                        help="changes whose file, test or table differs from a commit (HEAD)")
    parser.add_argument("--shard", default="1/1", help="2/5: the second of five parts")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)),
                        help="so many at a time; as many as there are cores")
    parser.add_argument("--limit-s", type=float, default=LIMIT_S,
                        help="processor seconds for the tests of a change")
    parser.add_argument("--afresh", action="store_true", help="try again what was tried before")
    parser.add_argument("--json", action="store_true", help="print all results as JSON")
    parser.add_argument("--record", action="store_true",
                        help=f"try nothing; write what is known into docs/{PAGE.name}")
    asked = parser.parse_args(arguments)
    changed = None if asked.changed is None else changed_since(asked.changed)
    some = chosen(read_tables(), asked.only, changed, asked.shard)
    if wrong := [f"{each.room}: {said}" for each in some for said in mistakes(each)]:
        raise SystemExit("\n".join(wrong))
    kept = Kept(KEPT)
    keys = {each.key(): each for each in some}
    rest = [each for key, each in keys.items()
            if asked.afresh or key not in kept.known or kept.known[key].is_wrong]
    if asked.record:
        known = [kept.known[key] for key in keys if key in kept.known]
        if not known:
            raise SystemExit("nothing was tried yet")
        record(PAGE, known, len(keys))
        return 0
    _carry_out(rest, kept, max(asked.jobs, 1), asked.limit_s)
    results = [kept.known[key] for key in keys]
    if asked.json:
        sys.stdout.write(as_json(results) + "\n")
    else:
        survivors = [result.line for result in results if result.is_wrong]
        sys.stdout.write("\n".join([as_text(scores(results)), *survivors]) + "\n")
    return 1 if any(result.outcome in WRONG for result in results) else 0


def _carry_out(rest: Sequence[Mutant], kept: Kept, jobs: int, limit_s: float) -> None:
    if not rest:
        return
    console = Console(stderr=True)
    bar = Progress(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
                   TimeRemainingColumn(), console=console)
    with tempfile.TemporaryDirectory() as folder, bar:
        task = bar.add_task("wrong changes", total=len(rest))

        def told(result: Result) -> None:
            kept.add(result)
            bar.advance(task)
            console.print(f"{result.line}, {result.took_s:.0f} s", markup=False, highlight=False,
                          soft_wrap=True)

        Trial(Path(folder), min(jobs, len(rest)), limit_s).run(rest, told, Nearest())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
