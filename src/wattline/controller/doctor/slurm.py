"""Whether Slurm answers, and whether it would obey."""

from __future__ import annotations

import os
import pwd
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from wattline.controller.configuration import SiteConfig
from wattline.controller.doctor.check import Check, checked
from wattline.live.slurm.commands import Commands, SlurmError
from wattline.live.slurm.reading import moment_s
from wattline.model.errors import InputError

COMMANDS = ("squeue", "sinfo", "scontrol", "sbatch", "scancel", "sacct", "sacctmgr")
LEAST_VERSION = (22, 5)
TRIED = ("22.05", "24.11")
PATIENCE_S = 8.0
"""For each command; one that finds no Slurm tries for longer."""
MOST_SKEW_S = 2.0
"""Slurm says whole seconds, and the question takes a moment."""


@dataclass(frozen=True)
class Cluster:
    """What Slurm says of itself."""

    commands: Commands
    options: Mapping[str, str]
    """By their names in lower case, as `scontrol show config` has them."""
    skew_s: float
    """Its clock less ours."""
    partitions: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    nodes: frozenset[str] = frozenset()

    def option(self, name: str) -> str:
        value = self.options.get(name.lower(), "")
        return "" if value == "(null)" else value


def ask_slurm(environment: Mapping[str, str], clock: Callable[[], float]) -> Cluster | str:
    """All that the checks look at; or why Slurm gives no answer."""
    commands = Commands(environment, patience_s=PATIENCE_S)
    try:
        text = commands.run("scontrol", "show", "config")
        now_s = clock()
        partitions = commands.run("scontrol", "show", "partition", "-o")
        nodes = commands.run("sinfo", "-h", "-N", "-a", "-o", "%N")
    except (SlurmError, InputError) as error:
        return str(error)
    first = text.splitlines()[0] if text else ""
    said_s = moment_s(first.removeprefix("Configuration data as of ").strip())
    return Cluster(commands, _options(text), said_s - now_s, dict(map(_fields, _lines(partitions))),
                   frozenset(nodes.split()))


def slurm_checks(cluster: Cluster | str, site: SiteConfig | None) -> list[Check]:
    path = None if site is None else site.environment.get("PATH")
    missing = [name for name in COMMANDS if shutil.which(name, path=path) is None]
    found = [checked("slurm commands", not missing, f"missing: {', '.join(missing)}" if missing
                     else "all there", "install slurm-client (Debian) or add Slurm's bin to PATH")]
    if isinstance(cluster, str):
        return [*found, checked("slurm answers", False, cluster, "start slurmctld, and let "
                                "slurm_conf (or SLURM_CONF) name the file that it has")]
    return [*found, checked("slurm answers", True, cluster.option("clustername"), ""),
            _version(cluster), _authentication(cluster), _accounting(cluster),
            _permission(cluster), _clock(cluster)]


def _version(cluster: Cluster) -> Check:
    text = cluster.option("slurm_version")
    numbers = tuple(int(part) for part in re.findall(r"\d+", text)[:2])
    tried = text.startswith(TRIED)
    return checked("slurm version", numbers >= LEAST_VERSION,
                   f"{text}{'' if tried else ', with which nothing was tried'}",
                   f"versions from {TRIED[0]} on are served; tried with {' and '.join(TRIED)}")


def _authentication(cluster: Cluster) -> Check:
    kind = cluster.option("authtype")
    if kind != "auth/munge":
        return checked("munge", True, f"not used: {kind}", "")
    socket = re.search(r"socket=([^,\s]+)", cluster.option("authinfo"))
    more = (f"--socket={socket.group(1)}",) if socket else ()
    try:
        Commands(patience_s=5.0).run("munge", "-n", *more)
    except (SlurmError, InputError) as error:
        return checked("munge", False, str(error), "start munged with the cluster's key; install "
                       "the package munge")
    return checked("munge", True, "it signs", "")


def _accounting(cluster: Cluster) -> Check:
    kind = cluster.option("accountingstoragetype")
    mend = ("set AccountingStorageType=accounting_storage/slurmdbd, start slurmdbd, and run "
            f"sacctmgr add cluster {cluster.option('clustername')}")
    if not kind.endswith("slurmdbd"):
        return checked("slurmdbd", False, f"AccountingStorageType is {kind or 'none'}", mend)
    try:
        cluster.commands.run("sacctmgr", "-n", "-P", "show", "cluster")
    except SlurmError as error:
        return checked("slurmdbd", False, str(error), mend)
    return checked("slurmdbd", True, "it answers", "")


def _permission(cluster: Cluster) -> Check:
    owner = cluster.option("slurmuser")
    uid = re.search(r"\((\d+)\)", owner)
    if os.geteuid() == 0 or (uid and int(uid.group(1)) == os.geteuid()):
        return checked("permission", True, f"we are {_me()}; SlurmUser is {owner}", "")
    try:
        level = cluster.commands.run("sacctmgr", "-n", "-P", "show", "user", _me(),
                                     "format=AdminLevel").strip()
    except SlurmError:
        level = ""
    return checked("permission", level in ("Operator", "Administrator"),
                   f"we are {_me()} ({level or 'no level'}); SlurmUser is {owner}",
                   f"jobs of others are held and released by operators: sacctmgr modify user "
                   f"{_me()} set AdminLevel=Operator, or run the controller as SlurmUser")


def _clock(cluster: Cluster) -> Check:
    known = cluster.skew_s == cluster.skew_s
    return checked("clocks", known and abs(cluster.skew_s) <= MOST_SKEW_S,
                   f"slurmctld is {abs(cluster.skew_s):.0f} s "
                   f"{'ahead of' if cluster.skew_s > 0 else 'behind'} this machine" if known
                   else "slurmctld does not say its time",
                   "let both machines follow the same time servers (chrony, ntpd)")


def _options(text: str) -> dict[str, str]:
    """`Name = value` by name, in lower case; the first of a name counts."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        name, mark, value = line.partition("=")
        if mark:
            found.setdefault(name.strip().lower(), value.strip())
    return found


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("PartitionName=")]


def _fields(line: str) -> tuple[str, dict[str, str]]:
    fields = dict(part.partition("=")[::2] for part in line.split())
    return fields["PartitionName"], fields


def _me() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())
