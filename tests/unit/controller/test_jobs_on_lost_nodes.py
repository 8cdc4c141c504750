"""The books count every job that runs, also on nodes that they took for lost or promised others."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from tests.unit.controller.fakes import FakeSlurm

from wattline.controller.controller import Controller
from wattline.controller.watching import Watcher
from wattline.live.slurm.client import Seen
from wattline.live.slurm.reading import SlurmJob, SlurmNode
from wattline.policies.control import nodes_of
from wattline.policies.state import RUNNING
from wattline.scenario.objects import Machine
from wattline.scenario.opening import open_books

NAMES = ["n1", "n2"]
WAITS = SlurmJob("7", 7, 0, "PENDING", 1, 1, 300.0, math.nan, math.nan, 0.0)
RUNS = replace(WAITS, state="RUNNING", node_list=("n1",))


class Nodes(FakeSlurm):
    """A Slurm whose nodes may be away."""

    away: tuple[str, ...] = ()

    def look(self) -> Seen:
        return Seen(0.0, tuple(self.jobs), tuple(
            SlurmNode(name, ("down",) if name in self.away else ("idle",), 32)
            for name in self.nodes))


def controller(*, decides: bool = True) -> Controller:
    books = open_books(machine=Machine(nodes=2, node_idle_w=90, node_active_w=300), cap=600.0,
                       placement="first-fit", power="block")
    clock = iter(range(1000))
    return Controller(books, Nodes(), Watcher(NAMES, decides=decides), act=True,
                      clock=lambda: float(next(clock)))


def runs_on(here: Controller, name: str) -> list[str]:
    row = here.books.roll.row(name)
    assert int(here.books.state.live[row].state) == RUNNING
    assert not int(here.books.state.live[row].unconfirmed)
    return here.watcher.node_names(nodes_of(here.books.state, row))


@pytest.mark.parametrize("comes_back", ["at once", "later", "never"])
@pytest.mark.parametrize("decides", [True, False])
def test_a_job_that_runs_on_a_node_that_was_away_is_counted(
    decides: bool, comes_back: str
) -> None:
    here = controller(decides=decides)
    here.slurm.away = ("n1",)
    here.cycle()
    assert here.books.power_w == 90.0
    here.slurm.jobs = [RUNS]
    here.slurm.away = () if comes_back == "at once" else ("n1",)
    assert here.cycle().remarks == ()
    assert runs_on(here, "7") == ["n1"]
    assert here.books.power_w == 390.0
    here.slurm.away = ("n1",) if comes_back == "never" else ()
    assert here.cycle().remarks == ()
    assert here.watcher.down == set(here.slurm.away)
    here.slurm.jobs = [replace(RUNS, state="COMPLETED")]
    assert here.cycle().remarks == ()
    assert here.books.power_w == (90.0 if comes_back == "never" else 180.0)


def test_a_job_on_a_node_that_is_promised_to_another_is_told_of_until_it_is_counted() -> None:
    here = controller()
    here.slurm.jobs = [WAITS]
    here.cycle()
    assert ("start", "7", ["n1"]) in here.slurm.told
    # Slurm has started another one there, which nobody had told of.
    here.slurm.jobs = [WAITS, replace(RUNS, label="8", job_id=8)]
    said = here.cycle().remarks
    assert said == ("the books do not take that job 8 runs, and are told again: "
                    "node n1 is not free for job 8",)
    assert not any("job 8 runs" in each for each in here.cycle().remarks), "it is said once"
    here.watcher.failed("7")  # as when Slurm refuses its start
    here.cycle()
    here.cycle()
    assert runs_on(here, "8") == ["n1"]
    here.slurm.jobs = [replace(RUNS, label="8", job_id=8, state="COMPLETED")]
    here.cycle()
    assert here.books.power_w == 180.0
