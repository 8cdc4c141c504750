"""What goes wrong on a bed, in an order that a seed decides; each fault lasts for a while."""

from __future__ import annotations

import math
import os
import random
import shutil
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

from wattline.controller.testbed.agents import CLOCK, LOST
from wattline.controller.testbed.daemons import Daemons
from wattline.controller.testbed.emulator import OFF
from wattline.controller.testbed.layout import Bed
from wattline.controller.testbed.process import ControllerProcess
from wattline.live.slurm.commands import Commands, SlurmError

BETWEEN_S = (3.0, 6.0)
"""From the end of a fault to the next."""
LASTS_S = (0.5, 3.0)
SLOW_S = 2.0
WRONG_S = (3.0, 20.0)
"""By how much a clock is wrong; agents obey no order that is 30 s old by theirs."""
SLOWED = ("squeue", "sinfo", "scontrol")

Undo = Callable[[], None]


class Faults:
    """A fault every few seconds, until it is told to stop."""

    def __init__(self, bed: Bed, controller: ControllerProcess, seed: int) -> None:
        self.bed, self.controller = bed, controller
        self.daemons = Daemons(bed)
        self.commands = Commands(bed.environment)
        self._order, self.random = random.Random(seed), random.Random(f"times of {seed}")
        self.said: list[str] = []
        self.slow = bed.folder / "slow"
        write_wrappers(self.slow)
        controller.path = str(self.slow)
        self._next_s = math.nan
        """Not before the run begins: a controller may take long to start."""
        self._undo: Undo | None = None
        self._deck: list[str] = []

    def tick(self, now_s: float) -> None:
        """Begin the next fault or end the last one, where it is time; times are of the run."""
        if math.isnan(self._next_s):
            self._next_s = time.monotonic() + self.random.uniform(*BETWEEN_S)
        if time.monotonic() < self._next_s:
            return
        if self._undo is not None:
            self.over()
            return
        name = self._next_kind()
        self.said.append(f"{now_s:.1f} s: {name}")
        self._undo = self.KINDS[name](self)
        self._next_s = time.monotonic() + self.random.uniform(*LASTS_S)

    def _next_kind(self) -> str:
        """As from a shuffled deck: each kind comes once before one comes again."""
        if not self._deck:
            self._deck = deck(self._order)
        return self._deck.pop(0)

    def over(self) -> None:
        """End what is wrong now, and put nodes back as an operator would: Slurm drains one on which
        a job still ran that it had forgotten when the job's number came again."""
        if self._undo is not None:
            self._undo()
            self._undo = None
        self.daemons.resume(self.bed.names)
        self._next_s = time.monotonic() + self.random.uniform(*BETWEEN_S)

    def last(self) -> None:
        """End what is wrong now, and leave all nodes as they were found."""
        self.over()

    def _kill_controller(self) -> Undo:
        self.controller.kill()
        return self.controller.start

    def _stop_slurmctld(self) -> Undo:
        self.daemons.halt("slurmctld")
        return self.daemons.start_slurmctld

    def _kill_slurmctld(self) -> Undo:
        """Without a farewell: what it has not written to its state yet is forgotten."""
        self.daemons.kill("slurmctld")
        return self.daemons.start_slurmctld

    def _slow_commands(self) -> Undo:
        (self.slow / "on").touch()
        return lambda: (self.slow / "on").unlink(missing_ok=True)

    def _lose_node(self) -> Undo:
        """One without a job: what a node takes with it when it dies, no controller brings back."""
        name = self.random.choice(self.bed.names)
        with suppress(SlurmError):
            if self._idle(name):
                self.said[-1] += f" {name}"
                self.commands.run("scontrol", "update", f"NodeName={name}", "State=DOWN",
                                  "Reason=fault")
                self.daemons.halt(f"slurmd.{name}")
                return lambda: self._return_node(name)
        self.said[-1] += f" {name}, which was busy: nothing is done"
        return lambda: None

    def _idle(self, name: str) -> bool:
        states = self.commands.run("sinfo", "-h", "-n", name, "-o", "%T").split()
        return states[:1] == ["idle"]

    def _return_node(self, name: str) -> None:
        self.daemons.start_node(name)
        self.daemons.resume([name])

    def _kill_agents(self) -> Undo:
        self.daemons.kill("agents")
        return self.daemons.start_agents

    def _kill_broker(self) -> Undo:
        """What is under way between agents and controller is lost with it."""
        self.daemons.kill("mosquitto")
        return self.daemons.start_broker

    def _lose_busy_node(self) -> Undo:
        """Its power goes, and with it all that runs there; Slurm is told, as by a monitoring."""
        busy = [name for name in self.bed.names if self._is_busy(name)]
        if not busy:
            self.said[-1] += " none, because all were idle"
            return lambda: None
        name = self.random.choice(busy)
        self.said[-1] += f" {name}"
        off = self.bed.meters / name / OFF
        off.touch()
        self.daemons.kill_node(name)
        with suppress(SlurmError):
            self.commands.run("scontrol", "update", f"NodeName={name}", "State=DOWN",
                              "Reason=fault")

        def back() -> None:
            off.unlink(missing_ok=True)
            self._return_node(name)

        return back

    def _is_busy(self, name: str) -> bool:
        with suppress(SlurmError):
            return bool(self.commands.run("squeue", "-h", "-t", "RUNNING", "-w", name).strip())
        return False

    def _lose_messages(self) -> Undo:
        lost = self.bed.agents / LOST
        lost.touch()
        return lambda: lost.unlink(missing_ok=True)

    def _set_clock(self) -> Undo:
        name = self.random.choice(self.bed.names)
        wrong_s = self.random.choice((-1, 1)) * self.random.uniform(*WRONG_S)
        self.said[-1] += f" {name} by {wrong_s:+.1f} s"
        file = self.bed.agents / name / CLOCK
        file.write_text(f"{wrong_s}\n", encoding="ascii")
        return lambda: file.unlink(missing_ok=True)

    def _stop_slurmdbd(self) -> Undo:
        self.daemons.halt("slurmdbd")
        return self.daemons.start_slurmdbd

    KINDS: ClassVar[Mapping[str, Callable[[Faults], Undo]]] = {
        "the controller is killed": _kill_controller,
        "slurmctld is restarted": _stop_slurmctld,
        "slurmctld is killed": _kill_slurmctld,
        "Slurm's commands are slow": _slow_commands,
        "slurmd vanishes on": _lose_node,
        "the agents are killed": _kill_agents,
        "the broker is killed": _kill_broker,
        "a node dies with its job:": _lose_busy_node,
        "messages of agents are lost": _lose_messages,
        "a clock is set wrong:": _set_clock,
        "slurmdbd is restarted": _stop_slurmdbd}


def deck(source: random.Random) -> list[str]:
    """All kinds of faults in an order of its own."""
    return source.sample(sorted(Faults.KINDS), len(Faults.KINDS))


def write_wrappers(folder: Path) -> None:
    """Commands that wait before they do what they are told, while a file is there."""
    folder.mkdir(exist_ok=True)
    for name in SLOWED:
        real = shutil.which(name)
        if real is None:
            continue
        file = folder / name
        file.write_text(f"#!/bin/sh\n[ -e {folder}/on ] && sleep {SLOW_S:g}\nexec {real} \"$@\"\n",
                        encoding="ascii")
        os.chmod(file, 0o755)
