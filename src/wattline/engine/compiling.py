"""Compiling in processes beside this one: who does it, and waiting for whoever does.

A combination of policies takes some ten seconds to compile, on one core. Where more than one is
needed, a second process compiles the next while this one compiles and runs the first.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from wattline.books.record import Record
from wattline.engine.world import Simulated
from wattline.model import COMPILING, before_compiling, compiling_beside, kernel_cache
from wattline.model.clock import file_age_s
from wattline.model.kernel import PLAIN, is_compiled
from wattline.model.kernel_cache import cache_folder
from wattline.model.user_cache import can_keep
from wattline.model.waiting import waiting
from wattline.policies.contract import Composition
from wattline.policies.state import State

LONGEST_S = 300.0
"""A lock that is older belongs to nobody who still compiles."""

AT_ONCE = "WATTLINE_AT_ONCE"
"""Set to 0 in the environment it forbids other processes."""

Parts = tuple[State, Record, Simulated, Composition]


def may_start_processes() -> bool:
    """Whether other processes may be started to save the user a wait."""
    return os.environ.get(AT_ONCE, "1") != "0" and not PLAIN


def environment(plain: bool) -> dict[str, str]:
    """The child finds the modules that this process finds."""
    path = os.pathsep.join(place or os.getcwd() for place in sys.path)
    return {**os.environ, "PYTHONPATH": path, "WATTLINE_PLAIN": "1" if plain else "0"}


def begin(module: str, *arguments: str, sent: bytes) -> None:
    """Start a process that compiles and outlives this one; it reads what is sent. Where it could
    hand nothing on, there is none."""
    if not can_keep(cache_folder()):
        return
    with suppress(OSError), tempfile.TemporaryFile() as read:  # a pipe would have to wait for it
        read.write(sent)
        read.seek(0)
        child = subprocess.Popen(
            [sys.executable, "-m", module, *arguments], stdin=read, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True, env=environment(plain=False),
        )
        child.returncode = 0  # it is not waited for
        compiling_beside.append(child.pid)


def compile_once(parts: Parts) -> None:
    """Compile what a run of these parts calls, unless another process does so already."""
    from wattline.engine.simulate import compile_loop

    lock = _lock(parts)
    if not take(lock):
        return
    try:
        compile_loop(*parts)
    finally:
        lock.unlink(missing_ok=True)


def compile_or_wait(parts: Parts, loop: Any) -> None:
    """Compile, or load, what a run of these parts calls. Where another process compiles it, that is
    waited for: to do the same beside it helps neither."""
    from wattline.engine.simulate import compile_loop

    if is_compiled(loop, *parts, 0):
        compile_loop(*parts)
        return
    lock = _lock(parts)
    mine = _may_take(lock)
    if not mine:
        _wait_for(lock)
    try:
        compile_loop(*parts)
    finally:
        if mine:
            with suppress(OSError):
                lock.unlink(missing_ok=True)


def _wait_for(lock: Path) -> None:
    while before_compiling:
        before_compiling.pop()(kernel_cache.announced(COMPILING))
    with waiting():
        while is_held(lock):
            time.sleep(0.02)


def _may_take(lock: Path) -> bool:
    """Where no lock can be written nobody is waited for: no code can be kept there either."""
    try:
        return take(lock)
    except OSError:
        return True


def _lock(parts: Parts) -> Path:
    names = ",".join(type(axis).__name__ for axis in parts[3])
    return cache_folder() / f"compiling {names}"[:200]


def take(lock: Path) -> bool:
    """Whether this process is the only one that compiles this; the lock of a dead one is broken."""
    for _ in range(2):
        try:
            with lock.open("x", encoding="utf-8") as made:
                made.write(str(os.getpid()))
            return True
        except FileExistsError:
            if is_held(lock):
                return False
            lock.unlink(missing_ok=True)
    return False


def is_held(lock: Path) -> bool:
    with suppress(OSError, ValueError):
        is_new = file_age_s(lock) < LONGEST_S
        # Between being made and being written to it is empty for a moment.
        owner = int(lock.read_text(encoding="utf-8") or os.getpid())
        return is_new and Path(f"/proc/{owner}").exists()
    return False
