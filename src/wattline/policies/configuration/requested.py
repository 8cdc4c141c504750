"""Every job runs as it was requested."""

from __future__ import annotations

from typing import NamedTuple

from wattline.policies.contract import starts_only


@starts_only
class Requested(NamedTuple):
    """The size and time that the user asked for."""
