"""What joules cost, in money and in grams: one figure, or a table over time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from wattline.model.run_clock import RunClock
from wattline.model.signal import FloatArray, Signal
from wattline.traces.dated_tariffs import Read, rate_beside, shifted
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


def live_rates(price: float | str | None, carbon: float | str | None, now_s: float) -> Rates:
    """Figures, or tables whose dates are those of a machine that runs now."""
    return _rates(price, carbon, now_s, now_s, _by_dates)


def log_rates(
    price: float | str | None, carbon: float | str | None, log: RunClock, until_s: float
) -> Rates:
    """Figures, or tables beside the log of a run that lasts until then."""

    def beside(text: str, reader: Read) -> tuple[Signal, tuple[str, ...]]:
        found, said = rate_beside(text, reader, log)
        return shifted(found, log.first_s), said

    return _rates(price, carbon, log.first_s, until_s, beside)


def _rates(
    price: float | str | None, carbon: float | str | None, from_s: float, until_s: float,
    lay: Callable[[str, Read], tuple[Signal, tuple[str, ...]]],
) -> Rates:
    said: list[str] = []

    def read(given: float | str | None, reader: Read) -> Signal | None:
        if given is None:
            return None
        table, how = lay(str(given), reader)
        said.extend(how)
        if not is_flat(table) and table.time_s[0] > from_s:
            said.append(f"before the first row of {given}, its value stands")
        if not is_flat(table) and _end_s(table) < until_s:
            said.append(f"after the last row of {given}, its value stands")
        return table

    return Rates(read(price, price_from), read(carbon, carbon_from), tuple(said))


def _by_dates(text: str, reader: Read) -> tuple[Signal, tuple[str, ...]]:
    table = reader(text, unix=True)
    return table, () if is_flat(table) else (
        f"values of {text} are those of their dates, in UTC",)


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
