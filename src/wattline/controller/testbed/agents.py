"""The agents of all nodes of a bed in one process, on one connection to its broker.

Each is a whole agent with a folder of its own; only the process and the connection are shared.
"""

from __future__ import annotations

import resource
import select
import signal
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from wattline.controller.testbed.emulator import OFF, go_first
from wattline.controller.testbed.layout import Bed
from wattline.live.agent.agent import Agent, Clocks
from wattline.live.agent.caps import Caps
from wattline.live.agent.marks import Marks
from wattline.live.agent.meter import Meter
from wattline.live.agent.running import Inbox, alone, marked
from wattline.live.agent.settings import AgentSettings
from wattline.live.found import open_actuator, open_sensor
from wattline.live.mqtt_fleet import MqttFleet
from wattline.live.transport.broker import AGENTS, CONTROLLER
from wattline.live.transport.link import Link, read_key
from wattline.live.transport.messages import key_of, pack_state, topic

KNOB = "psys@0"
LOST = "lost"
"""While a file of this name lies in the agents' folder, no message comes or goes."""
CLOCK = "clock"
"""A file of this name in an agent's folder says by how many seconds its clock is wrong."""


def fleet_of(bed: Bed, *, seen: Mapping[str, tuple[int, int, float]] | None = None) -> MqttFleet:
    """The fleet of a bed, for its controller."""
    return MqttFleet(bed.broker.of(CONTROLLER), bed.cluster, bed.names, _master(bed), seen=seen)


def agents_of(bed: Bed) -> dict[str, Any]:
    """What the file of a site says of the agents on its nodes."""
    return {"cluster": bed.cluster, "order_key": str(bed.broker.order_key(CONTROLLER)),
            "broker": bed.broker.of(CONTROLLER).model_dump()}


def settings_of(bed: Bed, name: str) -> AgentSettings:
    """As agent.toml of a node would say it."""
    place = str(bed.meters / name / "powercap")
    return AgentSettings.model_validate({
        "cluster": bed.cluster, "node": name, "broker": bed.broker.of(AGENTS),
        "order_key": str(bed.broker.order_key(CONTROLLER)), "folder": str(bed.agents / name),
        "sensor": {"place": place},
        "limits": {"place": place, "knobs": (KNOB,), "low": bed.power.least_w,
                   "high": bed.power.maximum_w, "safe": bed.power.least_w}})


class Agents:
    """All agents of a bed."""

    def __init__(self, bed: Bed, say: Callable[[str], None] = lambda _: None) -> None:
        self.bed = bed
        self._agents = {name: self._made(name, say) for name in bed.names}
        self._marks = {marks.fileno(): (name, marks) for name, agent in self._agents.items()
                       for marks in (Marks(bed.agents / name, agent.counter_files),)}
        self._inbox = Inbox()
        self._greeted = False
        self._poll = select.poll()  # select takes no file above 1023
        for file in (*self._marks, self._inbox.fileno()):
            self._poll.register(file, select.POLLIN)
        self._link = Link(bed.broker.of(AGENTS), f"{bed.cluster}-{AGENTS}",
                          [topic(bed.cluster, "+", "order")], self._inbox.put, say=say)

    def run(self, stop: Callable[[], bool], every_s: float = 1.0) -> None:
        next_s = time.monotonic()
        while not stop():
            self._greet()
            self._wait(next_s - time.monotonic())
            if time.monotonic() >= next_s:
                for name, marks in self._marks.values():
                    self._hear_marks(name, marks)  # those that came while nobody listened
                for name, agent in self._agents.items():
                    if not self._is_off(name):
                        self._send(name, agent.tick())
                next_s = max(next_s + every_s, time.monotonic())

    def _greet(self) -> None:
        """Each time the link is there again: a broker that was killed has forgotten it."""
        connected = self._link.connected
        if connected and not self._greeted:
            for name in self._agents:
                self._link.publish(topic(self.bed.cluster, name, "state"),
                                   pack_state(self.bed.power.least_w), retain=True)
        self._greeted = connected

    def close(self) -> None:
        for agent in self._agents.values():
            agent.close()
        self._link.close()

    def _made(self, name: str, say: Callable[[str], None]) -> Agent:
        settings = settings_of(self.bed, name)
        place = Path(settings.sensor.place)
        Path(settings.folder).mkdir(parents=True, exist_ok=True)

        def clock() -> float:
            return time.time() + wrong_s(Path(settings.folder))

        return Agent(name, key_of(_master(self.bed), self.bed.cluster, name), settings,
                     Meter(open_sensor("powercap", place), clock=clock),
                     Caps(open_actuator("powercap", place), settings.limits),
                     Path(settings.folder), clocks=Clocks(clock),
                     say=lambda said: say(f"{name}: {said}"))

    def _wait(self, wait_s: float) -> None:
        ready = self._poll.poll(max(wait_s, 0.0) * 1000)
        while (order := self._inbox.get()) is not None:
            name = order[0].split("/")[2]
            if name in self._agents and not self._is_off(name) and not self._lost():
                for message in self._agents[name].hear(order[1]):
                    self._send(name, message)
        for file, _ in ready:
            if file in self._marks:
                self._hear_marks(*self._marks[file])

    def _hear_marks(self, name: str, marks: Marks) -> None:
        if self._is_off(name):
            return
        for message in marked(self._agents[name], marks):
            self._send(name, message)

    def _is_off(self, name: str) -> bool:
        """A node without power has no agent."""
        return (self.bed.meters / name / OFF).exists()

    def _lost(self) -> bool:
        return (self.bed.agents / LOST).exists()

    def _send(self, name: str, message: bytes) -> None:
        if self._lost():
            return
        self._link.publish(topic(self.bed.cluster, name, "report"), message)


def wrong_s(folder: Path) -> float:
    """By how much the clock of a node is wrong."""
    try:
        return float((folder / CLOCK).read_text(encoding="ascii"))
    except (OSError, ValueError):
        return 0.0


def _master(bed: Bed) -> bytes:
    return read_key(str(bed.broker.order_key(CONTROLLER)))


def run(folder: Path) -> None:
    """Run the agents of a bed until told to stop."""
    go_first()  # each has a node to itself, and does not wait for what this machine is busy with
    bed = Bed.open(folder)
    resource.setrlimit(resource.RLIMIT_NOFILE, (4 * bed.nodes + 256,) * 2)
    stopped: list[int] = []
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, lambda number, frame: stopped.append(number))
    with alone(bed.agents), (bed.logs / "agents.log").open("a", encoding="utf-8") as log:
        def say(said: str) -> None:
            log.write(f"{time.time():.3f} {said}\n")
            log.flush()

        agents = Agents(bed, say)
        try:
            agents.run(lambda: bool(stopped))
        finally:
            agents.close()


if __name__ == "__main__":
    run(Path(sys.argv[1]))
