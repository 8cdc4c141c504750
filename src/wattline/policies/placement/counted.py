"""Units are counted, not chosen: the fast way when all of them are alike."""

from __future__ import annotations

from typing import NamedTuple

from wattline.policies.contract import starts_only
from wattline.policies.from_view import decides_from_view


@decides_from_view()
@starts_only
class Counted(NamedTuple):
    """Any free units will do."""
