"""Sessions: what a browser holds in place of a token, in a cookie that scripts cannot read."""

from __future__ import annotations

import hmac
import secrets
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass

from wattline.web.security.tokens import Token

COOKIE = "wattline_session"
MOST_SESSIONS = 10_000
LASTS_S = 12 * 3600.0


@dataclass(frozen=True)
class Session:
    token: Token
    end_s: float
    """By the clock that never jumps."""


class Sessions:
    """Those who logged in; in memory, so that a restart ends all of them."""

    def __init__(self) -> None:
        self._secret = secrets.token_bytes(32)
        self._held: OrderedDict[str, Session] = OrderedDict()
        self._lock = threading.Lock()

    def begin(self, token: Token) -> str:
        made = secrets.token_urlsafe(32)
        with self._lock:
            self._held[made] = Session(token, time.monotonic() + LASTS_S)
            while len(self._held) > MOST_SESSIONS:
                self._held.popitem(last=False)
        return made

    def find(self, wanted: str) -> Session | None:
        """By a lookup of 256 random bits: how long it takes tells nothing that could be used."""
        with self._lock:
            found = self._held.get(wanted)
            if found is not None and found.end_s < time.monotonic():
                del self._held[wanted]
                found = None
            return found

    def end(self, wanted: str) -> None:
        with self._lock:
            self._held.pop(wanted, None)

    def csrf(self, of: str) -> str:
        """What a page must send along, and a foreign page cannot know: drawn from whom it is for
        and from a secret of this server."""
        return hmac.new(self._secret, of.encode("utf-8", "surrogatepass"), "sha256").hexdigest()

    def csrf_fits(self, of: str, given: str) -> bool:
        return hmac.compare_digest(self.csrf(of).encode(), given.encode("utf-8", "surrogatepass"))
