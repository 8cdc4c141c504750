"""An agent that goes on until it is told to stop: one per folder, one thread beside MQTT's own."""

from __future__ import annotations

import queue
import select
import socket
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from pathlib import Path

from wattline.live.agent.agent import Agent, make_agent
from wattline.live.agent.marks import Marks
from wattline.live.agent.settings import AgentSettings
from wattline.live.folder_lock import alone_in
from wattline.live.transport.link import Link
from wattline.live.transport.messages import pack_state, topic
from wattline.model.errors import WattlineError


def run_agent(
    settings: AgentSettings, *, say: Callable[[str], None] = lambda _: None,
    stop: Callable[[], bool] = lambda: False,
) -> None:
    """Read, report and obey until told to stop; then put back what was found."""
    folder = Path(settings.folder)
    with alone(folder):
        agent = make_agent(settings, say=say)
        marks = Marks(folder, agent.counter_files)
        inbox = Inbox()
        link = Link(settings.broker, f"{settings.cluster}-{settings.node}",
                    [topic(settings.cluster, settings.node, "order")], inbox.put, say=say,
                    state=topic(settings.cluster, settings.node, "state"),
                    greeting=pack_state(
                        settings.limits.safe if settings.limits.knobs else None))
        try:
            _loop(settings, agent, marks, inbox, link, stop)
        finally:
            agent.close()
            link.close()
            marks.close()
            inbox.close()


def restore_node(settings: AgentSettings) -> dict[str, float]:
    """Put back what a killed agent found, without running one; what holds then."""
    with alone(Path(settings.folder)):
        said: list[str] = []
        agent = make_agent(settings, say=said.append)
        changed = set(agent.found)
        said.clear()
        agent.close()
        if said:
            raise WattlineError(f"not everything could be put back: {'; '.join(said)}")
        return {knob: value for knob, value in agent.held().items() if knob in changed}


def _loop(
    settings: AgentSettings, agent: Agent, marks: Marks, inbox: Inbox, link: Link,
    stop: Callable[[], bool],
) -> None:
    reports = topic(settings.cluster, settings.node, "report")
    next_s = time.monotonic()
    while not stop():
        wait_s = next_s - time.monotonic()
        if wait_s > 0:
            select.select([marks.fileno(), inbox.fileno()], [], [], wait_s)
        while (order := inbox.get()) is not None:
            for message in agent.hear(order[1]):
                link.publish(reports, message)
        for message in marked(agent, marks):
            link.publish(reports, message)
        if time.monotonic() >= next_s:
            link.publish(reports, agent.tick())
            # After a pause it goes on from now; it does not catch up.
            next_s = max(next_s + settings.every, time.monotonic())


def marked(agent: Agent, marks: Marks) -> list[bytes]:
    """The messages of marks that came; each is on disk before it is forgotten here."""
    messages = [agent.mark(job) for job in marks.jobs()]
    messages += [agent.noted(mark) for mark in marks.noted()]
    marks.done()
    return messages


class Inbox:
    """Messages from the client's thread; readable, to `select`, when there are some."""

    def __init__(self) -> None:
        self._messages: queue.SimpleQueue[tuple[str, bytes]] = queue.SimpleQueue()
        self._in, self._out = socket.socketpair()
        self._in.setblocking(False)
        self._out.setblocking(False)

    def fileno(self) -> int:
        return self._out.fileno()

    def put(self, topic: str, payload: bytes) -> None:
        self._messages.put((topic, payload))
        try:
            self._in.send(b"\0")
        except BlockingIOError:
            return  # it is readable already

    def get(self) -> tuple[str, bytes] | None:
        with suppress(BlockingIOError):
            self._out.recv(4096)
        try:
            return self._messages.get_nowait()
        except queue.Empty:
            return None

    def close(self) -> None:
        self._in.close()
        self._out.close()


def alone(folder: Path) -> AbstractContextManager[None]:
    """Be the only agent of this folder."""
    return alone_in(folder, f"another agent holds {folder}: a node has one", mode=0o700)
