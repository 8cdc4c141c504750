"""Events of OpenADR from a file, replayed as a site would have heard them.

Read are

    .xml   a message of 2.0b (oadrDistributeEvent), by openleadr's own parser
    .json  events of 2.0b as openleadr hands them over (times as text), events of version 3 as
           GET /events gives them, or polls of version 3: {"polledDateTime": ..., "events": [...]};
           one of them, a list, or {"events": [...]}

Each version of an event is heard when it was made (2.0b: created_date_time; 3:
modificationDateTime, or the poll that shows it). The rules are those of `EventBook`, as live: what
cannot be read is refused and said, and changes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from wattline.grid.event_values import UNREADABLE, moment_s, why_unreadable
from wattline.grid.events import EventBook, GridEvent
from wattline.grid.openadr2b_events import event_of, left_out, told_s
from wattline.grid.openadr3_events import event3_of, left_out3, version3_of
from wattline.model.errors import InputError
from wattline.model.reading import read_text
from wattline.model.signal import Signal

MOST_BYTES = 10_000_000
SHOWN = 60
"""So many characters are shown of what is no event."""


@dataclass(frozen=True)
class Telling:
    """Something that was told at a time: an event, or why what was told cannot be read."""

    time_s: float
    event: GridEvent | None
    said: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Replayed:
    """What a file of events makes of a span of time."""

    cap_w: Signal | None
    """None where no event asks for a cap in it."""
    price: Signal | None
    """Of energy per kWh; None where no event says one in the contract."""
    followed: tuple[str, ...]
    """Events of which a cap or a price held in the contract."""
    outside: tuple[str, ...]
    """Events that ask for nothing in the time of the contract."""
    said: tuple[str, ...]
    """What was refused or left out, a sentence each."""
    currency: str = ""
    """Of the prices that are followed; empty where no event names it."""


def read_events(path: str | Path, usual_w: float, currency: str = "") -> list[Telling]:
    """All that the file tells, in the order of time.

    Prices are followed in one currency: that of the bill, or the first that an event names.
    """
    found: list[Telling] = []
    known: dict[str, GridEvent] = {}
    for given in _items(Path(path)):
        if isinstance(given, Mapping) and "polledDateTime" in given:
            told = list(_poll(given, known, usual_w, currency))
        else:
            told = [_telling(given, usual_w, currency)]
        currency = currency or _currency_of(told)
        found += told
    return sorted(found, key=lambda told: told.time_s)


def _currency_of(tellings: Iterable[Telling]) -> str:
    """The first that is named; empty where none is."""
    named = (told.event.currency for told in tellings if told.event is not None)
    return next((each for each in named if each), "")


def _items(path: Path) -> list[Any]:
    text = read_text(str(path), MOST_BYTES)
    if path.suffix.lower() == ".xml":
        return _of_message(path, text)
    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: this is no JSON file of events ({error})") from None
    if isinstance(given, Mapping) and "events" in given and "polledDateTime" not in given:
        given = given["events"]
    items = given if isinstance(given, list) else [given]
    if not items:
        raise InputError(f"{path}: there are no events in it")
    return items


def _of_message(path: Path, text: str) -> list[Any]:
    try:
        from openleadr.messaging import parse_message
    except ImportError:
        raise InputError("events in XML need openleadr: pip install 'wattline[openadr]'") from None
    try:
        _, payload = parse_message(text)
        events: list[Any] = payload["events"]
    except Exception as error:  # whatever the parser makes of a file of another kind
        raise InputError(f"{path}: this is no message with events of OpenADR 2.0b "
                         f"({type(error).__name__}: {error})") from None
    return events


def _telling(given: Any, usual_w: float, currency: str) -> Telling:
    if not isinstance(given, Mapping):
        return _refused(f"{str(given)[:SHOWN]} is no event")
    try:
        if "event_descriptor" in given:
            event, time_s = event_of(given, usual_w, currency=currency), told_s(given)
            beside = left_out(given, currency or event.currency)
        else:
            event = event3_of(given, usual_w, currency=currency)
            time_s, beside = version3_of(given) / 1000.0, left_out3(given, currency)
    except InputError as error:
        return _refused(str(error))
    return Telling(time_s, event, tuple(f"not followed of event {event.name}: {what}"
                                        for what in beside))


def _refused(why: str) -> Telling:
    return Telling(0.0, None, (f"not followed: {why}",))


def _poll(
    given: Mapping[str, Any], known: dict[str, GridEvent], usual_w: float, currency: str
) -> Iterator[Telling]:
    """What one poll of version 3 shows: new versions, and events that are gone."""
    try:
        now_s, events = moment_s(given["polledDateTime"]), list(given["events"])
    except UNREADABLE as error:
        yield _refused(f"a poll cannot be read: {why_unreadable(error)}")
        return
    present = {str(each["id"]) for each in events if isinstance(each, Mapping) and "id" in each}
    for name in sorted(set(known) - present):
        yield Telling(now_s, GridEvent(name, known.pop(name).version, (), cancelled=True))
    for each in events:
        told = _telling(each, usual_w, currency)
        if told.event is None:
            yield Telling(now_s, None, told.said)
        elif known.get(told.event.name) != told.event:
            known[told.event.name] = told.event
            currency = currency or told.event.currency
            yield Telling(now_s, told.event, told.said)


def replay(
    tellings: list[Telling], usual_w: float, usual_price: Signal, start_s: float, end_s: float, *,
    warmup_s: float = 0.0,
) -> Replayed:
    """Cap and price from `start_s` to `end_s`, counted from `start_s`.

    `usual_price` counts from there too. Cap and price of a moment are those of what had been told
    till then. What holds in the warm-up alone is outside of the contract, which begins after it.
    """
    book, left = EventBook(usual_w), list(tellings)
    said: list[str] = []
    taken: list[GridEvent] = []
    held: set[str] = set()
    caps: list[tuple[float, float]] = []
    prices: list[tuple[float, float]] = []
    capped = priced = False
    for now_s, next_s in pairwise([*_cuts(tellings, usual_price, start_s, end_s), end_s]):
        while left and left[0].time_s <= now_s:
            told = left.pop(0)
            said += told.said
            if told.event is not None:
                anew, refused = book.told_anew(told.event), book.take(told.event, told.time_s)
                said += [words for words in (refused or anew,) if words]
                taken += [] if refused else [told.event]
        cap_w, price = book.cap_w(now_s), book.price(now_s)
        if next_s > start_s + warmup_s:
            held.update(book.holding(now_s))
            capped |= cap_w < usual_w
            priced |= price is not None
        caps.append((now_s - start_s, cap_w))
        prices.append((now_s - start_s, usual_price.at(now_s - start_s) if price is None
                       else price))
    said += _too_late(left)
    outside = _outside(taken, start_s + warmup_s, end_s)
    said += _given_up(taken, held | set(outside))
    followed = tuple(dict.fromkeys(event.name for event in taken if event.name in held))
    return Replayed(
        cap_w=Signal.from_steps(caps, "W") if capped else None,
        price=Signal.from_steps(prices) if priced else None,
        followed=followed, outside=outside, said=tuple(dict.fromkeys(said)),
        currency=next((e.currency for e in taken if e.name in held and e.currency), ""))


def _too_late(left: list[Telling]) -> Iterator[str]:
    """What was told when the span was over; that an event was cancelled then changes nothing."""
    for told in left:
        yield from told.said
        if told.event is not None and not told.event.cancelled:
            yield (f"not followed: event {told.event.name} was told after the end "
                   "of the contract")


def _outside(taken: list[GridEvent], start_s: float, end_s: float) -> tuple[str, ...]:
    """Events of which no version asks for anything in this time."""
    inside = {event.name for event in taken for step in event.all_steps
              if step.start_s < end_s and step.end_s > start_s}
    asking = dict.fromkeys(event.name for event in taken if not event.cancelled)
    return tuple(name for name in asking if name not in inside)


def _given_up(taken: list[GridEvent], accounted: set[str]) -> Iterator[str]:
    """Events of the contract's time that were cancelled or changed before they held."""
    for name in dict.fromkeys(event.name for event in taken if not event.cancelled):
        if name not in accounted:
            yield f"not followed: event {name} was cancelled or changed before it held"


def _cuts(
    tellings: list[Telling], usual_price: Signal, start_s: float, end_s: float
) -> list[float]:
    """When cap or price may change in the span."""
    times = {start_s, *(start_s + float(step_s) for step_s in usual_price.time_s)}
    for told in tellings:
        times.add(told.time_s)
        if told.event is not None:
            for step in told.event.all_steps:
                times |= {step.start_s, step.end_s}
    return sorted(time_s for time_s in times if start_s <= time_s < end_s)
