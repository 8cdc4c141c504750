"""The scheduler's state as arrays: what a compiled decision reads, and the books it keeps.

The state is a bundle of record arrays, so that it is cheap to hand from kernel to kernel and a
job's fields lie side by side in memory. A decision starts jobs by writing into these books
and into `actions`; whoever called it (the simulator, the live controller) carries the actions out.

"Units" are nodes, or cores where the machine is shared by cores. All whole numbers are 64 bits
wide: a kernel is compiled once for each width of its arguments.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wattline.model.jobs import JobTable
from wattline.model.kernel import constants
from wattline.model.kernel_arrays import KernelArrays

BLOCK = 32
"""Entries in a block of the release list (see releases.py)."""

NODE_BLOCK = 64
"""Nodes whose free ones are counted together (see placement/nodes.py)."""

PLAN_STALE = 2
"""In `clock.replan`: what runs is not what was planned; the whole plan has to be made anew."""

# Where a job is in its life.
PENDING, HELD, QUEUED, ASIDE, RUNNING, PAUSED, DONE, REFUSED, CANCELLED = range(9)

# What a decision may ask for. The numbers are used in the action records.
ACT_START, ACT_SPEED, ACT_PAUSE, ACT_RESUME, ACT_DOWN, ACT_UP, ACT_WAKE, ACT_LEVEL = constants(8)
# What is carried out before its turn; such an action is skipped.
ACT_DONE: Any = np.int64(-1)

CLOCK = np.dtype(
    [
        ("now_s", "f8"),
        ("power_w", "f8"),  # the whole machine, now
        ("energy_j", "f8"),  # of the whole machine, since the beginning
        ("cap_w", "f8"),  # infinite where there is none
        ("cap_w_max", "f8"),  # the highest that the cap will ever be
        ("idle_w", "f8"),  # one unit, on and idle
        ("off_w", "f8"),  # one unit, off
        ("boot_w", "f8"),  # one unit while it boots, and for how long
        ("boot_s", "f8"),
        ("halt_w", "f8"),  # one unit while it shuts down, and for how long
        ("halt_s", "f8"),
        ("level", "i8"),  # index of the machine-wide frequency level
        ("speed", "f8"),  # progress a second of a job at that level
        ("power_factor", "f8"),  # power of a job at that level, relative to full speed
        ("least_factor", "f8"),  # of the lowest level to which all jobs may be slowed
        ("units", "i8"),
        ("free", "i8"),  # on, idle and not reserved
        ("off", "i8"),
        ("changing", "i8"),  # booting or shutting down, and what they draw
        ("changing_w", "f8"),
        ("down", "i8"),  # out of order, and those that will be when their jobs end
        ("down_owed", "i8"),
        ("rest_w", "f8"),  # measured power of the machine that no job or idle unit accounts for
        ("reserved", "i8"),  # held by an active reservation
        ("owed", "i8"),  # to an active reservation, by jobs that run on past their time
        ("running_watts", "f8"),  # running jobs at full speed
        ("latency_s", "f8"),  # for so long a change of level stops every running job
        ("wake_s", "f8"),  # last wake-up asked for
        ("queue_first", "i8"),
        ("queue_last", "i8"),  # one past the last entry
        ("running", "i8"),
        ("aside", "i8"),  # jobs set aside by the admission policy
        ("blocks", "i8"),  # blocks of the release list in use
        ("spare_block", "i8"),  # head of the chain of unused blocks
        ("actions", "i8"),
        ("examined", "i8"),  # queue entries known not to start before something changes
        ("shadow_s", "f8"),  # reservation of the head job (EASY)
        ("extra", "i8"),
        ("extra_w", "f8"),  # watts left over beside the head job's reservation
        ("stopped", "i8"),  # nothing in the queue may start before something changes
        ("stopper", "i8"),  # the backfilled job that stopped it, or -1 where it was one in order
        ("smallest", "i8"),  # no queued job is smaller than this
        ("sorted_end", "i8"),  # the queue is in its order of now up to this entry
        ("reached", "i8"),  # entries that the last decision looked at
        ("leaders", "i8"),  # entries at the front that may be the first (leaders.py); 0: unknown
        ("leaders_key", "f8"),  # all other entries stay behind this key...
        ("leaders_until_s", "f8"),  # ...until this time
        ("lead_s", "f8"),  # how far ahead leaders are looked for
        ("step_first", "i8"),  # steps of the availability profile in use: [first, last)
        ("step_last", "i8"),
        ("planned", "i8"),  # queue entries that have a place in the profile
        ("replan", "i8"),  # 1: units came back early, reservations may move; or PLAN_STALE
        ("windows", "i8"),  # reservation windows that have not ended
        ("overrun", "i8"),  # 1: jobs run on past their requested time
        ("together", "i8"),  # 1: speeds change together; expected ends are not kept in order
    ]
)

JOB = np.dtype(
    [
        ("submit_s", "f8"),
        ("run_s", "f8"),  # at full speed
        ("requested_s", "f8"),
        ("watts", "f8"),  # the whole job at full speed
        ("units", "i8"),  # units
        ("user", "i8"),
        ("group", "i8"),
        ("after", "i8"),  # row of the job it depends on, or -1
        ("next_dependent", "i8"),  # chain of jobs that depend on the same job
        ("first_dependent", "i8"),
        ("kind", "i8"),  # application or job type, for policies that know it
        ("think_s", "f8"),
        ("share", "f8"),  # the user's share, for orders that weigh it
    ]
)

LIVE = np.dtype(
    [
        ("state", "i8"),
        ("config", "i8"),
        ("units", "i8"),  # in the configuration chosen
        ("requested_s", "f8"),  # time asked for, at the current speed when running
        ("work_s", "f8"),  # seconds at full speed that are left
        ("watts", "f8"),  # at full speed, in the configuration chosen
        ("power_w", "f8"),  # now
        ("idle_w", "f8"),  # what its units would draw if they were idle
        ("rate", "f8"),  # progress a second
        ("start_s", "f8"),
        ("end_s", "f8"),  # of the run as it stands
        ("expected_s", "f8"),  # end by the requested time
        ("updated_s", "f8"),  # up to when work_s and energy_j are counted
        ("still_s", "f8"),  # until when a change of level has stopped it; -inf: none has
        ("energy_j", "f8"),
        ("aside_s", "f8"),  # since when it is set aside
        ("unplaced_s", "f8"),  # when placement last refused it the nodes that were free
        ("place", "i8"),  # in the list of running jobs
        ("heap", "i8"),  # place in a simulated world's heap of ends; -1 where there is none
        ("first_node", "i8"),  # head and tail of the chain of its runs of nodes
        ("last_run", "i8"),
        ("own_watts", "i8"),  # the log says what it draws; its nodes do not
        ("stretch", "f8"),  # product of slowdowns (level, kind of node, congestion); 1 = none
        ("cap_w", "f8"),  # of one of its units; infinite where there is none
        ("level", "i8"),  # of frequency, where admission chose one; else -1
        ("level_stretch", "f8"),  # the slowdown of that level; 1 at full speed
        ("level_share", "f8"),  # of the power above idle that it leaves; 1 at full speed
        ("completed", "i8"),  # 1: it ended because its work was done
        ("begun", "i8"),  # 1: its start was carried out, and it has not ended
        ("unconfirmed", "i8"),  # 1: its start was asked for and has not been seen to happen
    ]
)

ENTRY = np.dtype([("job", "i8"), ("units", "i8"), ("requested_s", "f8"), ("key", "f8")])
RELEASE = np.dtype([("expected_s", "f8"), ("job", "i8"), ("units", "i8")])
BLOCKS = np.dtype([("count", "i8"), ("order", "i8"), ("total", "i8"), ("next_spare", "i8")])
TIMER = np.dtype([("time_s", "f8"), ("kind", "i8"), ("arg", "i8")])
ACTION = np.dtype(
    [
        ("kind", "i8"),
        ("job", "i8"),
        ("value", "f8"),
        ("power_w", "f8"),
        ("cap_w", "f8"),  # of one unit; infinite where none is asked for
    ]
)
STEP = np.dtype([("time_s", "f8"), ("free", "i8")])
# A job's nodes are a chain of runs of neighbours; a run is noted at its first node.
NODE = np.dtype([("next", "i8"), ("length", "i8"), ("kind", "i8")])
KIND = np.dtype([("idle_w", "f8"), ("active_w", "f8"), ("speed", "f8"), ("count", "i8")])
WINDOW = np.dtype([("start_s", "f8"), ("end_s", "f8"), ("units", "i8")])


class State(KernelArrays):
    """All arrays of one simulation or one snapshot; `clock` has one record.

    What a policy keeps for itself between decisions is not here but in its `Memory`.
    """

    FIELDS = (
        "clock",
        "jobs",
        "live",
        "queue",
        "aside",
        "releases",
        "blocks",
        "scratch",
        "running",
        "timers",
        "actions",
        "profile",
        "nodes",
        "node_free",
        "free_in_block",
        "node_down",
        "node_out",
        "scratch_nodes",
        "kinds",
        "windows",
    )
    clock: Any
    jobs: Any
    live: Any
    queue: Any
    aside: Any
    releases: Any
    blocks: Any
    scratch: Any
    running: Any
    timers: Any
    actions: Any
    profile: Any
    nodes: Any
    node_free: Any
    free_in_block: Any
    node_down: Any
    """1 where a node is out of order; `node_out` once no job holds it any more."""
    node_out: Any
    scratch_nodes: Any
    kinds: Any
    windows: Any


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
    held = _records(0, WINDOW) if windows is None else windows
    slots = (units if rows else min(count, units)) + 1
    blocks = 4 * slots // BLOCK + 8
    state = State(
        clock=_records(1, CLOCK),
        releases=_records(blocks * BLOCK, RELEASE),
        blocks=_records(blocks, BLOCKS),
        scratch=_records(slots, RELEASE),
        running=np.zeros(slots + 1, dtype=np.int64),
        nodes=_records(nodes, NODE),
        node_free=np.ones(nodes, dtype=np.int8),
        free_in_block=np.zeros((nodes + NODE_BLOCK - 1) // NODE_BLOCK, dtype=np.int64),
        node_down=np.zeros(nodes, dtype=np.int8),
        node_out=np.zeros(nodes, dtype=np.int8),
        scratch_nodes=np.zeros(nodes, dtype=np.int64),
        kinds=_records(1, KIND) if kinds is None else kinds,
        windows=held,
        **{name: _records(room, dtype)
           for name, (room, dtype) in _by_row(count, slots, len(held)).items()},
    )
    fill_rows(state, 0, jobs, size, watts)
    _fill_clock(state, units, idle_w, off_w, cap_w, overrun_extends)
    _fill_nodes(state, node_kind)
    return state


def _by_row(rows: int, slots: int, windows: int) -> dict[str, tuple[int, np.dtype[Any]]]:
    """The arrays whose room follows from the number of jobs, and their room."""
    return {
        "jobs": (rows, JOB),
        "live": (rows, LIVE),
        "queue": (rows + 2, ENTRY),
        "aside": (rows + 1, ENTRY),
        "timers": (rows + 256, TIMER),
        "actions": (rows + 2 * slots + 64, ACTION),
        "profile": (6 * rows + 8 * windows + 64, STEP),
    }


def reserve(state: State, rows: int) -> State:
    """The same state with room for at least so many jobs."""
    rooms = _by_row(rows, len(state.scratch), len(state.windows))
    longer = {
        name: np.concatenate([getattr(state, name), _records(room - len(getattr(state, name)),
                                                             dtype)]).view(np.recarray)
        for name, (room, dtype) in rooms.items() if room > len(getattr(state, name))
    }
    return state.with_arrays(**longer) if longer else state


def grow(state: State, name: str) -> State:
    """The same state with twice the room in one of its arrays."""
    array = getattr(state, name)
    longer = np.concatenate([array, np.zeros_like(array)]).view(np.recarray)
    return state.with_arrays(**{name: longer})


def _records(count: int, dtype: np.dtype[Any]) -> Any:
    return np.zeros(count, dtype=dtype).view(np.recarray)


def fill_rows(state: State, first: int, table: JobTable, units: Any, watts: Any) -> None:
    """Write jobs into the rows from `first` on; `after_job` counts from the table's first row."""
    rows = slice(first, first + len(table))
    jobs, live = state.jobs[rows], state.live[rows]
    jobs.submit_s = table.submit_s
    jobs.run_s = table.run_s
    jobs.requested_s = table.requested_s
    jobs.think_s = table.think_s
    jobs.units = units
    jobs.watts = watts
    jobs.user = table.user
    jobs.group = table.group
    jobs.kind = table.application
    jobs.after = np.where(table.after_job >= 0, table.after_job + first, -1)
    jobs.first_dependent = -1
    jobs.next_dependent = -1
    for job in np.flatnonzero(table.after_job >= 0)[::-1]:
        follow(state, first + int(job), first + int(table.after_job[job]))
    live.units = units
    live.requested_s = table.requested_s
    live.work_s = table.run_s
    live.watts = watts
    live.stretch = 1.0
    live.level_stretch = 1.0
    live.level_share = 1.0
    live.cap_w = np.inf
    live.start_s = np.nan
    live.end_s = np.nan
    live.unplaced_s = np.nan
    live.still_s = -np.inf
    live.heap = -1
    live.level = -1
    live.first_node = -1


def follow(state: State, job: int, before: int) -> None:
    """Put a job in front of the chain of those that depend on the same job."""
    state.jobs.after[job] = before
    state.jobs.next_dependent[job] = state.jobs.first_dependent[before]
    state.jobs.first_dependent[before] = job


def _fill_clock(
    state: State, units: int, idle_w: float, off_w: float, cap_w: float, overrun_extends: bool
) -> None:
    clock = state.clock[0]
    clock.units = units
    clock.free = units
    clock.idle_w = idle_w
    clock.off_w = off_w
    if len(state.kinds) > 1:
        clock.power_w = float(np.sum(state.kinds.idle_w * state.kinds.count))
    else:
        clock.power_w = units * idle_w
    clock.cap_w = cap_w
    clock.cap_w_max = np.inf
    clock.speed = 1.0
    clock.power_factor = 1.0
    clock.least_factor = 1.0
    clock.shadow_s = np.inf
    clock.smallest = units + 1
    clock.lead_s = 3600.0
    clock.overrun = int(overrun_extends)
    clock.windows = len(state.windows)
    clock.step_last = 1
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
