"""Units are counted, not chosen: the fast way when all of them are alike."""

from __future__ import annotations

from typing import NamedTuple

from wattline.policies.contract import starts_only


@starts_only
class Counted(NamedTuple):
    """Any free units will do."""
