"""Watts as licences on a real Slurm: they follow the cap, and keep it when nobody runs."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.slurm.bedside import LONG_S, OURS, finish, runs, slurm, submit, until
from tests.slurm.test_serving import Process, cycles, drawn_w, site, site_file, started
from wattline.controller.configuration import read_configuration
from wattline.controller.licences import LicenceNet
from wattline.controller.serving import serving
from wattline.controller.speaking import live_order, live_status
from wattline.controller.testbed.layout import Bed
from wattline.live.slurm.commands import Commands
from wattline.model.errors import WattlineError
from wattline.results.verify.journal.rules import verify_journal


def journal_keeps(folder: str) -> None:
    """Nothing is broken in the journal of a controller that is over, its licences among it."""
    found = verify_journal(max(Path(folder).glob("*.journal")))
    assert found.sentences == []
    assert "journal.licences" in {each.rule for each in found.judged}


def test_licences_follow_the_cap(bed: Bed, tmp_path: Path) -> None:
    cap = tmp_path / "cap"
    cap.write_text("1300")
    here = site(bed, tmp_path, 'cap_file = "cap"\nlicences = true\n')

    def left() -> int:
        said = slurm(bed, "scontrol", "show", "licenses", "watts")
        numbers = dict(part.split("=") for part in said.split() if "=" in part)
        return int(numbers["Total"]) - int(numbers["Reserved"])

    try:
        with serving(here, act=True) as controller:
            controller.cycle()
            assert left() == 1300
            cap.write_text("1000")
            controller.cycle()
            assert left() == 1000
            slurm(bed, "scontrol", "delete", "ReservationName=wattline-cap")
            said = cycles(controller, lambda: left() == 1000)
            said += controller.cycle().remarks
            assert any("removed the reservation wattline-cap" in each for each in said)
            other = here.model_copy(update={"folder": str(tmp_path / "other")})
            with (pytest.raises(WattlineError, match="acts on the Slurm of"),
                  serving(other, act=True)):
                pass
            assert left() == 1000
        # Nobody counts idle nodes any more, and what others start must stay under the cap.
        assert left() == 1000 - 6 * 90, "a clean stop leaves the net below the cap that held"
        with pytest.raises(WattlineError, match="cap of 1,000 W it left 460 licences"):
            live_status(tmp_path / "site.toml")
        with serving(here.model_copy(update={"mode": "guard"}), act=True) as controller:
            controller.cycle()
            controller.cycle()
            assert left() == 1000 - 6 * 90
    finally:
        slurm(bed, "scontrol", "delete", "ReservationName=wattline-cap")


def test_a_cap_that_was_ordered_outlives_a_clean_stop_and_a_new_start(
    bed: Bed, tmp_path: Path
) -> None:
    """900 W leave 360 above six idle nodes. While nobody follows which nodes are idle, a job of
    400 W has to wait, though it would fit beside the other."""
    file = site_file(bed, tmp_path, "licences = true\n")
    here = read_configuration(file)
    net = LicenceNet(Commands(here.environment))
    try:
        running = Process(file).until_ready()
        live_order(file, "set_cap", watts=900.0)
        until(lambda: net.left() == 900)
        assert running.end(signal.SIGTERM) == 0
        assert net.left() == 900 - 6 * 90
        with pytest.raises(WattlineError, match="cap of 900 W it left 360 licences"):
            live_status(file)
        small, wide = (submit(bed, LONG_S, 150, "-N", nodes, "-t", "20", "-L", f"watts:{watts}")
                       for nodes, watts in (("1", 200), ("2", 400)))
        until(lambda: runs(bed, small))
        until(lambda: slurm(bed, "squeue", "-h", "-j", wide, "-o", "%r") == "Licenses")
        Process(file).until_ready()
        until(lambda: net.left() == 900)
        assert live_status(file)["cap_w"] == 900.0
        until(lambda: runs(bed, wide))
    finally:
        net.lift()


def test_what_guard_mode_leaves_at_its_stop_keeps_the_cap_whoever_comes_and_goes(
    bed: Bed, tmp_path: Path
) -> None:
    """While four nodes are busy 820 W of 1,000 may be licences. Once these are idle again, two jobs
    with 760 of them would draw 1,120 W with the other nodes."""
    file = site_file(bed, tmp_path, 'mode = "guard"\nlicences = true\n')
    file.write_text(file.read_text().replace("cap = 1300", "cap = 1000"))
    here = read_configuration(file)
    net = LicenceNet(Commands(here.environment))
    try:
        with serving(here, act=True) as controller:
            ran = [submit(bed, LONG_S, 200, "-N", "2", "-t", "20", "-L", "watts:400")
                   for _ in range(2)]
            cycles(controller, lambda: all(runs(bed, label) for label in ran))
            controller.cycle()
            assert net.left() == 1000 - 2 * 90
        assert net.left() == 1000 - 6 * 90
        assert all(runs(bed, label) for label in ran), "those that hold more keep what they have"
        for label in ran:
            finish(bed, label, 2)
        later = [submit(bed, LONG_S, 380, "-N", "1", "-t", "20", "-L", "watts:380")
                 for _ in range(2)]
        until(lambda: any(runs(bed, label) for label in later))
        waiting, = (label for label in later if not runs(bed, label))
        until(lambda: slurm(bed, "squeue", "-h", "-j", waiting, "-o", "%r") == "Licenses")
        until(lambda: drawn_w(bed) >= 380.0 + 5 * 90.0)
        assert drawn_w(bed) <= 1000.0
        journal_keeps(here.folder)
    finally:
        net.lift()


def test_a_job_without_watts_holds_them_as_licences_when_it_is_started(
    bed: Bed, tmp_path: Path
) -> None:
    here = site(bed, tmp_path, "licences = true\n")
    try:
        with serving(here, act=True) as controller:
            bare = submit(bed, LONG_S, 250, *OURS, "-N", "2", "-t", "20")
            says = submit(bed, LONG_S, 250, *OURS, "-N", "1", "-t", "20", "-L", "watts:260")
            cycles(controller, lambda: runs(bed, bare) and runs(bed, says))
            held = {job: slurm(bed, "squeue", "-h", "-j", job, "-O", "Licenses:40")
                    for job in (bare, says)}
            assert held == {bare: "watts:600", says: "watts:260"}
        journal_keeps(here.folder)
    finally:
        LicenceNet(Commands(here.environment)).lift()


@pytest.mark.parametrize("power", ['"dvfs"', '{ name = "adaptive", strategy = "dvfs" }'])
def test_a_job_that_fits_because_jobs_are_slowed_starts_beside_licences(
    bed: Bed, tmp_path: Path, power: str
) -> None:
    """Three jobs of 480 W say 1,440 W together; under 1,300 W they run slower."""
    here = site(bed, tmp_path, f"licences = true\n[policy]\npower = {power}\n")
    try:
        with serving(here, act=True) as controller:
            started(bed, controller, count=2, nodes=2, watts=240)
            third = submit(bed, LONG_S, 240, *OURS, "-N", "2", "-t", "20", "-L", "watts:480")
            said = cycles(controller, lambda: runs(bed, third))
            assert not any("did not" in each for each in said)
            cycles(controller, lambda: drawn_w(bed) <= 1300.0)
        journal_keeps(here.folder)
    finally:
        LicenceNet(Commands(here.environment)).lift()
