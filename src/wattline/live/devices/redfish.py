"""A chassis behind Redfish, in the three ways in which its power is shown and limited.

A place is `https://user@host`, with the path of a chassis where there are several
(`https://user@host/redfish/v1/Chassis/1U`) and `#environment`, `#controls` or `#power` where one
way is wanted. The password is in the environment, REDFISH_PASSWORD. Certificates are checked;
SSL_CERT_FILE names those of a site.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import SplitResult, urlsplit

from wattline.live.devices.http import Answer, HttpError, ask
from wattline.model.errors import InputError

PATIENCE_S = 5.0
CHASSIS = "/redfish/v1/Chassis"
Way = tuple[str | int, ...]
"""Names and places that lead to a value in a resource."""


@dataclass(frozen=True)
class Variant:
    """Where one way of Redfish has power, limit, bounds, and what happens above the limit."""

    name: str
    link: str
    """By which the chassis leads to it."""
    power: Way
    limit: Way
    low: Way = ()
    high: Way = ()
    mode: Way = ()
    action: Way = ()


VARIANTS = (
    Variant("environment", "EnvironmentMetrics", ("PowerWatts", "Reading"),
            ("PowerLimitWatts", "SetPoint"), ("PowerLimitWatts", "AllowableMin"),
            ("PowerLimitWatts", "AllowableMax"), ("PowerLimitWatts", "ControlMode")),
    Variant("controls", "Controls", ("Sensor", "Reading"), ("SetPoint",), ("AllowableMin",),
            ("AllowableMax",), ("ControlMode",)),
    Variant("power", "Power", ("PowerControl", 0, "PowerConsumedWatts"),
            ("PowerControl", 0, "PowerLimit", "LimitInWatts"),
            high=("PowerControl", 0, "PowerCapacityWatts"),
            action=("PowerControl", 0, "PowerLimit", "LimitException")),
)
"""The newest first; `Power` is what older controllers have."""


@dataclass(frozen=True)
class Found:
    """A resource that has what was looked for, and which way it is."""

    variant: Variant
    path: str


@dataclass(frozen=True)
class Redfish:
    """One management controller."""

    server: SplitResult
    password: str
    timeout_s: float

    @classmethod
    def at(cls, place: str, timeout_s: float = PATIENCE_S) -> Redfish:
        server = urlsplit(place)
        if server.scheme not in {"http", "https"} or not server.hostname:
            raise InputError(f"'{place}' is no Redfish service; write https://user@host")
        names = [variant.name for variant in VARIANTS]
        if server.fragment and server.fragment not in names:
            raise InputError(f"there is no way '{server.fragment}' of Redfish; "
                             f"there are: {', '.join(names)}")
        if server.password or (server.username and "REDFISH_PASSWORD" not in os.environ):
            raise InputError("the password of a Redfish service is taken from REDFISH_PASSWORD in "
                             "the environment")
        return cls(server, os.environ.get("REDFISH_PASSWORD", ""), timeout_s)

    def begin(self) -> Exchange:
        """Requests that together must end within the time limit."""
        return Exchange(self, time.monotonic() + self.timeout_s)


@dataclass(frozen=True)
class Exchange:
    """Some requests with one deadline."""

    service: Redfish
    end_s: float

    def get(self, path: str) -> Answer:
        return self._ask("GET", path)

    def patch(self, path: str, body: Mapping[str, Any], etag: str) -> None:
        """Change a resource, unless somebody has since it was read."""
        self._ask("PATCH", path, body=body, headers={"If-Match": etag} if etag else {})

    def look(self, wanted: str) -> Found:
        """The first resource with a `power` or a `limit`."""
        fragment = self.service.server.fragment
        for chassis in self._chassis():
            for variant in VARIANTS:
                if fragment in {"", variant.name}:
                    for path in self._paths(chassis, variant):
                        if has(self.get(path).body, getattr(variant, wanted)):
                            return Found(variant, path)
        way = f" by {fragment}" if fragment else ""
        raise HttpError(f"no chassis there has a {wanted}{way}")

    def _chassis(self) -> Iterator[Any]:
        path = self.service.server.path.rstrip("/")
        if path.startswith(f"{CHASSIS}/"):
            yield self.get(path).body
            return
        for member in self.get(CHASSIS).body.get("Members", []):
            yield self.get(member["@odata.id"]).body

    def _paths(self, chassis: Any, variant: Variant) -> Iterator[str]:
        if not has(chassis, (variant.link, "@odata.id")):
            return
        path = chassis[variant.link]["@odata.id"]
        if variant.name != "controls":
            yield path
            return
        for member in self.get(path).body.get("Members", []):
            if self.get(member["@odata.id"]).body.get("ControlType") == "Power":
                yield member["@odata.id"]

    def _ask(self, method: str, path: str, **more: Any) -> Answer:
        try:
            answer = ask(self.service.server, method, path, password=self.service.password,
                         end_s=self.end_s, **more)
        except HttpError as error:
            if str(error) == "no answer in time":
                raise HttpError(f"no answer in {self.service.timeout_s:g} s") from None
            raise
        if not isinstance(answer.body, dict):
            raise HttpError(f"{path}: not an object")
        return answer


def at(body: Any, way: Way) -> Any:
    """What a way leads to; None where it leads nowhere."""
    for step in way:
        if isinstance(body, dict) and isinstance(step, str):
            body = body.get(step)
        elif isinstance(body, list) and isinstance(step, int) and step < len(body):
            body = body[step]
        else:
            return None
    return body


def has(body: Any, way: Way) -> bool:
    """Whether there is such a place, though nothing may stand there now."""
    parent = at(body, way[:-1])
    return isinstance(parent, dict) and way[-1] in parent


def change(values: Mapping[Way, Any]) -> dict[str, Any]:
    """The body that changes these values and nothing else."""
    body: dict[str, Any] = {}
    for way, value in values.items():
        place: Any = body
        for step, following in zip(way, (*way[1:], None), strict=True):
            if isinstance(step, int):
                place = place[step]
            elif following is None:
                place[step] = value
            else:
                place = place.setdefault(step, [{}] if isinstance(following, int) else {})
    return body
