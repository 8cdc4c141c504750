"""Who may reach the server, and how: checked before it listens."""

from __future__ import annotations

import ipaddress
import re
import socket

from wattline.model.errors import InputError
from wattline.web.settings import Settings

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")


def is_tls(settings: Settings) -> bool:
    """Whether this server itself speaks TLS."""
    return settings.certificate is not None and settings.key is not None


def is_open_locally(settings: Settings) -> bool:
    """Whether everybody who can reach it is the local user: on loopback, nothing else said."""
    return is_loopback(settings.host) and settings.tokens is None and not settings.proxy


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def refuse_exposed(settings: Settings) -> None:
    """Refuse to start where anybody on the network could read along or come in."""
    if settings.proxy:
        try:
            ipaddress.ip_address(settings.proxy)
        except ValueError:
            raise InputError(f"the proxy is '{settings.proxy}'; give its address, like 10.0.0.5: a "
                             "name could come to mean another machine") from None
    if is_loopback(settings.host) or settings.proxy:
        return
    if not is_tls(settings) or settings.tokens is None:
        missing = ("tokens (--tokens FILE)" if is_tls(settings)
                   else "TLS (--tls-cert FILE --tls-key FILE)")
        raise InputError(f"{settings.host} can be reached from outside, and there is no {missing}; "
                         "give both TLS and tokens, or name the site's reverse proxy (--proxy "
                         "ADDRESS), or listen on 127.0.0.1")


def said_at_start(settings: Settings) -> str:
    """Who may do what, in a sentence for whoever starts the server."""
    if is_open_locally(settings):
        return ("no tokens: everybody who can open a connection on this machine may look and "
                "operate; --tokens FILE asks for them")
    if settings.proxy:
        return (f"users are who {settings.proxy} says in {settings.user_header}"
                + (", or come with a token" if settings.tokens else ""))
    return f"users come with a token of {settings.tokens}"


class HostNames:
    """What a Host header may say.

    Any other name leads here because somebody else's name server says so: a page of theirs could
    then read what this server answers (DNS rebinding). An address cannot be led astray like that.
    """

    def __init__(self, settings: Settings) -> None:
        self._names = {name.lower() for name in settings.names}
        self._addresses = not is_loopback(settings.host)
        host = settings.host.lower().strip("[]")
        self._names |= {f"[{host}]" if ":" in host else host}
        if is_loopback(settings.host):
            self._names |= set(LOOPBACK_NAMES)
        else:
            self._names.add(socket.gethostname().lower())

    def allows(self, given: str) -> bool:
        found = _HOST.fullmatch(given.lower())
        if found is None:
            return False
        return found[1] in self._names or (self._addresses and _is_address(found[1]))


_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::[0-9]{1,5})?")


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text.strip("[]"))
    except ValueError:
        return False
    return True
