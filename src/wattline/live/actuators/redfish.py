"""The power limit of a node by its management controller: Redfish, in three ways of writing it."""

from __future__ import annotations

import math
from typing import Any

from wattline.live.actuator import Knob
from wattline.live.actuators.settable import KnobSetting, Refusal, Settable
from wattline.live.devices.http import HttpError
from wattline.live.devices.redfish import PATIENCE_S, Found, Redfish, Variant, Way, at, change, has
from wattline.model.errors import InputError

LEAST_W = 1.0
"""Where a chassis states no least power."""
CHANGED_MEANWHILE = 412
Values = dict[Way, Any]


class RedfishLimit(Settable):
    """One knob for the chassis. Its bounds are asked for when it is opened."""

    def __init__(self, place: str, *, timeout_s: float = PATIENCE_S) -> None:
        service = Redfish.at(place, timeout_s)
        try:
            exchange = service.begin()
            found = exchange.look("limit")
            body = exchange.get(found.path).body
        except HttpError as error:
            raise InputError(f"{service.server.hostname} cannot be limited: {error}") from None
        limit = _Limit(service, found)
        knob = Knob("limit", "W", "node", _watts(at(body, found.variant.low)) or LEAST_W,
                    _watts(at(body, found.variant.high)) or math.inf)
        super().__init__([KnobSetting(knob, limit.held, limit.write, limit.found, limit.put_back,
                                  rounding=1.0)])


class _Limit:
    """One way of showing and changing it."""

    def __init__(self, service: Redfish, found: Found) -> None:
        self._service, self._path = service, found.path
        self._variant: Variant = found.variant

    def held(self) -> float:
        body = self._service.begin().get(self._path).body
        limit_w = at(body, self._variant.limit)
        return math.inf if limit_w is None or self._is_off(body) else _watts(limit_w)

    def found(self) -> Values:
        body = self._service.begin().get(self._path).body
        return {way: at(body, way) for way in (self._variant.limit, self._variant.mode)
                if way and has(body, way)}

    def write(self, value_w: float) -> None:
        body = self._service.begin().get(self._path).body
        if at(body, self._variant.action or ("",)) == "HardPowerOff":
            raise Refusal("this controller switches the node off above its limit; set its "
                          "LimitException to LogEventOnly first")
        values: Values = {self._variant.limit: round(value_w)}
        if self._is_off(body):
            values[self._variant.mode] = "Automatic"
        self._patch(values)

    def put_back(self, found: Values) -> None:
        self._patch(found)

    def _patch(self, values: Values) -> None:
        """Somebody else's change in between is read first, and then overwritten."""
        exchange = self._service.begin()
        for tries_left in (1, 0):
            etag = exchange.get(self._path).etag
            try:
                exchange.patch(self._path, change(values), etag)
            except HttpError as error:
                if error.status != CHANGED_MEANWHILE or not tries_left:
                    raise
                continue
            return

    def _is_off(self, body: Any) -> bool:
        return bool(self._variant.mode) and at(body, self._variant.mode) == "Disabled"


def _watts(said: Any) -> float:
    """0 where nothing is stated."""
    return 0.0 if isinstance(said, bool) or not isinstance(said, (int, float)) else float(said)
