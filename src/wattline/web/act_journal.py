"""Who did what when: a line per action, kept on disk before and after it is done."""

from __future__ import annotations

import json
import os
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

from wattline.model.clock import unix_s
from wattline.model.errors import WattlineError
from wattline.web.sources.shape import Act

SHOWN = 200


class ActJournal:
    """Lines of JSON. Nothing is done that cannot be written down first."""

    def __init__(self, path: Path | None, clock: Callable[[], float] = unix_s) -> None:
        self.path = path
        self.clock = clock
        self.lock = threading.Lock()
        self.last: deque[dict[str, Any]] = deque(maxlen=SHOWN)

    def write(self, who: str, act: Act, outcome: str, said: str = "") -> dict[str, Any]:
        """`outcome` is asked, done or refused."""
        line = {"time_s": self.clock(), "who": who, "action": act.action,
                "value": dict(act.value), "outcome": outcome, "said": said}
        with self.lock:
            if self.path is not None:
                self._append(json.dumps(line, ensure_ascii=False) + "\n")
            self.last.appendleft(line)
        return line

    def _append(self, text: str) -> None:
        assert self.path is not None
        try:
            with open(self.path, "a", encoding="utf-8", opener=_own) as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise WattlineError(f"{self.path} cannot be written ({error.strerror}), so nothing "
                                "was done: actions are journalled or refused") from None


def _own(path: str, flags: int) -> int:
    """Who operates the machine is nobody else's to read."""
    return os.open(path, flags, 0o600)
