"""A Redfish service for an emulated node: one chassis whose power is shown in all three ways."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler
from typing import Any, Protocol

from wattline.controller.testbed.bmc.node import ManagedNode

CHASSIS = "/redfish/v1/Chassis"
NODE = f"{CHASSIS}/node"
ENVIRONMENT, POWER = f"{NODE}/EnvironmentMetrics", f"{NODE}/Power"
CONTROLS = f"{NODE}/Controls"
LIMIT = f"{CONTROLS}/PowerLimit"


class Refused(Exception):
    """A change that the service does not make."""


class Resources(Protocol):
    """What a service shows and lets be changed."""

    def get(self, path: str) -> dict[str, Any] | None: ...

    def settings(self, path: str) -> object:
        """What an ETag stands for: it must not change with each reading."""
        ...

    def patch(self, path: str, body: Mapping[str, Any]) -> None: ...


class NodeResources:
    """The chassis of one emulated node."""

    def __init__(self, node: ManagedNode, lowest_w: float = 1.0) -> None:
        self.node, self.lowest_w = node, lowest_w

    def get(self, path: str) -> dict[str, Any] | None:
        made = {"/redfish/v1": self._root, CHASSIS: self._collection, NODE: self._chassis,
                ENVIRONMENT: self._environment, POWER: self._power, CONTROLS: self._controls,
                LIMIT: self._limit}.get(path)
        return None if made is None else {"@odata.id": path, **made()}

    def settings(self, path: str) -> object:
        return [path, self.node.limit_w, self.node.active]

    def patch(self, path: str, body: Mapping[str, Any]) -> None:
        if path == ENVIRONMENT:
            self._set(body["PowerLimitWatts"])
        elif path == LIMIT:
            self._set(body)
        elif path == POWER:
            limit_w = body["PowerControl"][0]["PowerLimit"]["LimitInWatts"]
            self._take(limit_w, active=limit_w is not None)
        else:
            raise Refused(path)

    def _set(self, said: Mapping[str, Any]) -> None:
        mode = said.get("ControlMode", self._mode)
        self._take(said.get("SetPoint"), active=mode != "Disabled")

    def _take(self, limit_w: float | None, *, active: bool) -> None:
        limit_w = self.node.limit_w if limit_w is None else float(limit_w)
        if not self.lowest_w <= limit_w <= self.node.highest_w:
            raise Refused(f"{limit_w} W")
        self.node.limit(limit_w, active=active)

    @property
    def _mode(self) -> str:
        return "Automatic" if self.node.active else "Disabled"

    @property
    def _set_point(self) -> dict[str, Any]:
        return {"SetPoint": self.node.limit_w, "AllowableMin": self.lowest_w,
                "AllowableMax": self.node.highest_w, "ControlMode": self._mode}

    def _root(self) -> dict[str, Any]:
        return {"RedfishVersion": "1.15.0", "Chassis": {"@odata.id": CHASSIS}}

    def _collection(self) -> dict[str, Any]:
        return {"Members": [{"@odata.id": NODE}], "Members@odata.count": 1}

    def _chassis(self) -> dict[str, Any]:
        links = {"EnvironmentMetrics": ENVIRONMENT, "Power": POWER, "Controls": CONTROLS}
        return {"Id": "node", "ChassisType": "RackMount",
                **{name: {"@odata.id": path} for name, path in links.items()}}

    def _environment(self) -> dict[str, Any]:
        return {"PowerWatts": {"Reading": self.node.power_w}, "PowerLimitWatts": self._set_point}

    def _controls(self) -> dict[str, Any]:
        return {"Members": [{"@odata.id": LIMIT}], "Members@odata.count": 1}

    def _limit(self) -> dict[str, Any]:
        return {"Id": "PowerLimit", "ControlType": "Power", "SetPointUnits": "W",
                "Sensor": {"Reading": self.node.power_w}, **self._set_point}

    def _power(self) -> dict[str, Any]:
        limit_w = self.node.limit_w if self.node.active else None
        return {"PowerControl": [{
            "MemberId": "0", "PowerConsumedWatts": self.node.power_w,
            "PowerCapacityWatts": self.node.highest_w,
            "PowerLimit": {"LimitInWatts": limit_w, "LimitException": "LogEventOnly"}}]}


def handler_of(resources: Resources, user: str, password: str) -> type[BaseHTTPRequestHandler]:
    """What answers requests: GET, and PATCH for whoever has read what he changes."""
    secret = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            body = self._allowed()
            if body is not None:
                self._say(200, body)

        def do_PATCH(self) -> None:
            if self._allowed() is None:
                return
            sent = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if self.headers.get("If-Match", "*") not in {"*", self._etag}:
                self._say(412, {"error": {"message": "it has been changed meanwhile"}})
                return
            try:
                resources.patch(self._where, json.loads(sent))
            except (Refused, KeyError, TypeError, ValueError, IndexError) as error:
                self._say(400, {"error": {"message": str(error)}})
                return
            self._say(200, resources.get(self._where) or {})

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing: whoever tries it out has not asked for a log."""

        @property
        def _where(self) -> str:
            return self.path.rstrip("/")

        @property
        def _etag(self) -> str:
            text = json.dumps(resources.settings(self._where))
            return f'"{hashlib.sha256(text.encode()).hexdigest()[:16]}"'

        def _allowed(self) -> dict[str, Any] | None:
            """The resource, unless the answer is already that it is not to be had."""
            if not hmac.compare_digest(self.headers.get("Authorization", ""), secret):
                self._say(401, {"error": {"message": "who are you?"}})
                return None
            body = resources.get(self._where)
            if body is None:
                self._say(404, {"error": {"message": f"there is no {self._where}"}})
            return body

        def _say(self, status: int, body: Mapping[str, Any]) -> None:
            text = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            if status < 300:
                self.send_header("ETag", self._etag)
            self.end_headers()
            self.wfile.write(text)

    return Handler
