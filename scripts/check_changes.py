"""Checks for daily work: style, layers, types, and the tests that reach what was changed.

`make check` compares the working tree, new files among them, with the commit at which the branch
left its upstream (`main`, where it has none; with the last commit on main itself), or with
`CHECK="--base REF"`. It always runs the core: worked examples, properties that take a moment,
policies, engine and books. To these come the test files that were changed, then those that reach a
changed file, nearest first, as long as their seconds (as they were when last run) fit into
`--seconds`; the others are counted. They run as plain Python, those marked `seldom` among them:
what is compiled, waits, or needs a server, a browser or Slurm is named and left to `make test`.
`--list` runs nothing.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from scripts.run_tests import (
    AGAIN,
    CHOSEN,
    CORES,
    KEPT,
    NO_TESTS,
    PLAIN,
    ROOT,
    TOGETHER,
    Step,
    failure,
    marks_of_files,
    run_all,
    table,
    tests,
)
from tests.support.reaching import Reaching, is_test
from tests.support.seconds_kept import seconds_by_file

ALWAYS = ("tests/golden", "tests/unit/policies", "tests/unit/engine", "tests/unit/books",
          "tests/style")
PROPERTIES, CHEAP_S = "tests/property", 4.0
"""Properties that take no longer are always run."""
SECONDS = 100.0
"""Of a processor, for what reaches a change."""
GUARDED = {
    "docs": ("tests/docs",), "README.md": ("tests/docs", "tests/unit/test_readme.py"),
    "CONTRIBUTING.md": ("tests/docs",), "CHANGELOG.md": ("tests/docs",),
    "mkdocs.yml": ("tests/docs",), "examples": ("tests/unit/test_examples.py",),
    "frontend": ("tests/unit/web/test_pages_built.py",),
    "pyproject.toml": ("tests/style", "tests/unit/test_wheel.py"),
    "Makefile": ("tests/unit/test_run_tests.py",),
}
"""Files that are no Python, by folder: tests that look at it without naming it."""
LEFT = ("compiled", "both_ways", "servers", "browser")


@dataclass(frozen=True)
class Choice:
    """The files of tests to run."""

    core: tuple[str, ...] = ()
    reaching: tuple[str, ...] = ()
    """Tests that were changed or reach a change, nearest first."""
    beyond: tuple[str, ...] = ()
    """Tests that reach it too, and for which there is no time."""

    @property
    def files(self) -> list[str]:
        return sorted({*self.core, *self.reaching})


def changed(base: str = "", root: Path = ROOT) -> list[str]:
    """The files that differ from a commit, and those that git does not know yet."""
    found = _git(root, "diff", "--name-only", "--no-renames", base or _left_at(root))
    found += _git(root, "ls-files", "--others", "--exclude-standard")
    return sorted(set(found))


def _left_at(root: Path) -> str:
    """Return where the branch left what it will come back to; the last commit where there is no
    such."""
    for other in ("@{upstream}", "main"):
        if found := _git(root, "merge-base", "HEAD", other, check=False):
            return found[0]
    return "HEAD"


def _git(root: Path, *words: str, check: bool = True) -> list[str]:
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)
    if done.returncode and check:
        sys.exit(f"git {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout.splitlines() if not done.returncode else []


def choose(files: Iterable[str], reaching: Reaching, took_s: Mapping[str, float],
           seconds: float = SECONDS) -> Choice:
    """Return those of the core, and what there is time for of what reaches these files."""
    known = sorted(path for path in reaching.reads if is_test(path)
                   and not path.startswith("tests/slurm/"))
    core = tuple(path for path in known if _below(path, ALWAYS)
                 or (_below(path, (PROPERTIES,)) and took_s[path] <= CHEAP_S))
    between: dict[str, int] = {}
    for file in files:
        found = {path: 0 for path in known if _below(path, _guards(file))}
        found |= {path: steps + 1 for path, steps in reaching.tests_of(file).items()}
        found |= {file: -1} if is_test(file) else {}
        for path, steps in found.items():
            between[path] = min(steps, between.get(path, steps))
    chosen: list[str] = []
    beyond: list[str] = []
    for path in sorted(set(between) & set(known) - set(core),
                       key=lambda path: (between[path], took_s[path], path)):
        if between[path] < 0 or took_s[path] <= seconds:
            chosen.append(path)
            seconds -= took_s[path]
        else:
            beyond.append(path)
    return Choice(core, tuple(chosen), tuple(beyond))


def _guards(file: str) -> tuple[str, ...]:
    return next((tests for place, tests in GUARDED.items() if _below(file, (place,))), ())


def _below(path: str, places: Iterable[str]) -> bool:
    return any(PurePosixPath(path).is_relative_to(place) for place in places)


def steps(files: Sequence[str]) -> list[Step]:
    """As those of `make test`, with these tests alone."""
    plain = ("pytest", "-n", str(CORES), "--dist", "worksteal", *AGAIN, "-m", CHOSEN["plain"],
             *files)
    planned = [
        Step("style", ("ruff", "check", ".")),
        Step("layers", ("lint-imports",), beside=TOGETHER),
        Step("types", ("mypy",), beside=TOGETHER),
        Step("plain", plain, {**PLAIN, **KEPT}, NO_TESTS, TOGETHER, "at once"),
    ]
    seldom = [file for file in files if "mark.seldom" in marks_of_files().get(file, ())]
    return [*planned, *([tests("seldom", seldom, PLAIN)] if seldom else [])]


def said(choice: Choice, count: int) -> str:
    """Return what is run for how many changed files, and what is left to `make test`."""
    marks = marks_of_files()
    left = sorted({mark for path in choice.reaching for mark in marks.get(path, ())
                   if mark.removeprefix("mark.") in LEFT or mark == "mark.waits"})
    lines = [f"{count} changed files: {len(choice.core)} test files of the core, and "
             f"{len(choice.reaching)} that reach a change"]
    if choice.beyond:
        lines.append(f"{len(choice.beyond)} more reach one from further away or take longer: "
                     "make test runs them, CHECK='--seconds 1000' too")
    if left:
        names = ", ".join(mark.removeprefix("mark.") for mark in left)
        lines.append(f"what is marked {names} in these files is left to make test")
    return "\n".join(lines)


def main() -> None:
    asked = argparse.ArgumentParser(prog="make check", description=__doc__)
    asked.add_argument("--base", default="", help="a commit to compare the working tree with")
    asked.add_argument("--seconds", type=float, default=SECONDS,
                       help="of a processor, for tests that reach a change (default: %(default)g)")
    asked.add_argument("--list", action="store_true", help="print the files, and run nothing")
    options = asked.parse_args()
    files = changed(options.base)
    choice = choose(files, Reaching(), seconds_by_file(), options.seconds)
    print(said(choice, len(files)), flush=True)
    if options.list:
        print("\n".join(choice.files))
        return
    planned = steps(choice.files)
    done = run_all(planned)
    print(table(planned, done))
    sys.exit(failure(done))


if __name__ == "__main__":
    main()
