"""Other processes to ask for the same work: one in which every kernel runs as plain Python, one in
which kernels are compiled with checks of every index.

The mode is chosen when the package is imported, so one process cannot have both.
"""

from __future__ import annotations

import importlib
import pickle
import subprocess
import sys
import traceback
from collections.abc import Mapping
from typing import Any

from tests.support.plain import ROOT, plain_environment
from wattline.model.kernel import PLAIN

CHECKED_KERNELS = ROOT / ".cache" / "bounds-checked"
"""Their own folder: what numba keeps does not say whether it was compiled with checks."""


def checked_environment() -> dict[str, str]:
    """For a process whose kernels raise an error where an index is outside its array."""
    kept = {name: value for name, value in plain_environment().items()
            if name not in ("WATTLINE_PLAIN", "NUMBA_CACHE_DIR")}
    return {**kept, "NUMBA_BOUNDSCHECK": "1", "XDG_CACHE_HOME": str(CHECKED_KERNELS)}


class OtherProcess:
    """Calls functions of modules in the other process; close it when done."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._process = subprocess.Popen([sys.executable, "-m", __name__], cwd=ROOT,
                                         env=dict(environment), stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE)

    def call(self, module: str, function: str, *arguments: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        pickle.dump((module, function, arguments), self._process.stdin)
        self._process.stdin.flush()
        worked, result = pickle.load(self._process.stdout)
        assert worked, f"the other process failed:\n{result}"
        return result

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(timeout=30)
        except subprocess.TimeoutExpired:  # giving its memory back can take long where much runs
            self._process.kill()
            self._process.wait()


class PlainProcess(OtherProcess):
    """This process, where kernels are plain Python here already, answers itself: the work is the
    same, and a new process would spend two seconds on its imports."""

    def __init__(self) -> None:
        if not PLAIN:
            super().__init__(plain_environment())

    def call(self, module: str, function: str, *arguments: Any) -> Any:
        if not PLAIN:
            return super().call(module, function, *arguments)
        asked = getattr(importlib.import_module(module), function)
        return _sent(asked(*_sent(arguments)))

    def close(self) -> None:
        if not PLAIN:
            super().close()


def _sent(value: Any) -> Any:
    """As it would come out of a pipe: a copy."""
    return pickle.loads(pickle.dumps(value))


class CheckedProcess(OtherProcess):
    def __init__(self) -> None:
        super().__init__(checked_environment())


def serve() -> None:
    answers = sys.stdout.buffer
    sys.stdout = sys.stderr  # whatever is printed must not come between the answers
    while True:
        try:
            module, function, arguments = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            answer = (True, getattr(importlib.import_module(module), function)(*arguments))
        except Exception:  # the asker is told
            answer = (False, traceback.format_exc())
        pickle.dump(answer, answers)
        answers.flush()


if __name__ == "__main__":
    serve()
