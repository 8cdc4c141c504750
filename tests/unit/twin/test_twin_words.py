"""Counts that are of the jobs used, kills that come late, and words that name what was given."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.support.shared_judged import findings
from tests.support.twin_sites import ACCOUNTS, site, submit

from wattline.analysis.rundir import read
from wattline.model.errors import InputError
from wattline.scenario.twin.section import TwinSection
from wattline.scenario.twin.site import read_site
from wattline.shared_nodes.outcome import KILLED
from wattline.shared_nodes.simulate import simulate_shared
from wattline.site.topology import read_topology

CONF = """\
NodeName=n[1-4] CPUs=8 RealMemory=8000
PartitionName=p Nodes=ALL Default=YES DefMemPerCPU=100
"""


def test_counts_are_of_the_jobs_that_are_used(tmp_path: Path) -> None:
    rows = ["JobID|User|Submit|Start|End|ReqTRES|NNodes|Timelimit|State|SubmitLine"]
    rows += [f"{job}|ada|{1000 + job}|{1010 + job}|1100|cpu=8,mem=800M,node={1 + job // 3}|"
             f"{1 + job // 3}|00:10:00|COMPLETED|sbatch --contiguous x" for job in range(1, 6)]
    rows.append("6|ada|1006|Unknown|Unknown||1|00:10:00|PENDING|sbatch x")
    (tmp_path / "log").write_text("\n".join(rows) + "\n")
    (tmp_path / "slurm.conf").write_text(CONF)
    section = TwinSection(slurm_conf=str(tmp_path / "slurm.conf"), log="sacct")
    whole, two = (read_site(section, tmp_path / "log", most) for most in (None, 2))
    tasks = "tasks are not in the log: one per CPU asked for"
    parts = "memory is of the whole job in the log: an equal part on each node"
    assert (whole.log.counted[tasks], whole.log.counted[parts]) == (5, 3)
    assert two.log.counted == {tasks: 2}
    assert two.log.filled == (f"2 jobs: {tasks} (1, 2)",)
    assert two.log.touched == {"1", "2"}
    assert "2 jobs: nothing is done with the option contiguous of its SubmitLine (1, 2)" in \
        two.lists.not_modelled
    assert two.log.left_out == whole.log.left_out
    said = ("trace.jobs: the first 2 of 5 jobs of the log; records that are left out are those of "
            "the whole log")
    assert said in two.lists.assumed
    assert said not in whole.lists.assumed


def test_tasks_and_earlier_runs_keep_what_is_said_of_them(tmp_path: Path) -> None:
    text = submit("-J j_7 -n 1 -a 1-3 --contiguous") + submit("-J j_8 -n 1 --contiguous", 5)
    log = site(tmp_path, text, accounts=ACCOUNTS).log
    assert log.first(2).not_modelled == (
        "1 job: nothing is done with the option contiguous (7)",)
    assert log.first(4).not_modelled == log.not_modelled


@pytest.mark.parametrize("suspend", ["", "SuspendProgram=/bin/true\nResumeProgram=/bin/true\n"
                                     "SuspendTime=30\nResumeTimeout=60\n"])
def test_a_kill_that_comes_late_breaks_no_reservation(tmp_path: Path, suspend: str) -> None:
    """Planned by their limits the jobs end before it; one that has no such limit is a breach."""
    late = 0
    for start in range(70, 130, 6):
        kept = [{"name": "r", "nodes": "ALL", "start": start, "end": 1000, "users": ["other"]}]
        text = "".join(submit("-n 8 -t 1", at, -1) for at in range(0, 60, 5))
        found = site(tmp_path, text, suspend + CONF, None, reservation=kept)
        asked = found.made.requests
        done = simulate_shared(found.machine, asked, found.rules)
        assert findings(found.machine, asked, found.rules, done) == []
        ran_on = (done.state == KILLED) & (done.start_s < start) & (done.end_s > start)
        late += int(ran_on.sum())
        if ran_on.any():
            longer = replace(asked, limit_s=np.full_like(asked.limit_s, 3600.0))
            said = findings(found.machine, longer, found.rules, done)
            assert any("on a node of the reservation r" in line for line in said)
    assert late > 0


def test_a_topology_without_switches_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "topology.conf").write_text("# nothing\n")
    with pytest.raises(InputError, match="has neither SwitchName nor BlockName lines"):
        read_topology(tmp_path / "topology.conf")


def test_a_file_is_no_run_folder(tmp_path: Path) -> None:
    (tmp_path / "twin.toml").write_text("")
    with pytest.raises(InputError, match="is a file and no run folder"):
        read(tmp_path / "twin.toml")
