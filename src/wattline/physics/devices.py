"""What a node can draw at most, from the devices on it: how many, under which caps, and the rest.

The worst case of a power bound is a machine whose every node may draw its rated maximum. The study
rates a node at two packages of 115 W and 30 W of memory. A node with GPUs has those too.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from wattline.model.errors import InputError
from wattline.model.units import plain_number
from wattline.physics.configurations import ConfigurationTable
from wattline.physics.dimensions import CLASSIC, device_of, is_cap

SOCKETS = 2
BASE_POWER_W = 30.0
"""Highest memory power of a node, which the study adds to that of its two packages."""
_COUNTED = {"gpus": "gpu"}
"""Settings that count devices which draw power of their own."""


@dataclass(frozen=True)
class Device:
    """One kind of device: how many a node has, and between which caps each can be run."""

    name: str
    count: int
    cap_w_min: float
    cap_w_max: float

    def __str__(self) -> str:
        return f"{self.count} x {self.name} of {self.cap_w_max:g} W"


@dataclass(frozen=True)
class RatedNode:
    """The devices of a node, and what it draws beside them."""

    devices: tuple[Device, ...]
    base_power_w: float
    assumed: tuple[str, ...] = ()
    """What nobody said and no table shows."""
    unknown: str = ""
    """Why the rated maximum is not known."""
    measured_w: float = 0.0
    """The most that a node was seen to draw, which is the least that is reckoned with."""
    losses: float = 1.0
    """Watts where the bound is kept for each watt of a node."""

    @property
    def power_w_max(self) -> float:
        """Highest power of the node, where the bound is kept."""
        return max(self.reckoned_w, self.measured_w)

    @property
    def reckoned_w(self) -> float:
        """From the devices and the rest alone."""
        return (self.base_power_w + self.devices_w_max) * self.losses

    @property
    def devices_w_max(self) -> float:
        """Without what the node draws beside its devices."""
        return sum(one.count * one.cap_w_max for one in self.devices)

    def as_dict(self) -> dict[str, object]:
        return {"power_w_max": None if self.unknown else self.power_w_max,
                "base_power_w": self.base_power_w, "assumed": list(self.assumed),
                "devices": {one.name: {"count": one.count, "cap_w_min": one.cap_w_min,
                                       "cap_w_max": one.cap_w_max} for one in self.devices}}


def parse_devices(texts: Iterable[str]) -> dict[str, tuple[int, float | None, float | None]]:
    """Devices as people write them: `gpu=4`, `gpu=4:700` or `gpu=4:200-700`."""
    found = {}
    for text in texts:
        name, equals, rest = text.partition("=")
        count, _, span = rest.partition(":")
        low, dash, high = span.partition("-")
        try:
            many = int(count)
            least = plain_number(low.strip().removesuffix("W")) if low else None
            most = plain_number(high.strip().removesuffix("W")) if dash else least
        except ValueError:
            many, least, most = 0, None, None
        good = name and equals and many >= 1 and (least is None or (
            most is not None and 0 < least <= most < float("inf")))
        if not good:
            raise InputError(f"the device '{text}' cannot be read; write name, number on a node "
                             "and caps in W, like gpu=4:200-700")
        found[name.strip()] = (many, least if dash else None, most)
    return found


def rate_node(
    table: ConfigurationTable, devices: Iterable[str] = (), base_power_w: float | None = None
) -> RatedNode:
    """The node that a table was measured on, from what was said of it and what the table shows."""
    given = parse_devices(devices)
    caps = {device_of(name): values for name, values in table.settings.items() if is_cap(name)}
    uncapped = [device for name, device in _COUNTED.items()
                if name in table.settings and device not in caps]
    strange = set(given) - set(caps) - set(uncapped)
    if strange:
        raise InputError(f"'{table.application}' sets nothing of a device '{min(strange)}'; it has "
                         f"{', '.join((*caps, *uncapped)) or 'no devices'}")
    assumed, found = [], []
    for name, values in caps.items():
        count, low, high = given.get(name, (0, None, None))
        _check_count(table, name, count)
        if not count:
            count, why = _count(table, name)
            assumed += [why] if why else []
        most = float(values.max())
        if high is not None and high < most:
            raise InputError(f"the device '{name}' is given caps up to {high:g} W, and "
                             f"'{table.application}' was run under {most:g} W")
        found.append(Device(name, count, float(values.min()) if low is None else low,
                            most if high is None else high))
    for name in set(uncapped) & set(given):
        _check_count(table, name, given[name][0])
    unknown = [name for name in uncapped if given.get(name, (0, None, None))[2] is None]
    found += [Device(name, given[name][0], given[name][1] or given[name][2] or 0.0,
                     given[name][2] or 0.0) for name in uncapped if name not in unknown]
    # Counters of packages have memory too, for which there is no cap, so nothing says its most.
    memory_w = BASE_POWER_W if "cap_w" in table.settings and table.power_scope == "devices" else 0.0
    if base_power_w is None:
        memory_w = BASE_POWER_W
        assumed.append(f"{BASE_POWER_W:g} W beside its devices")
    elif memory_w:
        assumed.append(f"{BASE_POWER_W:g} W of memory")
    why = "" if caps or found else "the table has no cap, so nothing says what a node may draw"
    if unknown:
        why = f"what a {unknown[0]} may draw is not known"
    drawn_w = float(np.max(table.power_w / table.nodes, where=table.measured_rows, initial=0.0))
    return RatedNode(tuple(found), memory_w + (base_power_w or 0.0), tuple(assumed), why, drawn_w)


def _check_count(table: ConfigurationTable, device: str, count: int) -> None:
    """A node cannot have fewer of a device than runs have used."""
    used = float(np.max(table.settings.get(f"{device}s", 0.0)))
    if count and count < used:
        raise InputError(f"the device '{device}' is given {count} to a node, and "
                         f"'{table.application}' was run on {used:g}")


def _count(table: ConfigurationTable, device: str) -> tuple[int, str]:
    """How many of a device a node has, and what is assumed for that."""
    if f"{device}s" in table.settings:
        return int(table.settings[f"{device}s"].max()), ""
    many = SOCKETS if device == "socket" else 1
    return many, f"{many} {device}{'' if many == 1 else 's'}"


def node_remark(table: ConfigurationTable, node: RatedNode) -> str:
    """What is said of the worst case of a table that is not of sockets alone."""
    if node.unknown:
        return (f"there is no worst case: {node.unknown}; give --device NAME=COUNT:WATTS or "
                "--node-power-max")
    if table.names == CLASSIC:
        return ""
    devices = ", ".join(str(one) for one in node.devices)
    said = [f"the worst case takes {node.power_w_max:g} W for a node ({devices})"]
    if node.measured_w > node.reckoned_w:
        said = [f"the worst case takes {node.power_w_max:g} W for a node, which were measured; its "
                f"devices ({devices}) and the rest make {node.reckoned_w:g} W, so it has more "
                "devices or draws more beside them"]
    if node.assumed:
        said.append(f"assumed: {', '.join(node.assumed)} (--device, --base-power, "
                    "--node-power-max)")
    return "; ".join(said) if len(said) > 1 else ""
