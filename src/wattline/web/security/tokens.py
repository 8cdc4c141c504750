"""Tokens: a file with a line for each, of which only the digest is kept.

A token has 256 random bits, so that a plain digest tells nothing of it; passwords, which people
choose, would need a slow one. A token is shown once, when it is made.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import secrets
import stat
from dataclasses import dataclass
from pathlib import Path

from wattline.model.clock import now
from wattline.model.errors import InputError
from wattline.model.reading import read_text
from wattline.web.security.person import ROLES, Role

PREFIX = "wl_"
NAME = re.compile(r"[A-Za-z0-9._@-]{1,64}")
MOST_BYTES = 2**20


@dataclass(frozen=True)
class Token:
    """A line of the file."""

    name: str
    role: Role
    digest: str
    made: str


def digest_of(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def read_tokens(path: Path) -> list[Token]:
    """All tokens of a file; one that others can read is refused."""
    text = read_text(path, MOST_BYTES)
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & 0o077:
        raise InputError(f"{path}: others can read or write it (mode {mode:o}); chmod 600 {path}")
    return [_token(line, f"{path}, line {number}")
            for number, line in enumerate(text.splitlines(), start=1) if line.strip()]


def _token(line: str, where: str) -> Token:
    try:
        fields = json.loads(line)
        role = Role[str(fields["role"]).upper()]
        digest = str(fields["sha256"])
        if not re.fullmatch(r"[0-9a-f]{64}", digest):
            raise ValueError
        return Token(str(fields["name"]), role, digest, str(fields.get("made", "")))
    except (ValueError, KeyError, TypeError):
        raise InputError(f"{where}: is no token; `wattline serve token add` writes such lines"
                         ) from None


def add_token(path: Path, name: str, role: str) -> str:
    """A new token, which is returned and not kept; its line goes into the file."""
    if not NAME.fullmatch(name):
        raise InputError(f"'{name}' is no name for a token; write up to 64 letters, digits and "
                         ". _ @ -")
    if role not in ROLES:
        raise InputError(f"there is no role '{role}'; there are: {', '.join(ROLES)}")
    known = read_tokens(path) if path.exists() else []
    if any(each.name == name for each in known):
        raise InputError(f"{path}: there is a token called '{name}' already; remove it first")
    secret = PREFIX + secrets.token_urlsafe(32)
    made = Token(name, Role[role.upper()], digest_of(secret), now().isoformat(timespec="seconds"))
    _write(path, [*known, made])
    return secret


def remove_token(path: Path, name: str) -> None:
    """Take a token out of the file; a running server learns of it with the next request."""
    known = read_tokens(path)
    left = [each for each in known if each.name != name]
    if len(left) == len(known):
        raise InputError(f"{path}: there is no token called '{name}'")
    _write(path, left)


def _write(path: Path, tokens: list[Token]) -> None:
    lines = [json.dumps({"name": each.name, "role": each.role.word, "sha256": each.digest,
                         "made": each.made}) for each in tokens]
    draft = path.with_name(f".{path.name}.draft")
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write("".join(f"{line}\n" for line in lines))
        file.flush()
        os.fsync(file.fileno())
    os.replace(draft, path)


class TokenFile:
    """The tokens of a running server; the file is read again when it changes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._tokens = read_tokens(path)
        self._stamp = self._now()

    def _now(self) -> tuple[int, int]:
        found = self.path.stat()
        return found.st_mtime_ns, found.st_ino

    def find(self, secret: str) -> Token | None:
        """The token of this secret. Every line is compared in the same time, so that nothing can
        be learnt from how long it takes."""
        self._refresh()
        digest, found = digest_of(secret), None
        for each in self._tokens:
            if hmac.compare_digest(each.digest, digest):
                found = each
        return found

    def holds(self, name: str, digest: str) -> bool:
        """Whether a token that somebody logged in with is still there."""
        self._refresh()
        return any(each.name == name and each.digest == digest for each in self._tokens)

    def _refresh(self) -> None:
        try:
            stamp = self._now()
            if stamp != self._stamp:
                self._tokens, self._stamp = read_tokens(self.path), stamp
        except (OSError, InputError):
            self._tokens, self._stamp = [], (0, 0)  # a file that cannot be read lets nobody in
