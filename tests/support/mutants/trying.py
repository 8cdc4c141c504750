"""A copy of the checkout in which one wrong change at a time is tried.

The checkout itself is never written to, by the change or by a test that runs under it: the copy
has files of its own. A test counts as having found the change only where it passes without it.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from math import ceil
from pathlib import Path

from tests.support.mutants.table import Mutant
from tests.support.plain import ROOT

QUIET = ("-q", "-rfE", "--tb=no", "--no-header", "-p", "no:cacheprovider", "--reruns", "0")
CHEAP = ("-m", "not compiled and not waits and not servers and not browser and not long")
FAILED = re.compile(r"^(?:FAILED|ERROR) (tests/[^\s\[]+)", re.MULTILINE)
"""A test without its case, whose name may have spaces."""
FEW, MANY = 6, 24
"""So many files of tests are read at a time: the first soon say something, the rest cost less."""
WAITING = 5.0
"""Limits are seconds of the processor, so that a busy machine finds no more; by the clock tests may
take so many times as long."""
FALSE_ALARMS = 5
"""So many tests that fail without the change as well are passed over."""

KILLED = "killed"
ENDLESS = "killed, without end"
ELSEWHERE = "killed by another test"
EQUIVALENT = "equivalent"
SURVIVED = "survived"
TOLD_APART = "told apart, though said to be equivalent"
FAILS_ANYWAY = "the named test fails without the change"
CAUGHT = (KILLED, ENDLESS, ELSEWHERE)
WRONG = (SURVIVED, TOLD_APART, FAILS_ANYWAY)


@dataclass(frozen=True)
class Tried:
    """Outcome of a change."""

    outcome: str
    test: str = ""
    """The test that failed, or the file of the tests that did not end."""


@dataclass(frozen=True)
class Ran:
    """Outcome of a run of pytest."""

    status: int | None
    """None where it did not end in time."""
    failed: tuple[str, ...]

    @property
    def passed(self) -> bool:
        return self.status in (0, 5)  # 5: no test was chosen


class Copy:
    """The checkout's files in another folder."""

    def __init__(self, folder: Path, root: Path = ROOT) -> None:
        self.folder, self._root = folder, root
        for name in tracked(root):
            if (root / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(root / name, folder / name)

    @contextmanager
    def having(self, mutant: Mutant) -> Iterator[None]:
        """The change in the copy; what is there afterwards is the checkout's file again."""
        place = self.folder / mutant.path
        text = place.read_text(encoding="utf-8")
        place.write_text(mutant.changed(text), encoding="utf-8")
        _forget_compiled(place)
        try:
            yield
        finally:
            shutil.copy2(self._root / mutant.path, place)
            _forget_compiled(place)

    def run(self, tests: Sequence[str], limit_s: float) -> Ran:
        """The tests, up to the first that fails."""
        return self._pytest([*tests, "-x"], limit_s)

    def failing(self, tests: Sequence[str], limit_s: float) -> set[str]:
        """Return those of these tests that fail as things are."""
        if not tests or (ran := self._pytest(list(tests), limit_s)).passed:
            return set()
        if len(tests) == 1:
            return set(tests)
        if ran.failed and ran.status == 1:  # beside others a test may have waited too long
            some = [test for test in tests if any(_is_of(each, test) for each in ran.failed)]
            return {test for test in some if self.failing([test], limit_s)}
        half = len(tests) // 2  # a name that is not known spoils the whole run
        return self.failing(tests[:half], limit_s) | self.failing(tests[half:], limit_s)

    def _pytest(self, arguments: Sequence[str], limit_s: float) -> Ran:
        environment = {**os.environ, "WATTLINE_PLAIN": "1", "PYTHONPATH": str(self.folder / "src")}
        process = subprocess.Popen(
            [sys.executable, "-m", "pytest", *QUIET, *arguments], cwd=self.folder,
            env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            errors="replace", start_new_session=True)
        with suppress(ProcessLookupError):
            resource.prlimit(process.pid, resource.RLIMIT_CPU, (ceil(limit_s), ceil(limit_s) + 1))
        try:
            said, _ = process.communicate(timeout=WAITING * limit_s)
        except subprocess.TimeoutExpired:
            return Ran(None, ())
        finally:
            _end(process)
        status = process.returncode
        ended = status in (-signal.SIGXCPU, -signal.SIGKILL)
        return Ran(None if ended else status, tuple(FAILED.findall(said)))


def tracked(root: Path) -> list[str]:
    """The files that git knows, and new ones that it does not ignore."""
    asked = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    said = subprocess.run(asked, cwd=root, check=True, capture_output=True, text=True).stdout
    return [name for name in said.split("\0") if name]


def attempt(copy: Copy, mutant: Mutant, files: Callable[[Mutant], Sequence[str]],
            limit_s: float) -> Tried:
    """The named test first, then the test files that reach the changed module, as they come."""
    if mutant.killed_by:
        with copy.having(mutant):
            ran = copy.run([mutant.killed_by], limit_s)
        if ran.status is None:
            return Tried(ENDLESS, mutant.killed_by)
        if not ran.passed:
            return Tried(KILLED, mutant.killed_by)
    found = _elsewhere(copy, mutant, files(mutant), limit_s)
    if mutant.equivalent:
        return Tried(TOLD_APART, found) if found else Tried(EQUIVALENT)
    return Tried(ELSEWHERE, found) if found else Tried(SURVIVED)


def _elsewhere(copy: Copy, mutant: Mutant, files: Sequence[str], limit_s: float) -> str:
    """The first test in these files that fails with the change alone; empty for none in time, which
    is the limit by the clock, or one batch of files more."""
    begun_s = time.monotonic()
    passed_over: list[str] = []
    place, size = 0, FEW
    while place < len(files) and len(passed_over) <= FALSE_ALARMS:
        if time.monotonic() - begun_s > WAITING * limit_s:
            return ""
        without = [word for name in passed_over for word in ("--deselect", name)]
        with copy.having(mutant):
            ran = copy.run([*files[place : place + size], *CHEAP, *without], limit_s)
        if ran.status is None:
            return ""
        if ran.passed:
            place, size = place + size, min(2 * size, MANY)
            continue
        if not ran.failed:
            return "tests/conftest.py"  # could not even be read
        if copy.run([ran.failed[0]], limit_s).passed:
            return ran.failed[0]
        passed_over.append(ran.failed[0])
    return ""


def _is_of(failed: str, test: str) -> bool:
    """Return whether what failed is this test, one of its cases, or its file as a whole."""
    test = test.partition("[")[0]
    return failed == test or failed.startswith(f"{test}::") or failed == test.partition("::")[0]


def _forget_compiled(place: Path) -> None:
    for kept in (place.parent / "__pycache__").glob(f"{place.stem}.*"):
        kept.unlink()


def _end(process: subprocess.Popen[str]) -> None:
    """All that the tests started, too."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if process.stdout:
        process.stdout.close()
