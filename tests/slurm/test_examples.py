"""The files of examples/slurm do what they say, on a real Slurm."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import wattline as wl
from tests.slurm.bedside import LONG_S, PATIENCE_S, runs, slurm, state, submit, truth, until
from wattline.controller.configuration import read_configuration
from wattline.controller.serving import serving
from wattline.controller.testbed.layout import Bed
from wattline.live.slurm.client import Slurm
from wattline.live.slurm.commands import Commands

EXAMPLES = Path(__file__).parents[2] / "examples" / "slurm"
ELSEWHERE = "PartitionName=other Nodes=ALL State=UP OverSubscribe=EXCLUSIVE"
"""A partition that is not under the cap."""
NOBODY = ("setpriv", "--reuid=65534", "--clear-groups")


@contextmanager
def configured(bed: Bed, more: str, licences: int = 2400) -> Iterator[None]:
    """Lines of slurm.conf beside those of the bed; the last ones of a name count."""
    before = bed.configuration.read_text()
    try:
        text = re.sub(r"Licenses=watts:\d+", f"Licenses=watts:{licences}", before)
        bed.configuration.write_text(text + more)
        slurm(bed, "scontrol", "reconfigure")
        until(lambda: "UP" in slurm(bed, "scontrol", "ping"))
        yield
    finally:
        labels = slurm(bed, "squeue", "-h", "-o", "%A").split()
        slurm(bed, "scancel", *labels or ["-u", "root"])
        until(lambda: not slurm(bed, "squeue", "-h"))
        bed.configuration.write_text(before)
        slurm(bed, "scontrol", "reconfigure")
        until(lambda: "UP" in slurm(bed, "scontrol", "ping"))
        until(lambda: set(slurm(bed, "sinfo", "-h", "-N", "-o", "%t").split()) == {"idle"})


@contextmanager
def with_lua(bed: Bed, mode: str, licences: int = 2400, *, shared: bool = False) -> Iterator[None]:
    text = (EXAMPLES / "job_submit.lua").read_text()
    assert 'mode = "guard"' in text
    assert "shared = false" in text
    (bed.configuration.parent / "job_submit.lua").write_text(
        text.replace('mode = "guard"', f'mode = "{mode}"')
        .replace("shared = false", f"shared = {str(shared).lower()}"))
    with configured(bed, f"JobSubmitPlugins=lua\n{ELSEWHERE}\n", licences):
        yield


def as_nobody(bed: Bed, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*NOBODY, *command], capture_output=True, text=True, check=False,
                          timeout=PATIENCE_S, cwd="/tmp", env={**os.environ, **bed.environment})


def submit_as_nobody(bed: Bed, *options: str) -> str:
    done = as_nobody(bed, "sbatch", "--parsable", "-o", "/dev/null", *options,
                     str(bed.folder / "job.sh"), "60", "250")
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def seen(bed: Bed, label: str):
    found = Slurm(Commands(bed.environment)).job(label)
    assert found is not None
    return found


def test_in_guard_mode_slurm_keeps_the_cap_by_licences(bed: Bed) -> None:
    """1,000 W for jobs of 300 W a node: three nodes at once, whoever starts them."""
    with with_lua(bed, "guard", licences=1000):
        labels = [submit(bed, LONG_S, 250, "-N", nodes, "-t", "20") for nodes in ("2", "1", "1")]
        until(lambda: runs(bed, labels[0]) and runs(bed, labels[1]))
        last = seen(bed, labels[2])
        assert last.licenses == {"watts": 300}
        assert last.state == "PENDING"
        until(lambda: seen(bed, labels[2]).reason == "Licenses")
        own = submit(bed, LONG_S, 250, "-N", "1", "-t", "20", "-L", "watts:100")
        until(lambda: runs(bed, own))
        assert seen(bed, own).licenses == {"watts": 100}


def test_nodes_are_found_from_what_a_job_asks_for(bed: Bed) -> None:
    with with_lua(bed, "guard"):
        wide = submit(bed, LONG_S, 250, "-H", "-n", "40")
        assert seen(bed, wide).licenses == {"watts": 600}
        range_ = submit(bed, LONG_S, 250, "-H", "-N", "1-3")
        assert seen(bed, range_).licenses == {"watts": 900}


def test_a_job_gets_no_more_nodes_than_its_watts_are_counted_for(bed: Bed) -> None:
    with with_lua(bed, "guard"):
        spread = submit(bed, LONG_S, 250, "-n", "6", "--spread-job")
        until(lambda: runs(bed, spread))
        assert len(seen(bed, spread).node_list) == 1
        assert seen(bed, spread).licenses == {"watts": 300}
        single = submit(bed, LONG_S, 250, "-H", "-n", "6", "--ntasks-per-node=1")
        assert seen(bed, single).licenses == {"watts": 1800}


@pytest.mark.parametrize("said", ["watts", "watts:0"])
def test_watts_without_a_number_are_those_of_the_nodes(bed: Bed, said: str) -> None:
    with with_lua(bed, "guard"):
        label = submit(bed, LONG_S, 250, "-H", "-N", "4", "-L", said)
        assert seen(bed, label).licenses == {"watts": 1200}


def test_one_licence_or_another_is_refused(bed: Bed) -> None:
    with with_lua(bed, "guard"), pytest.raises(subprocess.CalledProcessError) as refused:
        submit(bed, LONG_S, 250, "-N", "4", "-L", "watts:1200|watts:1")
    assert "join them by commas" in refused.value.stderr


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="needs setpriv (util-linux)")
def test_the_watts_of_a_job_follow_what_its_user_makes_of_it(bed: Bed) -> None:
    if bed.root:
        pytest.skip("the other Slurm knows no user but root")
    with with_lua(bed, "guard"):
        label = submit_as_nobody(bed, "-H", "-N", "1")
        for size, watts in (("6-6", 1800), ("2-2", 600)):
            assert not as_nobody(bed, "scontrol", "update", f"JobId={label}",
                                 f"NumNodes={size}").returncode
            assert seen(bed, label).licenses == {"watts": watts}
        assert as_nobody(bed, "scontrol", "update", f"JobId={label}",
                         "Partition=batch,other").returncode
        # Slurm never starts it with more nodes than it holds watts for.
        as_nobody(bed, "scontrol", "update", f"JobId={label}", "ReqNodeList=n[0001-0004]")
        slurm(bed, "scontrol", "release", label)
        until(lambda: seen(bed, label).reason == "BadConstraints")


@pytest.mark.parametrize(("mode", "held"), [("guard", False), ("decide", True)])
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="needs setpriv (util-linux)")
def test_a_job_that_moves_under_the_cap_gets_its_watts(bed: Bed, mode: str, held: bool) -> None:
    if bed.root:
        pytest.skip("the other Slurm knows no user but root")
    with with_lua(bed, mode):
        submit(bed, LONG_S, 250, "-p", "other", "-N", "6")
        label = submit_as_nobody(bed, "-p", "other", "-n", "40")
        assert seen(bed, label).licenses == {}
        assert not as_nobody(bed, "scontrol", "update", f"JobId={label}",
                             "Partition=batch").returncode
        assert seen(bed, label).licenses == {"watts": 600}
        assert seen(bed, label).held is held
        assert seen(bed, label).comment == ("wattline" if held else "")
        by_operator = submit_as_nobody(bed, "-H", "-p", "other", "-N", "2")
        slurm(bed, "scontrol", "update", f"JobId={by_operator}", "Partition=batch")
        assert seen(bed, by_operator).licenses == {"watts": 600}


def test_where_jobs_share_nodes_the_controller_attaches_their_watts(bed: Bed) -> None:
    """Whole nodes' watts for four CPUs would stop others for nothing."""
    with with_lua(bed, "guard", shared=True):
        few = seen(bed, submit(bed, LONG_S, 250, "-n", "4"))
        assert few.held
        assert few.licenses == {}
        assert few.comment == "wattline"
        own = seen(bed, submit(bed, LONG_S, 250, "-n", "4", "-L", "watts:30"))
        assert own.licenses == {"watts": 30}


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="needs setpriv (util-linux)")
def test_in_decide_mode_jobs_are_held_marked_and_not_released_by_their_users(bed: Bed) -> None:
    with with_lua(bed, "decide"):
        label = submit(bed, LONG_S, 250, "-N", "1", "--comment", "mine")
        job = seen(bed, label)
        assert job.held
        assert job.comment == "wattline mine"
        mine = submit(bed, LONG_S, 250, "-H", "-N", "1")
        assert seen(bed, mine).comment == ""  # held by its user: none of the controller's
        if not bed.root:  # the other Slurm knows no user but root
            theirs = submit_as_nobody(bed, "-H", "-N", "1")
            as_nobody(bed, "scontrol", "release", theirs)
            job = seen(bed, theirs)
            assert job.held
            assert job.comment == "wattline"
            refused = as_nobody(bed, "scontrol", "update", f"JobId={theirs}", "Licenses=watts:1")
            assert refused.returncode
            assert seen(bed, theirs).licenses == {"watts": 300}
        Slurm(Commands(bed.environment)).start(label, ["n0004"])
        until(lambda: runs(bed, label))


def test_the_controller_starts_what_the_plugin_holds(bed: Bed, tmp_path: Path) -> None:
    site = tmp_path / "site.toml"
    text = (EXAMPLES / "site.toml").read_text()
    for old, new in (("n[0001-0016]", "n[0001-0006]"), ('mode = "guard"', 'mode = "decide"'),
                     ('cap = "3kW"', 'cap = "1300W"'),
                     ("/etc/slurm/slurm.conf", str(bed.configuration)),
                     ("/var/lib/wattline", str(tmp_path / "folder"))):
        assert old in text
        text = text.replace(old, new)
    site.write_text(text)
    with with_lua(bed, "decide"):
        label = submit(bed, LONG_S, 250, "-N", "2", "-t", "20")
        with serving(read_configuration(site), act=True) as controller:
            # More than one: jobs of the test before may still be leaving their nodes.
            until(lambda: bool(controller.cycle()) and runs(bed, label))
            waits = submit(bed, LONG_S, 250, "-N", "2", "-t", "20")
            controller.cycle()
            said = wl.live_status(site)
            assert [job["job"] for job in said["running"]["jobs"]] == [label]
            assert [(job["job"], job["why"]) for job in said["waiting"]["jobs"]] == [
                (waits, "watts")]


def noted(bed: Bed, file: Path, seconds: float) -> tuple[str, bool]:
    """A job on the second node, and whether both its prolog and its epilog wrote a line."""
    file.unlink(missing_ok=True)
    label = submit(bed, seconds, 250, "-N", "1", "-w", "n0002")
    until(lambda: state(bed, label) == "COMPLETED")
    until(lambda: slurm(bed, "sinfo", "-h", "-n", "n0002", "-o", "%t") == "idle")  # no epilog runs
    return label, file.exists() and len(file.read_text().splitlines()) == 3


def test_prolog_and_epilog_note_the_joules_of_short_jobs(bed: Bed) -> None:
    folder = bed.folder / "readings"
    folder.mkdir()
    script = bed.folder / "prolog_epilog.sh"
    text = (EXAMPLES / "prolog_epilog.sh").read_text()
    script.write_text(text.replace("/var/lib/wattline/readings", str(folder)))
    script.chmod(0o755)
    with configured(bed, f"Prolog={script}\nEpilog={script}\n"):
        until(lambda: noted(bed, folder / "n0002.csv", 0.1)[1])  # the nodes have read it too
        label, both = noted(bed, folder / "n0002.csv", 3.0)
        assert both
    rows = [line.split(",") for line in (folder / "n0002.csv").read_text().splitlines()]
    assert rows[0] == ["time", "node", "meter", "joules"]
    drawn_j, took_s = (float(rows[2][at]) - float(rows[1][at]) for at in (3, 0))
    idle_j = 90.0 * max(took_s - 3.0, 0.0)
    assert drawn_j == pytest.approx(truth(bed, label)["energy_j"] + idle_j, rel=0.1)
