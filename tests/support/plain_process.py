"""A process in which every kernel runs as plain Python, to ask for the same work done there.

The mode is chosen when the package is imported, so one process cannot have both.
"""

from __future__ import annotations

import importlib
import pickle
import subprocess
import sys
import traceback
from typing import Any

from tests.support.plain import ROOT, plain_environment


class PlainProcess:
    """Calls functions of modules in the other process; close it when done."""

    def __init__(self) -> None:
        self._process = subprocess.Popen([sys.executable, "-m", __name__], cwd=ROOT,
                                         env=plain_environment(), stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE)

    def call(self, module: str, function: str, *arguments: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        pickle.dump((module, function, arguments), self._process.stdin)
        self._process.stdin.flush()
        worked, result = pickle.load(self._process.stdout)
        assert worked, f"the plain process failed:\n{result}"
        return result

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=30)


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
