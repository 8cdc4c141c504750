"""Records of jobs that wait: in which partitions, for other jobs, for reservations."""

from __future__ import annotations

from wattline.model.records import Record


class Entry(Record):
    """A job in one of the partitions that it names."""

    job: int
    partition: int
    nodes: int  # class of equal candidate nodes
    members: int  # class of equal limits
    ask: int  # entries with the same number ask for the same
    form: int  # the same but for how long, and for watts
    capped_by: int  # reason for which it may have fewer nodes than it could use, or 0
    min_nodes: int
    max_nodes: int
    fits: int  # 0 where the job could not even run on the empty machine
    limit_s: float  # these are what the job asks for in this partition
    cpus_per_task: int
    cpus: int
    memory_node: int
    memory_cpu: int
    whole_memory: int
    exclusive: int
    own_user: int
    least_w: float  # under a cap or limits: it never adds less, see least_watts.py
    node_least_w: float  # under limits of parts: on any one node
    same_w: int  # the same on each of its nodes, of which it has one
    dear: int  # some of its nodes may be too dear for a budget: see affordable.py


class Wait(Record):
    """A condition that a job waits for; the jobs it is about stand in `awaited`."""

    job: int
    kind: int
    delay_s: float
    first: int
    count: int
    state: int
    due_s: float  # a timer is set for then


class Resv(Record):
    """Nodes that are kept for some jobs: see reserving.py."""

    start_s: float
    end_s: float
    kill_s: float
    maint: int
    overlap: int
    failed: int  # the last main pass in which one of its jobs could not start
