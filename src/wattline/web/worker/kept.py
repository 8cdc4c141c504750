"""Answers that were given, by what was asked: a link that goes round is computed once."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any

KEPT_ANSWERS = 64


class AnswersKept:
    """The latest answers; threads may ask at the same time."""

    def __init__(self, most: int = KEPT_ANSWERS) -> None:
        self.most = most
        self._held: OrderedDict[str, Any] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: str) -> Any:
        with self._lock:
            return self._held.get(key)

    def put(self, key: str, answer: Any) -> None:
        with self._lock:
            self._held[key] = answer
            while len(self._held) > self.most:
                self._held.popitem(last=False)
