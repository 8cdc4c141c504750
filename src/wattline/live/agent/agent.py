"""One agent: what it reads, keeps and obeys; whoever runs it carries its messages.

It acts on signed orders alone, within the limits of its own file. An order holds for its lease,
counted on a clock that nobody sets; when the lease ends, the safe cap holds until there is an order
again. An agent that never had an order changes nothing.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wattline.live.agent.caps import Caps
from wattline.live.agent.devices import DevicePowers
from wattline.live.agent.marks import Mark
from wattline.live.agent.meter import Measured, Meter
from wattline.live.agent.settings import AgentSettings
from wattline.live.agent.spool import Spool
from wattline.live.agent.state import State, boot_id
from wattline.live.fleet import NodeReport
from wattline.live.found import open_actuator, open_sensor
from wattline.live.sensor import Quality
from wattline.live.transport.link import read_key
from wattline.live.transport.messages import (
    Kind,
    MessageError,
    Order,
    pack_reading,
    pack_report,
    verify,
)

MOST_AGAIN = 1000
"""Readings that one request brings; the rest is asked for again."""
READINGS_IN_A_MESSAGE = 50


@dataclass(frozen=True)
class Clocks:
    """The time of day, and one that nobody sets."""

    day: Callable[[], float] = time.time
    steady: Callable[[], float] = time.monotonic


class Agent:
    """What one node says and does."""

    def __init__(
        self, node: str, key: bytes, settings: AgentSettings, meter: Meter, caps: Caps,
        folder: Path, *, clocks: Clocks | None = None, say: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.node, self._key, self._limits = node, key, settings.limits
        self._meter, self._caps, self._say = meter, caps, say
        self._clocks = clocks or Clocks()
        self._boot = boot_id()
        self._spool = Spool(folder / "readings", settings.readings)
        self._state = State(folder / "state.json")
        self._reasons: list[str] = []
        self._power_w = math.nan
        self._until_s = math.inf
        """When the lease ends; infinite where no order holds."""
        self._meter.resume(self._spool.noted, self._boot)
        self._take_up()

    @property
    def found(self) -> Mapping[str, Any]:
        """What was there before the first change, for those knobs that were changed."""
        return self._caps.found

    def held(self) -> Mapping[str, float]:
        """What holds on each knob now."""
        return self._caps.held()

    def tick(self) -> bytes:
        """Look at the lease, take a reading, and give the message that reports it."""
        if self._clocks.steady() >= self._until_s:
            self._fall_back()
        message = self._reading("")
        self._complain(self._caps.follow(self._power_w))
        return message

    def mark(self, job: str) -> bytes:
        """A reading now, for a job that begins or ends, and the message that reports it."""
        return self._reading(job)

    def noted(self, mark: Mark) -> bytes:
        """What the node had drawn at a mark, and the message that reports it."""
        return self._reading(mark.job, self._meter.read_at(mark.steady_s, mark.shown))

    @property
    def counter_files(self) -> list[Path]:
        """What prolog and epilog read."""
        return self._meter.counter_files()

    def hear(self, payload: bytes) -> Sequence[bytes]:
        """Obey an order, or say why not; the messages that answer it."""
        try:
            order = verify(payload, self._key)
            self._check_age(order)
        except MessageError as error:
            self._complain(str(error))
            return []
        if order.kind is Kind.AGAIN:
            return self._again(order)
        if order.kind is Kind.RESTORE:
            self._put_back(stamp_us=order.stamp_us)
        else:
            self._obey(order)
        return []

    def close(self, *, restore: bool = True) -> None:
        """Stop; what was found is put back."""
        if restore:
            self._put_back()
        self._spool.close()

    def _take_up(self) -> None:
        """After a kill: what was ordered holds for a lease from now, what was found is known."""
        saved = self._state.saved
        if saved.boot == self._boot:
            self._caps.remember(saved.found)
        elif saved.boot:  # a node that booted has its own limits again
            self._saved(boot=self._boot, found={})
        if saved.lease_s > 0:
            self._until_s = self._clocks.steady() + saved.lease_s
            self._say(f"order {saved.order} was obeyed before; unless there is another, the safe "
                      f"cap holds in {saved.lease_s:g} s")

    def _check_age(self, order: Order) -> None:
        if order.stamp_us <= self._state.saved.stamp_us:
            raise MessageError("an order that came before was refused")
        age_s = self._clocks.day() - order.stamp_us / 1e6
        if abs(age_s) > self._limits.order_age:
            raise MessageError(f"an order was refused: it is {age_s:.0f} s old by this node's "
                               f"clock, and may be {self._limits.order_age:g} s")

    def _obey(self, order: Order) -> None:
        saved = self._state.saved
        if order.order <= saved.order:
            self._complain(f"order {order.order} is not above {saved.order}, the last one obeyed")
            return
        refusal = self._caps.refusal(order.cap_w)
        if refusal or not order.lease_s > 0:
            self._complain(f"order {order.order} was refused: {refusal or 'it has no lease'}")
            return
        lease_s = min(order.lease_s, self._limits.lease)
        if not self._saved(boot=self._boot, found=self._caps.about_to_change(), order=order.order,
                           stamp_us=order.stamp_us, lease_s=lease_s):
            return  # what cannot be put back after a kill is not changed
        self._until_s = self._clocks.steady() + lease_s
        self._complain(self._caps.set(order.cap_w))

    def _fall_back(self) -> None:
        self._until_s = math.inf
        if self._limits.safe is not None:
            self._saved(found=self._caps.about_to_change())
            wrong = self._caps.set(self._limits.safe)
            self._complain(f"no order for the lease: the safe cap holds {wrong}".rstrip())

    def _put_back(self, **also: Any) -> None:
        self._complain(self._caps.restore())
        self._until_s = math.inf
        self._saved(boot=self._boot, found=dict(self._caps.found), lease_s=0.0, **also)

    def _saved(self, **changes: Any) -> bool:
        """Whether it is on disk; a full disk must not end an agent."""
        try:
            self._state.save(**changes)
        except OSError as error:
            self._complain(f"what was found cannot be kept on disk ({error.strerror}): orders are "
                           "refused")
            return False
        return True

    def _again(self, order: Order) -> Sequence[bytes]:
        last = min(order.last, order.first + MOST_AGAIN - 1)
        kept = self._spool.between(order.first, last)
        # Without any, the empty report says from which number on there are some.
        return [self._report(kept[at:at + READINGS_IN_A_MESSAGE])
                for at in range(0, max(len(kept), 1), READINGS_IN_A_MESSAGE)]

    def _reading(self, job: str, measured: Measured | None = None) -> bytes:
        measured = measured or self._meter.read()
        self._power_w = measured.power_w
        # What is too long is cut off at its end: the meter says the same again in the next report.
        reasons = [*self._reasons, measured.reason]
        self._reasons.clear()
        report = NodeReport(
            self.node, measured.time_s, measured.power_w, measured.energy_j, self._caps.cap_w,
            self._state.saved.order, measured.quality, "; ".join(filter(None, reasons)), job)
        packed = pack_reading(self._spool.next, report)
        self._spool.keep(packed)
        if measured.quality is not Quality.MISSING:
            self._spool.note(self._meter.note(self._boot))
        return self._report([packed])

    def _report(self, readings: Sequence[bytes]) -> bytes:
        return pack_report(self._spool.life, self._spool.oldest, readings)

    def _complain(self, reason: str) -> None:
        """In the next report and in the log; once where it is the same again and again."""
        if reason and reason not in self._reasons:
            self._reasons.append(reason)
            self._say(reason)


def make_agent(settings: AgentSettings, *, say: Callable[[str], None] = lambda _: None) -> Agent:
    """An agent by its file; opens sensor, actuator and folder, changes nothing."""
    sensor, limits = settings.sensor, settings.limits
    meter = Meter(open_sensor(sensor.kind, Path(sensor.place) if sensor.place else None),
                  sensor.channels)
    place = Path(limits.place) if limits.place else None
    actuator = open_actuator(limits.kind, place) if limits.knobs else None
    devices = (DevicePowers(open_sensor(limits.kind, place), limits.knobs)
               if len(limits.knobs) > 1 else None)
    return Agent(settings.node, read_key(settings.order_key), settings, meter,
                 Caps(actuator, limits, devices), Path(settings.folder), say=say)
