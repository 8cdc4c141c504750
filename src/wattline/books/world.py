"""The world behind the books, as their kernels see it: told what changes, asked how it answers.

A live machine answers by itself, and what it does reaches the books as events: for it nothing
happens here (`RealWorld`). A simulated one (`wattline.engine.world`) keeps the ends of jobs and
says how fast they go; it registers what it does for its own type.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from wattline.books.record import Record
from wattline.model.kernel import slot
from wattline.model.kernel_arrays import KernelArrays
from wattline.policies.contract import Composition
from wattline.policies.state import State


class RealWorld(NamedTuple):
    """A machine that tells by events what it did; starts count when it confirms them."""


@slot(1, default=True)
def confirms(st: State, world: Any) -> bool:
    """Whether a start that is asked for has happened at once."""
    return False


@slot(1, default=True)
def begun(st: State, world: Any, policy: Composition, job: int, resumed: bool) -> None:
    """A job begins to run, or goes on after a pause."""
    return


@slot(1, default=True)
def left(st: State, world: Any, job: int) -> None:
    """A job gives its units back."""
    return


@slot(1, default=True)
def paced(st: State, world: Any, job: int) -> None:
    """A running job goes on at another rate."""
    return


@slot(1, default=True)
def all_paced(st: State, world: Any) -> None:
    """All running jobs may have other rates now; the world looks at them together."""
    return


@slot(2, default=True)
def answer(st: State, record: Record, world: Any, policy: Composition) -> None:
    """After a decision is carried out: where jobs run otherwise than was expected."""
    return


def copied_world(world: Any) -> Any:
    """A world of its own, which goes on from here."""
    if isinstance(world, RealWorld):
        return world
    parts = [part.copy() if isinstance(part, KernelArrays) else copied_world(part)
             if isinstance(part, tuple) else part for part in world]
    return type(world)(*parts)
