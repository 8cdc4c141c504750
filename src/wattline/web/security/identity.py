"""Finding out who asks: a token, a session, the site's proxy, or whoever sits at this machine."""

from __future__ import annotations

from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from typing import Any

from wattline.web.problems import Refused
from wattline.web.security.exposure import is_open_locally, is_proxy
from wattline.web.security.local_user import local_user
from wattline.web.security.person import Person, Role
from wattline.web.security.sessions import COOKIE, Sessions
from wattline.web.security.tokens import NAME, TokenFile
from wattline.web.settings import Settings

LOCAL_USER = "local"
WHO = {"WWW-Authenticate": "Bearer"}


class Identity:
    """Those who are known, and how they show it."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.tokens = None if settings.tokens is None else TokenFile(settings.tokens)
        self.sessions = Sessions()

    def client(self, scope: Mapping[str, Any], headers: Mapping[str, str]) -> str:
        """The address that asks; behind the named proxy, the one that the proxy saw."""
        address = self.peer(scope)
        if self.from_proxy(address):
            return headers.get("x-forwarded-for", address).split(",")[-1].strip()[:60] or address
        return address

    @staticmethod
    def peer(scope: Mapping[str, Any]) -> str:
        """The address at the other end of the connection."""
        return str((scope.get("client") or ("unknown", 0))[0])

    def from_proxy(self, address: str) -> bool:
        return is_proxy(self.settings, address)

    def find(self, scope: Mapping[str, Any], headers: Mapping[str, str]) -> Person | None:
        """Who it is; None where nobody says so. A token that is wrong is refused."""
        given = headers.get("authorization")
        if given is not None:
            return self._by_token(given)
        session = self.session_id(headers)
        if session is not None:
            found = self.sessions.find(session)
            if found is not None and self.tokens is not None and self.tokens.holds(
                    found.token.name, found.token.digest):
                return Person(found.token.name, found.token.role, "session",
                              f"token:{found.token.name}")
        if self.from_proxy(self.peer(scope)):
            return self._by_proxy(headers)
        return self._by_machine(scope) if is_open_locally(self.settings) else None

    def csrf_of(self, person: Person, headers: Mapping[str, str]) -> str:
        """Whom the token against foreign pages is drawn for."""
        if person.how == "session":
            return f"session:{self.session_id(headers)}"
        return f"{person.how}:{person.user}"

    @staticmethod
    def session_id(headers: Mapping[str, str]) -> str | None:
        try:
            found = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
        except CookieError:
            return None
        return None if found is None else found.value

    def _by_token(self, given: str) -> Person:
        kind, _, secret = given.partition(" ")
        token = None
        if self.tokens is not None and kind.lower() == "bearer":
            token = self.tokens.find(secret.strip())
        if token is None:
            raise Refused(401, "this token is not known here",
                          "`wattline serve token add NAME --role ROLE` makes one", WHO)
        return Person(token.name, token.role, "token", f"token:{token.name}")

    def _by_machine(self, scope: Mapping[str, Any]) -> Person:
        """Whoever sits at this machine: all may try things on what is simulated, those who are
        named may change what is real."""
        if not self.settings.real:
            return Person(LOCAL_USER, Role.OPERATOR, "local", "local")
        user = local_user(scope) if self.settings.operators else None
        if user in self.settings.operators and user is not None:
            return Person(user, Role.OPERATOR, "local", f"local:{user}")
        return Person(user or LOCAL_USER, Role.VIEWER, "local", "local")

    def _by_proxy(self, headers: Mapping[str, str]) -> Person | None:
        user = headers.get(self.settings.user_header.lower(), "")
        if not NAME.fullmatch(user):
            return None
        role = Role.OPERATOR if user in self.settings.operators else Role.OWNER
        return Person(user, role, "proxy", f"proxy:{user}")
