"""A process beside this one in which nothing is compiled, for what is short and not compiled yet.

It runs the same source as plain Python, held equal to the last digit. Starting it takes most of a
second, so that it is kept for the next question: a search asks dozens. It ends with this process.
"""

from __future__ import annotations

import atexit
import importlib
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, BinaryIO

from wattline.engine.compiling import environment, may_start_processes

SIZE_BYTES = 8
PATIENCE_S = 2.0
"""How long it may take to end before it is asked to, and then before it is made to."""

_kept: dict[int, subprocess.Popen[bytes]] = {}
"""By the process that started it: one that was forked has no say in its parent's."""
_one_at_a_time = threading.Lock()


def call_plain(function: Callable[..., Any], *arguments: Any) -> Any:
    """What the function of a module gives in a process without the compiler.

    None where that did not work (a policy of a notebook, which nobody else can import, or an
    error, which the call in this process will say) or no process may be started.
    """
    if not may_start_processes():
        return None
    try:
        sent = pickle.dumps((os.getcwd(), function.__module__, function.__name__, arguments))
    except Exception:  # whatever an object of somebody else's raises
        return None
    with _one_at_a_time:
        child, answer = _child(), None
        try:
            _write(child.stdin, sent)
            answer = pickle.loads(_read(child.stdout))
        except Exception:  # it ended, or its answer cannot be read here
            return None
        finally:
            if answer is None:  # also interrupted: what it answers later belongs to nobody
                _end()
    return answer


def _child() -> subprocess.Popen[bytes]:
    found = _kept.get(os.getpid())
    if found is None:
        found = subprocess.Popen(
            [sys.executable, "-m", "wattline.engine.plain_process"], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment(plain=True),
        )
        _kept[os.getpid()] = found
        atexit.register(_end)
    return found


def _end() -> None:
    """Let it go: nobody asks any more. One that works is interrupted, and may clear up first."""
    child = _kept.pop(os.getpid(), None)
    if child is None:
        return
    for pipe in (child.stdin, child.stdout):
        with suppress(OSError):
            pipe.close()  # type: ignore[union-attr]  # both are pipes
    for number in (signal.SIGINT, signal.SIGKILL):
        with suppress(subprocess.TimeoutExpired):
            child.wait(PATIENCE_S)
            return
        child.send_signal(number)
    child.wait()


def _write(to: Any, data: bytes) -> None:
    to.write(len(data).to_bytes(SIZE_BYTES, "big"))
    to.write(data)
    to.flush()


def _read(source: Any) -> bytes:
    size = source.read(SIZE_BYTES)
    if len(size) < SIZE_BYTES:
        raise EOFError
    data: bytes = source.read(int.from_bytes(size, "big"))
    return data


def _serve(questions: BinaryIO, answers: BinaryIO) -> None:
    """Answer until nobody asks; an error ends it, and whoever asked finds out for himself."""
    with suppress(EOFError):
        while True:
            folder, module, name, arguments = pickle.loads(_read(questions))
            os.chdir(folder)
            function = getattr(importlib.import_module(module), name)
            _write(answers, pickle.dumps(function(*arguments)))


if __name__ == "__main__":
    _serve(sys.stdin.buffer, sys.stdout.buffer)
