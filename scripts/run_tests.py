"""All tests in one go, step by step: style, types, layers, pytest, servers, browser, Slurm.

Most tests are about what is decided, not about compiling it: they run as plain Python, where
nothing has to be compiled and an index outside of its array raises. Those run that are marked
`compiled` (about compiled kernels, or too much work for plain Python) or `both_ways`, beside them,
and those that mostly wait (`waits`), and where a change reaches them those that guard what seldom
changes (`seldom`); then those that need a database or metrics server (`servers`),
a browser (`browser`), a real Slurm. Types and layers run beside the plain ones, which in a new
clone are read once before their workers start. The first step that fails ends it, after those
beside it; what each step took is printed at the end.

Arguments go to pytest each time (`scripts/run_tests.py -k easy`), and Slurm is left out. As the
only one, `--coverage` counts the lines that the plain tests reach, kernels among them, and `--long`
runs what is marked `long` and so left out otherwise.
"""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
CORES = os.cpu_count() or 2
WORKERS = ("-n", str(CORES), "--dist")
SLURM = "tests/slurm"
QUESTIONS = "tests/unit/web/test_contract_fuzzed.py"
"""Asks the API what is drawn; each question takes long beside a drawn example of other tests."""
BEDS = ("-n", "2", "--dist", "loadfile")
"""Two Slurms beside each other, however many cores: their tests mostly wait, but they look at real
clocks."""
AGAIN = ("--reruns", "1", "-rfERs")
"""Some tests wait for processes, sockets and pages of a busy machine: one that fails is run once
more at once, and the summary names it (RERUN). What is wrong fails twice."""
NO_TESTS = 5
"""Exit status of pytest where no test was chosen."""
PLAIN, COMPILED = {"WATTLINE_PLAIN": "1"}, {"WATTLINE_PLAIN": ""}
ELSEWHERE = {"TZ": "Australia/Lord_Howe", "PYTHONHASHSEED": "7"}
"""Clocks that are half an hour off and change by half an hour, and another order in sets, though
the same each time: no result may depend on these. The other steps run where the machine is."""
ALONE = "not servers and not browser and not long"
CHOSEN = {
    "plain": f"not compiled and not waits and not seldom and {ALONE}",
    "waiting": f"waits and not compiled and not seldom and {ALONE}",
    "seldom": f"seldom and not compiled and {ALONE}",
    "compiled": "(compiled or both_ways) and not servers and not browser and not long",
    "servers": "servers and not long",
    "browser": "browser and not long",
    "long": "long and not compiled",
    "long, compiled": "long and (compiled or both_ways)",
}
"""Tests that each step of pytest runs, by their marks."""
MARKED = {
    "compiled": ("compiled", "both_ways"), "waiting": ("waits",), "seldom": ("seldom",),
    "servers": ("servers",),
    "browser": ("browser",), "long": ("long",), "long, compiled": ("long",),
}
"""The marks of which a test of a step has one; they stand in the file itself."""
SHARED = {"servers": "loadfile", "browser": "loadfile", "seldom": "loadfile"}
"""Dear fixtures are started once: all tests of a file on one worker."""
WORKING = {"compiled": max(1, CORES // 2), "waiting": 1, "seldom": 1}
"""Of other steps as many as there are cores. Plain and compiled tests run at the same time:
together they have more workers than cores, as some tests wait for clocks, sockets and other
processes; and while one worker compiles what only its tests need, no core is idle. Those that do
little but wait have a worker of their own, which reads only their files. The plain ones give way:
the compiled ones, which have one worker on two cores, would else be alone at the end."""
KEPT = {"PYTHONDONTWRITEBYTECODE": ""}
"""The compiled sources of tests are kept, also where a shell says that Python keeps
nothing: to make it anew takes every worker of every step a quarter of a minute."""
READING = ("pytest", "--collect-only", "-qq", f"--ignore={SLURM}")
"""Each plain worker would make the same of the sources at the same time: here it is made once,
beside steps that read few or none of them."""
TOGETHER = "core tests"
CORE = ("style", "types", "layers", "plain", "waiting", "seldom", "compiled")
"""Steps that a change of the package is tried with, where there is no server, browser or Slurm."""


@dataclass(frozen=True)
class Step:
    """A command that has to succeed."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    allowed: int = 0
    """Another exit status that is no failure."""
    beside: str = ""
    """Runs at the same time as its neighbours that say the same."""
    heard: str = "where it failed"
    """Of those beside others, whether what it says is heard `at once`, `at its end` or only where
    it failed."""
    first: tuple[str, ...] = ()
    """A command that runs before it; where that fails, the step has failed."""
    gives_way: bool = False
    """Has what the steps beside it leave: it has several workers, and ends on all cores."""


@dataclass(frozen=True)
class Took:
    """Outcome of a step; the processor's time is that of all processes that it started."""

    name: str
    wall_s: float
    """By the clock; beside others what it took longer than those that were done before it."""
    cpu_s: float
    status: int


def tests(name: str, some: Sequence[str], environment: Mapping[str, str]) -> Step:
    workers = ("-n", str(WORKING.get(name, CORES)), "--dist", SHARED.get(name, "worksteal"))
    command = ("pytest", *workers, *AGAIN, "-m", CHOSEN[name], f"--ignore={SLURM}",
               *(some or files(name)))
    beside = TOGETHER if name in ("plain", "waiting", "seldom", "compiled") else ""
    heard = "at its end" if name in ("waiting", "seldom", "compiled") else "at once"
    return Step(name, command, environment, NO_TESTS if some else 0, beside, heard,
                gives_way=name == "plain")


def files(name: str) -> list[str]:
    """The files of a step that have its marks: each worker reads all that it is given, and reading
    all tests takes ten seconds. None for the step of those without a mark."""
    wanted = {f"mark.{mark}" for mark in MARKED.get(name, ())}
    return [file for file, marks in marks_of_files().items() if wanted & marks]


@cache
def marks_of_files() -> dict[str, set[str]]:
    """The marks that each file of tests names; read once for all steps."""
    known = {f"mark.{mark}" for marks in MARKED.values() for mark in marks}
    texts = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
             for path in (ROOT / "tests").rglob("test_*.py")
             if not path.is_relative_to(ROOT / SLURM)}
    return {file: {mark for mark in known if mark in text}
            for file, text in sorted(texts.items())}


def all_steps(some: Sequence[str], changed: Sequence[str] | None = None) -> list[Step]:
    """Style to Slurm; with arguments for pytest, those tests alone. What is marked `seldom` is run
    where one of the `changed` files reaches it, or where these are not known."""
    steps = [
        Step("style", ("ruff", "check", ".")),
        Step("layers", ("lint-imports", "--no-cache"), beside=TOGETHER),
        Step("types", ("mypy",), beside=TOGETHER),
        replace(tests("plain", some, PLAIN | ELSEWHERE),
                first=() if some or read_before() else READING),
    ]
    for name in ("waiting", "seldom", "compiled", "servers", "browser"):
        chosen = seldom_reached(changed) if name == "seldom" and not some else some
        if lies_in(name, some) and (chosen or name != "seldom"):
            steps.append(tests(name, chosen, COMPILED if name == "compiled" else PLAIN))
    if not some:
        steps.append(Step("slurm", ("pytest", *BEDS, *AGAIN, SLURM), PLAIN))
    return steps


def seldom_reached(changed: Sequence[str] | None) -> list[str]:
    """Return those that a change reaches itself or through one other file; all where none is
    known."""
    if changed is None:
        return files("seldom")
    sys.path.insert(0, str(ROOT))  # where this is a script
    from tests.support.reaching import Reaching

    reaching = Reaching()
    found = {file for path in changed for file, between in reaching.tests_of(path).items()
             if between <= 1}
    return [file for file in files("seldom") if file in found]


def changed_here() -> list[str] | None:
    """The files of the last commit and those that differ from it; None where git knows nothing."""
    found = subprocess.run(("git", "diff", "--name-only", "HEAD~1"), cwd=ROOT, capture_output=True,
                           text=True, check=False)
    new = subprocess.run(("git", "ls-files", "--others", "--exclude-standard"), cwd=ROOT,
                         capture_output=True, text=True, check=False)
    if found.returncode or new.returncode:
        return None
    return [*found.stdout.splitlines(), *new.stdout.splitlines()]


def read_before() -> bool:
    return any((ROOT / "tests").glob("__pycache__/conftest.*-pytest-*.pyc"))


def lies_in(name: str, some: Sequence[str]) -> bool:
    """Return whether a step has tests in the files or folders among these arguments, if there are
    any."""
    places = [place for word in some if (ROOT / (place := word.split("::")[0])).exists()]
    return not places or any(Path(file).is_relative_to(place)
                             for file in files(name) for place in places)


def drawing() -> list[str]:
    """The files in other folders whose examples are drawn; of `QUESTIONS` there is a step."""
    others = [path for folder in ("golden", "unit")
              for path in (ROOT / "tests" / folder).rglob("test_*.py")
              if "from hypothesis import" in path.read_text(encoding="utf-8")]
    return sorted({str(path.relative_to(ROOT)) for path in others} - {QUESTIONS})


def long_steps() -> list[Step]:
    """Return steps that take too long for every commit, and random draws, more often and anew
    each time; with the same `WATTLINE_SEED` the same seeds are tried again."""
    new = {"WATTLINE_SEED": str(secrets.randbelow(10**9))}
    drawn = ("pytest", *WORKERS, "worksteal", "-m", "not compiled", "tests/property", *drawing())
    return [
        tests("seldom", (), PLAIN),
        replace(tests("long", (), PLAIN | new | {"WATTLINE_EXAMPLES": "2"}), allowed=NO_TESTS),
        replace(tests("long, compiled", (), COMPILED | new | {"WATTLINE_EXAMPLES": "4"}),
                allowed=NO_TESTS),
        Step("many examples", drawn,
             PLAIN | new | {"WATTLINE_EXAMPLES": "20", "WATTLINE_FUZZ": "5000"}),
        Step("many questions", ("pytest", *WORKERS, "worksteal", QUESTIONS),
             PLAIN | {"WATTLINE_FUZZ": "300"}),
        Step("slurm, long", ("pytest", SLURM, "-m", "long", *AGAIN), PLAIN),
    ]


Ran = tuple[int, float]
"""The exit status, and seconds of the processor."""


def run(step: Step) -> Ran:
    """Output of a step that runs beside others is heard when it comes."""
    before_s = 0.0
    if step.first:
        status, before_s = run(replace(step, command=step.first, first=(), heard=Step.heard))
        if status:
            return status, before_s
    said = (f"{name}={value}" for name, value in step.environment.items())
    print(" ".join(["$", *said, *step.command, "\n"]), end="", flush=True)  # in one piece
    argv = [*(("nice", "-n", "5") if step.gives_way else ()), str(BIN / step.command[0]),
            *step.command[1:]]
    env = {**os.environ, **KEPT, **step.environment}
    with tempfile.TemporaryFile() as heard:
        out = heard if step.beside and step.heard != "at once" else None
        process = subprocess.Popen(argv, cwd=ROOT, env=env, stdout=out, stderr=out)
        _, ended, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(ended)
        if process.returncode or step.heard == "at its end":
            heard.seek(0)
            print(heard.read().decode(errors="replace"), end="", flush=True)
    return process.returncode, before_s + used.ru_utime + used.ru_stime


def run_all(steps: Sequence[Step], run: Callable[[Step], Ran] = run) -> list[Took]:
    """One after the other, or beside each other, up to the first that fails."""
    done: list[Took] = []
    for beside, some in groupby(steps, key=lambda step: step.beside):
        for together in [list(some)] if beside else [[step] for step in some]:
            done += run_together(together, run)
            if any(took.status for took in done):
                return done
    return done


def run_together(steps: Sequence[Step], run: Callable[[Step], Ran]) -> Iterator[Took]:
    """At the same time, as they end."""
    with ThreadPoolExecutor(len(steps)) as pool:
        last_s = time.monotonic()
        running = {pool.submit(run, step): step for step in steps}
        for each in as_completed(running):
            step, (status, cpu_s), now_s = running[each], each.result(), time.monotonic()
            failed = status not in (0, step.allowed)
            yield Took(step.name, now_s - last_s, cpu_s, status if failed else 0)
            last_s = now_s


def table(steps: Sequence[Step], done: Sequence[Took]) -> str:
    """Return what each step took, the core of them together, and which failed or were not
    reached."""
    lines = [line(took.name, took.wall_s, took.cpu_s, outcome(took)) for took in done]
    lines += [f"{step.name:<16}{'':>9}{'':>9}  not run" for step in steps
              if step.name not in {took.name for took in done}]
    core = [took for took in done if took.name in CORE]
    for name, some in (("core together", core), ("all", done)):
        lines.append(line(name, sum(took.wall_s for took in some),
                          sum(took.cpu_s for took in some), ""))
    return "\n".join([f"{'step':<16}{'wall':>9}{'CPU':>9}", *lines])


def line(name: str, wall_s: float, cpu_s: float, said: str) -> str:
    return f"{name:<16}{minutes(wall_s):>9}{minutes(cpu_s):>9}  {said}".rstrip()


def outcome(took: Took) -> str:
    return f"FAILED with exit status {took.status}" if took.status else "passed"


def minutes(time_s: float) -> str:
    return f"{round(time_s) // 60}:{round(time_s) % 60:02} min"


def count_lines() -> None:
    counted = ("-m", "not compiled and not long", "--cov=wattline", "--cov-report=")
    plain = ("pytest", *WORKERS, "worksteal", f"--ignore={SLURM}", *counted)
    done = run_all([Step("plain", plain, PLAIN),
                    Step("report", ("coverage", "report", "--format=total"))])
    if status := failure(done):
        sys.exit(status)
    print("per cent of the package's lines are reached by the tests that run as plain Python")


def failure(done: Sequence[Took]) -> int:
    return next((took.status for took in done if took.status), 0)


def main() -> None:
    some = sys.argv[1:]
    if some == ["--coverage"]:
        count_lines()
        return
    steps = long_steps() if some == ["--long"] else all_steps(some, changed_here())
    done = run_all(steps)
    print(table(steps, done))
    sys.exit(failure(done))


if __name__ == "__main__":
    main()
