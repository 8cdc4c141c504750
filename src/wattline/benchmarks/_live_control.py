"""The controller's side of the load: a fleet, and a rule that lowers all caps above a limit.

A process of its own, so that what the fleet costs is measured apart.
"""

from __future__ import annotations

import json
import os
import select
import sys
import time
from pathlib import Path
from typing import Any

from wattline.benchmarks._live_load import CAP_W, LOWERED_W, load_files, node_names
from wattline.live.mqtt_fleet import MqttFleet
from wattline.live.transport.broker import CONTROLLER
from wattline.live.transport.link import read_key

CYCLE_S = 0.25
RENEW_S = 20.0
LEASE_S = 60.0


def run(folder: Path, port: int, count: int) -> None:
    files, names = load_files(folder, port), node_names(count)
    fleet = MqttFleet(files.of(CONTROLLER), files.cluster, names,
                      read_key(str(files.order_key(CONTROLLER))))
    power_w: dict[str, float] = {}
    readings = order = 0
    decided_at_s, caps_w, renewed_s = 0.0, CAP_W, time.monotonic()
    complete = False
    while (told := _told()) != "end":
        if told:
            _say({"said": "counted", "readings": readings})
        began_s = time.monotonic()
        for report in fleet.reports():
            power_w[report.node] = report.power_w
            readings += 1
        if len(power_w) == count and not complete:
            complete, renewed_s = True, time.monotonic()
            _say({"said": "complete"})
        above = sum(power_w.values()) > CAP_W * count
        if (above and not decided_at_s) or time.monotonic() > renewed_s + RENEW_S:
            if above:
                decided_at_s, caps_w = time.time(), LOWERED_W
            order, renewed_s = order + 1, time.monotonic()
            fleet.cap(order, dict.fromkeys(names, caps_w), LEASE_S)
        time.sleep(max(CYCLE_S - (time.monotonic() - began_s), 0.0))
    _say({"said": "ended", "missing": fleet.missing(), "decided_at_s": decided_at_s})
    fleet.close()


def _told() -> str:
    """What whoever measures wants now; nothing, most of the time."""
    if not select.select([0], [], [], 0.0)[0]:
        return ""
    return os.read(0, 4096).decode().strip() or "end"


def _say(said: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(said) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    run(Path(sys.argv[1]), *map(int, sys.argv[2:]))
