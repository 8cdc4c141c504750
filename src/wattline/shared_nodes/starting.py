"""A job takes what was picked for it, and gives it back."""

from __future__ import annotations

import numpy as np

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.bounds import draw_on_row, leave_row
from wattline.shared_nodes.by_class import run_as_chosen
from wattline.shared_nodes.devices import count_devices, gpus_asked, use_devices
from wattline.shared_nodes.limits import count_running
from wattline.shared_nodes.offers import node_moved
from wattline.shared_nodes.overtime import killed_at, next_look
from wattline.shared_nodes.power import given_cpus, node_watts
from wattline.shared_nodes.queueing import count_waiting
from wattline.shared_nodes.running import add_running, drop_running
from wattline.shared_nodes.sleeping import node_taken, node_was_left
from wattline.shared_nodes.state import END, NODE_READY, QUEUED, RUNNING, Books
from wattline.shared_nodes.timers import add_timer
from wattline.shared_nodes.usage import change_rate
from wattline.shared_nodes.waking import ask_for_cycle, others_are_next

SEVERAL = -2
"""Users have jobs on a node; it counts so until it is empty."""


@kernel_part
def picked_tres(st: Books, entry: int) -> None:
    """Write down what the job would hold on the nodes that were picked."""
    rules = st.rules[0]
    job = st.entry[entry].job
    first = job * rules.resources
    for resource in range(rules.resources):
        st.job_tres[first + resource] = 0
    st.job_tres[first + 2] = st.clock[0].picked
    for place in range(st.clock[0].picked):
        node = st.pick[place]
        cpus = given_cpus(st, job, node, st.pick_cpus[place])
        st.job_tres[first] += cpus
        st.job_tres[first + 1] += memory_on(st, job, place)
        if st.ask[job].exclusive != 0 or st.ask[job].any_gres != 0:
            count_devices(st, job, place)


@kernel_part
def memory_on(st: Books, job: int, place: int) -> int:
    """Memory that the job holds on the node in this place of those that were picked, in MB."""
    ask = st.ask[job]
    node, cpus = st.pick[place], st.pick_cpus[place]
    if st.rules[0].memory_counts == 0:
        return 0
    if ask.whole_memory != 0:
        return int(st.node_memory[node])
    if ask.memory_cpu > 0:
        return int(ask.memory_cpu * given_cpus(st, job, node, cpus))
    if ask.gpu_memory > 0:
        return int(ask.gpu_memory * gpus_asked(st, job, place))
    return int(ask.memory_node)


@kernel_part
def start_job(st: Books, entry: int) -> None:
    """Start a job on the nodes of `pick`."""
    clock = st.clock[0]
    row = st.entry[entry]
    job = row.job
    live = st.live[job]
    ask = st.ask[job]
    booted_s = clock.now_s
    others_are_next(st)
    live.watts = 0.0
    live.idle_w = 0.0
    live.nodes = clock.picked
    live.entry = entry
    for place in range(clock.picked):
        booted_s = max(booted_s, _take_node(st, entry, place))
    if booted_s > clock.now_s:
        booted_s = next_look(st, booted_s)
    if ask.options > 0:
        run_as_chosen(st, job)
    live.phase = RUNNING
    live.stretch_s = clock.now_s
    live.given_s = clock.now_s
    live.ready_s = booted_s
    if live.gap < 0:
        live.start_s = clock.now_s
        live.held_s = 0.0
        live.went_on = -1
        live.ready_s += st.rules[0].start_latency_s
    else:  # it goes on, with no prologue
        st.gap[live.gap].to_s = clock.now_s
        live.went_on = live.gap
        live.gap = -1
    live.limit_end_s = clock.now_s + ask.limit_s - live.held_s
    _draw_watts(st, job, booted_s)
    clock.queued -= 1
    count_waiting(st, job, -1)
    for licence in range(st.rules[0].licences):
        st.licence_free[licence] -= st.need_licence[job * st.rules[0].licences + licence]
    if ask.array >= 0:
        st.array_running[ask.array] += 1
    count_running(st, entry, 1)
    change_rate(st, entry, 1)
    add_running(st, job)
    _set_end(st, job, booted_s)
    if ask.namesakes >= 0:
        st.namesakes_running[ask.namesakes] += 1
    if ask.tolds > 0:
        st.told[clock.told] = job
        clock.told += 1


@kernel_part
def _draw_watts(st: Books, job: int, booted_s: float) -> None:
    """Nodes that boot draw their idle power, and the job's watts when all of them are up."""
    clock = st.clock[0]
    live = st.live[job]
    live.up_s = booted_s
    live.boots = 1 if booted_s > clock.now_s else 0
    if live.boots != 0:
        clock.booting_w += live.watts
        add_timer(st, booted_s, NODE_READY, job, live.generation)
    else:
        clock.power_w += live.watts


@kernel_part
def nodes_are_up(st: Books, job: int) -> None:
    """The last node of a job has booted: now it starts, and its limit counts from now on."""
    live = st.live[job]
    clock = st.clock[0]
    by_joules = st.rules[0].by_joules != 0
    if by_joules:
        change_rate(st, live.entry, -1)
    live.boots = 0
    if by_joules:
        change_rate(st, live.entry, 1)
    clock.booting_w -= live.watts
    clock.power_w += live.watts
    if live.went_on >= 0:
        st.gap[live.went_on].to_s = clock.now_s
    else:
        live.start_s = clock.now_s
    live.stretch_s = clock.now_s
    drop_running(st, job)
    live.limit_end_s = clock.now_s + st.ask[job].limit_s - live.held_s
    add_running(st, job)
    first = st.ask[job].first_row
    for index in range(first, first + live.nodes):
        node_moved(st, st.row_node[index])
    if clock.queued > 0:
        ask_for_cycle(st)  # plans were made for an end that is later now


@kernel_part
def _set_end(st: Books, job: int, booted_s: float) -> None:
    """It ends by itself, or is killed when limits are looked at next after its own."""
    live = st.live[job]
    end_s = live.ready_s + live.left_s
    live.latest_s = killed_at(st, job, booted_s)
    live.killed = 1 if end_s > live.latest_s else 0
    add_timer(st, min(end_s, live.latest_s), END, job, live.generation)


@kernel_part
def _take_node(st: Books, entry: int, place: int) -> float:
    """Take resources of a node; when it is ready to run the job."""
    rules = st.rules[0]
    row = st.entry[entry]
    job = row.job
    node = st.pick[place]
    cpus = given_cpus(st, job, node, st.pick_cpus[place])
    memory = memory_on(st, job, place)
    index = st.ask[job].first_row + place
    st.row_node[index] = node
    st.row_cpus[index] = cpus
    st.row_memory[index] = memory
    # Before devices are taken: their watts are those of the free ones that it is about to take.
    watts = node_watts(st, job, place, 0)
    st.live[job].watts += watts
    st.row_w[index] = watts
    if rules.bounded != 0:
        draw_on_row(st, index, watts)
    _take_devices(st, job, place, index)
    ready_s = node_taken(st, node)
    st.cpus_free[node] -= cpus
    st.memory_free[node] -= memory
    if st.jobs_on[node] == 0:
        st.user_on[node] = st.ask[job].user
    elif st.user_on[node] != st.ask[job].user:
        st.user_on[node] = SEVERAL
    st.jobs_on[node] += 1
    st.own_on[node] += st.ask[job].own_user
    st.part_cpus[row.partition * rules.nodes + node] += cpus
    node_moved(st, node)
    st.clock[0].busy_cpus += cpus
    st.live[job].idle_w += st.node_idle_w[node] * cpus / st.node_cpus[node]
    return ready_s


@kernel_part
def _take_devices(st: Books, job: int, place: int, index: int) -> None:
    kinds = st.rules[0].kinds
    node = st.pick[place]
    ask = st.ask[job]
    if ask.exclusive == 0 and ask.any_gres != 0:
        use_devices(st, job, place, 0)
    for kind in range(kinds):
        count = 0
        if ask.exclusive != 0:
            count = st.node_gres[node * kinds + kind]
        elif ask.any_gres != 0:
            count = min(st.used[kind], st.gres_free[node * kinds + kind])
        st.row_gres[index * kinds + kind] = count
        st.gres_free[node * kinds + kind] -= count


@kernel_part
def release(st: Books, job: int) -> None:
    """Give back what a job holds."""
    rules = st.rules[0]
    first = st.ask[job].first_row
    for index in range(first, first + st.live[job].nodes):
        node = st.row_node[index]
        st.cpus_free[node] += st.row_cpus[index]
        st.memory_free[node] += st.row_memory[index]
        st.jobs_on[node] -= 1
        st.own_on[node] -= st.ask[job].own_user
        if st.jobs_on[node] == 0:
            st.user_on[node] = -1
        for kind in range(rules.kinds):
            st.gres_free[node * rules.kinds + kind] += st.row_gres[index * rules.kinds + kind]


@kernel_part
def stop_job(st: Books, job: int) -> None:
    """A running job leaves its nodes, whatever becomes of it then."""
    rules = st.rules[0]
    clock = st.clock[0]
    live = st.live[job]
    ask = st.ask[job]
    drop_running(st, job)
    release(st, job)
    live.energy_j += (live.watts + live.idle_w) * (clock.now_s - live.stretch_s)
    live.energy_j -= live.watts * (min(live.up_s, clock.now_s) - live.stretch_s)
    partition = st.entry[live.entry].partition
    for index in range(ask.first_row, ask.first_row + live.nodes):
        node = st.row_node[index]
        st.part_cpus[partition * rules.nodes + node] -= st.row_cpus[index]
        clock.busy_cpus -= st.row_cpus[index]
        if rules.bounded != 0:
            leave_row(st, index)
        node_moved(st, node)
        if st.jobs_on[node] == 0:
            node_was_left(st, node)
    if live.boots != 0:
        clock.booting_w -= live.watts
    else:
        clock.power_w -= live.watts
    if clock.running == 0:
        clock.booting_w = np.float64(0.0)
        clock.power_w = np.float64(0.0)
        for node in range(rules.nodes):
            if st.node_power[node] == 0:
                clock.power_w += st.node_idle_w[node]
    live.generation += 1
    live.preempted = 0  # a grace that had begun is over with the run
    live.phase = QUEUED
    for licence in range(rules.licences):
        st.licence_free[licence] += st.need_licence[job * rules.licences + licence]
    if ask.array >= 0:
        st.array_running[ask.array] -= 1
    if ask.namesakes >= 0:
        st.namesakes_running[ask.namesakes] -= 1
    count_running(st, live.entry, -1)
    change_rate(st, live.entry, -1)
