"""NVIDIA's management library, by nvidia-ml-py (`pip install 'wattline[nvml]'`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from wattline.model.errors import InputError


@dataclass(frozen=True)
class Card:
    """One card: its number and the library's handle."""

    number: int
    handle: Any

    @property
    def name(self) -> str:
        return f"gpu{self.number}"


def library() -> Any:
    """The Python module that speaks to the driver."""
    try:
        import pynvml
    except ImportError:
        raise InputError("NVIDIA cards are read with nvidia-ml-py: "
                         "pip install 'wattline[nvml]'") from None
    return pynvml


def cards_of(nvml: Any, place: str = "") -> list[Card]:
    """The cards with these numbers (`0,2`); all where no number is given."""
    try:
        nvml.nvmlInit()
        count = nvml.nvmlDeviceGetCount()
        numbers = [int(word) for word in place.split(",")] if place else list(range(count))
        cards = [Card(number, nvml.nvmlDeviceGetHandleByIndex(number)) for number in numbers]
    except nvml.NVMLError as error:
        raise InputError(f"no NVIDIA card can be read: {error}") from None
    except ValueError:
        raise InputError(f"'{place}' is no list of cards; write their numbers, 0,1") from None
    if not cards:
        raise InputError("this machine has no NVIDIA card")
    return cards
