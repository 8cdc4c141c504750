"""How the server is set up: where it listens, and who may come."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

BEAT_S = 1.0
HELD_S = 1.5
"""How long a moment is shown at most where no beat ends it."""
STALE_AFTER_S = 10.0
HEADER_S = 10.0
"""Until the header of a request is whole, the TLS handshake before it included."""


@dataclass(frozen=True)
class Settings:
    """Where it listens, how it is secured, and when a source counts as silent."""

    host: str = "127.0.0.1"
    port: int = 8750
    certificate: Path | None = None
    key: Path | None = None
    tokens: Path | None = None
    """A file that `wattline serve token add` writes."""
    proxy: str = ""
    """The address of the reverse proxy that says who comes, and may come from elsewhere."""
    user_header: str = "X-Remote-User"
    operators: tuple[str, ...] = ()
    """Users who may change the machine: whom the proxy names, or of this machine."""
    names: tuple[str, ...] = ()
    """Host names under which people reach the server, beside its address."""
    real: bool = False
    """True where a real machine is served: then nobody operates it who is not named."""
    rated: bool = True
    """Whether a client may ask only so often."""
    warm: bool = False
    """Whether workers compile and run at the start what most people ask first."""
    beat_s: float = BEAT_S
    stale_after_s: float = STALE_AFTER_S
    uploads: Path | None = None
    journal: Path | None = None
    """Where actions are written down; without it, in memory alone."""
