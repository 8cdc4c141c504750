"""Power limits of NVIDIA cards; only root may set them."""

from __future__ import annotations

from typing import Any

from wattline.live.actuator import Knob
from wattline.live.actuators.settable import KnobSetting, Settable
from wattline.live.devices.nvml import Card, cards_of, library
from wattline.model.errors import InputError


class NvmlLimit(Settable):
    """A knob per card, or per card whose number is in the place (`0,2`)."""

    def __init__(self, place: str = "", *, nvml: Any | None = None) -> None:
        nvml = nvml or library()
        try:
            settings = [_setting(nvml, card) for card in cards_of(nvml, str(place))]
        except nvml.NVMLError as error:
            raise InputError(f"the limit of a card cannot be read: {error}") from None
        super().__init__(settings, failures=(nvml.NVMLError,))


def _setting(nvml: Any, card: Card) -> KnobSetting:
    low_mw, high_mw = nvml.nvmlDeviceGetPowerManagementLimitConstraints(card.handle)

    def found() -> int:
        return int(nvml.nvmlDeviceGetPowerManagementLimit(card.handle))

    def put_back(limit_mw: int) -> None:
        nvml.nvmlDeviceSetPowerManagementLimit(card.handle, limit_mw)

    return KnobSetting(Knob(card.name, "W", "gpu", low_mw / 1e3, high_mw / 1e3),
                   lambda: found() / 1e3, lambda value_w: put_back(round(1e3 * value_w)), found,
                   put_back, rounding=1.0)
