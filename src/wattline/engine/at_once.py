"""Small logs at once: a new combination of policies runs as plain Python while it is compiled.

Compiling a combination takes some ten seconds, once; a few thousand jobs take as plain Python one
or two. So a short run goes to a process in which nothing is compiled (the same source, held equal
to the last digit), and another process, which outlives this one, compiles for the next time.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from wattline.books.record import Record
from wattline.engine.world import Simulated
from wattline.model import before_running_plain
from wattline.model.kernel import is_compiled
from wattline.policies.contract import Composition
from wattline.policies.state import State

MOST_JOBS = 3000
"""More jobs than this are worth the wait."""

Parts = tuple[State, Record, Simulated, Composition]


def is_wanted(parts: Parts, loop: Any) -> bool:
    """Whether a run is short, not compiled, and may be handed to another process."""
    return (os.environ.get("WATTLINE_AT_ONCE", "1") != "0" and len(parts[0].jobs) <= MOST_JOBS
            and not is_compiled(loop, *parts, 0))


def run_plain(parts: Parts) -> Parts | None:
    """The parts after a run in a process without the compiler; None where that did not work."""
    try:
        sent = pickle.dumps(parts)
    except Exception:  # a policy of a notebook: nobody else can import it
        return None
    for callback in before_running_plain:
        callback()
    before_running_plain.clear()
    _compile_beside(sent)
    done = subprocess.run(
        [sys.executable, "-m", "wattline.engine.at_once", "run"], input=sent, capture_output=True,
        env=_environment(plain=True), check=False,
    )
    if done.returncode != 0:
        return None
    found: Parts = pickle.loads(done.stdout)
    return found


def _environment(plain: bool) -> dict[str, str]:
    """The child finds the modules that this process finds."""
    path = os.pathsep.join(place or os.getcwd() for place in sys.path)
    return {**os.environ, "PYTHONPATH": path, "WATTLINE_PLAIN": "1" if plain else "0"}


def _compile_beside(sent: bytes) -> None:
    """Start compiling in a process of its own, unless one does so already."""
    with suppress(OSError):
        child = subprocess.Popen(
            [sys.executable, "-m", "wattline.engine.at_once", "compile"], stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
            env=_environment(plain=False),
        )
        assert child.stdin is not None
        with child.stdin as pipe:
            pipe.write(sent)
        child.returncode = 0  # it is not waited for


def _run(parts: Parts) -> None:
    from wattline.engine.simulate import run_compiled

    state, record, world, policy = parts
    state, record = run_compiled(state, record, world, policy)
    sys.stdout.buffer.write(pickle.dumps((state, record, world, policy)))


def _compile(parts: Parts) -> None:
    from wattline.engine.simulate import compile_loop
    from wattline.model.kernel_cache import cache_folder

    os.nice(10)
    names = ",".join(type(axis).__name__ for axis in parts[3])
    lock = cache_folder() / f"compiling {names}"[:200]
    if not _take(lock):
        return
    try:
        compile_loop(*parts)
    finally:
        lock.unlink(missing_ok=True)


def _take(lock: Path) -> bool:
    """Whether this process is the only one that compiles this; the lock of a dead one is broken."""
    for _ in range(2):
        try:
            with lock.open("x") as made:
                made.write(str(os.getpid()))
            return True
        except FileExistsError:
            with suppress(OSError, ValueError):
                if Path(f"/proc/{int(lock.read_text())}").exists():
                    return False
            lock.unlink(missing_ok=True)
    return False


if __name__ == "__main__":
    given: Parts = pickle.loads(sys.stdin.buffer.read())
    _run(given) if sys.argv[1] == "run" else _compile(given)
