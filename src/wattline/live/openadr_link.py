"""The way to an OpenADR server: certificates, and what is reported to it."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from wattline.model.errors import InputError

PASSPHRASE = "OPENADR_PASSPHRASE"
"""Of the environment: what opens an encrypted key."""
STALE_S = 30.0
"""A status that is older is not reported: nobody knows what is drawn now."""
SAMPLED = (timedelta(seconds=1), timedelta(hours=1))
"""How often the server may ask for the power: from, to."""


@dataclass(frozen=True)
class Certificates:
    """Files of our certificate, its key, and the authority that the server's must come from."""

    cert: Path | None = None
    key: Path | None = None
    ca: Path | None = None
    vtn_fingerprint: str | None = None
    """Of the server's certificate, with which its messages must be signed."""

    def __post_init__(self) -> None:
        given = [file for file in (self.cert, self.key, self.ca) if file is not None]
        if given and len(given) < 3:
            raise InputError("certificates are three files: ours, its key, and the authority's")
        for file in given:
            if not file.is_file():
                raise InputError(f"{file}: there is no such file")
        if self.vtn_fingerprint and not given:
            raise InputError("a server's fingerprint goes with certificates")

    def settings(self) -> dict[str, Any]:
        """What openleadr's client is told."""
        if self.cert is None:
            return {}
        return {"cert": str(self.cert), "key": str(self.key), "ca_file": str(self.ca),
                "passphrase": os.environ.get(PASSPHRASE), "vtn_fingerprint": self.vtn_fingerprint,
                "show_fingerprint": False}

    def check_url(self, url: str) -> None:
        """Certificates over plain http would protect nothing, in silence."""
        if self.cert is not None and not url.startswith("https://"):
            raise InputError(f"certificates need a server behind TLS: {url} does not begin with "
                             "https://")

    def fingerprint(self) -> str | None:
        """Of ours, which the server has to be told."""
        if self.cert is None:
            return None
        from openleadr.utils import certificate_fingerprint

        try:
            return str(certificate_fingerprint(self.cert.read_text(encoding="utf-8")))
        except ValueError as error:
            raise InputError(f"the certificates cannot be used: {self.cert}: {error}") from None


@dataclass(frozen=True)
class MeasuredPower:
    """What the controller measures, of its `status.json`, for reports to the server."""

    status: Path
    clock: Callable[[], float]

    def __call__(self) -> list[tuple[datetime, float]]:
        """When it was measured, and the watts; nothing where it is old or was not measured."""
        try:
            said = json.loads(self.status.read_text(encoding="utf-8"))
            time_s, power_w = float(said["time_s"]), said["measured_w"]
        except (OSError, ValueError, KeyError, TypeError):
            return []
        fresh = self.clock() - time_s <= STALE_S
        if power_w is None or not math.isfinite(power_w) or not fresh:
            return []
        return [(datetime.fromtimestamp(time_s, UTC), float(power_w))]

    def offer(self, client: Any, resource: str) -> None:
        """Offer the report to the server, which asks for it how often it likes."""
        from openleadr.objects import SamplingRate

        rate = SamplingRate(min_period=SAMPLED[0], max_period=SAMPLED[1], on_change=False)
        client.add_report(self, resource_id=resource, measurement="powerReal", unit="W",
                          sampling_rate=rate, report_duration=timedelta(hours=1))
