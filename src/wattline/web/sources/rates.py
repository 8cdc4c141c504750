"""What joules cost, in money and in grams: one figure, or a table over time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from wattline.model.signal import FloatArray, Signal
from wattline.traces.rates import carbon_from, is_flat, price_from
from wattline.traces.tariffs import J_PER_KWH, currency_of
from wattline.web.sources.shape import Cost

HOUR_S = 3600.0
NO_PRICE = "no price is known: start the server with --price (a figure per kWh, or a table)"
NO_CARBON = ("no carbon intensity is known: start the server with --carbon (grams per kWh, or a "
             "table)")


@dataclass(frozen=True, eq=False)
class Rates:
    """Money and grams per joule over the source's own time, and the joules of each period."""

    price: Signal | None = None
    carbon: Signal | None = None
    said: tuple[str, ...] = ()
    """What must be known of the tables."""
    budget_j: float | None = None
    budget_period_s: float = 86400.0
    fairshare: tuple[tuple[str, float], ...] = ()
    """Accounts and users with their share of the joules."""
    invented: bool = False

    @property
    def currency(self) -> str:
        return currency_of(self.price) or ""

    @property
    def flat(self) -> bool:
        """Whether it does not matter when joules are used."""
        return all(each is None or is_flat(each) for each in (self.price, self.carbon))

    @property
    def hourly(self) -> bool:
        """Whether it does not matter when in an hour joules are used."""
        return all(each is None or is_flat(each) or bool((each.time_s % HOUR_S == 0).all())
                   for each in (self.price, self.carbon))

    def amount(self, energy_j: FloatArray | float, start_s: FloatArray | float,
               end_s: FloatArray | float) -> float | None:
        """The money for joules that were used evenly within stretches of time."""
        return _worth(self.price, energy_j, start_s, end_s)

    def cost(self, energy_j: FloatArray | float, start_s: FloatArray | float,
             end_s: FloatArray | float) -> Cost | None:
        found = self.amount(energy_j, start_s, end_s)
        return None if found is None else Cost(found, self.currency)

    def grams(self, energy_j: FloatArray | float, start_s: FloatArray | float,
              end_s: FloatArray | float) -> float | None:
        return _worth(self.carbon, energy_j, start_s, end_s)

    def missing(self) -> dict[str, str]:
        """What is not known, and how it can be told."""
        return ({} if self.price is not None else {"cost": NO_PRICE}) | (
            {} if self.carbon is not None else {"carbon_g": NO_CARBON})

    def assumptions(self) -> list[str]:
        said = []
        if self.price is not None and is_flat(self.price):
            said.append(f"each kWh costs {self.price.value[0] * J_PER_KWH:g} {self.currency}"
                        .rstrip())
        if self.carbon is not None and is_flat(self.carbon):
            said.append(f"each kWh stands for {self.carbon.value[0] * J_PER_KWH:g} g of CO2")
        said += self.said
        if not self.flat:
            said.append("joules are charged by the table as if a job drew its mean power all along")
        if self.invented and said:
            said.append("price, carbon, budget and shares are invented for the demo")
        return said


def rates_from(price: float | str | None, carbon: float | str | None, *, epoch_s: float | None,
               from_s: float, until_s: float) -> Rates:
    """Figures or tables for a source whose second 0 is at `epoch_s`, and of which `from_s` to
    `until_s` is shown; without an epoch a table begins at `from_s`."""
    said: list[str] = []

    def read(given: float | str | None, reader: Callable[..., Signal]) -> Signal | None:
        if given is None:
            return None
        table = reader(str(given))
        return table if is_flat(table) else _placed(str(given), table, reader)

    def _placed(text: str, table: Signal, reader: Callable[..., Signal]) -> Signal:
        if epoch_s is None:
            said.append(f"the first row of {text} stands for the start, which has no date")
            table = Signal(table.time_s + from_s, table.value, table.unit)
        else:
            said.append(f"values of {text} are those of their dates, in UTC")
            dated = reader(text, unix=True)
            table = Signal(dated.time_s - epoch_s, dated.value, dated.unit)
        if table.time_s[0] > from_s:
            said.append(f"before the first row of {text}, its value stands")
        if _end_s(table) < until_s:
            said.append(f"after the last row of {text}, its value stands")
        return table

    return Rates(read(price, price_from), read(carbon, carbon_from), tuple(said))


def _end_s(table: Signal) -> float:
    """A row holds as long as the one before it."""
    return float(2 * table.time_s[-1] - table.time_s[-2])


def _worth(rate: Signal | None, energy_j: FloatArray | float, start_s: FloatArray | float,
           end_s: FloatArray | float) -> float | None:
    if rate is None:
        return None
    joules, first, last = np.broadcast_arrays(*(
        np.atleast_1d(np.asarray(each, dtype=np.float64))
        for each in (energy_j, start_s, end_s)))
    if is_flat(rate):
        return float(joules.sum() * rate.value[0])
    used = joules != 0  # jobs that never ran have no times
    first, length_s = first[used], last[used] - first[used]
    whole = rate.accumulated(first + length_s) - rate.accumulated(first)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(length_s > 0, whole / length_s, rate.sample(first))
    return float(joules[used] @ mean)
