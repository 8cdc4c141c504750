"""How the server is set up: where it listens, and who may come."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

BEAT_S = 1.0
STALE_AFTER_S = 10.0


@dataclass(frozen=True)
class Settings:
    """Where it listens, how it is secured, and when a source counts as silent."""

    host: str = "127.0.0.1"
    port: int = 8750
    certificate: Path | None = None
    key: Path | None = None
    tokens: Mapping[str, str] = field(default_factory=dict)
    """Tokens, each with `role` or `role:user`."""
    proxy: str = ""
    """The address of the reverse proxy that says who comes, and may come from elsewhere."""
    user_header: str = "X-Remote-User"
    operators: tuple[str, ...] = ()
    """Users that the proxy names who may change the machine."""
    beat_s: float = BEAT_S
    stale_after_s: float = STALE_AFTER_S
    uploads: Path | None = None
    journal: Path | None = None
    """Where actions are written down; without it, in memory alone."""
