"""The power limit of a node by its management controller: DCMI, through `ipmitool`."""

from __future__ import annotations

import math

from wattline.live.actuator import Knob
from wattline.live.actuators.settable import KnobSetting, Refusal, Settable
from wattline.live.devices.ipmitool import PATIENCE_S, Ipmitool, watts_of

LOW_W, HIGH_W = 1.0, 65_535.0
"""DCMI states no bounds of the hardware; these are those of its field."""


class IpmiLimit(Settable):
    """One knob for the whole node."""

    def __init__(self, place: str = "", *, timeout_s: float = PATIENCE_S) -> None:
        tool = Ipmitool.at(place, timeout_s)

        def tell(*words: str) -> dict[str, str]:
            return tool.ask("dcmi", "power", *words)

        def found() -> tuple[float, bool]:
            return _limit_of(tell("get_limit"))

        def held() -> float:
            limit_w, active = found()
            return limit_w if active else math.inf

        def write(value_w: float) -> None:
            said = tell("get_limit")
            if "power off" in said.get("exception actions", "").lower():
                raise Refusal("this controller switches the node off above its limit; change that "
                              "first: ipmitool dcmi power set_limit action sel_logging")
            tell("set_limit", "limit", str(round(value_w)))
            if not _limit_of(said)[1]:
                tell("activate")

        def put_back(state: tuple[float, bool]) -> None:
            limit_w, active = state
            if not active:
                tell("deactivate")
            if found()[0] != limit_w:
                tell("set_limit", "limit", str(round(limit_w)))

        super().__init__([KnobSetting(Knob("limit", "W", "node", LOW_W, HIGH_W), held, write, found,
                                  put_back, rounding=1.0)])


def _limit_of(said: dict[str, str]) -> tuple[float, bool]:
    """The limit, and whether it is active."""
    return watts_of(said, "power limit"), said.get("current limit state") == "Power Limit Active"
