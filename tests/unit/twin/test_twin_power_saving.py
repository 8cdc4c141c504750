"""Nodes that are planned, of a cloud, or kept awake, and settings that nothing is done with."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.twin_sites import site, submit

import wattline as wl
from wattline.scenario.twin.site import Site

pytestmark = pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
CONF = """NodeName=n[1-4] CPUs=4 RealMemory=8000
PartitionName=p Nodes=ALL Default=YES MaxTime=1-0 DefMemPerCPU=100
"""
PROGRAMS = "SuspendProgram=/x\nResumeProgram=/y\nResumeTimeout=20\n"
SLEEPS = f"SuspendTime=50\n{PROGRAMS}"


def _site(folder: Path, settings: str, conf: str = CONF) -> Site:
    return site(folder, submit("-n 1 -t 10"), settings + conf, None)


@pytest.mark.parametrize(("text", "names"), [
    ("n1:1,n[3-4]", ("n1", "n3", "n4")), ("n[1-3]:2,n4:1", ("n1", "n2", "n4")),
    ("n[1,3]", ("n1", "n3")), ("n[1-2],n4", ("n1", "n2", "n4"))])
def test_counts_and_lists_stay_awake(tmp_path: Path, text: str, names: tuple[str, ...]) -> None:
    found = _site(tmp_path, f"{SLEEPS}SuspendExcNodes={text}\n")
    assert found.rules.suspend_excluded == names
    assert any("stay awake" in line for line in found.lists.assumed) == (":" in text)


def test_without_its_programs_nobody_sleeps(tmp_path: Path) -> None:
    found = _site(tmp_path, "SuspendTime=50\nResumeProgram=/y\n")
    assert found.rules.suspend_time_s == -1.0
    assert any("SuspendTime without SuspendProgram:" in line for line in found.lists.contradictions)
    assert _site(tmp_path, SLEEPS).rules.suspend_time_s == 50.0


def test_planned_nodes_are_no_part_of_the_machine(tmp_path: Path) -> None:
    more = "NodeName=f[1-8] CPUs=4 RealMemory=8000 State=FUTURE\n"
    found = _site(tmp_path, more)
    assert found.machine.nodes.names == ("n1", "n2", "n3", "n4")
    assert found.machine.partitions.nodes.shape == (1, 4)
    assert found.outages is None
    assert any("8 nodes of State=FUTURE (f[1-8])" in line for line in found.lists.assumed)
    with pytest.raises(wl.InputError, match="all nodes are State=FUTURE"):
        _site(tmp_path, more, "PartitionName=p Nodes=ALL Default=YES\n")


def _cloud_run(folder: Path, settings: str) -> wl.Run:
    (folder / "slurm.conf").write_text(settings + CONF.replace("n[1-4]", "n[1-2]", 1).replace(
        "RealMemory=8000", "RealMemory=8000 State=CLOUD", 1))
    (folder / "day.events").write_text(submit("-n 4 -N 1 -t 10", 0, 100))
    wl.make_twin(folder / "slurm.conf", events=folder / "day.events", idle_w=100, cpu_w=10, gpu_w=0,
                 out=folder / "twin.toml")
    return wl.simulate(folder / "twin.toml")


def test_nodes_of_a_cloud_are_asleep_when_the_log_begins(tmp_path: Path) -> None:
    run = _cloud_run(tmp_path, SLEEPS)
    lasts_s = float(run.schedule.end_s[0] - run.schedule.start_s[0])
    assert lasts_s == pytest.approx(100.0, abs=2.0)
    assert 20.0 <= run.schedule.start_s[0] <= 50.0  # the node boots, and is seen to be up
    assert run.events.power_w.max() == pytest.approx(140.0)
    assert wl.verify(run).sentences == []
    assert any("powered down when the log begins" in line for line in run.assumed)


def test_nodes_of_a_cloud_without_power_saving_are_up(tmp_path: Path) -> None:
    run = _cloud_run(tmp_path, "")
    assert run.events.power_w.max() == pytest.approx(240.0)
    assert any("are up throughout" in line for line in run.assumed)


def test_settings_that_nothing_is_done_with_are_said(tmp_path: Path) -> None:
    found = _site(tmp_path, "SelectTypeParameters=CR_Socket_Memory,CR_ONE_TASK_PER_CORE,CR_FOO\n"
                            f"SuspendTimeout=40\n{SLEEPS}").lists
    for word in ("CR_Socket_Memory", "CR_ONE_TASK_PER_CORE", "SuspendTimeout=40"):
        assert any(word in line for line in found.not_modelled)
    assert any("CR_FOO" in line for line in found.unknown)
    assert not any("SuspendTimeout" in line for line in found.understood)
    plain = _site(tmp_path, "SelectTypeParameters=CR_Core_Memory,CR_LLN\n").lists
    assert not any("SelectTypeParameters" in line for line in (*plain.not_modelled, *plain.unknown))
