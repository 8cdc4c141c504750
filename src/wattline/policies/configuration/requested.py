"""Every job runs as it was requested."""

from __future__ import annotations

from typing import NamedTuple


class Requested(NamedTuple):
    """The size and time that the user asked for."""
