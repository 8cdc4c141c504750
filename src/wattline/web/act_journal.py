"""Who did what when: a line per action, kept on disk before and after it is done.

What is said of it names no path: those who order read it, and the server's folders are not theirs.
"""

from __future__ import annotations

import json
import os
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

from wattline.model.clock import unix_s
from wattline.model.errors import InputError, WattlineError
from wattline.web.sources.shape import Act

SHOWN = 200


class ActJournal:
    """Lines of JSON. Nothing is done that cannot be written down first."""

    def __init__(self, path: Path | None, clock: Callable[[], float] = unix_s) -> None:
        self.path = path
        self.clock = clock
        self.lock = threading.Lock()
        self.last: deque[dict[str, Any]] = deque(() if path is None else _kept(path), SHOWN)
        """The newest first; those of a server before this one too."""

    def asked(self, who: str, act: Act) -> None:
        """Write down what is about to be done, or refuse it."""
        try:
            self._write(self._line(who, act, "asked", ""))
        except OSError as error:
            raise WattlineError(f"the journal cannot be written ({error.strerror}), so nothing was "
                                "done: actions are journalled or refused") from None

    def came(self, who: str, act: Act, outcome: str, said: str) -> tuple[dict[str, Any], list[str]]:
        """Write down that it was done or refused: the line, and what could not be done about it.

        The action is over by now, so a disk that is full is said and changes nothing about it.
        """
        line = self._line(who, act, outcome, said)
        try:
            self._write(line)
        except OSError as error:
            return line, [f"the journal cannot be written ({error.strerror}): it has that this was "
                          "asked for, and not what came of it"]
        return line, []

    def _line(self, who: str, act: Act, outcome: str, said: str) -> dict[str, Any]:
        return {"time_s": self.clock(), "who": who, "action": act.action,
                "value": dict(act.value), "outcome": outcome, "said": said}

    def _write(self, line: dict[str, Any]) -> None:
        with self.lock:
            if self.path is not None:
                with open(self.path, "a", encoding="utf-8", opener=_own) as file:
                    file.write(json.dumps(line, ensure_ascii=False) + "\n")
                    file.flush()
                    os.fsync(file.fileno())
            self.last.appendleft(line)


def refuse_unwritable(path: Path) -> None:
    """A journal that could not be written is found out when the server starts."""
    try:
        with open(path, "a", encoding="utf-8", opener=_own):
            pass
    except OSError as error:
        raise InputError(f"the journal {path} cannot be written ({error.strerror}); name a file in "
                         "a folder that is there and yours") from None


def _kept(path: Path) -> list[dict[str, Any]]:
    """The last lines of the file, the newest first; what is no line of a journal is passed over."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            texts = deque(file, SHOWN)
    except OSError:
        return []
    found = []
    for text in reversed(texts):
        try:
            line = json.loads(text)
        except ValueError:  # half a line, of a server that was killed
            continue
        if isinstance(line, dict) and {"time_s", "who", "action", "outcome"} <= set(line):
            found.append(line)
    return found


def _own(path: str, flags: int) -> int:
    """Who operates the machine is nobody else's to read."""
    return os.open(path, flags, 0o600)
