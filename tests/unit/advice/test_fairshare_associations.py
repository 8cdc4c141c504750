"""`wattline fairshare --assoc`: Slurm's tree over the jobs of a run."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from tests.shared_data import shared
from tests.support.commands import call, refused

import wattline as wl
from wattline.analysis import rundir

TABLE = """Cluster|Account|User|Partition|Share
tux|root|||1
tux| physics|||30
tux|  physics|ann||1
tux|  physics|bob||parent
tux| biology|||60
tux|  biology|ann||1
"""


@pytest.fixture
def folder(tmp_path):
    """ann in both accounts, bob without an account, zoe whom nobody knows; 300 W each."""
    jobs = pd.DataFrame({
        "submit_s": [0, 0, 0, 0], "run_s": [100, 200, 300, 400], "procs": [1, 1, 1, 1],
        "user": ["ann", "ann", "bob", "zoe"], "group": ["physics", "biology", None, "physics"]})
    machine = wl.Machine(nodes=8, node_idle_w=90, node_active_w=300)
    return rundir.write(wl.simulate(jobs, machine=machine), tmp_path / "run")


@pytest.fixture
def assoc(tmp_path):
    path = tmp_path / "assoc.txt"
    path.write_text(TABLE)
    return path


def test_a_user_in_two_accounts_counts_in_each_and_strangers_are_named(folder, assoc, capsys):
    with pytest.warns(wl.WattlineWarning, match="1 of 4 jobs are of users that have no place"):
        found = wl.fairshare(folder, assoc=assoc, half_life=1e12)
    used = {(each.name, each.parent): each.usage_j for each in found.standings}
    assert used["ann", "physics"] == pytest.approx(30_000)
    assert used["ann", "biology"] == pytest.approx(60_000)
    assert used["bob", "physics"] == pytest.approx(90_000)
    assert used["physics", ""] == pytest.approx(120_000)
    assert [(each.user, each.account, each.jobs) for each in found.unplaced] == [
        ("zoe", "physics", 1)]
    assert found.unplaced[0].usage_j == pytest.approx(120_000)
    status, out, err = call(capsys, "fairshare", folder, "--assoc", assoc, "--half-life", "1e12",
                            "--json")
    assert status == 0
    assert json.loads(out) == json.loads(json.dumps(found.to_dict()))
    assert "'zoe' in 'physics'" in err


def test_clusters_and_files_that_do_not_go_together_are_refused(folder, assoc, capsys):
    ask = ("fairshare", folder)
    assert "not both" in refused(capsys, *ask, "--assoc", assoc, "--shares", assoc)
    assert "has no cluster 'yak'; it has tux" in refused(capsys, *ask, "--assoc", assoc,
                                                         "--cluster", "yak")
    assert "give that too" in refused(capsys, *ask, "--cluster", "tux")
    assoc.write_text(TABLE.replace("physics|bob", "laser|bob"))
    assert "account 'laser', which 'bob' lies in, is not there" in refused(capsys, *ask, "--assoc",
                                                                           assoc)


@pytest.mark.filterwarnings("ignore::wattline.model.errors.WattlineWarning")
def test_the_script_of_a_public_site_makes_a_tree(folder):
    script = shared("slurm_sites/medium/sacctmgr_priority100.script")
    found = wl.fairshare(folder, assoc=script)
    assert len(found.standings) == 62 + 105
    tops = [each for each in found.standings if not each.parent]
    assert sum(each.share for each in tops) == pytest.approx(1)
    assert len(found.unplaced) == 4


MEASURED = """JobID|Cluster|User|Account|State|Start|End|NNodes|NodeList|AllocTRES
1|tux|ann|physics|COMPLETED|2026-10-05T10:00:00|2026-10-05T11:00:00|1|n1|energy=720000
2|tux|ann|biology|COMPLETED|2026-10-04T10:00:00|2026-10-04T11:00:00|1|n1|energy=720000
3|tux|bob|physics|COMPLETED|2026-10-05T10:00:00|2026-10-05T11:00:00|1|n1|
"""


@pytest.fixture
def measured(tmp_path, capsys):
    (tmp_path / "dump.txt").write_text(MEASURED)
    assert call(capsys, "account", "import", tmp_path / "dump.txt", "--store", tmp_path / "s.db",
                "--zone", "UTC")[0] == 0
    return tmp_path / "s.db"


def test_measured_joules_count_by_user_and_account_and_fade(measured, assoc, capsys):
    ask = ("fairshare", "--store", measured, "--assoc", assoc, "--half-life", "1d", "--json")
    status, out, err = call(capsys, *ask)
    assert status == 0, err
    used = {(each["name"], each["parent"]): each["usage_j"]
            for each in json.loads(out)["accounts"]}
    fresh_j = used["ann", "physics"]
    assert 0.98 * 720_000 < fresh_j < 720_000
    assert used["ann", "biology"] == pytest.approx(fresh_j / 2)  # a day older
    assert used["bob", "physics"] == 0
    assert "jobs without joules: 1; they count as nothing" in err
    _, out, _ = call(capsys, *ask, "--at", "2026-10-06T13:00", "--zone", "Europe/Berlin")
    later = {(each["name"], each["parent"]): each["usage_j"]
             for each in json.loads(out)["accounts"]}
    assert later["ann", "physics"] == pytest.approx(fresh_j / 2)
    assert "'yak'; it has 'tux'" in refused(capsys, "fairshare", "--store", measured, "--cluster",
                                            "yak")


def test_where_a_store_has_runs_too_it_says_that_measured_jobs_are_meant(measured, folder, capsys):
    assert call(capsys, "account", folder, "--store", measured)[0] == 0
    _, out, err = call(capsys, "fairshare", "--store", measured, "--json")
    assert {each["name"] for each in json.loads(out)["accounts"]} == {"ann"}
    assert "this is of the measured jobs, --run-name NAME is of a run" in err
    _, out, _ = call(capsys, "fairshare", "--store", measured, "--run-name", "run", "--json")
    assert {each["name"] for each in json.loads(out)["accounts"]} == {"ann", "bob", "zoe"}
