"""Emulated nodes, tick by tick, without any Slurm: what jobs say and what the files show."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path

import pytest

from wattline.controller.testbed.configuration import write_all
from wattline.controller.testbed.emulator import RANGE_UJ, Emulator, drawn_w
from wattline.controller.testbed.layout import Bed, NodePower, lay_out
from wattline.model.errors import InputError

POWER = NodePower(idle_w=100.0, active_w=300.0, least_w=120.0, maximum_w=400.0)


@pytest.fixture
def bed(tmp_path, monkeypatch) -> Bed:
    monkeypatch.chdir(tmp_path)
    made = Bed(tmp_path / "bed", nodes=4, port=21000, power=POWER)
    write_all(made)
    return made


def begin(bed: Bed, name: str, seconds: float, watts: str, hosts: str) -> None:
    """Do what `job.sh` does: the process that is looked at is this one."""
    os.mkfifo(bed.work / name)
    (bed.work / f"{name}.job").write_text(f"{seconds} {watts} {os.getpid()} {hosts}\n")


def played(bed: Bed, until_s: float, at_second=lambda second: None) -> tuple[Emulator, list]:
    log = io.StringIO()
    emulator = Emulator(bed, log)
    emulator.now_s = 1000.0
    emulator.tick(1000.0)
    for tick in range(1, round(until_s * 10) + 1):
        if tick % 10 == 1:
            at_second(tick // 10)
        emulator.tick(1000.0 + tick / 10)
    return emulator, [json.loads(line) for line in log.getvalue().splitlines()]


def counter(bed: Bed, node: str, name: str) -> float:
    return float((bed.meters / node / name).read_text().split()[0])


def test_idle_nodes_draw_their_idle_power(bed) -> None:
    _, said = played(bed, 5.0)
    assert said[-1]["power_w"] == 400.0
    assert said[-1]["energy_j"] == pytest.approx(4 * 100.0 * 5.0)
    assert counter(bed, "n0003", "pm_counters/energy") == 500.0
    assert counter(bed, "n0003", "powercap/intel-rapl:0/energy_uj") == pytest.approx(500e6)


def test_a_job_draws_its_watts_on_its_nodes_until_its_work_is_done(bed) -> None:
    begin(bed, "7.0", 3.0, "250", "n[0002-0003]")
    _, said = played(bed, 5.0)
    job, = [each for each in said if "job" in each]
    assert job["done"]
    assert job["energy_j"] == pytest.approx(2 * 250.0 * 3.0)
    assert job["nodes"] == ["n0002", "n0003"]
    assert job["end_s"] - job["start_s"] == pytest.approx(3.0)
    assert counter(bed, "n0001", "pm_counters/energy") == 500.0
    assert counter(bed, "n0002", "pm_counters/energy") == 3 * 250.0 + 2 * 100.0


def test_a_job_that_says_no_watts_draws_what_a_busy_node_does(bed) -> None:
    begin(bed, "7.0", 2.0, "nan", "n0001")
    _, said = played(bed, 3.0)
    assert [each["energy_j"] for each in said if "job" in each] == [pytest.approx(600.0)]


def test_a_cap_holds_and_slows_the_job_down(bed) -> None:
    """A quarter of the power above idle is left: half the speed, so twice the time."""
    begin(bed, "7.0", 4.0, "300", "n0001")
    limit = bed.meters / "n0001" / "powercap" / "intel-rapl:0" / "constraint_0_power_limit_uw"
    limit.parent.mkdir(parents=True)
    limit.write_text("150000000\n")
    _, said = played(bed, 9.0)
    job, = [each for each in said if "job" in each]
    assert job["end_s"] - job["start_s"] == pytest.approx(8.0)
    assert job["energy_j"] == pytest.approx(150.0 * 8.0)


def test_no_cap_takes_a_busy_node_below_its_least_or_lifts_it_above_its_most() -> None:
    assert drawn_w(POWER, [300.0], 10.0) == 120.0
    assert drawn_w(POWER, [900.0], 1e9) == 400.0
    assert drawn_w(POWER, [], 10.0) == 100.0
    assert drawn_w(POWER, [150.0, 200.0], 1e9) == 250.0


def test_a_job_whose_process_is_gone_ends_undone(bed) -> None:
    begin(bed, "7.0", 60.0, "250", "n0001")
    file = bed.work / "7.0.job"
    file.write_text(file.read_text().replace(str(os.getpid()), "99999999"))
    emulator, said = played(bed, 2.0)
    job, = [each for each in said if "job" in each]
    assert not job["done"]
    assert emulator.works == {}
    assert not (bed.work / "7.0").exists()


def test_a_job_that_is_started_again_under_its_name_leaves_its_first_node(bed) -> None:
    """Slurm forgot the first start, after 2 s of 60; the second works for 3 s on another node."""
    begin(bed, "7.0", 60.0, "250", "n0001")

    def at_second(second: int) -> None:
        if second == 2:
            (bed.work / "7.0").unlink()  # as `job.sh` does
            begin(bed, "7.0", 3.0, "250", "n0002")

    _, said = played(bed, 7.0, at_second)
    first, again = [each for each in said if "job" in each]
    assert (first["nodes"], first["done"]) == (["n0001"], False)
    assert (again["nodes"], again["done"]) == (["n0002"], True)
    assert again["energy_j"] == pytest.approx(250.0 * 3.0)
    assert said[-1]["power_w"] == 400.0, "both nodes idle again"


def test_a_job_that_comes_again_while_its_first_start_still_ends_has_its_own_pipe(bed) -> None:
    """The first has done its work and its process is still there when Slurm starts it again."""
    begin(bed, "7.0", 1.0, "250", "n0001")

    def at_second(second: int) -> None:
        if second == 2:
            (bed.work / "7.0").unlink()
            begin(bed, "7.0", 3.0, "250", "n0001")
            assert (bed.work / "7.0.done").exists()
        if second == 3:
            assert (bed.work / "7.0").exists()
            assert not (bed.work / "7.0.done").exists()

    _, said = played(bed, 7.0, at_second)
    assert [each["done"] for each in said if "job" in each] == [True, True]


def test_a_file_that_cannot_be_read_is_said_and_stops_nothing(bed) -> None:
    (bed.work / "8.0.job").write_text("three words only\n")
    (bed.work / "9.0.job").write_text("5 100 1 n0099\n")
    _, said = played(bed, 1.0)
    assert {each["unreadable"] for each in said if "unreadable" in each} == {"8.0.job", "9.0.job"}
    assert said[-1]["power_w"] == 400.0


def test_counters_go_round_at_their_range(bed) -> None:
    emulator = Emulator(bed, io.StringIO())
    node = emulator.nodes[0]
    node.energy_j = RANGE_UJ / 1e6 + 3.0
    node.show(1000.0)
    assert counter(bed, "n0001", "powercap/intel-rapl:0/energy_uj") == pytest.approx(3e6, abs=2)


@pytest.mark.parametrize(("folder", "nodes", "reason"), [
    ("x" * 80, 8, "shorter"), ("b", 0, "from 1 to 1024"), ("b", 2000, "from 1 to 1024")])
def test_a_bed_that_cannot_be_is_refused(folder: str, nodes: int, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        lay_out(Path("/tmp") / folder, nodes)


def test_a_late_tick_is_said_with_the_joules_that_counters_did_not_show_in_time(bed) -> None:
    """Prolog and epilog read counters: those of a machine that is too busy are behind."""
    log = io.StringIO()
    emulator = Emulator(bed, log)
    emulator.now_s = 1000.0
    emulator.tick(1000.0)
    for job, begin_s, end_s, tick_s in (("7", 1000.05, 1000.08, 1000.1),
                                        ("8", 1000.8, 1001.0, 1001.1)):
        for what, at_s in (("begin", begin_s), ("end", end_s)):
            file = bed.work / f"{job}.n0001.{what}"
            file.touch()
            os.utime(file, (at_s, at_s))
        emulator.tick(tick_s)
    said = map(json.loads, log.getvalue().splitlines())
    first, second = [each for each in said if "held" in each]
    assert (first["energy_j"], first["late_j"]) == (pytest.approx(3.0), 0.0)
    assert second["energy_j"] == pytest.approx(20.0)
    assert second["late_j"] == pytest.approx(80.0)  # 0.9 s behind, of which a tick is usual
