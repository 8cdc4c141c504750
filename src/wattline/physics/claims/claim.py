"""One claim, and what makes it impossible."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from wattline.model.errors import InputError

POWER_W_MOST = 100e3
"""No node draws more; an energy and a time that say so are in wrong units."""


@dataclass(frozen=True, order=True)
class ClaimSetting:
    """How an application runs: threads (outer x inner) and package cap of a node, nodes together,
    and of each node the model, the number and the cap of its GPUs."""

    threads: str = ""
    """`8`, `4x2`, or empty where nothing is set."""
    cap_w: float = math.inf
    """Power cap of a node's processors; infinite for none."""
    nodes: int = 1
    gpu: str = ""
    """The model of the GPUs, where it matters."""
    gpus: int = 0
    """Of each node; 0 where the application uses none."""
    gpu_cap_w: float = math.inf
    """Power cap of each GPU; infinite for none."""

    def __post_init__(self) -> None:
        if self.threads and not re.fullmatch(r"[1-9]\d*(x[1-9]\d*)*", self.threads):
            raise InputError(f"threads '{self.threads}': write them like 8 or 4x2")
        if not self.cap_w > 0:
            raise InputError(f"cap_w is {self.cap_w}; a cap is above 0 W, or left out")
        if self.nodes < 1:
            raise InputError(f"nodes is {self.nodes}; a job runs on 1 at least")
        self._check_gpus()

    def _check_gpus(self) -> None:
        if self.gpus < 0:
            raise InputError(f"gpus is {self.gpus}, must not be negative")
        if not self.gpu_cap_w > 0:
            raise InputError(f"gpu_cap_w is {self.gpu_cap_w}; a cap is above 0 W, or left out")
        if not self.gpus and (self.gpu or self.gpu_cap_w < math.inf):
            what = f"gpu '{self.gpu}'" if self.gpu else f"gpu_cap_w {self.gpu_cap_w:g}"
            raise InputError(f"{what} without a number of GPUs; say gpus, 1 or more")

    @property
    def capped(self) -> bool:
        return math.isfinite(self.cap_w) or math.isfinite(self.gpu_cap_w)

    def __str__(self) -> str:
        parts = [f"{self.threads} threads" if self.threads else "as is"]
        if math.isfinite(self.cap_w):
            parts.append(f"cap {self.cap_w:g} W")
        if self.gpus:
            parts.append(f"{self.gpus} {self.gpu or 'GPU'}" + ("s" if self.gpus > 1 else ""))
        if math.isfinite(self.gpu_cap_w):
            parts.append(f"GPU cap {self.gpu_cap_w:g} W")
        if self.nodes > 1:
            parts.append(f"{self.nodes} nodes")
        return ", ".join(parts)


@dataclass(frozen=True)
class Claim:
    """What an application needs on a class of node in a setting.

    `energy_j` is that of all nodes of the job. The errors are relative (0.1 = 10 %): for a claim
    that was verified the root mean square of how far its predictions were off, for an estimate
    the spread of what it was estimated from. `runs` is 0 for an estimate.
    """

    application: str
    node_class: str
    setting: ClaimSetting
    time_s: float
    energy_j: float
    runs: int = 1
    time_error: float = math.nan
    energy_error: float = math.nan
    predictions: int = 0
    """How often it was used to predict a run that was measured afterwards."""

    def __post_init__(self) -> None:
        where = f"claim of '{self.application}' on '{self.node_class}'"
        if not self.application or not self.node_class:
            raise InputError("a claim needs an application and a node class")
        for name in ("time_s", "energy_j"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0):
                raise InputError(f"{where}: {name} is {value}, must be above 0")
        if self.power_w > POWER_W_MOST * self.setting.nodes:
            raise InputError(
                f"{where}: {self.energy_j:g} J in {self.time_s:g} s is {self.power_w:,.0f} W; "
                "no node draws that, check the units"
            )
        if self.runs < 0 or self.predictions < 0:
            raise InputError(f"{where}: runs is {self.runs}, must not be negative")
        for name in ("time_error", "energy_error"):
            value = getattr(self, name)  # NaN where nothing is known of it
            if value < 0 or math.isinf(value):
                raise InputError(f"{where}: {name} is {value}, must be >= 0 and finite")

    @property
    def key(self) -> tuple[str, str, ClaimSetting]:
        return self.application, self.node_class, self.setting

    @property
    def power_w(self) -> float:
        """Mean power of the job."""
        return self.energy_j / self.time_s

    @property
    def estimated(self) -> bool:
        return self.runs == 0
