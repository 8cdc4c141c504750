"""A library with the names of nvidia-ml-py whose cards do what a test says."""

from __future__ import annotations

from dataclasses import dataclass


class NVMLError(Exception):
    pass


class NVMLError_NotSupported(NVMLError):  # the library's own name
    pass


@dataclass
class Card:
    power_mw: int = 80_000
    energy_mj: int | None = 0
    limit_mw: int = 700_000
    low_mw: int = 200_000
    high_mw: int = 700_000
    lost: bool = False
    locked: bool = False
    """True where the driver takes a limit and does nothing."""


class FakeNvml:
    """As much of the library as is used."""

    NVMLError = NVMLError
    NVMLError_NotSupported = NVMLError_NotSupported

    def __init__(self, *cards: Card) -> None:
        self.cards = cards

    def nvmlInit(self) -> None:
        pass

    def nvmlDeviceGetCount(self) -> int:
        return len(self.cards)

    def nvmlDeviceGetHandleByIndex(self, number: int) -> Card:
        if not 0 <= number < len(self.cards):
            raise NVMLError("Invalid Argument")
        return self.cards[number]

    def nvmlDeviceGetPowerUsage(self, card: Card) -> int:
        return _there(card).power_mw

    def nvmlDeviceGetTotalEnergyConsumption(self, card: Card) -> int:
        energy_mj = _there(card).energy_mj
        if energy_mj is None:
            raise NVMLError_NotSupported("Not Supported")
        return energy_mj

    def nvmlDeviceGetPowerManagementLimit(self, card: Card) -> int:
        return _there(card).limit_mw

    def nvmlDeviceGetPowerManagementLimitConstraints(self, card: Card) -> list[int]:
        return [_there(card).low_mw, card.high_mw]

    def nvmlDeviceSetPowerManagementLimit(self, card: Card, limit_mw: int) -> None:
        if not _there(card).low_mw <= limit_mw <= card.high_mw:
            raise NVMLError("Invalid Argument")
        if not card.locked:
            card.limit_mw = limit_mw


def _there(card: Card) -> Card:
    if card.lost:
        raise NVMLError("GPU is lost")
    return card
