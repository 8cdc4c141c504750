"""Where a simulation of shared nodes stands, in one record."""

from __future__ import annotations

from wattline.model.records import Record


class Clock(Record):
    """Where the simulation stands."""

    now_s: float
    next_submit: int
    next_outage: int
    next_return: int
    next_cap: int
    timers: int
    gaps: int
    stays: int
    pages: int  # rows of `page`
    queue: int
    running: int
    first_running: int  # where they begin in `running`
    pending: int  # submitted and not over
    ended: int  # rows of `ended_s`, and how many of them Slurm has forgotten
    forgotten: int
    queued: int
    busy_cpus: int
    power_w: float
    booting_w: float  # of jobs whose nodes are not up yet
    pass_s: float  # the next main pass that was asked for, and where it stands
    full_s: float
    last_full_s: float
    last_pass_s: float
    backfill_s: float
    last_backfill_s: float
    plans_until_s: float  # see replanning.py
    replan_s: float  # the backfill cycle that follows it
    priority_s: float
    prompt: float
    last_priority_s: float
    changed: int  # since the last full pass something may start
    changed_quick: int
    gone: int  # how often a job ceased to be one that passes look at
    cut_short: int  # the last main pass ended at a limit on the jobs that it looks at
    moved: int  # how often a job came onto a node or left it
    ends_moved: int  # the same when `over_s` was made, and `ended_w`
    limits_moved: int
    picked: int
    missing: int  # CPUs that the picked nodes do not give
    most_cpus: int  # CPUs that nodes may still give for tasks or for GPUs: see picking_devices.py
    fewest: int  # CPUs of a node without which no choice can be completed
    masked: int  # nodes of `mask` that backfill may use for a job
    open_ask: int  # for which request `mask` is kept, or -1
    open_from_s: float  # nobody holds its nodes between these times; when another comes free
    open_until_s: float
    open_next_s: float
    near: int
    kept_steps: int  # see alike.py
    kept_place: int
    kept_ended: int  # of the list in `kept_node`: running jobs before this place are over, 0: none
    kept_window_s: float
    kept_moved: int
    kept_nodes: int
    sets: int  # of consecutive nodes, in the last try of a choice
    intervals: int
    held_nodes: int
    licence_holds: int  # rows of `licence_hold_*`
    fitting: int  # a node on which a job of this backfill cycle could start
    passes: int
    backfills: int
    log: int
    above_s: float
    power_since_s: float
    over: int
    overfull: int  # a list was too short for what happened in one instant
    logged_power_w: float
    logged_busy: int
    logged_queued: int
    done: int
    end_pass: int
    told: int  # jobs of `told`
    held_start_s: float  # when what was planned last starts, and from when to when it holds nodes
    held_begin_s: float
    held_end_s: float
    stale: int  # entries of the queue that no longer wait
    next_reset: int
    next_resv: int
    next_fall: int
    reserved: int  # spans of nodes that the site has reserved, which come first
    closed: int
    full: int  # the limit of a part that the last choice would pass
    barred: int
    short_of_watts: int  # a node that was looked at last may have its watts later only
    listed_cycle: int  # the last one for which part_room.py listed its steps
    tested: int  # jobs of this backfill cycle
    started: int
    held: int
    held_summed: int  # how many of these are in `held_sum`
    rooms: int  # steps of `room_s`
    room_changes: int  # how often they were listed, or watts taken from them
    taken_from_s: float  # between which times that was last
    taken_until_s: float
    room_until_s: float  # from then on the room is unknown
