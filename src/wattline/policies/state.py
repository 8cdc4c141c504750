"""The scheduler's state as arrays: what a compiled decision reads, and the books it keeps.

The state is a bundle of record arrays, so that it is cheap to hand from kernel to kernel and a
job's fields lie side by side in memory. A decision starts jobs by writing into these books
and into `actions`; whoever called it (the simulator, the live controller) carries the actions out.

"Units" are nodes, or cores where the machine is shared by cores. All whole numbers are 64 bits
wide: a kernel is compiled once for each width of its arguments.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wattline.model.jobs import IntArray, JobTable
from wattline.model.kernel import constants
from wattline.model.kernel_arrays import KernelArrays
from wattline.model.records import Record, Table, copied, fill_with
from wattline.policies.state_records import (
    ActionRecord,
    Clock,
    Entry,
    Job,
    Live,
    NodeRun,
    NoRoom,
    QueueBlock,
    Release,
    ReleaseBlock,
    Step,
    Timer,
    UnitKind,
    Window,
)

Flags = NDArray[np.int8]

BLOCK = 32
"""Entries in a block of the release list (see releases.py)."""

QUEUE_BLOCK = 32
"""Places of the queue of which bounds are kept together (see queue_blocks.py)."""

NODE_BLOCK = 64
"""Nodes whose free ones are counted together (see placement/nodes.py)."""

PLAN_STALE = 2
"""In `clock.replan`: what runs is not what was planned; the whole plan has to be made anew."""

# Where a job is in its life.
PENDING, HELD, QUEUED, ASIDE, RUNNING, PAUSED, DONE, REFUSED, CANCELLED = range(9)

# What a job was asked to do that has not been seen to happen.
STARTING, RESUMING = 1, 2

# What a decision may ask for. The numbers are used in the action records.
ACT_START, ACT_SPEED, ACT_PAUSE, ACT_RESUME, ACT_DOWN, ACT_UP, ACT_WAKE, ACT_LEVEL = constants(8)
# What is carried out before its turn; such an action is skipped.
ACT_DONE: Any = np.int64(-1)

NODE_OFF = -1
"""In a node's `power`: it is off."""
TO_COME, BEGUN, OVER = range(3)
"""Stages of a reservation; a row that is over may be used for the next."""


MOST_NO_ROOM = 32
"""Searches of the plan that found nothing, kept while others are made."""


SCRATCH = frozenset(("actions", "scratch", "scratch_nodes", "no_room", "queue_blocks"))
"""Arrays of the state that hold nothing between two decisions, or nothing that is not found anew
where they are empty."""


class State(KernelArrays):
    """All arrays of one simulation or one snapshot; `clock` has one record.

    What a policy keeps for itself between decisions is not here but in its `Memory`.
    """

    FIELDS = (
        "clock",
        "jobs",
        "live",
        "queue",
        "queue_blocks",
        "aside",
        "releases",
        "blocks",
        "scratch",
        "running",
        "timers",
        "actions",
        "profile",
        "no_room",
        "nodes",
        "node_free",
        "free_in_block",
        "node_down",
        "node_out",
        "scratch_nodes",
        "kinds",
        "windows",
    )
    clock: Table[Clock]
    jobs: Table[Job]
    live: Table[Live]
    queue: Table[Entry]
    queue_blocks: Table[QueueBlock]
    aside: Table[Entry]
    releases: Table[Release]
    blocks: Table[ReleaseBlock]
    scratch: Table[Release]
    running: IntArray
    timers: Table[Timer]
    actions: Table[ActionRecord]
    profile: Table[Step]
    no_room: Table[NoRoom]
    nodes: Table[NodeRun]
    node_free: Flags
    free_in_block: IntArray
    node_down: Flags
    """1 where a node is out of order; `node_out` once no job holds it any more."""
    node_out: Flags
    scratch_nodes: IntArray
    kinds: Table[UnitKind]
    windows: Table[Window]

    def copy(self) -> State:
        """A state of its own; of arrays that need not be kept only their room."""
        return State(**{
            name: np.zeros_like(getattr(self, name)) if name in SCRATCH
            else copied(getattr(self, name)) for name in self.FIELDS})


def make_state(
    jobs: JobTable,
    size: Any,
    watts: Any,
    *,
    units: int,
    idle_w: float,
    off_w: float = 0.0,
    cap_w: float = np.inf,
    nodes: int = 0,
    rows: int = 0,
    overrun_extends: bool = True,
    windows: Any = None,
    kinds: Any = None,
    node_kind: Any = None,
) -> State:
    """Arrays for these jobs on an empty machine; `nodes` > 0 makes room for chosen nodes.

    `rows` > 0 makes room for more jobs to come (see `reserve`).
    """
    count = max(len(jobs), rows)
    held = Window.table(0) if windows is None else windows
    slots = (units if rows else min(count, units)) + 1
    blocks = 4 * slots // BLOCK + 8
    state = State(
        clock=Clock.table(1),
        releases=Release.table(blocks * BLOCK),
        blocks=ReleaseBlock.table(blocks),
        scratch=Release.table(slots),
        running=np.zeros(slots + 1, dtype=np.int64),
        no_room=NoRoom.table(MOST_NO_ROOM),
        nodes=NodeRun.table(nodes),
        node_free=np.ones(nodes, dtype=np.int8),
        free_in_block=np.zeros((nodes + NODE_BLOCK - 1) // NODE_BLOCK, dtype=np.int64),
        node_down=np.zeros(nodes, dtype=np.int8),
        node_out=np.zeros(nodes, dtype=np.int8),
        scratch_nodes=np.zeros(nodes, dtype=np.int64),
        kinds=UnitKind.table(1) if kinds is None else kinds,
        windows=held,
        **{name: record.table(room)
           for name, (room, record) in _by_row(count, slots, len(held)).items()},
    )
    fill_rows(state, 0, jobs, size, watts)
    _fill_clock(state, units, idle_w, off_w, cap_w, overrun_extends)
    _fill_nodes(state, node_kind)
    return state


def _by_row(rows: int, slots: int, windows: int) -> dict[str, tuple[int, type[Record]]]:
    """The arrays whose room follows from the number of jobs, and their room."""
    return {
        "jobs": (rows, Job),
        "live": (rows, Live),
        "queue": (rows + 2, Entry),
        "queue_blocks": ((rows + 2) // QUEUE_BLOCK + 1, QueueBlock),
        "aside": (rows + 1, Entry),
        "timers": (rows + 256, Timer),
        "actions": (rows + 2 * slots + 64, ActionRecord),
        "profile": (6 * rows + 8 * windows + 64, Step),
    }


def rooms(state: State, rows: int) -> dict[str, tuple[int, type[Record]]]:
    """The room, and the kind, of each array of this state that has an entry per job or so."""
    return _by_row(rows, len(state.scratch), len(state.windows))


def reserve(state: State, rows: int) -> State:
    """The same state with room for at least so many jobs."""
    longer = {
        name: np.concatenate([getattr(state, name), record.table(room - len(getattr(state, name)))])
        .view(np.recarray)
        for name, (room, record) in rooms(state, rows).items() if room > len(getattr(state, name))
    }
    return state.with_arrays(**longer) if longer else state


def grow(state: State, name: str) -> State:
    """The same state with twice the room in one of its arrays."""
    array = getattr(state, name)
    longer = np.concatenate([array, np.zeros_like(array)]).view(np.recarray)
    return state.with_arrays(**{name: longer})


def fill_rows(state: State, first: int, table: JobTable, units: Any, watts: Any) -> None:
    """Write jobs into the rows from `first` on; `after_job` counts from the table's first row."""
    rows = slice(first, first + len(table))
    # As plain arrays: those of records look for each column with functions written in Python.
    jobs, live = np.asarray(state.jobs)[rows], np.asarray(state.live)[rows]
    jobs["submit_s"] = table.submit_s
    jobs["run_s"] = table.run_s
    jobs["requested_s"] = table.requested_s
    jobs["think_s"] = table.think_s
    jobs["units"] = units
    jobs["watts"] = watts
    jobs["user"] = table.user
    jobs["group"] = table.group
    jobs["kind"] = table.application
    jobs["after"] = np.where(table.after_job >= 0, table.after_job + first, -1)
    jobs["turn"] = np.arange(rows.start, rows.stop)
    jobs["first_dependent"] = -1
    jobs["next_dependent"] = -1
    for job in np.flatnonzero(table.after_job >= 0)[::-1]:
        follow(state, first + int(job), first + int(table.after_job[job]))
    fill_with(live, _new_job())
    live["units"] = units
    live["requested_s"] = table.requested_s
    live["work_s"] = table.run_s
    live["watts"] = watts


@cache
def _new_job() -> Any:
    """What holds of every job that has not been decided about; all else is 0."""
    row: Any = Live.table(1)
    row.stretch = row.slowdown = row.dynamic = 1.0
    row.cap_w = np.inf
    row.start_s = row.end_s = row.unplaced_s = np.nan
    row.still_s = -np.inf
    row.heap = row.level = row.first_node = -1
    return np.asarray(row)


def follow(state: State, job: int, before: int) -> None:
    """Put a job in front of the chain of those that depend on the same job."""
    state.jobs.after[job] = before
    state.jobs.next_dependent[job] = state.jobs.first_dependent[before]
    state.jobs.first_dependent[before] = job


def _fill_clock(
    state: State, units: int, idle_w: float, off_w: float, cap_w: float, overrun_extends: bool
) -> None:
    clock = np.asarray(state.clock)
    clock["units"] = units
    clock["free"] = units
    clock["idle_w"] = idle_w
    clock["off_w"] = off_w
    if len(state.kinds) > 1:
        clock["power_w"] = float(np.sum(state.kinds.idle_w * state.kinds.count))
    else:
        clock["power_w"] = units * idle_w
    clock["cap_w"] = cap_w
    clock["cap_w_max"] = np.inf
    clock["speed"] = 1.0
    clock["power_factor"] = 1.0
    clock["least_factor"] = 1.0
    clock["shadow_s"] = np.inf
    clock["unplaced_s"] = -np.inf
    clock["smallest"] = units + 1
    clock["shortest_s"] = np.inf
    clock["lead_s"] = 3600.0
    clock["overrun"] = int(overrun_extends)
    clock["windows"] = len(state.windows)
    clock["step_last"] = 1
    state.profile[0].time_s = -np.inf
    state.profile[0].free = units
    state.blocks.next_spare = np.arange(1, state.blocks.size + 1)


def _fill_nodes(state: State, node_kind: Any) -> None:
    if state.nodes.size == 0:
        return
    state.nodes.next = -1
    state.nodes.kind = 0 if node_kind is None else node_kind
    state.free_in_block[:] = NODE_BLOCK
    if state.nodes.size % NODE_BLOCK:
        state.free_in_block[-1] = state.nodes.size % NODE_BLOCK
