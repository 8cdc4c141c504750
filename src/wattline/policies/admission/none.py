"""No power limit: every job that fits in units may start."""

from __future__ import annotations

from typing import NamedTuple

from wattline.policies.contract import starts_only


@starts_only
class NoLimit(NamedTuple):
    """Power is measured, not limited."""
