"""Which nodes of Slurm's power saving are switched on, by the watts that jobs would have on them.

Four nodes draw 90 W idle, 300 W busy or booting and 10 W off: one that boots adds 290 W, one that
is up 80 W, and a job what it claims above the 90 W of its node.
"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.unit.controller.test_power_saving import going

from wattline.controller.waking import Waker


@pytest.mark.parametrize(("watts", "orders"), [(300, [("n2",)]), (320, [])])
def test_a_node_is_switched_on_for_a_job_that_would_have_watts_on_it(
    tmp_path: Path, watts: int, orders: list[tuple[str, ...]]
) -> None:
    """Job 1 has n1: the machine draws 300 + 3 x 10 W, which leaves 290 W, as much as a boot adds.
    80 + 210 W fit, 80 + 230 W do not. As many nodes are on as job 2 asks for."""
    with going(tmp_path, "idle idle~ idle~ idle~", cap=620) as (slurm, here, _):
        slurm.submit("1", priority=0, licenses={"watts": 300})
        here.cycle()
        assert slurm.jobs["1"].node_list == ("n1",)
        slurm.submit("2", priority=0, licenses={"watts": watts}, required_nodes=("n2",))
        here.cycle()
        here.cycle()
        assert slurm.orders == orders


def test_a_node_that_is_on_is_there_for_one_of_two_jobs(tmp_path: Path) -> None:
    """Both ask for two nodes: one has n1 and lacks one, the other lacks two."""
    with going(tmp_path, "idle idle~ idle~ idle~", cap=1200) as (slurm, here, _):
        for label in ("1", "2"):
            slurm.submit(label, nodes=2, priority=0, licenses={"watts": 200})
        here.cycle()
        here.cycle()
        assert slurm.orders == [("n2", "n3", "n4")]


@pytest.mark.parametrize(("cap", "orders"), [(1199, [("n2", "n3")]), (1200, [("n2", "n3", "n4")])])
def test_watts_of_a_job_for_which_a_node_boots_are_not_given_to_the_next(
    tmp_path: Path, cap: int, orders: list[tuple[str, ...]]
) -> None:
    """120 W are drawn. Job 1, of n1 and n2, takes 80 + 420 W, more than the boot of n2; job 2 needs
    580 W to boot both of the others: 1,200 W. All three boots are 990 W."""
    with going(tmp_path, "idle idle~ idle~ idle~", cap=cap) as (slurm, here, _):
        slurm.submit("1", nodes=2, priority=0, licenses={"watts": 600})
        slurm.submit("2", nodes=2, priority=0, licenses={"watts": 200})
        here.cycle()
        here.cycle()
        assert slurm.orders == orders


def test_a_node_that_a_job_asks_for_is_switched_on_though_another_is_free(tmp_path: Path) -> None:
    """The policy counts nodes: it starts job 1 on n1, which is no node for it."""
    with going(tmp_path, "idle idle~ idle~ idle~") as (slurm, here, _):
        slurm.submit("1", priority=0, licenses={"watts": 200}, required_nodes=("n3",))
        here.cycle()
        assert slurm.jobs["1"].state == "PENDING"
        here.cycle()
        assert slurm.orders == [("n3",)]


@pytest.mark.parametrize(("room_w", "booting"), [(580.0, ["a", "b"]), (579.0, ["a"]),
                                                 (290.0, ["a"]), (289.0, [])])
def test_as_many_nodes_boot_as_have_the_watts_that_booting_adds(
    room_w: float, booting: list[str]
) -> None:
    power = SimpleNamespace(booting_w=lambda name, idle_w: 300.0, off_w=10.0)
    waker = Waker(SimpleNamespace(watcher=SimpleNamespace(power=power)), 90.0)
    assert waker._within(["a", "b"], room_w) == booting
