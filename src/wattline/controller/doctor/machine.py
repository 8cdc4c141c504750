"""What this machine itself has: sensors, caps that can be set, a broker that can be reached."""

from __future__ import annotations

import os
import socket
from pathlib import Path

from wattline.controller.doctor.check import Check, checked
from wattline.live.devices.zones import FOLDER
from wattline.live.found import KINDS, sensors_here


def machine_checks(powercap: Path | None = None) -> list[Check]:
    return [_sensors(), _caps(powercap or FOLDER)]


def _sensors() -> Check:
    found, _ = sensors_here()
    return checked("sensors", bool(found), ", ".join(found) or "none on this machine",
                   f"on nodes: load intel_rapl_msr (powercap), or see `wattline sensors` for "
                   f"{', '.join(KINDS)}; a machine that only runs the controller needs none",
                   must=False)


def _caps(folder: Path) -> Check:
    limits = sorted(folder.glob("*/constraint_0_power_limit_uw"))
    if not limits:
        return checked("powercap", False, f"no limits in {folder}", "nodes without it are capped "
                       "through their BMC, or not at all; a machine that only runs the controller "
                       "needs none", must=False)
    locked = [limit for limit in limits
              if not os.access(limit, os.W_OK, effective_ids=True) or _read_only(limit)]
    return checked("powercap", not locked, f"{len(limits)} limits can be set" if not locked
                   else f"{locked[0]} cannot be written",
                   "run the agent as root, or give its user these files with a udev rule",
                   must=False)


def _read_only(file: Path) -> bool:
    """Root may write to anything; a kernel that takes no limits shows them without the bit."""
    return not file.stat().st_mode & 0o222


def broker_check(broker: str) -> Check:
    host, _, port = broker.rpartition(":")
    mend = f"start the broker, or mend its address: {broker} is to be HOST:PORT"
    try:
        with socket.create_connection((host, int(port)), timeout=3.0):
            return checked("broker", True, f"{broker} answers", "")
    except (OSError, ValueError, OverflowError) as error:
        return checked("broker", False, f"{broker}: {error}", mend)
