"""The program `ipmitool`: this node's management controller, or one over the network.

A place is empty for the node's own, or `lanplus://user@host:port` (IPMI 2.0) and `lan://...` (1.5);
the password is in the environment, IPMI_PASSWORD, because arguments can be read by everybody.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from wattline.model.errors import InputError, WattlineError

PATIENCE_S = 5.0
OWN = ("/dev/ipmi0", "/dev/ipmi/0", "/dev/ipmidev/0")
PORT = 623


class IpmiError(WattlineError):
    """No answer, or a refusal."""


@dataclass(frozen=True)
class Ipmitool:
    """How one management controller is asked."""

    words: tuple[str, ...]
    """Program and options, before the command."""
    timeout_s: float

    @classmethod
    def at(cls, place: str, timeout_s: float = PATIENCE_S) -> Ipmitool:
        program = shutil.which("ipmitool")
        if program is None:
            raise InputError("there is no ipmitool here (Debian package ipmitool)")
        if not place:
            if not any(Path(device).exists() for device in OWN):
                raise InputError(f"this node shows no management controller ({OWN[0]})")
            return cls((program,), timeout_s)
        found = urlsplit(place)
        if found.scheme not in {"lan", "lanplus"} or not found.hostname or not found.username:
            raise InputError(f"'{place}' names no management controller; "
                             "write lanplus://user@host")
        if found.password or "IPMI_PASSWORD" not in os.environ:
            raise InputError("the password of a management controller is taken from IPMI_PASSWORD "
                             "in the environment")
        # Two tries of a second each; whatever happens, the whole ends with the time limit.
        return cls((program, "-I", found.scheme, "-H", found.hostname, "-p",
                    str(found.port or PORT), "-U", found.username, "-E", "-N", "1", "-R", "2"),
                   timeout_s)

    def ask(self, *command: str) -> dict[str, str]:
        """The lines `name: value` that it prints."""
        try:
            done = subprocess.run([*self.words, *command], capture_output=True, text=True,
                                  errors="replace", timeout=self.timeout_s, check=False,
                                  stdin=subprocess.DEVNULL, env={**os.environ, "LC_ALL": "C"})
        except subprocess.TimeoutExpired:
            raise IpmiError(f"no answer in {self.timeout_s:g} s") from None
        except OSError as error:
            raise IpmiError(str(error)) from None
        if done.returncode:
            lines = (done.stderr or done.stdout).strip().splitlines()
            raise IpmiError(lines[0] if lines else f"exit status {done.returncode}")
        pairs = (line.partition(":") for line in done.stdout.splitlines())
        return {name.strip().lower(): value.strip() for name, colon, value in pairs if colon}


def watts_of(said: dict[str, str], name: str) -> float:
    """A line such as `Power Limit: 400 Watts`."""
    found = re.fullmatch(r"(\d+) watts", said.get(name, "").lower())
    if found is None:
        raise IpmiError(f"it says no {name}")
    return float(found[1])
