"""A client of OpenADR 2.0b (a VEN): events of a server (a VTN) become the file of the cap.

The controller follows that file (`cap_file`). Prices go to a file of their own where one is kept, a
row for each change, which bills are made from. What is followed of an event, and what is answered
with "optOut", is said in `wattline.grid.openadr2b_events`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from wattline.grid.event_values import LEVELS
from wattline.grid.events import EventBook, GridEvent
from wattline.grid.openadr2b_events import event_of, left_out
from wattline.live.openadr_link import Certificates, MeasuredPower
from wattline.model.errors import InputError
from wattline.model.files import write_whole
from wattline.model.signal import Signal

LOOK_S = 1.0
"""How often the file is brought up to date."""
LATE_S = 60
"""By so much a poll or a report may come late."""


@dataclass(frozen=True)
class PriceFile:
    """A table of prices that bills are made from: a row each time that the price changes."""

    file: Path
    usual: Signal
    """Per kWh over Unix time, where no event says a price."""
    currency: str = ""

    def add(self, now_s: float, price: float) -> None:
        at = datetime.fromtimestamp(now_s, UTC).isoformat(timespec="seconds")
        with self.file.open("a", encoding="utf-8") as table:
            if table.tell() == 0:
                table.write(f"Datetime (UTC),Price ({self.currency or 'money'}/kWh)\n")
            table.write(f"{at},{price:.9g}\n")


@dataclass(eq=False)
class CapWriter:
    """Keeps the file of the cap, and that of the price, as the events say."""

    file: Path
    book: EventBook
    levels: tuple[float, ...] = LEVELS
    say: Callable[[str], None] = field(default=lambda text: None)
    prices: PriceFile | None = None
    """None: prices are not followed."""
    written_w: float | None = None
    written_price: float | None = None
    first_named: str = ""
    """The currency that the first event with a price names, where the file of prices has none."""

    @property
    def currency(self) -> str:
        """In which prices are followed; empty till somebody names one."""
        return "" if self.prices is None else self.prices.currency or self.first_named

    def hear(self, event: Mapping[str, Any], now_s: float) -> str:
        """Take an event as openleadr hands it over; `optIn` where it is followed."""
        try:
            made = event_of(event, self.book.usual_w, self.levels, self.currency)
            refused = self.take(made, now_s)
        except InputError as error:
            refused = str(error)
        if refused:
            self.say(f"optOut: {refused}")
            return "optOut"
        for signal in left_out(event, self.currency):
            self.say(f"not followed of an event that is: {signal}")
        self.update(now_s)
        return "optIn"

    def take(self, event: GridEvent, now_s: float) -> str:
        """Note an event; why it is refused, empty where it is followed."""
        if event.prices and self.prices is None:
            if not event.steps:
                return f"event {event.name} has prices alone, and no file of prices is kept"
            self.say(f"not followed of an event that is: prices of event {event.name}")
        anew, refused = self.book.told_anew(event), self.book.take(event, now_s)
        if anew and not refused:
            self.say(anew)
        if not refused:
            self._name_currency(event)
        return refused

    def _name_currency(self, event: GridEvent) -> None:
        """Follow prices of other currencies no more once one is named: they do not compare."""
        if self.prices is None or self.currency or not event.currency:
            return
        self.first_named = event.currency
        self.say(f"prices are followed in {event.currency} from now on: event {event.name} is the "
                 "first that names a currency, and none is given for the file of prices")

    def update(self, now_s: float) -> None:
        """Write the cap and the price that hold now, where they have changed."""
        self.book.forget_past(now_s)
        cap_w = self.book.cap_w(now_s)
        if cap_w != self.written_w:
            write_whole(self.file, f"{cap_w:g}\n")
            self.written_w = cap_w
            self.say(f"cap {cap_w:g} W")
        if self.prices is not None:
            told = self.book.price(now_s)
            price = self.prices.usual.at(now_s) if told is None else told
            if price != self.written_price:
                self.prices.add(now_s, price)
                self.written_price = price
                self.say(f"price {price:g} per kWh")


async def follow(
    writer: CapWriter, vtn_url: str, ven_name: str, clock: Callable[[], float], *,
    stop: Callable[[], bool] = lambda: False, look_s: float = LOOK_S,
    certificates: Certificates | None = None, measured: MeasuredPower | None = None,
) -> None:
    """Register with the server, and follow its events until told to stop.

    What is `measured` is offered to the server as a report (telemetry).
    """
    certificates = certificates or Certificates()
    certificates.check_url(vtn_url)
    try:
        from openleadr import OpenADRClient
    except ImportError:
        raise InputError("OpenADR needs openleadr: pip install 'wattline[openadr]'") from None

    async def heard(event: Mapping[str, Any]) -> str:
        return writer.hear(event, clock())

    client = _client(OpenADRClient, ven_name, vtn_url, certificates)
    if certificates.cert is not None:
        writer.say(f"fingerprint of our certificate, for the server: {certificates.fingerprint()}")
    # On a busy machine polls and reports come late rather than not at all.
    client.scheduler.configure(job_defaults={"misfire_grace_time": LATE_S, "coalesce": True})
    if measured is not None:
        measured.offer(client, ven_name)
    client.add_handler("on_event", heard)
    client.add_handler("on_update_event", heard)
    writer.update(clock())
    try:
        await client.run()
    except OSError as error:  # certificates that cannot be read, or do not open the key
        await _stop(client)
        raise InputError(f"the certificates cannot be used: {error}") from None
    if client.registration_id is None:
        await _stop(client)
        raise InputError(f"the server at {vtn_url} did not register {ven_name}")
    try:
        while not stop():
            writer.update(clock())
            await asyncio.sleep(look_s)
    finally:
        await _stop(client)


def _client(made: Any, ven_name: str, vtn_url: str, certificates: Certificates) -> Any:
    try:
        return made(ven_name=ven_name, vtn_url=vtn_url, **certificates.settings())
    except (OSError, ValueError) as error:
        raise InputError(f"the certificates cannot be used: {error}") from None


async def _stop(client: Any) -> None:
    if client.client_session is not None:  # else there is nothing to close
        await client.stop()
