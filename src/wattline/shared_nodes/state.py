"""The books of a machine with shared nodes, as arrays that kernels read and write.

Tables with two dimensions lie flat: row x width + column. Where a table has a `bank`, bank 0 is the
machine now and bank 1 a copy in which running jobs are let end, to ask when a job could start.
"""

from __future__ import annotations

from typing import Any

from wattline.model.kernel_arrays import KernelArrays
from wattline.model.records import Record, Table
from wattline.shared_nodes.state_clock import Clock
from wattline.shared_nodes.state_joules import JouleBook, Page
from wattline.shared_nodes.state_rules import RuleNumbers
from wattline.shared_nodes.state_times import Gap, Stay, Timer
from wattline.shared_nodes.state_waiting import Entry, Resv, Wait

# Where a job is in its life.
TO_COME, BLOCKED, QUEUED, RUNNING, OVER = range(5)
# What a timer is for.
END, BEGIN, GRACE, NODE_READY, NODE_SLEEPS = range(5)
# What came of an attempt to start a job.
STARTED, BUSY, OVER_LIMIT, NO_LICENCE, RESERVED = range(5)
# What a node is: 0 takes jobs.
UP, DOWN, DRAINED = range(3)
# Power saving: on, off, and on its way up.
AWAKE, ASLEEP, WAKING = range(3)

NEVER_S = 1e300


class Ask(Record):
    """What a job asks for, with the machine's defaults filled in."""

    # Read for every job that waits, in every cycle: beside each other in memory.
    reservation: int  # row of `resv`, or -1
    array: int
    array_limit: int
    association: int
    user: int
    any_licence: int
    first_entry: int
    entries: int
    factor: float  # the part of its priority that never changes
    submit_s: float
    run_s: float
    limit_s: float
    begin_s: float
    prompted: int  # the scheduler is told when that time comes
    tasks: int
    cpus_per_task: int
    tasks_per_node: int  # 0: not said
    cpus: int
    min_nodes: int
    max_nodes: int
    widens: int  # gets as many nodes as it can: WIDENS or TASKS_TOO of widening.py, or 0
    memory_node: int  # per node, or -1
    memory_cpu: int  # per CPU, or -1
    whole_memory: int
    exclusive: int
    own_user: int  # nodes are shared with jobs of the same user alone
    varies: int  # whether these differ between its partitions; then they are those of one of them
    any_gres: int
    by_devices: int  # has an order of nodes of its own: see by_devices.py
    gpu_cpus: int  # per GPU, of one that asks for GPUs in all; 0: not said
    gpu_memory: int
    qos: int
    nice: int
    first_wait: int  # conditions that it waits for
    waits: int
    any_wait: int  # one of them is enough
    kill_wait: int  # cancelled where they can never be met
    first_told: int  # conditions that are about this job
    tolds: int
    namesakes: int  # number of the jobs of its user and name, or -1
    required: int  # row of the node masks, or -1
    required_nodes: int
    requeue: int
    exit_ok: int
    held: int
    load: float
    node_w: float
    first_option: int  # classes of node that it chooses among: see by_class.py
    options: int
    option: int  # the one that was tried last, or -1
    first_row: int  # of the table of allocations
    rows: int
    refused: int  # a reason for refusing it at submission, or 0
    never: int  # a reason for which it waits for ever, or 0
    size_factor: float


class Live(Record):
    # As in `Ask`.
    phase: int
    age_from_s: float
    priority: float
    eligible_s: float
    state: int
    reason: int
    start_s: float  # of its run: a suspended job keeps it
    end_s: float
    limit_end_s: float
    latest_s: float  # it is over by then: see overtime.py
    generation: int
    nodes: int
    entry: int
    requeues: int
    watts: float  # added to the machine by it, once its nodes are up
    up_s: float
    boots: int  # its nodes are not up yet
    idle_w: float  # of its nodes by its part of their CPUs
    energy_j: float
    lost_j: float  # of these, in runs that it was requeued from
    stretch_s: float  # since when it runs; after a suspension this is not its start
    given_s: float  # since when it holds these nodes, which may have booted first
    held_s: float  # how long it ran in stretches before
    gap: int  # row of `gap` where it is suspended, or -1
    went_on: int  # row of `gap` after which it runs now, or -1
    left_s: float  # of its run, after a suspension
    killed: int
    let_go: int  # by the jobs that it waited for
    cancelled_s: float
    preempted: int
    leaves: int  # scratch: would give way to the job that is tried
    ready_s: float
    option: int  # of its class of node, or -1
    reserved: int  # the last backfill cycle that held nodes for it


class PartitionRecord(Record):
    tier: int
    max_cpus_per_node: int
    up: int
    preempt_mode: int
    grace_s: float
    nodes: int
    waiting: int  # jobs of the queue that name it


class Books(KernelArrays):
    """All arrays of one simulation; `rules` and `clock` have one record."""

    rules: Table[RuleNumbers]
    clock: Table[Clock]
    ask: Table[Ask]
    live: Table[Live]
    entry: Table[Entry]
    part: Table[PartitionRecord]
    timers: Table[Timer]
    gap: Table[Gap]
    stay: Table[Stay]
    resv: Table[Resv]
    # Nodes.
    node_cpus: Any
    node_memory: Any
    node_threads: Any
    node_gres: Any
    node_weight: Any  # by its rank, 0 is the lowest; of one that sleeps it is above all others
    own_weight: Any  # the same of a node that is awake
    rank_nodes: Any  # scratch: what each weight offers
    rank_cpus: Any
    node_leaf: Any
    node_idle_w: Any
    node_cpu_w: Any
    kind_w: Any  # nodes x kinds
    part_nodes: Any  # partitions x nodes
    part_cpus: Any  # partitions x nodes: CPUs in use by the partition's jobs
    node_state: Any
    node_power: Any  # awake or not
    node_idle_since: Any
    node_sleeper: Any  # may be put to sleep
    node_generation: Any
    node_out: Any  # outages that hold it
    cpus_free: Any  # banks x nodes
    memory_free: Any
    gres_free: Any  # banks x nodes x kinds
    jobs_on: Any
    user_on: Any  # whose jobs are there: -1 none, -2 of several users
    own_on: Any  # jobs that share it with those of the same user alone
    switch_parent: Any
    switch_nodes: Any  # scratch: nodes that a switch offers
    switch_used: Any
    switch_first: Any
    # Requests.
    need: Any  # jobs x choices: what a node must have free, per node and per task
    need_task: Any
    own_node: Any  # the same as it is taken: see devices.py
    own_job: Any
    own_task: Any
    choice_kind: Any  # choices x kinds
    choice_is_gpu: Any
    choice_column: Any  # columns of resources, see devices.py
    choice_total: Any
    kind_total: Any
    need_licence: Any  # jobs x licences
    licence_free: Any
    class_first: Any  # candidate nodes of each class, in order of their rows
    class_nodes: Any
    class_joins: Any  # whether each follows the one before it and has the same weight
    required: Any  # node masks, flat
    # Dependencies: see depending.py.
    wait: Table[Wait]
    awaited: Any
    told_wait: Any  # conditions by the jobs that they are about
    told: Any  # jobs that started or were cancelled, and that others wait for
    ended_s: Any  # when jobs were over, one after the other
    namesake_job: Any  # jobs of one user and name, in order of submission
    namesake_next: Any  # the first of them that is not over
    namesake_last: Any
    namesakes_running: Any
    # Limits: see limits.py.
    member_first: Any
    member_last: Any  # those from first to last have limits on what runs
    member_group: Any
    member_tres: Any
    alone_tres: Any  # classes x resources: what one job may have
    member_jobs: Any
    member_submit: Any
    group_tres: Any
    group_row: Any  # groups with a limit on nodes: row of the next, or -1
    group_node_jobs: Any  # such groups x nodes: jobs of the group that are there
    class_counts_nodes: Any  # classes of limits with one on nodes
    group_jobs: Any
    group_submit: Any
    job_tres: Any
    array_running: Any
    array_held: Any  # tasks that nodes were held for in the cycle of `array_cycle`
    array_cycle: Any
    # Priority.
    assoc_parent: Any
    assoc_part: Any  # of the shares of its siblings
    assoc_norm: Any  # of the machine: the product of the parts
    assoc_depth: Any
    assoc_by_depth: Any
    assoc_usage: Any
    assoc_rate: Any
    assoc_pending: Any
    assoc_since: Any
    assoc_factor: Any
    assoc_level: Any
    users_order: Any  # user associations, best first
    users_scratch: Any
    entry_user: Any  # whose job it is, or -1: of all that wait, beside each other in memory
    entry_factor: Any
    entry_key: Any  # place in the queue, see queueing.py
    billing: Any  # partitions x resources
    reset_s: Any  # when usage is forgotten
    usage_factor: Any
    # Queue and running jobs.
    queue: Any
    queue_scratch: Any
    running: Any
    running_end: Any  # beside `running`: the limit, and the node (-1: several)
    running_node: Any
    node_first: Any  # rows of allocations on each node, in the order of `running`
    row_next: Any
    row_end: Any
    row_job: Any
    # What nodes could give to jobs of one form: see offers.py.
    class_has: Any  # classes x nodes
    moved_node: Any  # the last nodes that a job came onto or left
    slot_form: Any
    slot_offers: Any  # how many moves are in `offer`, and in `ready`; -1: nothing is
    slot_readys: Any
    slot_able: Any  # nodes with enough for one job now
    offer: Any  # slots x nodes: CPUs now
    ready: Any  # slots x nodes: when it has enough, if running jobs end at their limits
    is_ready_known: Any
    after_from: Any  # slots x nodes: between these times it has so many CPUs then
    after_to: Any
    after_cpus: Any
    # Licences that backfill holds for jobs to come.
    licence_hold_job: Any
    licence_hold_begin: Any
    licence_hold_end: Any
    # Preemption.
    qos_preempts: Any
    qos_rank: Any  # the QOS whose jobs give way first have the least
    qos_mode: Any
    qos_grace: Any
    victims: Any
    # Scratch of a choice.
    mask: Any
    mask_before: Any  # scratch
    avail: Any
    open_nodes: Any  # the nodes of `mask` in a try of backfill, one after the other
    shut: Any  # scratch: nodes that are held then
    near: Any
    step: Any  # places of running jobs, by the ends of which a plan was found: see alike.py
    kept_node: Any
    chosen: Any
    pick: Any
    pick_cpus: Any
    used: Any  # devices of each kind on a picked node
    has: Any  # nodes x choices: devices that nodes of `near` have free for the job that is tried
    near_gpus: Any  # the same of all GPUs
    near_rank: Any  # of their weight and these
    got: Any  # choices: devices of the picked nodes
    pick_devices: Any  # picked nodes x choices
    set_start: Any
    set_end: Any
    set_cpus: Any
    set_nodes: Any
    set_weight: Any
    set_most: Any
    with_cpus: Any  # how many nodes of `near` have so many CPUs
    failed: Any  # partitions
    tried: Any  # partitions, users, associations: counted in a pass
    user_tried: Any
    assoc_tried: Any
    # Reservations of a backfill cycle: per node a chain of spans.
    held_nodes: Any  # those with a span
    span_head: Any
    span_begin: Any
    span_end: Any
    span_next: Any
    soonest: Any  # scratch: when nodes are free
    looked: Any  # entries that a cycle looks at
    # Per form: the last cycle in which jobs of this limit and longer ones were found unable to
    # start now (late), or at all within the window (never); per request, from when on one is tried
    # (hint). They outlast a group of the cycle, after which nodes come free that were held in it;
    # but jobs of two groups never share a form, as its class of nodes is that of one reservation.
    late_cycle: Any
    late_limit_s: Any
    never_cycle: Any
    never_limit_s: Any
    hint_cycle: Any
    hint_s: Any
    # Reserved watts and licences, one row per reservation.
    held_begin: Any
    held_end: Any
    held_w: Any
    held_sum: Any  # watts of all reservations at the time at which each begins
    over_s: Any  # see freed.py
    over_w: Any
    ended_w: Any
    room_s: Any  # see room.py
    room_w: Any
    room_cycle: Any  # per request: the last cycle in which room was found for it, from when on
    room_from_s: Any
    room_over_s: Any  # until when it may last from then on; and `room_changes` then
    room_seen: Any
    qos_no_reserve: Any
    # Reservations of nodes by the site.
    resv_nodes: Any
    resv_s: Any  # when one begins or ends
    closed: Any  # nodes that are kept from the job that is tried
    # Outages and the cap.
    out_node: Any
    out_start: Any
    out_drain: Any
    back_node: Any
    back_s: Any
    cap_s: Any
    cap_w: Any
    # Limits of parts of the machine: see bounds.py.
    node_parts: Any  # first of the parts of each node in the two lists below
    part_bound: Any
    part_share: Any
    bound_parts: Any  # first of the nodes of each part in the two lists below
    bound_node: Any
    bound_share: Any
    bound_room_w: Any  # watts left beside idle nodes and running jobs
    bound_added_w: Any  # scratch: by the job that is tried; what is left for it, or NaN
    bound_left_w: Any
    bound_slack_w: Any  # sums of watts are no further from each other
    bound_least_share: Any
    bound_steps: Any  # see part_room.py: first step of each part in the two columns below
    bound_count: Any
    bound_changes: Any  # how often they were listed, or watts taken from them
    bound_s: Any
    bound_w: Any
    start_ask: Any  # slots: a request, and the cycle in which the times below were found
    start_cycle: Any
    start_from_s: Any  # slots x parts: from when on there may be room; `bound_changes` then
    start_seen: Any
    no_watts_cycle: Any  # per request: the last cycle in which no node had the watts for it now
    no_plan_cycle: Any  # or had them within the window
    plan_w: Any  # plans x parts: watts that are held
    node_kind: Any  # same number: the same job draws the same
    barred: Any  # nodes that were taken out of `mask` in this choice; CPUs that they had
    barred_cpus: Any
    all_open: Any  # `open_nodes` with them
    # An energy budget: see joule_book.py.
    book: Table[JouleBook]
    page: Table[Page]
    slot_edge_s: Any  # of each planned period, from its beginning to its end
    slot_order: Any  # by cost, numbered within the period
    slot_first: Any  # of each period, and one past the last slot of all
    alone_w: Any  # entries: added by the job on the empty machine, and for how long
    alone_s: Any
    watt_kind: Any  # same number: a job alone on the node draws the same
    # Classes of node that jobs choose among: see class_options.py.
    kind_of_node: Any
    option_kind: Any
    option_score: Any
    option_claimed_s: Any
    option_s: Any
    option_w: Any
    option_row: Any  # its row in the request
    option_left: Any  # scratch of options_left.py
    option_alone_w: Any  # of the whole machine with the job alone on it
    option_after_s: Any  # between which times it is chosen
    option_until_s: Any
    fall_s: Any  # when a class ceases to be chosen by jobs of the queue
    shut_nodes: Any  # scratch: those of other classes, or too dear; `open_nodes` with them
    were_open: Any
    # Allocations and what is written down.
    row_w: Any  # added by the job
    row_node: Any
    row_cpus: Any
    row_memory: Any
    row_gres: Any
    stay_gres: Any  # as `stay`, by kind of device
    log_s: Any
    log_w: Any
    log_busy: Any


Books.FIELDS = tuple(Books.__annotations__)
