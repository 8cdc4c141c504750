"""A client of OpenADR 2.0b (a VEN): events of a server (a VTN) become the file of the cap.

The controller follows that file (`cap_file`). Of the signals of the standard these are followed:

    SIMPLE        level 0 to 3, each a share of the usual cap
    LOAD_DISPATCH setpoint: a power in watts
    LOAD_CONTROL  x-loadControlCapacity: a share of the usual cap

An event without any of them is answered with "optOut", and so is what makes no sense; a price
beside one of them is left out, and said.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from wattline.grid.events import CapStep, EventBook, GridEvent
from wattline.live.openadr_link import Certificates, MeasuredPower
from wattline.model.errors import InputError
from wattline.model.files import write_whole

LEVELS = (1.0, 0.9, 0.75, 0.5)
"""Of the usual cap at the levels 0 to 3 of SIMPLE; the standard leaves their meaning open."""
FOLLOWED = "SIMPLE, LOAD_DISPATCH setpoint and LOAD_CONTROL x-loadControlCapacity"
CAPS = (("LOAD_DISPATCH", "setpoint"), ("LOAD_CONTROL", "x-loadControlCapacity"))
LOOK_S = 1.0
"""How often the file is brought up to date."""
LATE_S = 60
"""By so much a poll or a report may come late."""


@dataclass(eq=False)
class CapWriter:
    """Keeps the file of the cap as the events say."""

    file: Path
    book: EventBook
    levels: tuple[float, ...] = LEVELS
    say: Callable[[str], None] = field(default=lambda text: None)
    written_w: float | None = None

    def hear(self, event: Mapping[str, Any], now_s: float) -> str:
        """Take an event as openleadr hands it over; `optIn` where it is followed."""
        try:
            refused = self.book.take(event_of(event, self.book.usual_w, self.levels), now_s)
        except InputError as error:
            refused = str(error)
        if refused:
            self.say(f"optOut: {refused}")
            return "optOut"
        for signal in left_out(event):
            self.say(f"not followed of an event that is: {signal}")
        self.update(now_s)
        return "optIn"

    def update(self, now_s: float) -> None:
        """Write the cap that holds now, where it has changed."""
        self.book.forget_past(now_s)
        cap_w = self.book.cap_w(now_s)
        if cap_w != self.written_w:
            write_whole(self.file, f"{cap_w:g}\n")
            self.written_w = cap_w
            self.say(f"cap {cap_w:g} W")


def event_of(
    given: Mapping[str, Any], usual_w: float, levels: tuple[float, ...] = LEVELS
) -> GridEvent:
    """An event of the standard as steps of a cap; an InputError says what is wrong with it."""
    try:
        about = given["event_descriptor"]
        name, version = str(about["event_id"]), int(about["modification_number"])
        if about["event_status"] == "cancelled":
            return GridEvent(name, version, (), cancelled=True)
        start = given["active_period"]["dtstart"]
        steps: list[CapStep] = []
        signals = given["event_signals"]
        # What stands beside a cap, such as a price, takes nothing away from it.
        caps = [signal for signal in signals if _is_cap(signal)]
        for signal in caps or signals:
            steps += _steps(name, signal, start, usual_w, levels)
        return GridEvent(name, version, tuple(steps))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"the event cannot be read: {error!r}") from None


def _is_cap(signal: Mapping[str, Any]) -> bool:
    kind = (signal["signal_name"], signal["signal_type"])
    return kind[0].upper() == "SIMPLE" or kind in CAPS


def left_out(given: Mapping[str, Any]) -> list[str]:
    """Signals of an event that are not followed, where others of it are."""
    return [f"{signal['signal_name']} {signal['signal_type']}"
            for signal in given.get("event_signals", ()) if not _is_cap(signal)]


def _steps(
    name: str, signal: Mapping[str, Any], start: datetime, usual_w: float, levels: tuple[float, ...]
) -> list[CapStep]:
    found, at = [], start
    for interval in signal["intervals"]:
        at = interval.get("dtstart") or at
        length: timedelta = interval["duration"]
        cap_w = _cap_w(name, signal, float(interval["signal_payload"]), usual_w, levels)
        # An interval of no length lasts till the event is cancelled.
        end_s = (at + length).timestamp() if length else float("inf")
        found.append(CapStep(at.timestamp(), end_s, cap_w))
        at = at + length
    return found


def _cap_w(
    name: str, signal: Mapping[str, Any], value: float, usual_w: float, levels: tuple[float, ...]
) -> float:
    kind = (signal["signal_name"], signal["signal_type"])
    if kind[0].upper() == "SIMPLE":
        if value not in range(len(levels)):
            raise InputError(f"event {name} has the level {value:g}; there are 0 to "
                             f"{len(levels) - 1}")
        return levels[int(value)] * usual_w
    if kind == ("LOAD_DISPATCH", "setpoint"):
        return value
    if kind == ("LOAD_CONTROL", "x-loadControlCapacity"):
        return value * usual_w
    raise InputError(f"event {name} has the signal {kind[0]} {kind[1]}; followed are {FOLLOWED}")


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
