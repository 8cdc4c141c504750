"""A client of OpenADR 3: events of a server become the file of the cap, the power a report.

By the published REST description (3.0): events are read by polling, and one that is no longer there
is cancelled. `wattline.grid.openadr3_events` says which payloads are followed.
There is no answer to an event in this version of the standard: what is not followed is said here.
"""

from __future__ import annotations

import json
import math
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from wattline.grid.event_values import UNREADABLE, unreadable
from wattline.grid.events import GridEvent
from wattline.grid.openadr3_events import event3_of, left_out3, version3_of
from wattline.live.openadr import CapWriter
from wattline.live.openadr_link import MeasuredPower
from wattline.model.errors import InputError

PATIENCE_S = 10.0
MOST_BYTES = 10_000_000
POLL_S, REPORT_S = 10.0, 60.0


@dataclass
class Server:
    """A server (VTN), and how we show who we are (OAuth 2, client credentials)."""

    url: str
    client_id: str = ""
    secret: str = field(default="", repr=False)
    token_url: str = ""
    _token: tuple[str, float] = field(default=("", -math.inf), repr=False)
    """And until when it is used."""

    def events(self, program: str = "") -> list[Any]:
        asked = f"?{urllib.parse.urlencode({'programID': program})}" if program else ""
        found = self._call(f"/events{asked}")
        if not isinstance(found, list):
            raise InputError(f"{self.url}/events is no list of events")
        return found

    def report(self, body: Mapping[str, Any]) -> None:
        self._call("/reports", json.dumps(body).encode())

    def _call(self, place: str, body: bytes | None = None) -> Any:
        headers = {"Accept": "application/json"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        if self.client_id:
            headers["Authorization"] = f"Bearer {self._bearer()}"
        return _answer(urllib.request.Request(self.url.rstrip("/") + place, body, headers))

    def _bearer(self) -> str:
        token, until_s = self._token
        if time.monotonic() < until_s:
            return token
        form = urllib.parse.urlencode({"grant_type": "client_credentials",
                                       "client_id": self.client_id, "client_secret": self.secret})
        place = self.token_url or self.url.rstrip("/") + "/auth/token"
        said = _answer(urllib.request.Request(place, form.encode()))
        try:
            token, lasts_s = str(said["access_token"]), float(said.get("expires_in", 3600))
        except (KeyError, TypeError, ValueError, AttributeError):
            raise InputError(f"{place} gave no token") from None
        self._token = token, time.monotonic() + lasts_s / 2
        return token


def _answer(request: urllib.request.Request) -> Any:
    if not request.full_url.startswith(("http://", "https://")):
        raise InputError(f"{request.full_url} is no address of a server, like https://host/openadr3")
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as told:
            return json.loads(told.read(MOST_BYTES) or b"null")
    except (OSError, ValueError) as error:
        raise InputError(f"{request.full_url}: {error}") from None


@dataclass(eq=False)
class Follower:
    """Polls a server, and keeps the file of the cap as its events say."""

    server: Server
    writer: CapWriter
    program: str = ""
    name: str = "wattline"
    measured: MeasuredPower | None = None
    seen: dict[str, int] = field(default_factory=dict)
    """Versions of the events that were looked at."""
    given: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    """Events that are followed, as the server told them."""
    _reported_s: float = -math.inf
    _trouble: str = ""

    def look(self, now_s: float) -> None:
        """Read the events once. A server that gives no answer changes nothing."""
        try:
            events = self.server.events(self.program)
        except InputError as error:
            self._said(str(error))
            self.writer.update(now_s)
            return
        self._trouble = ""
        present = {str(event["id"]) for event in events
                   if isinstance(event, dict) and "id" in event}
        for name in set(self.seen) - present:
            self._cancel(name, now_s)
        for event in events:
            self._take(event, now_s)
        self.writer.update(now_s)

    def _take(self, event: Any, now_s: float) -> None:
        try:
            name, version = str(event["id"]), version3_of(event)
        except UNREADABLE as error:
            said_id = event.get("id") if isinstance(event, dict) else None
            self._said(f"not followed: {unreadable(said_id, error)}")
            return
        if self.seen.get(name) == version and self.given.get(name, event) == event:
            return
        self.seen[name] = version
        self.given.pop(name, None)
        try:
            writer = self.writer
            made = event3_of(event, writer.book.usual_w, writer.levels, writer.currency)
            refused = writer.take(made, now_s)
        except InputError as error:
            refused = str(error)
        if refused:
            self.writer.say(f"not followed: {refused}")
        else:
            self.given[name] = event
            self.writer.say(f"followed: event {name}")
            for what in left_out3(event, self.writer.currency):
                self.writer.say(f"not followed of event {name}: {what}")

    def _cancel(self, name: str, now_s: float) -> None:
        """An event that is gone from the server."""
        version = self.seen.pop(name)
        if self.given.pop(name, None) is not None:
            self.writer.book.take(GridEvent(name, version, (), cancelled=True), now_s)
            self.writer.say(f"cancelled: event {name}")

    def tell(self, now_s: float) -> None:
        """Report the measured power for the events that hold, where it is time to."""
        if self.measured is None or now_s - self._reported_s < REPORT_S:
            return
        power, holding = self.measured(), self._holding(now_s)
        if not power or not holding:
            return
        self._reported_s = now_s
        for event in holding:
            try:
                self.server.report(report3_of(event, self.name, *power[0]))
            except InputError as error:
                self._said(str(error))

    def _holding(self, now_s: float) -> list[Mapping[str, Any]]:
        known = self.writer.book.known
        return [event for name, event in self.given.items() if name in known and any(
            step.start_s <= now_s < step.end_s
            for step in known[name].all_steps)]

    def _said(self, trouble: str) -> None:
        if trouble != self._trouble:
            self._trouble = trouble
            self.writer.say(trouble)


def report3_of(
    event: Mapping[str, Any], client: str, at: datetime, power_w: float
) -> dict[str, Any]:
    """A report of the power at one time, which the standard ties to an event."""
    start = at.astimezone(UTC).isoformat().replace("+00:00", "Z")
    return {
        "objectType": "REPORT", "programID": event["programID"], "eventID": event["id"],
        "clientName": client, "reportName": "power",
        "payloadDescriptors": [{"payloadType": "DEMAND", "readingType": "DIRECT_READ",
                                "units": "KW"}],
        "resources": [{"resourceName": "AGGREGATED_REPORT", "intervals": [{
            "id": 0, "intervalPeriod": {"start": start, "duration": "PT0S"},
            "payloads": [{"type": "DEMAND", "values": [power_w / 1000.0]}]}]}],
    }


def follow3(
    follower: Follower, clock: Callable[[], float], *, stop: Callable[[], bool] = lambda: False,
    poll_s: float = POLL_S, look_s: float = 1.0,
) -> None:
    """Follow the events of the server until told to stop."""
    follower.server.events(follower.program)  # one that is not there is said at once
    polled_s = -math.inf
    while not stop():
        now_s = clock()
        if now_s - polled_s >= poll_s:
            polled_s = now_s
            follower.look(now_s)
        follower.writer.update(now_s)
        follower.tell(now_s)
        time.sleep(look_s)
