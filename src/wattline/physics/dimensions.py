"""What a table may set beside the nodes: cores, GPUs, caps, clocks, or whatever it names."""

from __future__ import annotations

from typing import Literal

CLASSIC = ("cores", "cap_w")
"""The settings of the overprovisioning study: cores on a node, a cap for each of its sockets."""

_KNOWN = ("cores", "threads", "gpus", "frequency_ghz", "frequency_mhz", "gpu_frequency_ghz",
          "gpu_frequency_mhz")
WHOLE = ("cores", "threads", "gpus")
"""Settings of which there is no part. Others that are no caps and no clocks may be anything."""
_UNITS = {"_w": "W", "_ghz": "GHz", "_mhz": "MHz"}

Kind = Literal["count", "cap", "clock"]


def is_setting(column: str) -> bool:
    """Whether a column is taken as a setting without being told so."""
    return column in _KNOWN or is_cap(column)


def is_cap(name: str) -> bool:
    """Whether this is a power cap of a device: `cap_w` of a socket, `gpu_cap_w` of a GPU."""
    return name == "cap_w" or name.endswith("_cap_w")


def kind_of(name: str) -> Kind:
    """A cap, a clock, or else a number of things, of which all or few are used."""
    if is_cap(name):
        return "cap"
    return "clock" if name.endswith(("_ghz", "_mhz")) else "count"


def device_of(cap: str) -> str:
    """The device that a cap is of."""
    return "socket" if cap == "cap_w" else cap.removesuffix("_cap_w")


def shown(name: str) -> str:
    """A setting as a head of a column: `cap W`, `gpu cap W`, `frequency GHz`."""
    for ending, unit in _UNITS.items():
        if name.endswith(ending):
            return f"{name.removesuffix(ending)} {unit}".replace("_", " ")
    return name.replace("_", " ")


def said(name: str, value: float) -> str:
    """A setting with its value: `4 gpus`, `gpu cap 400 W`."""
    if kind_of(name) == "count":
        return f"{value:g} {name.replace('_', ' ')}"
    words, _, unit = shown(name).rpartition(" ")
    return f"{words} {value:g} {unit}"


def label(nodes: int, settings: dict[str, float]) -> str:
    """A configuration in a few words: (30 x 14, 51 W), or with its settings named."""
    if tuple(settings) == CLASSIC:
        return f"({nodes} x {settings['cores']:g}, {settings['cap_w']:g} W)"
    return "(" + ", ".join([f"{nodes} nodes", *(said(*one) for one in settings.items())]) + ")"
