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
    found = _address(host)
    return found is not None and found.is_loopback


def is_proxy(settings: Settings, peer: str) -> bool:
    """Whether a connection comes from the named proxy."""
    return bool(settings.proxy) and _address(peer) == _address(settings.proxy) is not None


def may_connect(settings: Settings, peer: str) -> bool:
    """Whether what this peer says, tokens too, cannot be read on the way here."""
    return (is_tls(settings) or is_loopback(settings.host) or is_loopback(peer)
            or is_proxy(settings, peer))


def refuse_exposed(settings: Settings) -> None:
    """Refuse to start where anybody on the network could read along or come in."""
    _check_proxy(settings)
    if is_loopback(settings.host) or settings.proxy:
        return
    if not is_tls(settings) or settings.tokens is None:
        missing = ("tokens (--tokens FILE)" if is_tls(settings)
                   else "TLS (--tls-cert FILE --tls-key FILE)")
        raise InputError(f"{settings.host} can be reached from outside, and there is no {missing}; "
                         "give both TLS and tokens, or name the site's reverse proxy (--proxy "
                         "ADDRESS), or listen on 127.0.0.1")


def _check_proxy(settings: Settings) -> None:
    if settings.proxy and _address(settings.proxy) is None:
        raise InputError(f"the proxy is '{settings.proxy}'; give its address, like 10.0.0.5: a "
                         "name could come to mean another machine")
    if settings.operators and not settings.proxy and not (
            settings.real and is_open_locally(settings)):
        raise InputError(f"{settings.operators[0]} is to be an operator: give --proxy ADDRESS too, "
                         "whose word that is; or serve the live machine on loopback without "
                         "tokens, where users of this machine are known; a token has its own role")
    if not _HEADER.fullmatch(settings.user_header):
        raise InputError(f"the header with the user is '{settings.user_header}', must be the name "
                         "of a header, like X-Remote-User")


def said_at_start(settings: Settings) -> str:
    """Who may do what, in a sentence for whoever starts the server."""
    if is_open_locally(settings) and settings.real:
        who = (f"{' and '.join(settings.operators)} of this machine may operate"
               if settings.operators else
               "nobody may operate; --operator USER names users of this machine who may")
        return (f"no tokens: everybody who can open a connection on this machine may look, {who}; "
                "--tokens FILE asks for tokens")
    if is_open_locally(settings):
        return ("no tokens: everybody who can open a connection on this machine may look and "
                "operate; --tokens FILE asks for them")
    if settings.proxy:
        others = "" if is_tls(settings) or is_loopback(settings.host) else (
            "; without TLS, connections from elsewhere are refused")
        return (f"users are who {settings.proxy} says in {settings.user_header}"
                + (", or come with a token" if settings.tokens else "") + others)
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
        return found[1] in self._names or (self._addresses and _address(found[1]) is not None)


_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::[0-9]{1,5})?")
_HEADER = re.compile(r"[A-Za-z0-9_-]{1,60}")


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """An address; one of IPv4 that a socket of IPv6 shows (::ffff:10.0.0.5) is that of IPv4."""
    try:
        found = ipaddress.ip_address(text.strip("[]"))
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found
