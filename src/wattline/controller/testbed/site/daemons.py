"""Daemons of a site's machine: the bed's, in mounts where the site's users are known.

Users of the site need not be users of this machine: the daemons and commands are shown an
`/etc/passwd` with them. Nothing of the machine itself is changed.
"""

from __future__ import annotations

import os
import re
import stat
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from wattline.controller.testbed.configuration import slurmdbd_conf, write_secret
from wattline.controller.testbed.daemons import Daemons
from wattline.controller.testbed.layout import Bed
from wattline.controller.testbed.site.translating import (
    SiteFiles,
    Translated,
    gres_conf,
    slurm_conf,
)
from wattline.model.errors import WattlineError

FIRST_UID = 20001
NICE = -5
"""Daemons go a little before other work of the machine, which must not delay decisions."""
PATIENCE_S = 60.0
"""For what a command has to say; sbatch tries again for two minutes where slurmctld is full."""
FAILED = re.compile(r"error|unknown|invalid|unable|problem", re.IGNORECASE)


class SiteDaemons(Daemons):
    """Starts and stops the machine of a site."""

    def __init__(self, bed: Bed, files: SiteFiles, site: Translated, users: Sequence[str]) -> None:
        super().__init__(bed)
        self.files = files
        self.site = site
        self.users = users

    def write(self) -> None:
        """Write every file of the bed's folder."""
        etc = self.bed.configuration.parent
        for folder in (etc, self.bed.logs, self.bed.pids, self.bed.folder / "run",
                       self.bed.folder / "state", self.bed.folder / "dev",
                       *(self.bed.folder / "spool" / name for name in self.site.names)):
            folder.mkdir(parents=True, exist_ok=True)
        self.bed.configuration.write_text(slurm_conf(self.bed, self.site), encoding="utf-8")
        (etc / "slurmdbd.conf").write_text(slurmdbd_conf(self.bed), encoding="utf-8")
        (etc / "slurmdbd.conf").chmod(0o600)
        (etc / "cgroup.conf").write_text("CgroupAutomount=no\n", encoding="utf-8")
        if self.files.topology is not None:
            (etc / "topology.conf").write_bytes(self.files.topology.read_bytes())
        devices, count = gres_conf(self.bed, self.site)
        (etc / "gres.conf").write_text(devices, encoding="utf-8")
        for number in range(count):
            # The same device as /dev/null: slurmd wants character devices, and nothing opens them.
            os.mknod(self.bed.folder / "dev" / f"device{number}", stat.S_IFCHR | 0o666,
                     os.makedev(1, 3))
        write_secret(etc / "munge.key", 128)
        for name, line in (("passwd", "{name}:x:{uid}:{uid}::/tmp:/bin/sh"),
                           ("group", "{name}:x:{uid}:")):
            known = Path("/etc", name).read_text(encoding="utf-8").rstrip("\n")
            there = {each.split(":")[0] for each in known.splitlines()}
            added = [line.format(name=user, uid=FIRST_UID + place)
                     for place, user in enumerate(self.users) if user not in there]
            (etc / name).write_text("\n".join([known, *added, ""]), encoding="utf-8")
        self.bed.save()

    def start(self, say: Callable[[str], None] = lambda _: None) -> None:
        say("munge and the database")
        self._munge()
        self._database()
        say("slurmdbd")
        self.start_slurmdbd()
        self._run(["sacctmgr", "-i", "add", "cluster", self.site.cluster], fails=True)
        self._associations()
        say("slurmctld")
        self.start_slurmctld()
        say(f"{self.bed.nodes} slurmd")
        self._nodes()

    def _associations(self) -> None:
        """Let sacctmgr read the site's script; what it could not do is an error."""
        if self.files.assoc is None:
            return
        script = self.files.assoc.read_text(encoding="utf-8")
        lines = [line for line in script.splitlines()
                 if line.strip() and not line.lstrip().startswith("#")]
        log, errors = "", ""
        for batch in _batches(lines):
            done = subprocess.run(
                self._command(["sacctmgr", "-i"]), input="\n".join(batch) + "\n", check=False,
                capture_output=True, text=True, env=self.environment, timeout=300)
            log, errors = log + done.stdout + done.stderr, errors + done.stderr
        (self.bed.logs / "sacctmgr.log").write_text(log, encoding="utf-8")
        said = [line.strip() for line in errors.splitlines() if FAILED.search(line)]
        if said:
            raise WattlineError(f"{self.files.assoc}: sacctmgr says '{said[0]}'")

    def _nodes(self) -> None:
        starting = [self._node(name) for name in self.site.names]
        for process in starting:
            process.wait(timeout=60.0)
        self._until(self._nodes_idle, "the nodes", 60.0 + 0.2 * self.bed.nodes)

    def _node(self, name: str) -> subprocess.Popen[bytes]:
        with (self.bed.logs / "slurmd.start.log").open("ab") as log:
            return subprocess.Popen(
                self._command(["slurmd", "-b", "-N", name, "-f", str(self.bed.configuration)]),
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.environment,
                start_new_session=True)

    def _nodes_idle(self) -> bool:
        found = self._run(["sinfo", "-h", "-N", "-o", "%N %t"], fails=True)
        states = dict(line.split() for line in found.splitlines() if line.count(" ") == 1)
        return set(states) == set(self.site.names) and set(states.values()) <= {"idle"}

    def _command(self, command: Sequence[str]) -> list[str]:
        etc = self.bed.configuration.parent
        inside = (f"mount --bind {etc}/passwd /etc/passwd && mount --bind {etc}/group /etc/group "
                  f'&& exec nice -n {NICE} "$@"')
        return ["unshare", "-m", "--propagation", "private", "sh", "-c", inside, "site",
                *super()._command(command)]

    def ask(self, *command: str, stdin: str = "") -> str:
        """What a command of this Slurm prints; a `WattlineError` in one line where it fails."""
        try:
            done = subprocess.run(self._command(command), input=stdin, capture_output=True,
                                  text=True, timeout=PATIENCE_S, check=False,
                                  env={**self.environment, "SLURM_TIME_FORMAT": "standard"})
        except subprocess.TimeoutExpired as error:
            # What it said so far is bytes, whatever `text` is.
            said = _last_line((error.stderr or b"").decode(errors="replace"))
            raise WattlineError(f"{command[0]} did not end within {PATIENCE_S:.0f} s: "
                                f"{said}") from None
        if done.returncode:
            raise WattlineError(f"{command[0]} failed: {_last_line(done.stderr or done.stdout)}")
        return done.stdout


def _batches(lines: Sequence[str]) -> list[list[str]]:
    """Lines for one sacctmgr each, which knows the QOS that were there when it began, and no
    others: who names one that the script adds comes after that."""
    found: list[list[str]] = [[]]
    for line in lines:
        adds = re.match(r"\s*(add|create)\s+qos\b", line, re.IGNORECASE) is not None
        if not adds and found[-1] and re.match(r"\s*(add|create)\s+qos\b", found[-1][-1],
                                               re.IGNORECASE):
            found.append([])
        found[-1].append(line)
    return found if found[0] else []


def _last_line(said: str) -> str:
    return (said.strip().splitlines() or ["without a word"])[-1]
