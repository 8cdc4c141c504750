"""Slurm as the controller sees and tells it, with what is known to go wrong."""

from __future__ import annotations

import time

import pytest

from tests.slurm.bedside import LONG_S, runs, slurm, submit, until
from wattline.controller.testbed.layout import Bed
from wattline.live.slurm.client import Slurm
from wattline.live.slurm.commands import Commands, SlurmError
from wattline.live.slurm.reading import SlurmJob


@pytest.fixture
def here(bed: Bed) -> Slurm:
    return Slurm(Commands(bed.environment))


def seen(here: Slurm, label: str) -> SlurmJob:
    found = here.job(label)
    assert found is not None
    return found


def test_jobs_are_seen_as_they_were_submitted(bed: Bed, here: Slurm) -> None:
    name = 'a|b "c", $d\x1fe'
    before_s = time.time()
    label = submit(bed, 5, 200, "-H", "-N", "2", "-t", "5", "-J", name, "--comment", "x|y",
                   "-L", "watts:500", "--nice=7")
    job = seen(here, label)
    assert job.held
    assert (job.name, job.comment, job.nodes, job.limit_s) == (name, "x|y", 2, 300.0)
    assert job.licenses == {"watts": 500}
    assert before_s - 1.0 < job.submit_s <= time.time(), "Slurm's times are whole seconds"
    assert here.job("999999") is None


def test_tasks_of_an_array_are_jobs_of_their_own(bed: Bed, here: Slurm) -> None:
    label = submit(bed, 5, 200, "-H", "-N", "1", "-a", "1-3")
    labels = {job.label for job in here.look().jobs if job.label.startswith(f"{label}_")}
    assert labels == {f"{label}_{task}" for task in (1, 2, 3)}


def test_a_held_job_starts_on_the_nodes_that_it_is_told(bed: Bed, here: Slurm) -> None:
    label = submit(bed, LONG_S, 200, "-H", "-N", "2", "-t", "20")
    here.start(label, ["n0005", "n0002"])
    until(lambda: runs(bed, label))
    assert seen(here, label).node_list == ("n0002", "n0005")
    with pytest.raises(SlurmError, match="is not held: RUNNING"):
        here.start(label, ["n0001"])


def test_a_job_that_was_requeued_is_another_life(bed: Bed, here: Slurm) -> None:
    label = submit(bed, LONG_S, 200, "-N", "1", "--requeue")
    until(lambda: runs(bed, label))
    before = seen(here, label)
    here.requeue(label)
    until(lambda: seen(here, label).restarts == 1)
    assert seen(here, label).key != before.key


def test_the_states_of_nodes_are_told_apart(bed: Bed, here: Slurm) -> None:
    slurm(bed, "scontrol", "update", "nodename=n0003", "state=drain", "reason=test")
    try:
        usable = {node.name: node.usable for node in here.look().nodes}
        assert usable == {name: name != "n0003" for name in bed.names}
    finally:
        slurm(bed, "scontrol", "update", "nodename=n0003", "state=resume")


def test_a_nice_value_releases_a_held_job(bed: Bed, here: Slurm) -> None:
    """Slurm's own trap: whoever sets it on a held job starts the job."""
    label = submit(bed, LONG_S, 200, "-H", "-N", "1")
    slurm(bed, "scontrol", "update", f"JobId={label}", "Nice=5")
    assert not seen(here, label).held


def test_a_failed_command_may_have_done_half(bed: Bed, here: Slurm) -> None:
    """It answers with an error and has applied the list of nodes: look before repeating."""
    label = submit(bed, LONG_S, 200, "-H", "-N", "1")
    with pytest.raises(SlurmError):
        here.commands.run("scontrol", "update", f"JobId={label}", "ReqNodeList=n0004",
                          "Priority=100")
    assert seen(here, label).required_nodes == ("n0004",)
    assert seen(here, label).held
    here.start(label, ["n0002"])
    until(lambda: runs(bed, label))
    assert seen(here, label).node_list == ("n0002",)


def test_a_job_is_handed_back_to_slurm(bed: Bed, here: Slurm) -> None:
    label = submit(bed, LONG_S, 200, "-H", "-N", "1")
    slurm(bed, "scontrol", "update", f"JobId={label}", "ReqNodeList=n0004")
    here.release(label, anywhere=True)
    until(lambda: runs(bed, label))
    assert seen(here, label).required_nodes == ()


def test_a_command_that_gives_no_answer_is_an_error_in_one_line(bed: Bed) -> None:
    here = Slurm(Commands({**bed.environment, "SLURM_CONF": "/nowhere/slurm.conf"},
                          patience_s=2.0))
    with pytest.raises(SlurmError, match="squeue") as found:
        here.look()
    assert "\n" not in str(found.value)
    slow = Commands(bed.environment, patience_s=0.001)
    with pytest.raises(SlurmError, match="gave no answer"):
        slow.run("squeue")
