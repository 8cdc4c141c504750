"""The engine's data structures against the plainest thing that does the same."""

from __future__ import annotations

import bisect
import heapq

import numpy as np
import pytest
from tests.support.workloads import compose

from wattline.books.timers import pop_timer, push_timer
from wattline.engine.heap import move_end, push_end, rebuild_ends, remove_end
from wattline.engine.world import make_ends
from wattline.model.jobs import JobTable
from wattline.model.kernel import PLAIN
from wattline.policies.order.sjf import Sjf
from wattline.policies.placement.nodes import give_back_nodes, take_run
from wattline.policies.profile import add_to_profile, earliest, find_step, most_free
from wattline.policies.queue import drop_entries, enqueue
from wattline.policies.releases import (
    first_release_s,
    insert_release,
    list_deferred,
    release_at,
    remove_release,
    rescale_releases,
)
from wattline.policies.state import BLOCK, DONE, NODE_BLOCK, RUNNING, make_state

pytestmark = pytest.mark.both_ways

RANDOM = 20240


def state_of(count: int, units: int, nodes: int = 0):
    jobs = JobTable.build(submit_s=np.zeros(count), run_s=np.ones(count), procs=np.ones(count),
                          requested_s=np.arange(count) % 7)
    return make_state(jobs, jobs.procs, np.ones(count), units=units, idle_w=1.0, nodes=nodes)


def listed(state):
    """The release list from its blocks, with what every block must keep."""
    found = []
    for place in range(state.clock[0].blocks):
        block = state.blocks[place].order
        count = state.blocks[block].count
        entries = state.releases[block * BLOCK : block * BLOCK + count]
        assert 0 < count <= BLOCK
        assert state.blocks[block].total == entries.units.sum()
        found += [(float(e.expected_s), int(e.job), int(e.units)) for e in entries]
    return found


def test_releases_against_a_sorted_list():
    """10,000 random comings and goings among up to 1,000 running jobs, many with equal ends."""
    random = np.random.default_rng(RANDOM)
    state = state_of(1000, 1000)
    plain: list[tuple[float, int, int]] = []
    idle = list(range(1000))
    for step in range(2_000 if PLAIN else 10_000):
        # Swells and shrinks, so that blocks split, join and vanish.
        grows = random.random() < (0.7 if step // 500 % 2 == 0 else 0.3)
        if idle and (grows or not plain):
            job = idle.pop(int(random.integers(len(idle))))
            entry = (float(random.integers(0, 60)), job, int(random.integers(1, 9)))
            bisect.insort(plain, entry)
            insert_release(state, *entry)
        else:
            expected_s, job, _ = plain.pop(int(random.integers(len(plain))))
            idle.append(job)
            remove_release(state, expected_s, job)
        assert first_release_s(state) == (plain[0][0] if plain else np.inf)
        if step % 250 == 0:
            assert listed(state) == plain
            at = {entry[0] for entry in plain}
            assert all(release_at(state, float(t)) == (float(t) in at) for t in range(-1, 61))
    while plain:
        expected_s, job, _ = plain.pop()
        remove_release(state, expected_s, job)
    assert state.clock[0].blocks == 0
    assert listed(state) == []


def test_releases_that_are_put_off_against_a_sorted_list():
    """The same where jobs that start are only noted, asked for seldom and more often."""
    random = np.random.default_rng(RANDOM)
    state = state_of(4000, 40)  # room to note 41
    state.clock[0].defers = 1
    plain: list[tuple[float, int, int]] = []
    fresh = iter(range(4000))
    most_noted = 0
    for step in range(2_000 if PLAIN else 7_000):
        state.clock[0].now_s += float(random.integers(0, 2))
        if not plain or (len(plain) < 40 and random.random() < 0.52):
            job = next(fresh)
            entry = (float(random.integers(0, 60)), job, int(random.integers(1, 9)))
            bisect.insort(plain, entry)
            state.live[job].state = RUNNING
            insert_release(state, *entry)
            state.live[job].start_s = state.clock[0].now_s
        else:
            expected_s, job, _ = plain.pop(int(random.integers(len(plain))))
            remove_release(state, expected_s, job)
            state.live[job].state = DONE
        most_noted = max(most_noted, int(state.clock[0].deferred))
        if random.random() < (0.002, 0.3)[step // 500 % 2]:
            assert first_release_s(state) == (plain[0][0] if plain else np.inf)
            assert listed(state) == plain
            at = {entry[0] for entry in plain}
            assert all(release_at(state, float(t)) == (float(t) in at) for t in range(-1, 61))
    assert most_noted == 41
    list_deferred(state)
    assert listed(state) == plain


def test_releases_are_read_anew_when_all_ends_change():
    random = np.random.default_rng(RANDOM)
    state = state_of(300, 300)
    for job in range(300):
        insert_release(state, float(random.integers(0, 50)), job, 1 + job % 4)
    state.live.expected_s = random.integers(0, 20, 300)
    rescale_releases(state)
    expected = sorted((float(state.live[j].expected_s), j, 1 + j % 4) for j in range(300))
    assert listed(state) == expected


def test_heap_of_ends_against_a_sorted_list():
    random = np.random.default_rng(RANDOM)
    state = state_of(200, 200)
    heap = make_ends(200, caps=np.zeros(0)).heap
    times: dict[int, float] = {}
    for _ in range(400 if PLAIN else 3000):
        size = len(times)
        choice = random.random()
        if size < 200 and (choice < 0.45 or not size):
            job = int(random.choice([j for j in range(200) if j not in times]))
            times[job] = float(random.integers(0, 30))
            push_end(state, heap, size, times[job], job)
        elif choice < 0.7:
            job = int(random.choice(list(times)))
            times[job] = float(random.integers(0, 30))
            move_end(state, heap, size, times[job], job)
        else:
            job = int(random.choice(list(times)))
            remove_end(state, heap, size, job)
            del times[job]
            assert state.live[job].heap == -1
        if times:
            assert (heap[0].time_s, heap[0].job) == min(
                (time_s, job) for job, time_s in times.items())
            held = np.array(list(times))
            assert heap.job[state.live.heap[held]].tolist() == held.tolist()
    for index in range(len(times)):
        job = int(heap[index].job)
        times[job] = heap[index].time_s = float(random.integers(0, 30))
    rebuild_ends(state, heap, len(times))
    in_order = []
    for size in range(len(times), 0, -1):
        in_order.append((float(heap[0].time_s), int(heap[0].job)))
        remove_end(state, heap, size, int(heap[0].job))
    assert in_order == sorted((time_s, job) for job, time_s in times.items())


def test_timers_against_heapq():
    random = np.random.default_rng(RANDOM)
    state = state_of(1, 1)
    plain: list[tuple[float, int, int]] = []
    for _ in range(2000):
        if len(plain) < 200 and (random.random() < 0.55 or not plain):
            timer = (float(random.integers(0, 9)), int(random.integers(6)), int(random.integers(5)))
            push_timer(state, len(plain), *timer)
            heapq.heappush(plain, timer)
        else:
            first = state.timers[0]
            assert (first.time_s, first.kind, first.arg) == heapq.heappop(plain)
            pop_timer(state, len(plain) + 1)


def test_queue_against_a_sorted_list():
    """In the order of requested times, ties by row; entries leave from anywhere."""
    random = np.random.default_rng(RANDOM)
    state = state_of(400, 4)
    policy = compose(order=Sjf())
    waiting: list[tuple[float, int]] = []
    arriving = random.permutation(400).tolist()
    clock = state.clock[0]
    while arriving or waiting:
        if arriving and (random.random() < 0.6 or not waiting):
            job = arriving.pop()
            bisect.insort(waiting, (float(job % 7), job))
            enqueue(state, policy, job)
        else:
            first = int(random.integers(len(waiting)))
            end = int(random.integers(first, len(waiting))) + 1 if random.random() < 0.3 else first
            del waiting[first:end]
            drop_entries(state, clock.queue_first + first, clock.queue_first + end)
            if end == first and random.random() < 0.5:
                del waiting[0]
                drop_entries(state, clock.queue_first, clock.queue_first + 1)
        entries = state.queue[clock.queue_first : clock.queue_last]
        assert [(e.requested_s, e.job) for e in entries] == waiting


HORIZON = 60


def free_at(steps, state):
    return [int(state.profile[find_step(state, float(t))].free) for t in range(HORIZON)]


@pytest.mark.parametrize("seed", range(4))
def test_profile_against_an_array_of_seconds(seed):
    random = np.random.default_rng(seed)
    state = state_of(50, 16)
    plain = np.full(HORIZON + 40, 16)
    held: list[tuple[int, int, int]] = []
    for _ in range(40 if PLAIN else 200):
        if held and random.random() < 0.45:
            start, end, units = held.pop(int(random.integers(len(held))))
            add_to_profile(state, float(start), float(end), units)
            plain[start:end] += units
        else:
            start = int(random.integers(0, HORIZON))
            end = start + int(random.integers(0, 30))
            units = int(random.integers(1, 5))
            held.append((start, end, units))
            add_to_profile(state, float(start), float(end), -units)
            plain[start:end] -= units
        assert free_at(plain, state) == plain[:HORIZON].tolist()
        clock = state.clock[0]
        steps = state.profile[clock.step_first : clock.step_last].free
        assert (np.diff(steps) != 0).all()  # edges that are none do not pile up
        size, length = int(random.integers(1, 17)), int(random.integers(1, 12))
        now = int(random.integers(0, HORIZON))
        fits = [t for t in range(now, HORIZON + 28) if (plain[t : t + length] >= size).all()]
        assert earliest(state, float(now), size, float(length)) == fits[0]
        until = now + length
        assert most_free(state, float(now), float(until)) == plain[now:until].max()


def test_nodes_against_a_set():
    """Jobs take runs of free nodes and give them back; counts of blocks keep up."""
    random = np.random.default_rng(RANDOM)
    nodes = 3 * NODE_BLOCK + 17
    state = state_of(40, nodes, nodes)
    owner: dict[int, set[int]] = {}
    for _ in range(60 if PLAIN else 400):
        job = int(random.integers(40))
        if job in owner:
            give_back_nodes(state, job)
            del owner[job]
        else:
            taken = set().union(*owner.values())
            mine: set[int] = set()
            for _ in range(int(random.integers(1, 4))):
                first, count = int(random.integers(nodes)), int(random.integers(1, 90))
                run = set(range(first, min(first + count, nodes)))
                if run & (taken | mine):
                    continue
                take_run(state, job, min(run), len(run))
                mine |= run
            if mine:
                owner[job] = mine
        taken = set().union(*owner.values())
        assert set(np.flatnonzero(state.node_free == 0).tolist()) == taken
        free = [NODE_BLOCK - len([n for n in taken if n // NODE_BLOCK == b]) for b in range(4)]
        free[3] -= NODE_BLOCK - 17
        assert state.free_in_block.tolist() == free
        for holder, held in owner.items():
            assert chain(state, holder) == held


def chain(state, job):
    found: set[int] = set()
    run = int(state.live[job].first_node)
    while run >= 0:
        found |= set(range(run, run + int(state.nodes[run].length)))
        run = int(state.nodes[run].next)
    return found
