"""Nodes that were switched off because of us come on again at a stop."""

from __future__ import annotations

import pytest
from tests.unit.controller.test_hands import controller, done

from wattline.controller.handing_back import hand_back, keep_off, kept_off
from wattline.live.slurm.client import Seen
from wattline.live.slurm.reading import SlurmNode


class Machine:
    """Nodes that go down step by step, and an order to come up that is lost meanwhile."""

    def __init__(self, **states: list[str]) -> None:
        self.states, self.told = states, []

    def look(self) -> Seen:
        now = {name: each.pop(0) if len(each) > 1 else each[0]
               for name, each in self.states.items()}
        return Seen(0.0, (), tuple(SlurmNode(name, tuple(state.split("+")), 32)
                                   for name, state in now.items()))

    def power(self, nodes, on) -> None:
        self.told.append((tuple(nodes), on))


def test_nodes_that_are_off_come_on_and_those_that_go_down_once_they_are() -> None:
    machine = Machine(n1=["idle+powered_down"], n2=["idle+powering_down", "idle+powered_down"],
                      n3=["idle"], n4=["idle+powered_down"])
    assert hand_back(machine, {"n1", "n2", "n3"}, sleep=lambda _: None) == set()
    assert machine.told == [(("n1",), True), (("n2",), True)]


def test_nodes_that_do_not_come_down_in_time_are_said() -> None:
    machine = Machine(n1=["idle+powering_down"], n2=["idle+powered_down"])
    assert hand_back(machine, {"n1", "n2"}, within_s=0.0, sleep=lambda _: None) == {"n1"}
    assert machine.told == [(("n2",), True)]


def test_which_nodes_are_off_is_on_disk_before_they_go_down(tmp_path) -> None:
    here, kept = controller(), []
    here.hands.keep_off = lambda names: (keep_off(tmp_path, names), kept.append(
        (kept_off(tmp_path), len(here.slurm.told))))
    done(here, "down", nodes=(1,), job=None)
    assert kept == [({"n2"}, 0), ({"n2"}, 1)]
    done(here, "up", nodes=(1,), job=None)
    assert kept[2] == ({"n2"}, 2), "Slurm ignores that of a node that is still going down"
    here.watcher.down = {"n2"}  # as Slurm shows it until it is up
    here.hands.carry_out(here, [], 2.0)
    assert len(kept) == 3
    here.watcher.down = set()
    here.hands.carry_out(here, [], 3.0)
    assert kept[3] == (set(), 2)


@pytest.mark.parametrize("text", ["", "{", "5"])
def test_a_file_that_cannot_be_read_names_no_node(tmp_path, text) -> None:
    (tmp_path / "off.json").write_text(text)
    assert kept_off(tmp_path) == set()
