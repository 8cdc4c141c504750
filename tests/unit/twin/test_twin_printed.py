"""Output of commands about twins: units that fit, paths that move, ids that are said."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.support.twin_sites import ACCOUNTS, CONF, sacct, site, submit

import wattline as wl
from wattline.cli.main import cli
from wattline.scenario.twin.planning import of_several
from wattline.twin.figures import wait_text

pytestmark = pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
SMALL = """\
NodeName=n[1-2] CPUs=8 RealMemory=16000
PartitionName=batch Nodes=ALL Default=YES DefMemPerCPU=100 MaxTime=7-0
"""


def _checked(folder: Path, log: str, *options: str) -> str:
    (folder / "slurm.conf").write_text(SMALL)
    (folder / "day.events").write_text(log)
    wl.make_twin(folder / "slurm.conf", events=folder / "day.events", out=folder / "twin.toml")
    found = CliRunner().invoke(cli, ["twin", "check", str(folder / "twin.toml"), *options])
    assert found.exit_code == 0, found.output
    return found.output


@pytest.mark.parametrize(("last", "label"), [
    (0, "error of the moving mean"), (13, "error of the mean over 1.3 s"),
    (836, "error of the mean over 83.6 s"), (36000, "error of the mean over 60 min"),
    (360000, "error of the mean over 10 h")])
def test_the_window_has_a_unit_that_fits(tmp_path: Path, last: int, label: str) -> None:
    text = _checked(tmp_path, submit("-n 1 -t 5") + submit("-n 1 -t 5", last), "--phases", "1")
    (line,) = [line for line in text.splitlines() if line.startswith("error of the m")
               and "wait" not in line]
    assert line.split("  ")[0] == label
    assert line.endswith("not known")


@pytest.mark.parametrize("phases", [1, 3])
def test_what_is_not_known_is_said_so(tmp_path: Path, phases: int) -> None:
    text = _checked(tmp_path, submit("-n 1 -t 5") * 3, "--phases", str(phases))
    (apart,) = [line for line in text.splitlines() if line.startswith("starts apart")]
    assert apart.endswith("not known")
    (every,) = [line for line in text.splitlines() if line.startswith("all ")]
    assert every.endswith("not known")
    assert ("phases), and nothing says" in text) == (phases > 1)
    assert "1 phases" not in text


def test_long_waits_have_a_unit_that_fits(tmp_path: Path) -> None:
    assert [wait_text(each) for each in (0.7, 170.0, 599.94, 4000.0, 117551.9)] == [
        "0.7 s", "170.0 s", "599.9 s", "66.7 min", "32.7 h"]
    text = _checked(tmp_path, submit("-n 16 -t 2-0", 0, 100000) * 3, "--phases", "1")
    assert "the simulated mean wait is 27.8 h, and nothing" in text
    assert "100000" not in text


@pytest.mark.parametrize(("reason", "several"), [
    ("the power cap leaves no room for it", "the power cap leaves no room for them"),
    ("no node has what it asks for", "no node has what they ask for"),
    ("its nodes are down, drained or reserved", "their nodes are down, drained or reserved"),
    ("no reservation that it may use", "no reservation that they may use"), ("held", "held"),
    ("over the partition's time", "over the partition's time")])
def test_a_reason_of_several_jobs_is_of_several(reason: str, several: str) -> None:
    assert (of_several(reason, 1), of_several(reason, 177)) == (reason, several)


def test_the_remark_on_a_cap_is_about_all_jobs(tmp_path: Path) -> None:
    (tmp_path / "slurm.conf").write_text(SMALL)
    (tmp_path / "day.events").write_text(submit("-n 1 -t 5") + submit("-n 16 -t 5") * 2)
    twin = wl.make_twin(tmp_path / "slurm.conf", events=tmp_path / "day.events", idle_w=100,
                        cpu_w=10, gpu_w=0)
    run = wl.simulate(twin.scenario, cap=250)
    assert any("never ran: the power cap leaves no room for them (2)" in line
               for line in run.remarks)


@pytest.mark.parametrize(("options", "why"), [
    ("--uid=eve -A phys", "user 'eve' is not in account 'phys'"),
    ("--uid=ada -A nobody", "unknown account 'nobody' of user 'ada'"),
    ("--uid=eve -A nobody", "unknown account 'nobody' of user 'eve'")])
def test_who_has_no_association_is_named_for_what_is_missing(
    tmp_path: Path, options: str, why: str,
) -> None:
    log = f"-dt 0 -e submit_batch_job | -n 1 -t 5 -sim-walltime 6 {options} a.sh\n"
    assert site(tmp_path, log).made.unfit == (f"1 job: {why} (1)",)


# Nodes that are added.


@pytest.mark.parametrize("like", ["g1", "n1"])
@pytest.mark.parametrize("line", ["NodeName=g1 Name=gpu Type=a100 Count=2",
                                  "NodeName=g1 Name=gpu Type=a100 File=/dev/x[0-1]"])
def test_added_nodes_have_the_devices_of_their_like(tmp_path: Path, line: str, like: str) -> None:
    (tmp_path / "gres.conf").write_text(f"{line}\n")
    found = site(tmp_path, submit("-n 1"), gres=str(tmp_path / "gres.conf"),
                 add_nodes={"like": like, "count": 2})
    assert not any("gpu" in text for text in found.lists.contradictions)
    assert int(found.machine.nodes.gres.sum()) == (6 if like == "g1" else 2)


def test_a_real_difference_of_added_nodes_is_still_said(tmp_path: Path) -> None:
    (tmp_path / "gres.conf").write_text("NodeName=g1 Name=gpu Type=a100 Count=3\n")
    found = site(tmp_path, submit("-n 1"), gres=str(tmp_path / "gres.conf"),
                 add_nodes={"like": "g1", "count": 2})
    (said,) = [text for text in found.lists.contradictions if "gpu" in text]
    assert "gres.conf:1 has 3; slurm.conf counts" in said


# Paths.


def _made(files: dict[str, Path], out: Path) -> wl.Twin:
    return wl.make_twin(files["slurm.conf"], sacct=files["sacct.txt"], assoc=files["assoc"],
                        out=out)


@pytest.mark.parametrize("below", [False, True])
def test_a_folder_with_its_twin_can_be_moved(tmp_path: Path, below: bool) -> None:
    old, files = tmp_path / "old", tmp_path / "old" / ("site" if below else "")
    files.mkdir(parents=True)
    twin = _made(sacct(files), old / "twin.toml")
    assert 'slurm_conf = "site/slurm.conf"' in twin.text if below else (
        'slurm_conf = "slurm.conf"' in twin.text)
    shutil.move(old, tmp_path / "new")
    found = wl.check_twin(tmp_path / "new" / "twin.toml", phases=1)
    assert found.jobs == 12


def test_files_elsewhere_keep_their_whole_paths(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "twins").mkdir()
    files = sacct(tmp_path / "files")
    twin = _made(files, tmp_path / "twins" / "twin.toml")
    assert f'slurm_conf = "{files["slurm.conf"].resolve()}"' in twin.text
    beside = twin.write(tmp_path / "files" / "twin.toml")
    assert 'file = "sacct.txt"' in beside.read_text()
    for path in (twin.path, beside):
        assert path is not None
        assert wl.check_twin(path, phases=1).jobs == 12


# Ids.


@pytest.mark.parametrize(("names", "said"), [
    (("j_5", "j_6"), False), (("j_6", "j_6"), True), (("a_6", "b_6"), True), (("x", "y"), False)])
def test_jobs_that_are_called_by_their_place_are_said(
    tmp_path: Path, names: tuple[str, str], said: bool,
) -> None:
    log = "".join(submit(f"-J {name} -n 1", at) for at, name in enumerate(names))
    found = site(tmp_path, log)
    lines = [line for line in found.lists.assumed if "called by their place" in line]
    assert lines == ([f"{tmp_path / 'log'}:2: job 6 is also that of {tmp_path / 'log'}:1: all jobs "
                      "are called by their place among the submissions"] if said else [])


@pytest.mark.parametrize(("option", "said"), [("", False), ("-a 1-3", True)])
def test_tasks_that_tables_count_otherwise_are_said(
    tmp_path: Path, option: str, said: bool,
) -> None:
    found = site(tmp_path, submit(f"-J j_7 -n 1 {option}") + submit("-J j_8 -n 1"), CONF, ACCOUNTS)
    assert any("the tables of a run count jobs from 1" in line
               for line in found.lists.assumed) == said


def test_jobs_that_the_last_cap_has_no_room_for_are_named(tmp_path: Path) -> None:
    """Two nodes draw 200 W idle: 16 CPUs more are over 250 W, and nobody waits behind them."""
    (tmp_path / "slurm.conf").write_text(SMALL)
    (tmp_path / "day.events").write_text(submit("-n 16 -t 5") * 2 + submit("-n 1 -t 5", 10))
    twin = wl.make_twin(tmp_path / "slurm.conf", events=tmp_path / "day.events", idle_w=100,
                        cpu_w=10, gpu_w=0)
    run = wl.simulate(twin.scenario, cap=250, backfill="none")
    assert run.ran.tolist() == [False, False, True]
    (line,) = [line for line in run.remarks if "set aside" in line]
    assert "2 jobs were set aside and never ran" in line
    assert f"({run.jobs.job_id[0]}, {run.jobs.job_id[1]}); nobody waits behind them" in line
