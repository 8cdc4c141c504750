"""Power and energy of a Cray or HPE node from `/sys/cray/pm_counters`.

Files such as `power`, `energy`, `cpu_energy`, `accel0_energy` hold a value, a unit and, on later
systems, the time of the measurement: `245 W 1411592434014871 us`. A counter whose time stands still
is a gap.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from wattline.live.devices.files import reason_of, text_in
from wattline.live.sensor import Channel, Domain, Quality, Reading, missing
from wattline.live.sensors.counter import Counter, CounterFile
from wattline.model.errors import InputError

FOLDER = Path("/sys/cray/pm_counters")
HIGHEST_W = 20_000.0
"""No node draws more; a counter that rises faster has jumped."""
STALE_S = 5.0
"""They are brought up to date ten times a second."""
_NAME = re.compile(r"(?:(cpu|memory|accel)(\d*)_)?(power|energy)")
_DOMAINS: dict[str | None, Domain] = {
    None: "node", "cpu": "package", "memory": "memory", "accel": "gpu"}


@dataclass
class _File:
    """One file and what it has shown so far."""

    path: Path
    channel: Channel
    counter: Counter
    stamp: str = ""
    since_s: float = math.nan
    """When the time of its measurement was first seen."""


class PmCounters:
    """Every power and every energy of the folder."""

    def __init__(
        self, folder: str | Path = FOLDER, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock = clock
        self._files = [_file(path, found) for path in sorted(Path(folder).glob("*"))
                       if (found := _NAME.fullmatch(path.name))]
        if not self._files:
            raise InputError(f"{folder} has no files of Cray's pm_counters (power, energy)")

    def channels(self) -> Sequence[Channel]:
        return [file.channel for file in self._files]

    def read(self) -> Sequence[Reading]:
        return [self._reading(file) for file in self._files]

    def counters(self) -> Mapping[str, float]:
        """Where each counter stood, for another process to `resume` from."""
        return {file.channel.name: file.counter.stands_at_j for file in self._counted()}

    def resume(self, counters: Mapping[str, float], passed_s: float) -> None:
        for file in self._counted():
            if file.channel.name in counters:
                file.counter.resume(counters[file.channel.name], self._clock() - passed_s)

    def files(self) -> Mapping[str, CounterFile]:
        """Where others can read the counters too."""
        return {file.channel.name: CounterFile(file.path, 1.0, file.counter)
                for file in self._counted()}

    def _counted(self) -> list[_File]:
        return [file for file in self._files if file.channel.unit == "J"]

    def _reading(self, file: _File) -> Reading:
        name = file.channel.name
        try:
            value, stamp = _parsed(text_in(file.path), file.channel.unit)
        except (OSError, ValueError) as error:
            return missing(name, self._clock(), reason_of(error))
        now_s = self._clock()
        if stamp != file.stamp or not stamp:
            file.stamp, file.since_s = stamp, now_s
        if now_s - file.since_s > STALE_S:
            return missing(name, now_s, f"not measured for {now_s - file.since_s:.0f} s")
        if file.channel.unit == "J":
            return file.counter.take(now_s, value)
        return Reading(name, now_s, value, Quality.GOOD)


def _file(path: Path, found: re.Match[str]) -> _File:
    unit: Literal["W", "J"] = "W" if found[3] == "power" else "J"
    channel = Channel(path.name, unit, _DOMAINS[found[1]])
    return _File(path, channel, Counter(path.name, HIGHEST_W, domain=channel.domain))


def _parsed(text: str, unit: str) -> tuple[float, str]:
    """The value, and the time of its measurement where the file says one."""
    words = text.split()
    if len(words) < 2 or words[1] != unit or not 0.0 <= float(words[0]) < math.inf:
        raise ValueError(f"'{text[:40]}' is no value in {unit}")
    return float(words[0]), words[2] if len(words) > 2 else ""
