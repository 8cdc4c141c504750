"""Meters with known faults on an emulated node, compared: does the comparison find what was put in?

Time is the emulator's own, so a few minutes of it take a second.
"""

from __future__ import annotations

import io
import random
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from wattline.controller.testbed.emulator import TICK_S, Emulator, Work
from wattline.controller.testbed.layout import Bed
from wattline.controller.testbed.wattmeter import Faults, Wattmeter
from wattline.live.comparing import SensorComparison, compare
from wattline.live.recording import record
from wattline.live.sensors.pm_counters import PmCounters
from wattline.live.sensors.powercap import Powercap

USUAL: Mapping[str, Faults] = {
    "exact": Faults(), "late": Faults(lag_s=1.5), "biased": Faults(bias=0.08),
    "noisy": Faults(noise_w=6.0), "all": Faults(lag_s=0.7, bias=-0.05, noise_w=3.0)}
LONGEST_LOAD_S = 12.0


class _Play:
    """One node whose load changes at random, and a clock that goes by its ticks."""

    def __init__(self, folder: Path, seed: int) -> None:
        bed = Bed(folder, nodes=1, port=0)
        bed.work.mkdir(parents=True)
        self.emulator = Emulator(bed, io.StringIO())
        self.emulator.now_s = self.changes_s = 0.0
        self.node, self.folder, self.power = (self.emulator.nodes[0], bed.meters / "n0001",
                                              bed.power)
        self.meters: list[Wattmeter] = []
        self._random = random.Random(seed)

    def clock(self) -> float:
        return self.emulator.now_s

    def pass_by(self, seconds: float) -> None:
        for _ in range(max(round(seconds / TICK_S), 0)):
            now_s = round(self.emulator.now_s + TICK_S, 6)
            if now_s >= self.changes_s:
                self._change(now_s)
            self.emulator.tick(now_s)
            for meter in self.meters:
                meter.watch(now_s, self.node.power_w)

    def _change(self, now_s: float) -> None:
        watts = self._random.uniform(self.power.idle_w, self.power.maximum_w)
        self.node.jobs[:] = [Work("1.0", 1e9, watts, 1, [0], now_s)]
        self.changes_s = now_s + self._random.uniform(2.0, LONGEST_LOAD_S)


def try_meters(
    meters: Mapping[str, Faults] | None = None, *, seconds: float = 300.0, every: float = 1.0,
    seed: int = 1,
) -> SensorComparison:
    """Compare meters with known faults, and the emulated node's own, with its energy counter.

    >>> import wattline as wl
    >>> found = wl.try_meters(seconds=120)
    >>> late, = [row for row in found.rows if row.sensor == "late"]
    >>> abs(late.lag_s - 1.5) < 0.2
    True
    """
    with tempfile.TemporaryDirectory(prefix="meters") as folder:
        play = _Play(Path(folder), seed)
        made = {name: Wattmeter(faults, play.clock, seed + number)
                for number, (name, faults) in enumerate((meters or USUAL).items(), start=1)}
        play.meters = list(made.values())
        play.pass_by(LONGEST_LOAD_S)
        sensors: dict[str, Any] = {
            "pm_counters": PmCounters(play.folder / "pm_counters", play.clock),
            "powercap": Powercap(play.folder / "powercap", play.clock), **made}
        recorded = record(sensors, seconds, every, clock=play.clock, sleep=play.pass_by)
        return compare(recorded, every, "powercap")


def put_in(meters: Mapping[str, Faults], found: SensorComparison) -> Sequence[tuple[Any, ...]]:
    """What was put into each meter beside what was found: name, and pairs of lag, bias, noise."""
    rows = {row.sensor: row for row in found.rows}
    return [(name, (faults.lag_s, rows[name].lag_s), (faults.bias, rows[name].bias_share),
             (faults.noise_w, rows[name].noise_w)) for name, faults in meters.items()]
