"""Watts of a core at each of its frequencies, and what a machine of such cores can draw.

The table of the emulated 5,040-node cluster (16 Sandy Bridge cores per node) of the power-adaptive
Slurm work: an idle core 7 W, seven steps from 1.2 to 2.4 GHz, 22 W at full speed with turbo, and
14 W for a node that is off or in its power-save state.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from wattline.model.errors import InputError
from wattline.model.machine import Machine, NodeClass
from wattline.model.signal import FloatArray

GHZ = 1e9
POSSIBLE_GHZ = (0.01, 20.0)
"""No processor runs slower or faster: a figure outside has another unit than its name says."""


@dataclass(frozen=True)
class CorePower:
    """Power of one core by frequency, lowest first; the last level is full speed.

    `beta` says how run time follows from frequency f relative to full speed: t ~ f^-beta. It is 1
    for work that waits for nothing but the core.
    """

    frequency_hz: tuple[float, ...]
    power_w: tuple[float, ...]
    idle_w: float
    beta: float = 1.0

    def __post_init__(self) -> None:
        if not self.frequency_hz or len(self.frequency_hz) != len(self.power_w):
            raise InputError("core power: as many frequencies as powers are needed, at least one")
        if any(b <= a for a, b in zip(self.frequency_hz, self.frequency_hz[1:], strict=False)):
            raise InputError("core power: frequencies must increase")
        if any(b < a for a, b in zip(self.power_w, self.power_w[1:], strict=False)):
            raise InputError("core power: power must not fall as the frequency rises")
        if not 0 <= self.idle_w <= self.power_w[0]:
            raise InputError(
                f"core power: idle is {self.idle_w} W, must lie between 0 and the power of the "
                f"lowest frequency, {self.power_w[0]} W"
            )
        if not 0 <= self.beta <= 1:
            raise InputError(f"core power: beta is {self.beta}, must lie between 0 and 1")

    @property
    def levels(self) -> int:
        return len(self.frequency_hz)

    def speed(self) -> FloatArray:
        """Progress at each level relative to full speed."""
        relative = np.asarray(self.frequency_hz, dtype=np.float64) / self.frequency_hz[-1]
        speed: FloatArray = relative**self.beta
        return speed

    def dynamic(self) -> FloatArray:
        """Power above idle at each level, relative to that at full speed."""
        rise = np.asarray(self.power_w, dtype=np.float64) - self.idle_w
        relative: FloatArray = rise / rise[-1]
        return relative

    def node_power(self, cores: int) -> FloatArray:
        """Watts of a node whose cores all run, at each level."""
        return np.asarray(self.power_w, dtype=np.float64) * cores

    def node_class(self, cores: int, *, off_w: float, name: str = "node", boot_s: float = 0.0,
                   shutdown_s: float = 0.0) -> NodeClass:
        """A node of such cores; booting and shutting down draw its idle power."""
        idle = cores * self.idle_w
        return NodeClass(
            name=name, cores=cores, power_w_idle=idle, power_w_active=cores * self.power_w[-1],
            power_w_off=off_w, boot_s=boot_s, boot_power_w=idle if boot_s else 0.0,
            shutdown_s=shutdown_s, shutdown_power_w=idle if shutdown_s else 0.0,
        )

    def level_range(self, wanted: FrequencyRange) -> tuple[int, int]:
        """The levels that a job allows: the lowest and the highest."""
        low = _at_least(self.frequency_hz, wanted.min_hz)
        high = _at_most(self.frequency_hz, wanted.max_hz)
        if low > high:
            raise InputError(
                f"--cpu-freq={wanted}: no frequency lies in this range; the cores have "
                + ", ".join(f"{f / 1e3:.0f}" for f in self.frequency_hz) + " kHz"
            )
        return low, high


SANDY_BRIDGE = CorePower(
    # The table names no frequency for its full power of 22 W; the next step, 2.6 GHz, is assumed.
    frequency_hz=tuple(f * GHZ for f in (1.2, 1.4, 1.6, 1.8, 2.0, 2.2, 2.4, 2.6)),
    power_w=(12.0, 13.0, 15.0, 16.0, 17.0, 18.0, 20.0, 22.0),
    idle_w=7.0,
)
NODE_OFF_W = 14.0


def emulated_cluster(*, boot_s: float = 120.0, shutdown_s: float = 60.0) -> Machine:
    """The 5,040 nodes of 16 cores: 564,480 W idle, 1,774,080 W at full speed."""
    node = SANDY_BRIDGE.node_class(16, off_w=NODE_OFF_W, boot_s=boot_s, shutdown_s=shutdown_s)
    return Machine.uniform(5040, node, nodes_per_rack=72, name="emulated")


@dataclass(frozen=True)
class FrequencyRange:
    """What a job allows: `--cpu-freq=min[-max][:governor]` with Slurm's words."""

    min_hz: float
    max_hz: float
    governor: str = ""

    def __str__(self) -> str:
        text = f"{self.min_hz / 1e3:.0f}-{self.max_hz / 1e3:.0f}"
        return f"{text}:{self.governor}" if self.governor else text


GOVERNORS = ("conservative", "ondemand", "performance", "powersave", "schedutil", "userspace")
WORDS = ("low", "medium", "highm1", "high")


def parse_cpu_freq(text: str, core: CorePower = SANDY_BRIDGE) -> FrequencyRange:
    """A range from what `--cpu-freq` takes: kHz or words, one or two, and a governor.

    One number fixes the frequency; a governor alone leaves the whole range open, except that
    `performance` and `powersave` mean the highest and the lowest.
    """
    spec = text.strip().lower().removeprefix("--cpu-freq=")
    match = re.fullmatch(r"([a-z0-9]+)(?:-([a-z0-9]+))?(?::([a-z]+))?", spec)
    if not match:
        raise InputError(f"--cpu-freq={text}: write it like 1200000-2400000:ondemand (kHz)")
    low, high, governor = match.groups()
    if governor is None and high is None and low in GOVERNORS:
        return _of_governor(low, core)
    if governor is not None and governor not in GOVERNORS:
        raise InputError(f"--cpu-freq={text}: governor '{governor}' is unknown; known are "
                         + ", ".join(GOVERNORS))
    min_hz = _frequency(low, core, text)
    max_hz = min_hz if high is None else _frequency(high, core, text)
    if min_hz > max_hz:
        raise InputError(f"--cpu-freq={text}: the minimum is above the maximum")
    return FrequencyRange(min_hz, max_hz, governor or "")


def _of_governor(name: str, core: CorePower) -> FrequencyRange:
    lowest, highest = core.frequency_hz[0], core.frequency_hz[-1]
    if name == "performance":
        return FrequencyRange(highest, highest, name)
    if name == "powersave":
        return FrequencyRange(lowest, lowest, name)
    return FrequencyRange(lowest, highest, name)


def _frequency(word: str, core: CorePower, text: str) -> float:
    steps = core.frequency_hz
    named = {"low": steps[0], "medium": steps[(len(steps) - 1) // 2],
             "highm1": steps[max(0, len(steps) - 2)], "high": steps[-1]}
    if word in named:
        return named[word]
    if not (word.isascii() and word.isdigit()) or int(word) == 0:
        raise InputError(f"--cpu-freq={text}: '{word}' is no frequency; write kHz or one of "
                         + ", ".join(WORDS))
    return float(word) * 1e3


def _at_least(steps: Iterable[float], wanted: float) -> int:
    """The lowest level that is not below the wanted frequency."""
    return sum(1 for step in steps if step < wanted * (1 - 1e-9))


def _at_most(steps: Iterable[float], wanted: float) -> int:
    return sum(1 for step in steps if step <= wanted * (1 + 1e-9)) - 1
