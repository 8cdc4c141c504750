"""What is known of the queue in blocks, so that a scan passes over many entries with one look.

For each block of places in the queue there are bounds: no entry there asks for fewer units or for
less time. They may be too low, never too high: whoever writes an entry into a place lowers the
bounds of its block, nobody raises them when one leaves, and a scan that has looked at a whole block
writes down what it saw. Bounds of 0 are those of a block of which nothing is known.
"""

from __future__ import annotations

from wattline.model.kernel import kernel
from wattline.policies.state import QUEUE_BLOCK, State


@kernel
def lower_bounds(st: State, place: int) -> None:
    """An entry was written into this place of the queue."""
    entry = st.queue[place]
    block = st.queue_blocks[place // QUEUE_BLOCK]
    block.units = min(block.units, entry.units)
    block.requested_s = min(block.requested_s, entry.requested_s)


@kernel
def bound_inserted(st: State, place: int, last: int) -> None:
    """An entry was written here, and those before `last` moved one place up, the last one there."""
    lower_bounds(st, place)
    for block in range(place // QUEUE_BLOCK + 1, last // QUEUE_BLOCK + 1):
        lower_bounds(st, block * QUEUE_BLOCK)


@kernel
def bound_moved_up(st: State, first: int, end: int, gap: int) -> None:
    """The entries that now stand in [first, end) came there from `gap` places before."""
    for block in range(first // QUEUE_BLOCK, (end - 1) // QUEUE_BLOCK + 1):
        begin = block * QUEUE_BLOCK
        for place in range(max(first, begin), min(end, begin + min(gap, QUEUE_BLOCK))):
            lower_bounds(st, place)


@kernel
def bound_moved_down(st: State, first: int, end: int, gap: int) -> None:
    """The entries that now stand in [first, end) came there from `gap` places behind."""
    for block in range(first // QUEUE_BLOCK, (end - 1) // QUEUE_BLOCK + 1):
        over = (block + 1) * QUEUE_BLOCK
        for place in range(max(first, over - min(gap, QUEUE_BLOCK)), min(end, over)):
            lower_bounds(st, place)
