"""Declaration of the placement that goes with claims."""

from __future__ import annotations

from typing import Any

from wattline.policies.configuration.claimed_setup import claimed
from wattline.policies.declaration import Declaration
from wattline.policies.setting import Setting


def _make(setting: Setting, given: Any) -> Any:
    """It shares the memory of the configuration: what one learns, the other knows."""
    from wattline.policies.placement.claimed import ClaimedNodes

    return ClaimedNodes(claimed(setting, setting.chosen["configure"].given))


CLAIMS = Declaration("placement", "claims", "Nodes of the class that the claims chose.", _make,
                     needs="policy.configure = 'claims'")
