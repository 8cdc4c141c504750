"""Small logs at once: a new combination of policies runs as plain Python while it is compiled.

Compiling a combination takes some twenty seconds, once; a few thousand jobs, or a quarter of an
hour of a contract's control cycles, take as plain Python one or two. So a short run goes to a
process in which nothing is compiled, and another process, which outlives this one, compiles for the
next time. What is short is estimated before: the congestion of a network takes so much that two
hundred jobs are long.
"""

from __future__ import annotations

import os
import pickle
import sys
from typing import Any

from wattline.engine.compiling import Parts, begin, compile_once, may_start_processes
from wattline.engine.network_work import plain_network_s
from wattline.engine.plain_process import call_plain
from wattline.engine.world import Simulated
from wattline.model import before_running_plain
from wattline.model.kernel import is_compiled
from wattline.model.kernel_cache import cache_folder
from wattline.model.user_cache import can_keep
from wattline.policies.memory import memories
from wattline.policies.state import State

MOST_JOBS = 3000
"""More jobs than this are worth the wait."""
MOST_CYCLES = 1000
"""And so are more control cycles: each takes 1 ms on ten servers, 1.4 ms on a hundred."""
MOST_NETWORK_S = 10.0
"""And so is more congestion as plain Python: to compile a network takes some thirty seconds."""

_begun: set[tuple[type, ...]] = set()
"""Combinations that a process beside this one was asked to compile."""


def is_wanted(parts: Parts, loop: Any) -> bool:
    """Whether a run is short, not compiled, and may be handed to another process."""
    return may_start_processes() and is_short(parts) and not is_compiled(loop, *parts, 0)


def is_short(parts: Parts) -> bool:
    """Say whether a run as plain Python takes less time than compiling it."""
    cycles = max((memory.cycles() for memory in memories(parts[3]).values()), default=0)
    return is_little(parts[0], parts[2]) and cycles <= MOST_CYCLES


def is_little(state: State, world: Simulated) -> bool:
    """The same of jobs and network, whatever the policy does."""
    return (len(state.jobs) <= MOST_JOBS
            and plain_network_s(state.jobs, world.network) <= MOST_NETWORK_S)


def run_plain(parts: Parts) -> Parts | None:
    """The parts after a run in a process without the compiler; None where that did not work."""
    try:
        sent = pickle.dumps(parts)
    except Exception:  # a policy of a notebook: nobody else can import it
        return None
    if can_keep(cache_folder()):
        _compile_meanwhile(parts, sent)
    after: Parts | None = call_plain(run_here, parts)
    return after


def _compile_meanwhile(parts: Parts, sent: bytes) -> None:
    for callback in before_running_plain:
        callback()
    before_running_plain.clear()
    axes = tuple(type(axis) for axis in parts[3])
    if axes not in _begun:  # a search runs the same dozens of times before it is compiled
        _begun.add(axes)
        begin("wattline.engine.at_once", sent=sent)


def run_here(parts: Parts) -> Parts:
    """The parts after a run in this process."""
    from wattline.engine.simulate import run_compiled

    state, record, world, policy = parts
    state, record = run_compiled(state, record, world, policy)
    return state, record, world, policy


if __name__ == "__main__":
    given: Parts = pickle.loads(sys.stdin.buffer.read())
    os.nice(10)  # nobody waits for it yet
    compile_once(given)
