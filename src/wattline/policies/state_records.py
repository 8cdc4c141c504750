"""The records of the state: what each array holds per job, entry, timer or node."""

from __future__ import annotations

from wattline.model.records import Record


class Clock(Record):
    """The machine as a whole, and where the books' lists stand; there is one such record."""

    now_s: float
    power_w: float  # the whole machine, now
    energy_j: float  # of the whole machine, since the beginning
    cap_w: float  # infinite where there is none
    cap_w_max: float  # the highest that the cap will ever be
    idle_w: float  # one unit, on and idle
    off_w: float  # one unit, off
    boot_w: float  # one unit while it boots, and for how long
    boot_s: float
    halt_w: float  # one unit while it shuts down, and for how long
    halt_s: float
    level: int  # index of the machine-wide frequency level
    speed: float  # progress a second of a job at that level
    power_factor: float  # power of a job at that level, relative to full speed
    least_factor: float  # of the lowest level to which all jobs may be slowed
    units: int
    free: int  # on, idle and not reserved
    off: int
    changing: int  # booting or shutting down, and what they draw
    changing_w: float
    down: int  # out of order, and those that will be when their jobs end
    down_owed: int
    rest_w: float  # measured power of the machine that no job or idle unit accounts for
    reserved: int  # held by an active reservation
    owed: int  # to an active reservation, by jobs that run on past their time
    running_watts: float  # running jobs at full speed
    below_idle_w: float  # that comes back without a decision (committed.py)
    sifted_cap_w: float  # for which jobs were set aside last: the highest cap known to come...
    sifted_now_w: float  # ...the one of then...
    sifted_units: int  # ...and the units that were off or out of order
    latency_s: float  # for so long a change of level stops every running job
    wake_s: float  # last wake-up asked for
    queue_first: int
    queue_last: int  # one past the last entry
    running: int
    aside: int  # jobs set aside by the admission policy
    blocks: int  # blocks of the release list in use
    spare_block: int  # head of the chain of unused blocks
    actions: int
    examined: int  # queue entries known not to start before something changes
    shadow_s: float  # reservation of the head job (EASY)
    extra: int
    extra_w: float  # watts left over beside the head job's reservation
    stopped: int  # nothing in the queue may start before something changes
    stopper: int  # the backfilled job that stopped it, or -1 where it was one in order
    smallest: int  # no queued job is smaller than this...
    shortest_s: float  # ...or asks for less time; 0 where nobody knows
    sorted_end: int  # the queue is in its order of now up to this entry
    reached: int  # entries that the last decision looked at
    leaders: int  # entries at the front that may be the first (leaders.py); 0: unknown
    leaders_key: float  # all other entries stay behind this key...
    leaders_until_s: float  # ...until this time
    lead_s: float  # how far ahead leaders are looked for
    step_first: int  # steps of the availability profile in use: [first, last)
    step_last: int
    planned: int  # queue entries that have a place in the profile
    replan: int  # 1: units came back early, reservations may move; or PLAN_STALE
    unplaced_s: float  # when placement last refused a job the nodes that were free
    freed_s: float  # up to when units came back early since then; infinite: look at all
    windows: int  # reservation windows that have not ended
    overrun: int  # 1: jobs run on past their requested time
    together: int  # 1: speeds change together; expected ends are not kept in order
    defers: int  # 1: jobs that start are only noted until somebody asks for expected ends...
    deferred: int  # ...so many of them, or of those that were...
    listed_s: float  # ...since then (releases.py)


class Job(Record):
    """What a job asked for; it does not change."""

    submit_s: float
    run_s: float  # at full speed
    requested_s: float
    watts: float  # the whole job at full speed
    units: int  # units
    user: int
    group: int
    after: int  # row of the job it depends on, or -1
    next_dependent: int  # chain of jobs that depend on the same job
    first_dependent: int
    kind: int  # application or job type, for policies that know it
    think_s: float
    share: float  # the user's share, for orders that weigh it
    turn: int  # by which ties are decided: its row, or that of the job whose place it takes


class Live(Record):
    """Where a job stands."""

    state: int
    config: int
    units: int  # in the configuration chosen
    requested_s: float  # time asked for, at the current speed when running
    work_s: float  # seconds at full speed that are left
    watts: float  # at full speed, in the configuration chosen
    power_w: float  # now
    idle_w: float  # what its units would draw if they were idle
    rise_w: float  # of a waiting job on units of several classes: what it would draw above that
    class_order: int  # in which it goes through the classes (node_classes.py)
    rate: float  # progress a second
    start_s: float
    end_s: float  # of the run as it stands
    expected_s: float  # end by the requested time
    updated_s: float  # up to when work_s and energy_j are counted
    still_s: float  # until when a change of level has stopped it; -inf: none has
    energy_j: float
    aside_s: float  # since when it is set aside
    unplaced_s: float  # when placement last refused it the nodes that were free
    place: int  # in the list of running jobs
    heap: int  # place in a simulated world's heap of ends; -1 where there is none
    first_node: int  # head and tail of the chain of its runs of nodes
    last_run: int
    own_watts: int  # the log says what it draws; its nodes do not
    stretch: float  # product of slowdowns imposed from outside (congestion); 1 = none
    cap_w: float  # of one of its units; infinite where there is none
    level: int  # of frequency, where admission chose one; else -1
    slowdown: float  # times as long as at full speed at that level...
    dynamic: float  # ...and power above idle there, relative to full speed
    completed: int  # 1: it ended because its work was done
    begun: int  # 1: its start was carried out, and it has not ended
    unconfirmed: int  # STARTING or RESUMING: asked for, and not yet seen to happen; else 0
    below_idle_w: float  # of that in the clock
    resumed_j: float  # its joules when it was last asked to go on after a pause


class Entry(Record):
    """A place in the queue, or among jobs set aside."""

    job: int
    units: int
    requested_s: float
    key: float


class QueueBlock(Record):
    """Bounds of a block of places in the queue: no entry there is below them."""

    units: int
    requested_s: float


class Release(Record):
    """Units that a running job is expected to give back."""

    expected_s: float
    job: int
    units: int


class ReleaseBlock(Record):
    """A block of the release list."""

    count: int
    order: int
    total: int
    next_spare: int


class Timer(Record):
    """Something that happens at a time known beforehand."""

    time_s: float
    kind: int
    arg: int


class ActionRecord(Record):
    """What a decision asks for."""

    kind: int
    job: int
    value: float
    power_w: float
    cap_w: float  # of one unit; infinite where none is asked for


class Step(Record):
    """Units that are free from a time on, by the plan."""

    time_s: float
    free: int


class NoRoom(Record):
    """So many units are nowhere free for longer than `longest_s` from before `before_s` on."""

    units: int
    longest_s: float
    before_s: float


class Window(Record):
    """Units reserved for a time."""

    start_s: float
    end_s: float
    units: int
    watts: float
    stage: int


class NodeRun(Record):
    """A run of neighbouring nodes that a job holds, noted at its first; they form a chain."""

    next: int
    length: int
    kind: int
    power: int  # 0: on; NODE_OFF; or the number of its batch while it boots or shuts down


class UnitKind(Record):
    """A class of units."""

    idle_w: float
    active_w: float
    speed: float
    count: int
