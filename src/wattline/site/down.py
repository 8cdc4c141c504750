"""When nodes were down or drained: `sacctmgr show event -P`, with its header.

States are Slurm's short words (DRNG, POW_DN) or long ones, with a mark behind (DOWN*) or joined by
a plus. A node that is down loses its jobs. One that drains, fails soon, is held for maintenance or
a reservation, or waits for a reboot takes no more jobs and lets those that run end. One that is
powered down to save power wakes for a job, and is not out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from pathlib import Path

from wattline.model.errors import InputError
from wattline.site.lines import hosts_of, site_text
from wattline.site.moments import is_date, is_local, span_s

_NAMES = {"node name": "node", "nodename": "node", "cluster nodes": "cluster_nodes",
          "time start": "start", "timestart": "start", "start": "start", "time end": "end",
          "timeend": "end", "end": "end", "state": "state", "reason": "reason"}


DOWN, DRAINS, SLEEPS, STRANGE = "down", "drains", "sleeps", "strange"
_MARKS = "*~#!%$@^-+"
_LOSES = frozenset({"DOWN", "ERROR", "UNK", "UNKNOWN", "FUTR", "FUTURE"})
_RESERVES = frozenset({"MAINT", "RESV", "RESERVED"})
_HOLDS = _RESERVES | {"DRAIN", "DRAINED", "DRAINING", "DRNG", "FAIL", "FAILING", "FAILG", "REBOOT",
                      "REBOOT_ISSUED", "REBOOT_REQUESTED", "BOOT", "POWER_DRAIN", "NOT_RESPONDING",
                      "NO_RESPOND", "INVAL", "INVALID_REG"}
_SAVES = frozenset({"CLOUD", "RESM", "RESUME"})
_POWER = "POW"
"""What words about power saving begin with: POW_DN, POWERING_UP, POWERED_DOWN."""
_WORKS = frozenset({"IDLE", "ALLOC", "ALLOCATED", "MIX", "MIXED", "COMP", "COMPLETING", "PLND",
                    "PLANNED", "BLOCK", "BLOCKED", "CANC_R", "REBOOT_CANCELED", "NPC", "PERFCTRS",
                    "UNDRAIN", "DYNAMIC_NORM", "DYNAMIC_FUTURE", "EXTERNAL"})
"""Of a node that answers; that it has an event says that it took no jobs."""


@dataclass(frozen=True)
class Down:
    """A node that took no jobs from one Unix time to another; None: it has not come back."""

    node: str
    start_s: float
    end_s: float | None
    state: str
    reason: str = ""
    local: bool = False
    """Whether its times are those of a clock without a zone."""
    by_calendar: bool = False
    """Whether a time of it is a date, and not plain seconds."""
    where: str = field(default="", compare=False)

    @property
    def effect(self) -> str:
        """`DOWN`, `DRAINS`, `SLEEPS`, or `STRANGE` where no word of its state is known."""
        whole, words = self.state.upper(), set(self._words)
        if "DOWN" in words:
            return DOWN
        if set(self.strange) == words:
            return STRANGE
        if words & _HOLDS or whole.endswith(("@", "^")):
            return DRAINS
        if any(_saves(word) for word in words) or whole.endswith(("~", "#", "%", "!")):
            return SLEEPS
        return DRAINS if words & _WORKS else DOWN

    @property
    def strange(self) -> tuple[str, ...]:
        """Words of its state that Slurm does not have."""
        return tuple(word for word in self._words
                     if word not in _LOSES | _HOLDS | _WORKS and not _saves(word))

    @property
    def is_reserved(self) -> bool:
        """Whether jobs of a reservation may run there."""
        return bool(set(self._words) & _RESERVES) or self.state.endswith("$")

    @property
    def _words(self) -> tuple[str, ...]:
        words = (word.strip().rstrip(_MARKS) for word in self.state.upper().split("+"))
        return tuple(filter(None, words)) or ("",)


def _saves(word: str) -> bool:
    return word in _SAVES or (word.startswith(_POWER) and word not in _HOLDS)


def read_down(path: str | Path, zone: tzinfo = UTC) -> list[Down]:
    """The rows of nodes; those of the whole cluster (its registration) are passed over."""
    lines = [(number, line) for number, line in
             enumerate(site_text(path).splitlines(), start=1) if line.strip()]
    if not lines:
        raise InputError(f"{path}: is empty")
    header = [_NAMES.get(name.strip().lower(), "") for name in lines[0][1].split("|")]
    missing = {"node", "start", "end", "state"} - set(header)
    if missing:
        raise InputError(f"{path}:{lines[0][0]}: has no column for {', '.join(sorted(missing))}; "
                         "write it with sacctmgr show event -P")
    found = []
    for number, line in lines[1:]:
        where = f"{path}:{number}"
        cells = line.split("|")
        if len(cells) < len(header):
            raise InputError(f"{where}: has {len(cells)} columns, the header {len(header)}")
        row = dict(zip(header, cells, strict=False))
        start_s, end_s = span_s(row["start"], row["end"], where, zone)
        if not row["node"].strip():
            continue
        if start_s is None:
            raise InputError(f"{where}: has no start")
        if end_s is not None and end_s < start_s:
            raise InputError(f"{where}: ends before it starts")
        local = is_local(row["start"]) or is_local(row["end"])
        found += [Down(node, start_s, end_s, row["state"].strip(), row.get("reason", "").strip(),
                       local, is_date(row["start"]) or is_date(row["end"]), where)
                  for node in hosts_of(row["node"].strip(), where)]
    return found
