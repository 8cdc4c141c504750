"""Declaration of the order by claims."""

from __future__ import annotations

from typing import Any

from wattline.policies.configuration.claimed_setup import claimed
from wattline.policies.declaration import Declaration
from wattline.policies.setting import Setting


def _make(setting: Setting, given: Any) -> Any:
    """It shares the memory of the configuration: what one learns, the other knows."""
    from wattline.policies.order.claimed import ClaimedOrder

    return ClaimedOrder(claimed(setting, setting.chosen["configure"].given))


CLAIMS = Declaration("order", "claims", "Most to lose without its best class of nodes first.",
                     _make, needs="policy.configure = 'claims'")
