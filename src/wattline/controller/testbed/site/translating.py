"""A site's slurm.conf for one machine: what decides is kept, places and daemons become the bed's.

Kept word for word: scheduling, priorities, limits, partitions, what nodes have. Replaced: ports,
folders, users of daemons, authentication and whatever touches hardware. Left out: what runs
programs of the site. Each is listed with its key, so that a run can say what it was of.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from wattline.controller.testbed.layout import Bed
from wattline.live.slurm.reading import hosts
from wattline.model.errors import InputError

OURS = """slurmctldhost controlmachine controladdr backupcontroller backupaddr slurmuser slurmduser
authtype authinfo authalttypes authaltparameters credtype cryptotype jobcredentialprivatekey
jobcredentialpubliccertificate statesavelocation slurmdspooldir slurmctldpidfile slurmdpidfile
slurmctldport slurmdport slurmctldlogfile slurmdlogfile slurmschedlogfile slurmschedloglevel
slurmctlddebug slurmddebug debugflags logtimeformat proctracktype taskplugin mpidefault
slurmdparameters accountingstoragetype accountingstoragehost accountingstorageport
accountingstoragepass accountingstorageuser accountingstoragebackuphost returntoservice
launchtype switchtype plugindir unkillablesteptimeout"""
"""Keys that the bed sets itself."""
LEFT_OUT = """frontendname frontendaddr jobcomptype jobcomploc jobcompparams mailprog prolog epilog
taskprolog taskepilog srunprolog srunepilog prologslurmctld epilogslurmctld prologflags
healthcheckprogram healthcheckinterval healthchecknodestate rebootprogram suspendprogram
resumeprogram suspendtime resumefailprogram jobsubmitplugins clifilterplugins usepam
slurmctldparameters acctgatherenergytype acctgathernodefreq acctgatherprofiletype
disablerootjobs include"""
"""Keys of what a site's own programs and hardware do."""
GRES = re.compile(r"^(?P<name>[\w.]+)(?::(?P<type>[A-Za-z_][\w.+-]*))?(?::(?P<count>\d+))?$")


@dataclass(frozen=True)
class SiteFiles:
    """What a site gives."""

    slurm_conf: Path
    gres: Path | None = None
    topology: Path | None = None
    assoc: Path | None = None
    """A script of `sacctmgr`."""


@dataclass(frozen=True)
class Translated:
    """Texts of the bed's files, and what became of the site's keys."""

    cluster: str
    lines: tuple[str, ...]
    """Those of the site that are kept."""
    nodes: tuple[tuple[str, str], ...]
    """(names, rest of the line) of each line of nodes, `DEFAULT` among them."""
    replaced: tuple[str, ...]
    left_out: tuple[str, ...]

    @property
    def names(self) -> list[str]:
        return [name for names, _ in self.nodes if names != "DEFAULT" for name in hosts(names)]


def read_site(file: Path) -> Translated:
    """Sort the lines of a slurm.conf."""
    cluster, lines, nodes = "site", [], []
    replaced: list[str] = []
    left_out: list[str] = []
    for line in _logical_lines(file):
        key, equals, rest = line.partition("=")
        key = key.strip()
        lowered = key.lower()
        if not equals and not lowered.startswith("include"):
            raise InputError(f"{file}: '{line}' is no setting; one is KEY=VALUE")
        if lowered == "clustername":
            cluster = rest.strip()
        elif lowered == "nodename":
            nodes.append(_node_line(rest))
        elif lowered in OURS.split():
            replaced.append(key)
        elif lowered.split()[0] in LEFT_OUT.split():
            left_out.append(key)
        else:
            lines.append(line)
    if not any(names != "DEFAULT" for names, _ in nodes):
        raise InputError(f"{file}: it has no nodes; a line is like 'NodeName=n[1-4] CPUs=12'")
    return Translated(cluster, tuple(lines), tuple(nodes), tuple(replaced), tuple(left_out))


def slurm_conf(bed: Bed, site: Translated) -> str:
    """The file that the bed's daemons read."""
    return "\n".join([
        f"ClusterName={site.cluster}", "SlurmctldHost=localhost(127.0.0.1)",
        f"SlurmctldPort={bed.controller_port}", "SlurmUser=root", "SlurmdUser=root",
        "AuthType=auth/munge", f"AuthInfo=socket={bed.folder}/run/munge.socket",
        "CredType=cred/munge", f"StateSaveLocation={bed.folder}/state",
        f"SlurmdSpoolDir={bed.folder}/spool/%n", f"SlurmctldPidFile={bed.pids}/slurmctld",
        f"SlurmdPidFile={bed.pids}/slurmd.%n", f"SlurmctldLogFile={bed.logs}/slurmctld.log",
        f"SlurmdLogFile={bed.logs}/slurmd.%n.log", "LogTimeFormat=iso8601_ms",
        "SlurmctldDebug=debug2", "SlurmdDebug=info", "DebugFlags=Backfill,Priority",
        "ProctrackType=proctrack/linuxproc", "TaskPlugin=task/none", "MpiDefault=none",
        "SwitchType=switch/none", "SlurmdParameters=config_overrides", "ReturnToService=2",
        "AccountingStorageType=accounting_storage/slurmdbd", "AccountingStorageHost=127.0.0.1",
        f"AccountingStoragePort={bed.accounting_port}",
        f"AccountingStoragePass={bed.folder}/run/munge.socket",
        *site.lines, *_node_lines(bed, site), ""])


def gres_conf(bed: Bed, site: Translated) -> tuple[str, int]:
    """Devices of every node that has some, as files that are there; how many files that takes."""
    lines, most = ["AutoDetect=off"], 0
    for names, rest in site.nodes:
        first = 0
        for name, kind, count in _devices(rest):
            files = f"{bed.folder}/dev/device[{first}-{first + count - 1}]"
            typed = f" Type={kind}" if kind else ""
            lines.append(f"NodeName={names} Name={name}{typed} File={files}")
            first += count
        most = max(most, first)
    return "\n".join(lines) + "\n", most


def _node_lines(bed: Bed, site: Translated) -> list[str]:
    """Nodes on ports in a row, all on loopback."""
    lines, port = [], bed.node_ports[0]
    for names, rest in site.nodes:
        if names == "DEFAULT":
            lines.append(f"NodeName=DEFAULT {rest}")
            continue
        count = len(hosts(names))
        ports = f"[{port}-{port + count - 1}]" if count > 1 else str(port)
        lines.append(f"NodeName={names} NodeHostname=localhost NodeAddr=127.0.0.1 Port={ports} "
                     f"{rest}")
        port += count
    return lines


def _node_line(rest: str) -> tuple[str, str]:
    names, *words = rest.split()
    kept = [word for word in words
            if word.partition("=")[0].lower() not in ("nodeaddr", "nodehostname", "port", "state")]
    return ("DEFAULT" if names.upper() == "DEFAULT" else names), " ".join(kept)


def _devices(rest: str) -> list[tuple[str, str, int]]:
    """Name, type and count of each GRES of a line of nodes."""
    found = []
    for word in rest.split():
        key, _, value = word.partition("=")
        for each in value.split(",") if key.lower() == "gres" else ():
            parts = GRES.match(each.split("(")[0])
            if parts is None:
                raise InputError(f"Gres={each}: only NAME[:TYPE][:COUNT] can be emulated")
            found.append((parts["name"], parts["type"] or "", int(parts["count"] or 1)))
    return found


def _logical_lines(file: Path) -> list[str]:
    """Without comments, with continued lines joined."""
    text = file.read_text(encoding="utf-8").replace("\\\n", " ")
    stripped = (line.split("#", 1)[0].strip() for line in text.splitlines())
    return [line for line in stripped if line]
