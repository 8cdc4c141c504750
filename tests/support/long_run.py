"""All pairs of choices, compiled with a check of every index: hours, so it can be resumed.

Called by `make test-long`. Each pair that is done is a line in a file under `.cache`; a later
call with the same sources goes on where the last one stopped. `--shard 2/5` does every fifth pair,
from the second on, so that several machines or evenings can share the work; `--record` writes what
has been done up to now into the documentation.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from tests.support.plain import ROOT
from tests.support.plain_process import CheckedProcess, PlainProcess
from tests.support.proving import pairs

DONE = ROOT / ".cache" / "long"
PAGE = ROOT / "docs" / "proofs.md"
BEGIN, END = "<!-- long run: begin -->", "<!-- long run: end -->"
PAIRS_A_PROCESS = 20
"""Compiled code is never given back, so the process is a new one now and then."""
ASK = "tests.support.checked"


@dataclass(frozen=True)
class Result:
    """What became of one pair."""

    pair: str
    outcome: str
    """`same`, `refused`, or what was wrong."""
    took_s: float
    finished: str


def share(names: Sequence[str], shard: str) -> list[str]:
    """The part of the work that a shard like `2/5` has."""
    first, _, count = shard.partition("/")
    if not (first.isdigit() and count.isdigit() and 1 <= int(first) <= int(count)):
        raise SystemExit(f"--shard {shard}: write it like 2/5, the second of five parts")
    return list(names[int(first) - 1 :: int(count)])


def read(file: Path) -> dict[str, Result]:
    """What was done before; a line that was cut off counts for nothing."""
    found = {}
    for line in file.read_text().splitlines() if file.exists() else ():
        try:
            result = Result(**json.loads(line))
        except (ValueError, TypeError):
            continue
        found[result.pair] = result
    return found


def carry_out(
    names: Iterable[str], file: Path, prove: Callable[[str], str], say: Callable[[str], None]
) -> int:
    """Prove what is not yet proved, a line each; how many went wrong, those of before included."""
    known = read(file)
    left = [name for name in names if name not in known]
    say(f"{len(known)} pairs were done before, {len(left)} are left")
    file.parent.mkdir(parents=True, exist_ok=True)
    wrong = sum(result.outcome not in ("same", "refused") for result in known.values())
    began_s = time.monotonic()
    for place, name in enumerate(left, 1):
        start_s = time.monotonic()
        outcome = prove(name)
        took_s = round(time.monotonic() - start_s, 1)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        with file.open("a") as lines:
            lines.write(json.dumps(asdict(Result(name, outcome, took_s, now))) + "\n")
        wrong += outcome not in ("same", "refused")
        left_s = (time.monotonic() - began_s) / place * (len(left) - place)
        say(f"[{place}/{len(left)}] {name}: {outcome}, {took_s:.0f} s; {left_s / 60:.0f} min left")
    return wrong


def paragraph(results: Iterable[Result], of: int) -> str:
    """What is recorded of a run."""
    found = list(results)
    same = sum(each.outcome == "same" for each in found)
    refused = sum(each.outcome == "refused" for each in found)
    days = sorted(each.finished[:10] for each in found)
    hours = sum(each.took_s for each in found) / 3600
    when = "never" if not days else days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"
    return (f"Last run: {when}. Of {of} pairs {len(found)} were tried: {same} decided the same, "
            f"{refused} are refused, {len(found) - same - refused} were wrong; {hours:.1f} hours.")


def recorded(page: str, text: str) -> str:
    """The page with this text between its two marks."""
    before, _, rest = page.partition(BEGIN)
    _, found, after = rest.partition(END)
    if not found:
        raise SystemExit(f"{PAGE.name} lacks the marks {BEGIN} and {END}")
    return f"{before}{BEGIN}\n{text}\n{END}{after}"


class Prover:
    """Asks both processes about one pair after the other."""

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._asked = 0
        self._plain, self._checked = PlainProcess(), CheckedProcess()

    def _begin_again(self) -> None:
        self.close()
        self._begin()

    def __call__(self, name: str) -> str:
        if self._asked == PAIRS_A_PROCESS:
            self._begin_again()
        self._asked += 1
        cases = tuple(name.split(" with "))
        try:
            journal = self._plain.call(ASK, "told_or_refused", cases)
            if journal is None:
                return "refused"
            problems = self._checked.call(ASK, "told_otherwise", cases, journal)
        except (AssertionError, EOFError, OSError) as error:  # the process says, or died
            self._begin_again()
            return f"{type(error).__name__}: {str(error)[-300:]}"
        return "same" if not problems else str(problems[0])

    def close(self) -> None:
        self._plain.close()
        self._checked.close()


def main(arguments: Sequence[str]) -> int:
    from wattline.model.kernel_cache import cache_folder

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shard", default="1/1")
    parser.add_argument("--record", action="store_true", help="write it into docs/proofs.md")
    chosen = parser.parse_args(arguments)
    names = [f"{one} with {other}" for one, other in pairs()]
    file = DONE / f"{cache_folder().name}.jsonl"
    wrong = 0
    if chosen.record:
        PAGE.write_text(recorded(PAGE.read_text(), paragraph(read(file).values(), len(names))))
    else:
        prover = Prover()
        try:
            wrong = carry_out(share(names, chosen.shard), file, prover, _say)
        finally:
            prover.close()
    _say(paragraph(read(file).values(), len(names)))
    return 1 if wrong else 0


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
