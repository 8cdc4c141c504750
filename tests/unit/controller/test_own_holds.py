"""Whose hold it is: a job held at its submission waits for us, one held later for its user."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.controller.test_changed_jobs import Changing
from tests.unit.controller.test_modes import ordered

from wattline.controller.answers import explained
from wattline.controller.configuration import SiteConfig
from wattline.controller.freed import FILE, Freed
from wattline.controller.lease import hand_over
from wattline.controller.serving import serving
from wattline.model.errors import InputError


@pytest.fixture
def full() -> Changing:
    """A Slurm whose nodes are all in use."""
    made = Changing()
    made.submit("9", nodes=4, submit_s=1.0, comment="")
    made.run("9", "n1", "n2", "n3", "n4")
    made.submit("1", submit_s=2.0)
    return made


def hold(slurm: Changing, label: str) -> None:
    slurm.change(label, priority=0, reason="JobHeldUser")


@pytest.mark.parametrize("restarted", [False, True])
def test_in_guard_mode_what_was_passed_on_can_be_held(
    site: SiteConfig, full: Changing, restarted: bool
) -> None:
    guard = site.model_copy(update={"mode": "guard"})
    with serving(guard, act=True, slurm=full) as here:
        here.cycle()
        assert not full.jobs["1"].held
        hold(full, "1")
        here.cycle()
        here.cycle()
        assert full.jobs["1"].held
    if restarted:
        with serving(guard, act=True, slurm=full) as here:
            here.cycle()
        hand_over(guard, full, 900.0)  # nor does the watchdog release it
        assert full.jobs["1"].held
    with serving(guard, act=True, slurm=full) as here:
        here.cycle()
        found = explained(here, guard, {"job": "1"}).result
        assert found["reason"] == "held by its user"
        # Without the mark it is nobody's, and with it again, held as it is, ours.
        full.change("1", comment="")
        here.cycle()
        full.change("1", comment="wattline")
        here.cycle()
        assert not full.jobs["1"].held


@pytest.mark.parametrize("submitted", ["held", "not held"])
def test_in_decide_mode_what_slurm_was_free_to_start_can_be_held(
    site: SiteConfig, full: Changing, submitted: str
) -> None:
    with serving(site, act=True, slurm=full) as here:
        if submitted == "held":
            here.cycle()
        full.change("1", priority=9, reason="Priority")  # somebody releases it
        here.cycle()
        here.cycle()
        hold(full, "1")
        full.change("9", state="COMPLETED")
        for _ in range(3):
            here.cycle()
        assert full.orders == []
        assert explained(here, site, {"job": "1"}).result["reason"] == "held by its user"


def test_what_was_let_go_into_another_partition_can_be_held_there(
    site: SiteConfig, full: Changing
) -> None:
    ours = site.model_copy(update={"partitions": ("batch",)})
    with serving(ours, act=True, slurm=full) as here:
        here.cycle()
        full.change("1", partition="other")
        here.cycle()
        assert not full.jobs["1"].held
        here.cycle()
        hold(full, "1")
        here.cycle()
    with serving(ours, act=True, slurm=full) as here:
        here.cycle()
    assert full.jobs["1"].held


def test_a_start_of_ours_that_did_not_happen_is_no_release(
    site: SiteConfig, full: Changing
) -> None:
    full.change("9", state="COMPLETED")
    full.stuck.add("1")
    with serving(site, act=True, slurm=full) as here:
        here.cycle()
        here.cycle()
        here.watcher.told["1"].asked_s -= 10.0
        here.cycle()  # it is held again
        assert full.jobs["1"].held
        assert "1" not in here.watcher.freed
        here.cycle()
        assert list(here.watcher.told) == ["1"]


def test_what_was_passed_on_comes_back_to_a_controller_that_decides(
    site: SiteConfig, full: Changing
) -> None:
    """Also where it is killed right after it has held the jobs; a user's own hold stays."""
    full.submit("2", submit_s=3.0)
    with serving(site, act=True, slurm=full) as here:
        here.cycle()
        ordered(here, site, mode="guard")
        here.cycle()
        here.cycle()
        hold(full, "2")
        here.cycle()
        assert Freed.of(Path(site.folder)).labels == {"1", "2"}
        ordered(here, site, mode="decide")
        here.cycle()
        assert full.jobs["1"].held
        assert Freed.of(Path(site.folder)).labels == {"2"}
    with serving(site, act=True, slurm=full) as here:
        here.cycle()
        assert {told.label for told in here.watcher.told.values()} == {"9", "1"}


def test_a_job_that_ran_and_is_queued_again_held_is_ours(site: SiteConfig, full: Changing) -> None:
    with serving(site, act=True, slurm=full) as here:
        full.change("1", priority=9, reason="Priority")
        here.cycle()
        full.change("9", state="COMPLETED")
        full.run("1", "n1")
        here.cycle()
        full.change("1", state="PENDING", restarts=1, node_list=(), priority=0)
        here.cycle()
        assert "1.1" in here.watcher.told


@pytest.mark.parametrize("text", ["", "{", "5"])
def test_a_file_that_cannot_be_read_frees_none(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text)
    assert Freed.of(tmp_path).labels == set()


def test_a_hand_over_notes_what_it_released_and_what_not(site: SiteConfig, full: Changing) -> None:
    Path(site.folder).mkdir(exist_ok=True)
    Freed(Path(site.folder), {"77"}).flush()  # Slurm knows it no more
    hand_over(site, full, 900.0)
    assert not full.jobs["1"].held
    assert Freed.of(Path(site.folder)).labels == {"1"}
    hold(full, "1")
    hand_over(site, full, 900.0)
    assert full.jobs["1"].held


@pytest.mark.parametrize("there", [True, False])
def test_jobs_are_passed_on_also_where_nothing_can_be_written(tmp_path: Path, there: bool) -> None:
    """As the watchdog of a site whose controller never ran, or on a full disk; to hold jobs again
    is another matter."""
    folder = tmp_path if there else tmp_path / "nowhere"
    freed = Freed.of(folder)
    freed.add("7")
    freed.flush()
    assert ("7" in Freed.of(folder)) is there
    if not there:
        with pytest.raises(InputError, match="cannot be written"):
            freed.take_back(["8"])


@pytest.mark.parametrize("mode", ["decide", "guard"])
@pytest.mark.parametrize(("state", "reason"), [
    ("PENDING", "job requeued in held state"), ("SPECIAL_EXIT", "job requeued in held state")])
def test_what_others_queue_again_held_stays_held(
    site: SiteConfig, full: Changing, mode: str, state: str, reason: str
) -> None:
    there = site.model_copy(update={"mode": mode})
    full.change("9", state="COMPLETED")
    full.run("1", "n1")
    with serving(there, act=True, slurm=full) as here:
        here.cycle()
        full.change("1", state=state, restarts=1, priority=0, node_list=(), reason=reason)
        for _ in range(3):
            here.cycle()
        assert full.jobs["1"].held
        found = explained(here, there, {"job": "1"}).result
        if mode == "decide":
            assert found["reason"] == "held by an operator"
            assert "queued again held" in found["sentence"]
    hand_over(there, full, 900.0)  # nor does the watchdog release it
    assert full.jobs["1"].held


def test_a_job_whose_launch_failed_starts_again(site: SiteConfig, full: Changing) -> None:
    """Its node may have been lost; nobody asked for the hold, and nobody would release it."""
    full.change("9", state="COMPLETED")
    full.run("1", "n1")
    with serving(site, act=True, slurm=full) as here:
        here.cycle()
        full.change("1", state="PENDING", restarts=1, priority=0, node_list=(),
                    reason="launch failed requeued held")
        full.starts.clear()
        here.cycle()
        assert full.starts == ["1"]


@pytest.mark.parametrize(("life", "starts"), [(1, True), (2, False)])
def test_what_we_queue_again_starts_again_in_that_life(
    site: SiteConfig, full: Changing, life: int, starts: bool
) -> None:
    full.change("9", state="COMPLETED")
    full.run("1", "n1")
    with serving(site, act=True, slurm=full) as here:
        here.cycle()
        full.change("1", state="PENDING", restarts=life, priority=0, node_list=(),
                    reason="job requeued in held state",
                    admin_comment="wattline: queued again to keep the cap (life 1)")
        full.starts.clear()
        here.cycle()
        assert full.starts == ["1"] * starts
