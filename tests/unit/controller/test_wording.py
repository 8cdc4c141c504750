"""Words of the books reach operators and users in Slurm's words."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from tests.unit.controller.fakes import FakeSlurm

from wattline.books import Ended
from wattline.cli.main import main
from wattline.controller.controller import Controller
from wattline.controller.watching import Watcher
from wattline.controller.wording import in_slurm_words
from wattline.live.folder_lock import alone_in
from wattline.live.slurm.reading import SlurmJob
from wattline.scenario.objects import Machine
from wattline.scenario.opening import open_books

NAMES = ["n1", "n2"]


@pytest.mark.parametrize(("said", "shown"), [
    ("job '3' is over", "job 3 is over"),
    ("node 1 is not free for job '5'", "node n2 is not free for job 5"),
    ("job '5' needs 3 units, 2 are free", "job 5 needs 3 nodes, 2 are free"),
    ("there is no node 9; they are 0 to 1", "there is no node 9; they are 0 to 1")])
def test_jobs_and_nodes_have_the_names_that_slurm_gives_them(said: str, shown: str) -> None:
    assert in_slurm_words(said, Watcher(NAMES).node_names) == shown


def controller(*jobs: SlurmJob) -> Controller:
    books = open_books(machine=Machine(nodes=2, node_idle_w=90, node_active_w=300), cap=600.0,
                       placement="first-fit", power="block")
    return Controller(books, FakeSlurm(list(jobs)), Watcher(NAMES), act=True, clock=lambda: 0.0)


def test_the_user_of_a_job_that_the_books_do_not_take_reads_why() -> None:
    large = SlurmJob("7", 7, 0, "PENDING", 3, 3, 300.0, math.nan, math.nan, 0.0)
    here = controller(large)
    assert here.cycle().remarks == ("job 7: it asks for 3 nodes; the machine has 2",)
    assert here.slurm.told == [("explain", "7",
                                "wattline: it asks for 3 nodes; the machine has 2")]


def test_an_event_that_does_not_fit_is_said_to_be_one() -> None:
    here = controller()
    here.sources = (lambda now_s: [Ended("3")],)
    assert here.cycle().remarks == (
        "the books do not take what they are told: no job 3 is known",)


def test_whoever_asks_a_controller_that_begins_is_told_to_wait(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "site.toml"
    file.write_text('nodes = "n[1-2]"\nnode_idle_w = 90\nnode_active_w = 300\ncap = 500\n'
                    'folder = "controller"\n')
    with alone_in(tmp_path / "controller", "another"), pytest.raises(SystemExit):
        main(["power", "show", "--live", "--config", str(file)])
    assert "is being started" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["power", "show", "--live", "--config", str(file)])
    assert "no controller runs in" in capsys.readouterr().err
