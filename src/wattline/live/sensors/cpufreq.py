"""Frequencies of processors from the Linux kernel's cpufreq; a frequency is not a power."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from wattline.live.devices.cpufreq import FOLDER, policies_of
from wattline.live.devices.files import number_in, reason_of
from wattline.live.sensor import Channel, Quality, Reading, missing


class Cpufreq:
    """The frequency of each group of cores that share one, now."""

    def __init__(
        self, folder: str | Path = FOLDER, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock = clock
        self._policies = policies_of(Path(folder))

    def channels(self) -> Sequence[Channel]:
        return [Channel(policy.name, "Hz", "core") for policy in self._policies]

    def read(self) -> Sequence[Reading]:
        return [self._reading(policy) for policy in self._policies]

    def _reading(self, policy: Path) -> Reading:
        try:
            now_hz = 1e3 * number_in(policy / "scaling_cur_freq")
        except (OSError, ValueError) as error:
            return missing(policy.name, self._clock(), reason_of(error))
        return Reading(policy.name, self._clock(), now_hz, Quality.GOOD)
