"""No control cycle."""

from __future__ import annotations

from typing import NamedTuple

from wattline.policies.contract import starts_only


@starts_only
class NoRegulation(NamedTuple):
    """The machine follows no signal."""
