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
from typing import Any

from wattline.engine.compiling import (
    Parts,
    begin,
    compile_once,
    environment,
    may_start_processes,
)
from wattline.model import before_running_plain
from wattline.model.kernel import is_compiled

MOST_JOBS = 3000
"""More jobs than this are worth the wait."""


def is_wanted(parts: Parts, loop: Any) -> bool:
    """Whether a run is short, not compiled, and may be handed to another process."""
    return (may_start_processes() and len(parts[0].jobs) <= MOST_JOBS
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
    begin("wattline.engine.at_once", "compile", sent=sent)
    done = subprocess.run(
        [sys.executable, "-m", "wattline.engine.at_once", "run"], input=sent, capture_output=True,
        env=environment(plain=True), check=False,
    )
    if done.returncode != 0:
        return None
    found: Parts = pickle.loads(done.stdout)
    return found


def _run(parts: Parts) -> None:
    from wattline.engine.simulate import run_compiled

    state, record, world, policy = parts
    state, record = run_compiled(state, record, world, policy)
    sys.stdout.buffer.write(pickle.dumps((state, record, world, policy)))


if __name__ == "__main__":
    given: Parts = pickle.loads(sys.stdin.buffer.read())
    if sys.argv[1] == "run":
        _run(given)
    else:
        os.nice(10)  # nobody waits for it yet
        compile_once(given)
