"""Where everything of a test bed lies: one folder, and ports on loopback."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Collection
from dataclasses import asdict, dataclass, field
from pathlib import Path

from wattline.live.transport.broker import BrokerFiles
from wattline.model.errors import InputError

MOST_NODES = 1024
LONGEST_FOLDER = 60
"""Characters: a socket's name may have 107, and sockets lie a few folders deep."""
LAYOUT = "bed.json"
FIRST_PORT, LAST_PORT = 21000, 32767
"""Above these lie the ports that the kernel gives to outgoing connections, which come and go."""


@dataclass(frozen=True)
class NodePower:
    """What an emulated node draws and can be limited to."""

    idle_w: float = 90.0
    active_w: float = 300.0
    """With a job that says nothing of itself."""
    least_w: float = 120.0
    """No cap takes a busy node below it."""
    maximum_w: float = 400.0
    off_w: float = 5.0


@dataclass(frozen=True)
class Bed:
    """The folder of a bed and what it was made with; saved in it."""

    folder: Path
    nodes: int
    port: int
    """The first of those that are its own: controller, database daemon, database, REST, broker,
    nodes."""
    cluster: str = "bed"
    cores: int = 32
    power: NodePower = field(default_factory=NodePower)
    root: str = ""
    """Where its Slurm lies, if it is not the machine's own: the root of a Debian."""

    @property
    def names(self) -> list[str]:
        return [f"n{number:04d}" for number in range(1, self.nodes + 1)]

    @property
    def host_list(self) -> str:
        return f"n[0001-{self.nodes:04d}]" if self.nodes > 1 else "n0001"

    @property
    def controller_port(self) -> int:
        return self.port

    @property
    def accounting_port(self) -> int:
        return self.port + 1

    @property
    def database_port(self) -> int:
        return self.port + 2

    @property
    def rest_port(self) -> int:
        return self.port + 3

    @property
    def broker_port(self) -> int:
        return self.port + 4

    @property
    def node_ports(self) -> tuple[int, int]:
        first = self.port + 10
        return first, first + self.nodes - 1

    @property
    def configuration(self) -> Path:
        return self.folder / "etc" / "slurm.conf"

    @property
    def work(self) -> Path:
        """Where jobs say what they do, and wait for its end."""
        return self.folder / "work"

    @property
    def meters(self) -> Path:
        """A folder per node: `pm_counters` and `powercap`, as a node's own files would lie."""
        return self.folder / "meters"

    @property
    def broker(self) -> BrokerFiles:
        """Keys and configuration of the MQTT broker that agents and controller speak through."""
        return BrokerFiles(self.folder / "mqtt", self.cluster, "127.0.0.1", self.broker_port)

    @property
    def agents(self) -> Path:
        """A folder per node's agent: its readings, what it found, the pipe for marks."""
        return self.folder / "agents"

    @property
    def logs(self) -> Path:
        return self.folder / "log"

    @property
    def pids(self) -> Path:
        return self.folder / "pid"

    @property
    def programs(self) -> Path:
        """Where the programs of a Slurm of its own lie."""
        return self.folder / "bin"

    @property
    def path(self) -> str:
        """Where its programs are looked for."""
        own = f"{self.programs}:" if self.root else ""
        return f"{own}{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin:/sbin"

    @property
    def environment(self) -> dict[str, str]:
        """What Slurm's own commands need to speak to this bed and no other."""
        own = {"PATH": self.path} if self.root else {}
        return {"SLURM_CONF": str(self.configuration), "TZ": "UTC", **own}

    def save(self) -> None:
        said = asdict(self) | {"folder": str(self.folder)}
        (self.folder / LAYOUT).write_text(json.dumps(said, indent=1), encoding="utf-8")

    @classmethod
    def open(cls, folder: Path) -> Bed:
        try:
            said = json.loads((folder / LAYOUT).read_text(encoding="utf-8"))
            power = NodePower(**said.pop("power"))
            return cls(**(said | {"folder": folder, "power": power}))
        except OSError:
            raise InputError(f"{folder} is no test bed: `wattline testbed up` makes one") from None
        except (ValueError, TypeError, KeyError) as error:
            raise InputError(f"{folder / LAYOUT} cannot be read: {error}") from None


def lay_out(
    folder: Path, nodes: int, *, port: int | None = None, cores: int = 32,
    power: NodePower | None = None, root: str = "", avoid: Collection[int] = (),
) -> Bed:
    """The bed of a folder that is not there yet, on ports that are free and not in `avoid`."""
    if not 1 <= nodes <= MOST_NODES:
        raise InputError(f"a bed has from 1 to {MOST_NODES} nodes, not {nodes}")
    folder = folder.resolve()
    if len(str(folder)) > LONGEST_FOLDER:
        raise InputError(f"{folder}: the name of a bed's folder may have {LONGEST_FOLDER} "
                         "characters, because sockets lie in it; choose a shorter one")
    if folder.exists() and any(folder.iterdir()):
        raise InputError(f"{folder} is there already and not empty; take that bed down, or name "
                         "another folder")
    first = _free_ports(nodes + 10, avoid) if port is None else port
    return Bed(folder, nodes, first, cores=cores, power=power or NodePower(), root=root)


def _free_ports(count: int, avoid: Collection[int] = ()) -> int:
    """The first of so many ports in a row of which the daemons' own are free."""
    # Beds that are made at the same time begin to look at different places.
    first = FIRST_PORT + os.getpid() % 100 * 100
    while first + count < LAST_PORT:
        taken = [port for port in (*range(first, first + 12), first + count - 1)
                 if port in avoid or not _is_free(port)]
        if not taken:
            return first
        first = max(taken) + 1
    raise InputError(f"there are no {count} free ports on loopback")


def _is_free(port: int) -> bool:
    with socket.socket() as tried:
        try:
            tried.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
