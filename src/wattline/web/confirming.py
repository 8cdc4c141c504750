"""Confirmations: what was shown to an operator is what is done, by the same person, soon after."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Callable

from wattline.model.clock import unix_s
from wattline.model.errors import InputError
from wattline.web.sources.shape import Act

VALID_S = 120.0
MOST_USED = 10_000


class Confirmations:
    """Makes tokens for actions that were shown, and takes each once.

    A token is bound to action, value, user and time by a secret that lives as long as the
    server: after a restart the consequences must be looked at again.
    """

    def __init__(self, clock: Callable[[], float] = unix_s) -> None:
        self.secret = secrets.token_bytes(32)
        self.clock = clock
        self.used: dict[str, float] = {}

    def make(self, act: Act, user: str) -> str:
        head = f"{self.clock() + VALID_S:.0f}.{secrets.token_hex(8)}"
        return f"{head}.{self._sign(act, user, head)}"

    def take(self, act: Act, user: str, token: str) -> None:
        """Refuse a token that is not of this action, this user and the last two minutes."""
        head, _, signature = token.rpartition(".")
        if not hmac.compare_digest(signature.encode(), self._sign(act, user, head).encode()):
            raise InputError("this confirmation is not of this action: look at its consequences "
                             "(/api/operator/preview) and confirm those")
        until, now_s = head.partition(".")[0], self.clock()
        if float(until) < now_s:
            raise InputError(f"this confirmation is older than {VALID_S:.0f} s: look at the "
                             "consequences again")
        if token in self.used:
            raise InputError("this confirmation has been used: look at the consequences again")
        self.used = {old: at_s for old, at_s in self.used.items() if at_s > now_s}
        if len(self.used) >= MOST_USED:
            raise InputError("too many confirmations at once; wait a minute")
        self.used[token] = float(until)

    def _sign(self, act: Act, user: str, head: str) -> str:
        text = json.dumps([act.action, dict(act.value), user, head], sort_keys=True)
        return hmac.new(self.secret, text.encode(), hashlib.sha256).hexdigest()
