"""Patterns in steps, and packets that wait for the step before."""

import numpy as np
import pytest

from wattline.network.flows import HOP_S, Exchange
from wattline.network.packets import packet_book, packet_times
from wattline.network.rounds import in_steps
from wattline.network.topology import dragonfly
from wattline.network.traffic import PATTERNS, Traffic, map_tasks, pattern

MACHINE = dragonfly(4, 2, 3)
BOOK = packet_book(MACHINE)
MESSAGE_S = 1024 / 1e9 + HOP_S
"""One packet between two nodes of one router."""


def chain(node_of_task):
    """Task 0 sends to task 1, which then sends to task 2."""
    traffic = Traffic(3, np.array([0, 1]), np.array([1, 2]), np.ones(2))
    nodes = np.array(node_of_task)
    return Exchange(np.unique(nodes), nodes, traffic, 1024.0, np.array([0, 1]))


def seconds(exchange):
    return packet_times(BOOK, [exchange], np.random.default_rng(1)).time_s[0]


def test_a_task_waits_for_the_step_before():
    assert seconds(chain([0, 1, 2])) == pytest.approx(2 * MESSAGE_S)
    whole = chain([0, 1, 2])
    at_once = Exchange(whole.nodes, whole.node_of_task, whole.traffic)
    assert seconds(at_once) == pytest.approx(MESSAGE_S)


def test_a_message_inside_a_node_is_there_at_once():
    assert seconds(chain([0, 0, 2])) == pytest.approx(MESSAGE_S)
    # The last one stays inside; it still has to wait, but for nothing that anyone sees.
    assert seconds(chain([0, 2, 2])) == pytest.approx(MESSAGE_S)


@pytest.mark.parametrize("name", PATTERNS)
def test_steps_are_those_of_the_pattern(name):
    for tasks in (2, 6, 24):
        traffic, step = in_steps(name, tasks)
        assert len(step) == len(traffic.source)
        assert step.min() == 0
        if name == "broadcast":
            assert sorted(traffic.target) == list(range(1, tasks))  # everybody hears once
            heard = dict(zip(traffic.target, step, strict=True))
            assert all(source == 0 or heard[source] == at - 1
                       for source, at in zip(traffic.source, step, strict=True))
        else:
            whole = pattern(name, tasks)
            assert set(zip(traffic.source, traffic.target, strict=True)) == set(
                zip(whole.source, whole.target, strict=True))
        if name in ("all-to-all", "fft3d"):
            # In each step a task sends no more than one message and hears no more than one.
            for ends in (traffic.source, traffic.target):
                assert np.bincount(step * tasks + ends).max() == 1
    assert step.max() == {"all-to-all": 22, "broadcast": 3, "fft3d": 7, "halo2d": 1, "halo3d": 2,
                          "halo3d26": 0}[name]


@pytest.mark.parametrize("name", PATTERNS)
def test_all_packets_arrive(name):
    nodes = np.arange(0, 24, 2)
    traffic, step = in_steps(name, 24)
    tasks = map_tasks(nodes, 24, "random", np.random.default_rng(3))
    found = packet_times(BOOK, [Exchange(nodes, tasks, traffic, 2500.0, step)],
                         np.random.default_rng(5))
    apart = int(np.sum(tasks[traffic.source] != tasks[traffic.target]))
    assert found.packets == 3 * apart
    up, down = found.link_packets[MACHINE.links:].reshape(2, MACHINE.nodes)
    assert up.sum() == down.sum() == 3 * apart
