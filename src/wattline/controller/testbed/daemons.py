"""The daemons of a bed: started in their order, known by their pids, stopped by them."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from wattline.controller.testbed.configuration import DATABASE
from wattline.controller.testbed.emulator import GONE, state_of
from wattline.controller.testbed.layout import Bed
from wattline.model.errors import InputError, WattlineError

PROGRAMS = {
    "munged": "munge", "mariadbd": "mariadb-server-core", "mariadb-install-db":
    "mariadb-server-core", "mariadb": "mariadb-client-core", "slurmdbd": "slurmdbd",
    "slurmctld": "slurmctld", "slurmd": "slurmd", "sacctmgr": "slurm-client",
    "scontrol": "slurm-client", "sbatch": "slurm-client", "mosquitto": "mosquitto",
    "openssl": "openssl",
}
"""What a bed is made of, and the Debian package of each."""
START_S = 60.0
STOP_S = 30.0
RETURN_S = 30.0
TAKES_JOBS = ("idle", "mixed", "alloc", "completing")
"""States of nodes that are well; one with a star does not answer."""
NODES_AT_ONCE = 16
NOBODY_SPECIAL = "daemon"
"""A user that every Debian has and that owns nothing of a bed."""


def missing_programs() -> list[str]:
    """Debian packages that a bed needs and this machine lacks."""
    return sorted({package for name, package in PROGRAMS.items() if program(name) is None})


def program(name: str) -> str | None:
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin:/sbin")


class Daemons:
    """Starts and stops what a bed runs."""

    def __init__(self, bed: Bed) -> None:
        self.bed = bed
        self.environment = {**os.environ, **bed.environment}

    def start(self, say: Callable[[str], None] = lambda _: None) -> None:
        say("munge")
        self._munge()
        say("database")
        self._database()
        say("slurmdbd")
        self.start_slurmdbd()
        self._run(["sacctmgr", "-i", "add", "cluster", self.bed.cluster], fails=True)
        say("emulated nodes")
        self._daemon("emulator", [sys.executable, "-m", "wattline.controller.testbed.emulator",
                                  str(self.bed.folder)])
        # slurmd mounts the files of its node, and agents open them.
        self._until(self._nodes_made, "emulated nodes")
        self.start_broker()
        self.start_agents()
        say("slurmctld")
        self.start_slurmctld()
        if self.has_rest:
            self.start_rest()
        say(f"{self.bed.nodes} slurmd")
        self._nodes()

    def start_slurmctld(self) -> None:
        self._daemon("slurmctld", ["slurmctld", "-D", "-f", str(self.bed.configuration)])
        self._until(lambda: self._answers(["scontrol", "ping"]), "slurmctld")

    def start_slurmdbd(self) -> None:
        self._daemon("slurmdbd", ["slurmdbd", "-D"])
        self._until(lambda: self._answers(["sacctmgr", "-n", "show", "cluster"]), "slurmdbd")

    def kill_node(self, name: str) -> None:
        """End a slurmd and all that it has started, as a loss of power would.

        What it has started is in its own namespace of mounts.
        """
        with self._spaces(name) as spaces:
            _end_all(spaces)

    @property
    def has_rest(self) -> bool:
        """Whether there is a slurmrestd: its package is no must. Another Slurm runs as root by
        `chroot`, and slurmrestd refuses root."""
        return program("slurmrestd") is not None and not self.bed.root

    def start_rest(self) -> None:
        """Slurm's REST interface, for those who have a token of `scontrol token`."""
        self._daemon("slurmrestd", ["slurmrestd", "-a", "rest_auth/jwt",
                                    f"127.0.0.1:{self.bed.rest_port}"],
                     user=NOBODY_SPECIAL, SLURM_JWT="daemon")

    def start_node(self, name: str) -> None:
        self._node(name).wait(timeout=START_S)

    def resume(self, names: Collection[str]) -> dict[str, str]:
        """Bring nodes back that Slurm lets no job on, however long ago they were lost.

        One that was resumed may be lost again: a slurmctld that is killed comes back with the
        states it has saved. What Slurm said of those that were away is given, by node.
        """
        until_s = time.monotonic() + RETURN_S
        found: dict[str, str] = {}
        while away := {name: said for name, said in self.away().items() if name in names}:
            if time.monotonic() > until_s:
                break  # what stays away is seen by who asks again
            found |= away
            for name in away:
                if not self.running().get(f"slurmd.{name}", False):
                    self.start_node(name)
                self._run(["scontrol", "update", f"NodeName={name}", "State=RESUME"], fails=True)
            time.sleep(0.5)
        return found

    def away(self) -> dict[str, str]:
        """Nodes that take no job, with state and reason; all where slurmctld does not answer."""
        said = self._run(["sinfo", "-h", "-N", "-o", "%N|%T|%E"], fails=True)
        seen = {name: (state, reason) for name, state, reason in
                (line.split("|", 2) for line in said.splitlines() if line.count("|") >= 2)}
        states = {name: seen.get(name, ("unknown", "slurmctld says nothing"))
                  for name in self.bed.names}
        return {name: f"{state}: {reason}" for name, (state, reason) in states.items()
                if not state.startswith(TAKES_JOBS) or state.endswith("*")}

    def kill(self, name: str) -> None:
        """End one daemon at once, as a crash would, and wait until it has gone."""
        pid = self._pid(self.bed.pids / name)
        if pid is None:
            return
        os.kill(pid, signal.SIGKILL)
        while is_running(pid):
            time.sleep(0.02)

    def halt(self, name: str) -> None:
        """Stop one daemon, and wait until it has gone."""
        pid = self._pid(self.bed.pids / name)
        until_s = time.monotonic() + STOP_S
        if pid is None or not _ask(pid):
            return
        while is_running(pid) and time.monotonic() < until_s:
            time.sleep(0.05)

    def start_broker(self) -> None:
        self._daemon("mosquitto", ["mosquitto", "-c", str(self.bed.broker.configuration)])

    def start_agents(self) -> None:
        self._daemon("agents", [sys.executable, "-m", "wattline.controller.testbed.agents",
                                str(self.bed.folder)])

    def stop(self) -> None:
        """Stop everything by its pid, the nodes first; what is gone already is no error."""
        files = sorted(self.bed.pids.glob("*"), key=_last_started_first)
        with self._spaces("*") as spaces:
            asked = [pid for file in files if (pid := self._pid(file)) is not None and _ask(pid)]
            until_s = time.monotonic() + STOP_S
            while any(map(is_running, asked)) and time.monotonic() < until_s:
                time.sleep(0.05)
            for pid in asked:
                if is_running(pid):
                    os.kill(pid, signal.SIGKILL)
            _end_all(spaces)  # jobs outlive their slurmd
        for file in files:
            file.unlink(missing_ok=True)

    def running(self) -> dict[str, bool]:
        """Which daemons run, by name."""
        return {file.name: self._pid(file) is not None
                for file in sorted(self.bed.pids.glob("*"))}

    @contextmanager
    def _spaces(self, name: str) -> Iterator[set[str]]:
        """The namespaces of the nodes of that name; never our own.

        They are kept open meanwhile: the kernel gives the number of one that is gone to the next
        that is made, which may be of a node of another bed.
        """
        pids = [pid for file in self.bed.pids.glob(f"slurmd.{name}")
                if (pid := self._pid(file)) is not None]
        with ExitStack() as kept:
            found = set()
            for pid in pids:
                with suppress(OSError):
                    kept.enter_context(Path(f"/proc/{pid}/ns/mnt").open("rb"))
                    found.add(os.readlink(f"/proc/{pid}/ns/mnt"))
            yield found - {os.readlink("/proc/self/ns/mnt")}

    def _pid(self, file: Path) -> int | None:
        """The daemon of this file if it runs: the number of one that is gone may be another's."""
        pid = _pid(file)
        return pid if pid is not None and is_running(pid) and self._is_ours(pid) else None

    def _is_ours(self, pid: int) -> bool:
        """Whether it was started with a name of something in the bed's folder."""
        place = f"{self.bed.folder}/".encode()
        with suppress(OSError):
            return any(place in Path(f"/proc/{pid}/{said}").read_bytes()
                       for said in ("cmdline", "environ"))
        return False

    def _munge(self) -> None:
        run = self.bed.folder / "run"
        self._run(["munged", "--force", f"--key-file={self.bed.folder}/etc/munge.key",
                   f"--socket={run}/munge.socket", f"--pid-file={self.bed.pids}/munged",
                   f"--log-file={self.bed.logs}/munged.log", f"--seed-file={run}/munge.seed"])

    def _database(self) -> None:
        data = self.bed.folder / "database"
        # Its own place for temporary tables: a server that starts removes those of others.
        own = [f"--datadir={data}", f"--tmpdir={self.bed.folder / 'run'}", "--user=root"]
        self._run(["mariadb-install-db", "--no-defaults", *own,
                   "--auth-root-authentication-method=normal", "--skip-test-db"])
        socket = self.bed.folder / "run" / "mariadb.socket"
        self._daemon("mariadbd", [
            "mariadbd", "--no-defaults", *own, f"--socket={socket}",
            "--bind-address=127.0.0.1", f"--port={self.bed.database_port}",
            "--innodb-buffer-pool-size=64M", "--innodb-lock-wait-timeout=900",
            "--innodb-flush-log-at-trx-commit=0"])
        ask = ["mariadb", "--no-defaults", f"--socket={socket}", "-u", "root", "-e"]
        self._until(lambda: self._answers([*ask, "SELECT 1"]), "mariadbd")
        self._run([*ask, f"CREATE DATABASE {DATABASE}; CREATE USER slurm@'127.0.0.1' IDENTIFIED "
                         f"BY 'slurm'; GRANT ALL ON {DATABASE}.* TO slurm@'127.0.0.1'"])

    def _nodes(self) -> None:
        """A slurmd per node, each with meters of its own; it goes into the background itself."""
        starting: list[subprocess.Popen[bytes]] = []
        for name in self.bed.names:
            starting.append(self._node(name))
            if len(starting) >= NODES_AT_ONCE:
                starting.pop(0).wait(timeout=START_S)
        for process in starting:
            process.wait(timeout=START_S)
        self._until(self._nodes_idle, "the nodes", START_S + 0.2 * self.bed.nodes)

    def _nodes_made(self) -> bool:
        """The limit of the last node is the last file that the emulator makes."""
        last = self.bed.meters / self.bed.names[-1] / "powercap"
        return any(last.glob("*/constraint_0_power_limit_uw"))

    def _node(self, name: str) -> subprocess.Popen[bytes]:
        """Its own mounts show slurmd the node's emulated counters where a Cray has them."""
        (self.bed.folder / "spool" / name).mkdir(exist_ok=True)
        inside = f"exec {self._command(['slurmd'])[0]} -b -N {name} -f {self.bed.configuration}"
        with (self.bed.logs / "slurmd.start.log").open("ab") as log:
            # Slurm runs its programs with the first descriptors closed: a slurmd that took one of
            # them for its log would lose it when it goes into the background, and start no step.
            return subprocess.Popen(
                ["unshare", "-m", "--propagation", "private", "sh", "-c",
                 _with_counters(self.bed.meters / name / "pm_counters", inside)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.environment,
                start_new_session=True)

    def _has_meters(self) -> bool:
        """Each slurmd is shown its node's counters when it starts: they must be there."""
        return all((self.bed.meters / name / "pm_counters" / "energy").exists()
                   for name in self.bed.names)

    def _nodes_idle(self) -> bool:
        found = self._run(["sinfo", "-h", "-N", "-o", "%N %t"], fails=True)
        states = dict(line.split() for line in found.splitlines() if line.count(" ") == 1)
        return len(states) == self.bed.nodes and set(states.values()) <= {"idle"}

    def _daemon(self, name: str, command: Sequence[str], *, user: str | None = None,
                **more: str) -> None:
        with (self.bed.logs / f"{name}.out").open("ab") as log:
            process = subprocess.Popen(self._command(command), stdin=subprocess.DEVNULL,
                                       stdout=log, stderr=log, env=self.environment | more,
                                       start_new_session=True, user=user, group=user,
                                       extra_groups=None if user is None else [])
        (self.bed.pids / name).write_text(f"{process.pid}\n", encoding="ascii")

    def _run(self, command: Sequence[str], *, fails: bool = False) -> str:
        done = subprocess.run(self._command(command), capture_output=True, text=True,
                              env=self.environment, timeout=START_S, check=False)
        if done.returncode and not fails:
            said = (done.stderr or done.stdout).strip().splitlines() or ["without a word"]
            raise WattlineError(f"{command[0]} failed: {said[-1]}")
        return done.stdout

    def _answers(self, command: Sequence[str]) -> bool:
        try:
            done = subprocess.run(self._command(command), capture_output=True, check=False,
                                  env=self.environment, timeout=START_S)
        except subprocess.TimeoutExpired:
            return False
        return done.returncode == 0 and b"DOWN" not in done.stdout

    def _until(self, ready: Callable[[], bool], what: str, within_s: float = START_S) -> None:
        until_s = time.monotonic() + within_s
        while not ready():
            if time.monotonic() > until_s:
                raise WattlineError(f"{what} did not come up in {within_s:.0f} s; its log is in "
                                    f"{self.bed.logs}")
            time.sleep(0.1)

    def _command(self, command: Sequence[str]) -> list[str]:
        found = shutil.which(command[0], path=self.bed.path)
        if found is None:
            package = PROGRAMS.get(command[0], command[0])
            raise InputError(f"the program {command[0]} is missing (Debian package {package})")
        return [found, *command[1:]]


def _with_counters(counters: Path, then: str) -> str:
    """A shell command that runs `then` where /sys/cray/pm_counters is this folder."""
    return f"""set -e
copy=$(mktemp -d)
mount -t tmpfs tmpfs "$copy"
for each in /sys/*; do
  mkdir -p "$copy/${{each#/sys/}}"
  mount --rbind "$each" "$copy/${{each#/sys/}}"
done
mkdir -p "$copy/cray/pm_counters"
mount --rbind "$copy" /sys
mount --bind {counters} /sys/cray/pm_counters
{then}"""


def is_running(pid: int) -> bool:
    return state_of(pid) not in GONE


def _space(pid: int) -> str | None:
    """Its namespace of mounts; None of one that is gone."""
    try:
        return os.readlink(f"/proc/{pid}/ns/mnt") if is_running(pid) else None
    except OSError:
        return None


def _end_all(spaces: Collection[str]) -> None:
    """Kill all processes of these namespaces, until none comes after."""
    until_s = time.monotonic() + STOP_S
    while spaces and time.monotonic() < until_s:
        there = [each for each in _pids() if _space(each) in spaces]
        if not there:
            return
        for each in there:
            with suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)
        time.sleep(0.05)


def _pids() -> list[int]:
    return [int(each.name) for each in Path("/proc").iterdir() if each.name.isdecimal()]


def _pid(file: Path) -> int | None:
    try:
        return int(file.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def _ask(pid: int) -> bool:
    try:
        os.kill(pid, signal.SIGTERM)
    except OSError:
        return False
    return True


ORDER = ("slurmd", "slurmrestd", "slurmctld", "slurmdbd", "agents", "mosquitto", "emulator",
         "mariadbd", "munged")


def _last_started_first(file: Path) -> tuple[int, str]:
    kind = file.name.partition(".")[0]
    return (ORDER.index(kind) if kind in ORDER else len(ORDER)), file.name
