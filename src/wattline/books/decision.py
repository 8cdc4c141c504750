"""What the books want done."""

from __future__ import annotations

from dataclasses import dataclass

from wattline.books.events import Key
from wattline.policies.control import Control
from wattline.policies.state import (
    ACT_DOWN,
    ACT_LEVEL,
    ACT_PAUSE,
    ACT_RESUME,
    ACT_SPEED,
    ACT_START,
    ACT_UP,
    ACT_WAKE,
)

KINDS = {
    int(ACT_START): "start", int(ACT_RESUME): "resume", int(ACT_SPEED): "speed",
    int(ACT_PAUSE): "pause", int(ACT_DOWN): "down", int(ACT_UP): "up", int(ACT_WAKE): "wake",
    int(ACT_LEVEL): "level",
}


@dataclass(frozen=True, slots=True)
class Decision:
    """Something to be carried out, and what the policy expects of it.

    `kind` is start, resume, speed or pause (of `job`), refuse (a job that could never start),
    level (of all jobs), down or up (of `control.units` idle units), or wake: ask again at the time
    `rate`. Where nodes are chosen, `control.nodes` says which are switched.
    """

    kind: str
    job: Key | None
    rate: float
    """Expected progress per second; for a level, that of a job at full frequency."""
    power_w: float
    """Expected power of the job; for a level, relative to full speed."""
    control: Control


def refusal(job: Key) -> Decision:
    return Decision("refuse", job, 0.0, 0.0, Control())
