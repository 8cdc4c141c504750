"""Power saving of a cluster: whether idle nodes are put to sleep, and which never are.

See slurm.conf(5), SuspendTime and SuspendExcNodes, and Slurm's power saving guide.
"""

from __future__ import annotations

import re

from wattline.scenario.twin.settings import SlurmSettings
from wattline.site.lines import hosts_of, number_of

_PROGRAMS = ("SuspendProgram", "ResumeProgram")


def suspend_time_s(settings: SlurmSettings) -> float:
    """How long a node is idle before it sleeps; -1 where none does."""
    found = settings.seconds("SuspendTime", -1.0)
    missing = [name for name in _PROGRAMS if settings.values.get(name.lower(), "").strip().lower()
               in ("", "(null)", "none")]
    if found >= 0 and missing:
        settings.told.contradictions.append(
            f"{settings.where('SuspendTime')}: SuspendTime without {' and '.join(missing)}: Slurm "
            "saves no power then, and no node sleeps here; twin.settings may name programs")
        return -1.0
    return found


def kept_awake(settings: SlurmSettings) -> tuple[str, ...]:
    """Nodes of `SuspendExcNodes`: `n1,nid[10-20]:4` are n1 and four of the others."""
    text = settings.text("SuspendExcNodes", "", matters=False)
    where = settings.where("SuspendExcNodes")
    found: list[str] = []
    for part in re.findall(r"(?:\[[^]]*\]|[^,\[])+", text):
        listed, colon, count = part.strip().rpartition(":")
        hosts = hosts_of(listed if colon else part.strip(), where)
        if colon:
            hosts = hosts[:number_of(count, "a count of SuspendExcNodes", where)]
            settings.told.assumed.append(f"SuspendExcNodes {part.strip()}: the first {len(hosts)} "
                                         "of these stay awake; Slurm takes any that are idle")
        found += hosts
    return tuple(found)
