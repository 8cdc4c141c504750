"""State that a policy written in Python is shown: signals, power states."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from wattline.cli.simulate import command
from wattline.engine.prepare import Rules
from wattline.engine.simulate import simulate
from wattline.model.errors import PolicyError
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine, NodeClass, NodeGroup, NodeState
from wattline.model.signal import Signal
from wattline.policies.view import PowerDown, PowerUp, Start


class Cheap:
    """Start jobs only while power is cheap; look at every price on the way."""

    def __init__(self):
        self.seen = []

    def decide(self, view):
        self.seen.append((view.now_s, view.signals["price"]))
        if view.signals["price"] < 50.0:
            free = view.free
            for job in view.queue:
                if job.units <= free:
                    free -= job.units
                    yield Start(job.job)


def test_policy_is_called_at_the_steps_of_a_signal_and_told_its_value():
    jobs = JobTable.build(submit_s=[0, 5], run_s=[10, 10], procs=[2, 2])
    price = Signal.from_steps([(0, 80), (20, 40), (25, 90), (100, 10)])
    policy = Cheap()
    run = simulate(jobs, Machine.uniform(2), policy, Rules(signals={"price": price}))
    # Both wait for the price of second 20; there is room for one, the other waits until 100.
    assert run.schedule.start_s.tolist() == [20.0, 100.0]
    assert policy.seen == [(0, 80), (5, 80), (20, 40), (25, 90), (30, 90), (100, 10), (110, 10)]


class Switching:
    """Switch a unit off at once, start the job beside it, switch it on at the end."""

    def __init__(self):
        self.states = {}

    def decide(self, view):
        self.states[view.now_s] = view.states
        if view.now_s == 0:
            return [PowerDown(1), Start(view.queue[0].job)]
        return [PowerUp(1)] if view.off else []


def test_power_states_are_counted():
    node = NodeClass(boot_s=3.0, boot_power_w=50.0, shutdown_s=2.0, shutdown_power_w=20.0)
    jobs = JobTable.build(submit_s=[0], run_s=[10], procs=[2])
    policy = Switching()
    simulate(jobs, Machine((NodeGroup(node, 4),)), policy, Rules())

    def counts(now_s):
        found = policy.states[now_s]
        return [found[state] for state in (NodeState.OFF, NodeState.CHANGING, NodeState.IDLE,
                                           NodeState.ACTIVE)]

    assert counts(0.0) == [0, 0, 4, 0]
    assert counts(2.0) == [1, 0, 1, 2]  # it is off now, and told to boot
    assert counts(5.0) == [0, 0, 2, 2]


def test_signals_of_a_scenario_reach_the_policy(tmp_path):
    (tmp_path / "price.csv").write_text("t_s,price\n0,80\n30,20\n")
    (tmp_path / "log.swf").write_text("1 0 -1 10 4 -1 -1 4 10 -1 1 1 1 1 1 -1 -1 -1\n")
    (tmp_path / "mine.py").write_text(
        "from wattline.policies.view import Start\n"
        "class Cheap:\n"
        "    def decide(self, view):\n"
        "        low = view.signals['price'] < 50\n"
        "        return [Start(job.job) for job in view.queue if low]\n")
    (tmp_path / "cheap.toml").write_text(
        '[trace]\nfile = "log.swf"\n[machine]\nnodes = 4\n[policy]\npython = "mine.py:Cheap"\n'
        '[signals]\nprice = "price.csv"\n')
    result = CliRunner().invoke(command, [str(tmp_path / "cheap.toml"), "--json", "--out",
                                          str(tmp_path / "run")], catch_exceptions=False)
    assert json.loads(result.stdout)["metrics"]["wait_s"]["mean"] == pytest.approx(30.0)


def test_switching_units_of_several_classes_is_refused():
    mixed = Machine((NodeGroup(NodeClass("a"), 2), NodeGroup(NodeClass("b"), 2)))
    jobs = JobTable.build(submit_s=[0], run_s=[10], procs=[2])
    with pytest.raises(PolicyError, match="several node classes"):
        simulate(jobs, mixed, Switching(), Rules(choose_nodes=True))
