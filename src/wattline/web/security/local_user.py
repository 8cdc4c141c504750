"""The user of this machine at the other end of a loopback connection, as the kernel knows it."""

from __future__ import annotations

import ipaddress
import pwd
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
ESTABLISHED = "01"


def local_user(scope: Mapping[str, Any], tables: tuple[Path, ...] = TABLES) -> str | None:
    """The name of the user whose process made this request; None where it cannot be told."""
    peer, server = scope.get("client"), scope.get("server")
    if not peer or not server or server[1] is None:
        return None
    wanted = _end(*peer[:2]), _end(*server[:2])
    for local, remote, state, uid, inode in _rows(tables):
        # A socket that its process has closed belongs to nobody, which reads as user 0.
        if (local, remote) == wanted and state == ESTABLISHED and inode != "0":
            try:
                return pwd.getpwuid(uid).pw_name
            except KeyError:
                return None
    return None


def _rows(
    tables: tuple[Path, ...]
) -> Iterator[tuple[tuple[str, int], tuple[str, int], str, int, str]]:
    for table in tables:
        try:
            lines = table.read_text(encoding="utf-8").splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            fields = line.split()
            yield (_decoded(fields[1]), _decoded(fields[2]), fields[3], int(fields[7]),
                   fields[9])


def _end(address: str, port: int) -> tuple[str, int]:
    found = ipaddress.ip_address(address.partition("%")[0])
    return str(getattr(found, "ipv4_mapped", None) or found), port


def _decoded(text: str) -> tuple[str, int]:
    """An address and port of the kernel's table: words of four bytes in the machine's order."""
    address, _, port = text.partition(":")
    raw = bytes.fromhex(address)
    if sys.byteorder == "little":
        raw = b"".join(raw[at : at + 4][::-1] for at in range(0, len(raw), 4))
    return _end(str(ipaddress.ip_address(raw)), int(port, 16))
