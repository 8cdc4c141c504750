"""Declarations of the placements on a network, one for each row of their table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wattline.model.errors import InputError
from wattline.policies.declaration import Declaration
from wattline.policies.placement.network.placements import PLACEMENTS
from wattline.policies.setting import Setting


def _make(name: str) -> Callable[[Setting, Any], Any]:
    def make(setting: Setting, given: Any) -> Any:
        from wattline.policies.placement.network.plug_ins import plug_in

        if setting.granularity == "core":
            raise InputError(f"policy.placement '{name}' places whole nodes; "
                             "set machine.granularity to node")
        return plug_in(name, setting.outside.fabric(name))

    return make


DECLARED = {
    name: Declaration("placement", name, placing.help, _make(name),
                      needs="a [network] section, which has its figures")
    for name, placing in PLACEMENTS.items()
}
