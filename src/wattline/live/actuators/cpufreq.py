"""The highest frequency of all cores, by `scaling_max_freq` of the Linux kernel's cpufreq."""

from __future__ import annotations

from pathlib import Path

from wattline.live.actuator import Knob
from wattline.live.actuators.settable import KnobSetting, Settable
from wattline.live.devices.cpufreq import FOLDER, policies_of
from wattline.live.devices.files import number_in, write_number

KNOB = "max-frequency"


class CpufreqLimit(Settable):
    """One knob for the whole node; cores that cannot go so high get their own highest."""

    def __init__(self, folder: str | Path = FOLDER) -> None:
        policies = policies_of(Path(folder))
        limits = [policy / "scaling_max_freq" for policy in policies]
        lows, highs = ([number_in(policy / f"cpuinfo_{bound}_freq") for policy in policies]
                       for bound in ("min", "max"))

        def write(value_hz: float) -> None:
            for limit, low_khz, high_khz in zip(limits, lows, highs, strict=True):
                write_number(limit, min(max(value_hz / 1e3, low_khz), high_khz))

        def found() -> list[float]:
            return [number_in(limit) for limit in limits]

        def put_back(found_khz: list[float]) -> None:
            for limit, khz in zip(limits, found_khz, strict=True):
                write_number(limit, khz)

        knob = Knob(KNOB, "Hz", "core", 1e3 * max(lows), 1e3 * max(highs))
        super().__init__([KnobSetting(knob, lambda: 1e3 * max(found()), write, found, put_back,
                                  rounding=1e3, may_be_lower=True)])
