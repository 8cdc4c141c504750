"""The nodes of a bed as a fleet without agents: their files are on this machine."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from wattline.live.fleet import NodeReport
from wattline.live.sensor import Quality

ZONE = Path("powercap") / "intel-rapl:0"


class TreeFleet:
    """Reads `pm_counters` and writes the caps of powercap trees, a folder per node.

    Nobody ends a lease here: what was set holds until it is restored.
    """

    def __init__(self, folder: Path, nodes: Sequence[str]) -> None:
        self.folder = folder
        self.nodes = list(nodes)
        self.order = 0

    def reports(self) -> list[NodeReport]:
        return [self._report(node) for node in self.nodes]

    def cap(self, order: int, caps_w: Mapping[str, float], lease_s: float) -> None:
        if order <= self.order:
            return
        self.order = order
        for node, cap_w in caps_w.items():
            self._set(node, cap_w)

    def restore(self) -> None:
        for node in self.nodes:
            self._set(node, math.inf)

    def close(self) -> None:
        pass

    def _set(self, node: str, cap_w: float) -> None:
        zone = self.folder / node / ZONE
        most_uw = int((zone / "constraint_0_max_power_uw").read_text(encoding="ascii"))
        value_uw = most_uw if math.isinf(cap_w) else min(int(cap_w * 1e6), most_uw)
        # In one write: a reader of the tree sees the old cap or the new one.
        made = zone / f".limit.{os.getpid()}"
        made.write_text(f"{value_uw}\n", encoding="ascii")
        made.replace(zone / "constraint_0_power_limit_uw")

    def _report(self, node: str) -> NodeReport:
        counters, zone = self.folder / node / "pm_counters", self.folder / node / ZONE
        try:
            power_w, _, time_us, _ = (counters / "power").read_text(encoding="ascii").split()
            energy_j = (counters / "energy").read_text(encoding="ascii").split()[0]
            cap_uw = (zone / "constraint_0_power_limit_uw").read_text(encoding="ascii")
            return NodeReport(node, int(time_us) / 1e6, float(power_w), float(energy_j),
                              int(cap_uw) / 1e6, self.order)
        except (OSError, ValueError) as error:
            return NodeReport(node, math.nan, math.nan, math.nan, math.nan, self.order,
                              Quality.MISSING, str(error))
