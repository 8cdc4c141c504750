"""A controller with a told Slurm in a folder of its own, for the live source to look at."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.support.asking import Asking

from wattline.controller.asking import watts_of_licences
from wattline.controller.configuration import read_configuration
from wattline.controller.controller import Controller
from wattline.controller.desk import open_desk
from wattline.controller.priorities import shares_of
from wattline.controller.showing import MachineWriter
from wattline.controller.watching import Watcher
from wattline.live.slurm.client import Seen, Slurm
from wattline.live.slurm.reading import SlurmJob, SlurmNode
from wattline.scenario.objects import Machine
from wattline.scenario.opening import open_books
from wattline.web.app import create_app
from wattline.web.settings import Settings
from wattline.web.sources.live import LiveSource

NAMES = ["n1", "n2", "n3", "n4"]
SITE = """nodes = "n[1-4]"
node_idle_w = 90
node_active_w = 300
cap = 1000
folder = "desk"
classes = [{ name = "thin", nodes = "n[1-2]" }, { name = "fat", nodes = "n[3-4]" }]
"""


def job(label: str, nodes: int, **more) -> SlurmJob:
    return replace(SlurmJob(label, int(label), 0, "PENDING", nodes, nodes, 600.0, math.nan,
                            math.nan, time.time() - 60, partition="batch", user="ann",
                            account="physics", name="cfd", licenses={"watts": 300 * nodes}), **more)


@dataclass(frozen=True)
class ToldSlurm(Slurm):
    jobs: dict[str, SlurmJob] = field(default_factory=dict)

    def look(self) -> Seen:
        return Seen(time.time(), tuple(self.jobs.values()),
                    tuple(SlurmNode(name, ("idle",), 1) for name in NAMES))

    def job(self, label: str) -> SlurmJob | None:
        return self.jobs.get(label)


@dataclass
class Site:
    file: Path
    controller: Controller
    slurm: ToldSlurm

    @contextmanager
    def going(self) -> Iterator[None]:
        """Cycles in a thread, as the controller's process has them."""
        stop = threading.Event()

        def cycles() -> None:
            while not stop.wait(0.01):
                self.controller.cycle()

        thread = threading.Thread(target=cycles)
        self.controller.cycle()
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()


def made(tmp_path: Path, more: str = "") -> Site:
    """One job of two nodes runs with 600 W by its licences, two like it wait; 780 W are drawn."""
    file = tmp_path / "site.toml"
    file.write_text(SITE + more)
    found = read_configuration(file)
    books = open_books(machine=Machine(nodes=4, node_idle_w=90, node_active_w=300), cap=found.cap,
                       order=found.policy.order, power=found.policy.power,
                       placement=found.policy.placement, start_s=time.time())
    slurm = ToldSlurm()
    controller = Controller(books, slurm, Watcher(NAMES, watts=watts_of_licences()))
    controller.listeners = (MachineWriter(controller, tmp_path / "desk",
                                          shares=shares_of(found)),)
    open_desk(controller, found)
    running = job("7", 2, state="RUNNING", start_s=time.time() - 30, node_list=("n1", "n2"),
                  priority=5)
    slurm.jobs.update({"7": running, "8": job("8", 2), "9": job("9", 2, user="bob")})
    return Site(file, controller, slurm)


def asking(site: Site, **more) -> Asking:
    source = LiveSource(site.file, **more)
    return Asking(create_app(source, Settings(journal=site.file.parent / "actions.jsonl")))
