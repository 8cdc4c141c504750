"""An agent of a node with several devices: the node keeps its cap, and who works gets the watts."""

from __future__ import annotations

from pathlib import Path

import pytest

from wattline.live.actuators.powercap import PowercapLimit
from wattline.live.agent.caps import Caps
from wattline.live.agent.devices import DevicePowers
from wattline.live.agent.settings import LimitSettings
from wattline.live.sensors.powercap import Powercap
from wattline.model.errors import InputError

BASE_W = 60.0
KNOBS = ("package-0@0", "package-1@1")
LIMITS = LimitSettings(knobs=KNOBS, low=100.0, high=600.0, safe=150.0)


class Node:
    """Two packages that draw what they want, as far as their caps let them, beside 60 W."""

    def __init__(self, folder: Path, wants_w: tuple[float, float]) -> None:
        self.tree, self.wants_w, self.now_s = folder / "powercap", wants_w, 0.0
        self.energy_j = [0.0, 0.0]
        for number in (0, 1):
            zone = self.tree / f"intel-rapl:{number}"
            zone.mkdir(parents=True)
            for name, value in {"name": f"package-{number}", "enabled": 1, "energy_uj": 0,
                                "max_energy_range_uj": 10**12, "constraint_0_name": "long_term",
                                "constraint_0_min_power_uw": 20 * 10**6,
                                "constraint_0_max_power_uw": 250 * 10**6,
                                "constraint_0_power_limit_uw": 250 * 10**6}.items():
                (zone / name).write_text(f"{value}\n")
        self.devices = DevicePowers(Powercap(self.tree, lambda: self.now_s), KNOBS)
        self.caps = Caps(PowercapLimit(self.tree), LIMITS, self.devices)

    def drawn_w(self) -> list[float]:
        caps_w = self.caps.held()
        return [min(watts, caps_w[knob]) for watts, knob in zip(self.wants_w, KNOBS, strict=True)]

    def tick(self) -> tuple[float, str]:
        """A second passes, then the agent looks: what the node drew, and what was said."""
        drawn_w = self.drawn_w()
        self.now_s += 1.0
        for number, watts in enumerate(drawn_w):
            self.energy_j[number] += watts
            (self.tree / f"intel-rapl:{number}" / "energy_uj").write_text(
                f"{int(self.energy_j[number] * 1e6)}\n")
        node_w = BASE_W + sum(drawn_w)
        return node_w, self.caps.follow(node_w)


def test_the_node_keeps_its_cap_and_the_busy_package_gets_what_the_other_leaves(tmp_path) -> None:
    """Equal parts would let the node draw 60 + 75 + 30 W, and hold the busy one at 75."""
    node = Node(tmp_path, (200.0, 30.0))
    for _ in range(3):
        node.tick()
    assert node.caps.set(150.0) == ""
    drawn = [node.tick()[0] for _ in range(8)]
    assert max(drawn) <= 150.0 + 1e-6
    assert drawn[-1] > 0.97 * 150.0
    assert node.caps.cap_w == 150.0
    node.caps.set(220.0)
    assert max(node.tick()[0] for _ in range(8)) <= 220.0 + 1e-6
    assert node.tick()[0] > 0.97 * 220.0


def test_before_anything_is_known_devices_get_equal_parts(tmp_path) -> None:
    node = Node(tmp_path, (200.0, 30.0))
    assert node.caps.set(150.0) == ""
    assert list(node.caps.held().values()) == [75.0, 75.0]


def test_a_cap_that_devices_cannot_reach_is_said(tmp_path) -> None:
    node = Node(tmp_path, (200.0, 200.0))
    for _ in range(3):
        node.tick()
    node.caps.set(90.0)
    said = [node.tick()[1] for _ in range(5)]
    assert node.drawn_w() == [20.0, 20.0]
    assert "may draw 10 W more than its cap" in said[-1]
    node.caps.restore()
    assert node.drawn_w() == [200.0, 200.0]
    assert node.tick()[1] == ""


def test_a_knob_of_the_whole_node_stands_alone(tmp_path) -> None:
    node = Node(tmp_path, (200.0, 30.0))
    (node.tree / "intel-rapl:1" / "name").write_text("psys\n")
    with pytest.raises(InputError, match="stands alone"):
        Caps(PowercapLimit(node.tree), LIMITS.model_copy(update={
            "knobs": ("package-0@0", "psys@1")}))
