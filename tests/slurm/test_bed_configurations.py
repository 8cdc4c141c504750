"""A workload on a bed under policies that choose configurations."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.slurm.bedside import slurm
from tests.slurm.pace import Pace
from wattline.books import read_journal
from wattline.controller.testbed.conditions import Conditions, as_measured
from wattline.controller.testbed.layout import Bed
from wattline.controller.testbed.running import run_workload
from wattline.controller.testbed.workload import BedJob

TABLE = "application,nodes,cores,cap_w,time_s,power_w\n" + "".join(
    f"lu,{nodes},16,{cap},{12 / nodes * slower:g},{nodes * watts}\n" for nodes in (1, 2, 3, 4)
    for cap, slower, watts in ((65, 1.3, 180), (115, 1.0, 240)))


@pytest.mark.parametrize("rule", ["naive", "adaptive"])
def test_jobs_of_a_workload_run_in_configurations(
    bed: Bed, tmp_path: Path, pace: Pace, rule: str
) -> None:
    (tmp_path / "table.csv").write_text(TABLE)
    scenario = tmp_path / "s.toml"
    scenario.write_text(
        f'name = "s"\n[trace]\ngenerate = "lublin"\n[machine]\nnodes = {bed.nodes}\n[power]\n'
        'cap = "1.2kW"\n[policy]\npower = "watts"\nplacement = "first-fit"\n'
        f'configure = {{ name = "{rule}", table = "{tmp_path}/table.csv" }}\n')
    asked = [BedJob(1, 0.0, 6.0, 60.0, 2, 240.0, application="lu", least_nodes=1, most_nodes=4),
             BedJob(2, 0.5, 6.0, 60.0, 2, 240.0, application="lu"),
             BedJob(3, 1.0, 3.0, 60.0, 1, 200.0, application="nobody-knows-it")]
    conditions = Conditions(1200.0, scenario=scenario)
    jobs, said = as_measured(conditions, bed, asked)
    assert len(said) == 1
    begin_s = time.time()
    found = run_workload(bed, jobs, conditions, journal=tmp_path / "journal")
    assert (found.finished, found.lost, found.refused, found.left) == (3, (), (), ())
    assert found.replay_equal
    assert found.above_cap_s_max <= 2.0 * pace.slowest(begin_s)
    journal = read_journal((tmp_path / "journal").read_text(), "journal")
    starts = [each for entry in journal.entries() for each in entry.decisions or ()
              if each.kind == "start"]
    # Beside six idle nodes 1,200 W leave 660 W, for 3 nodes at 180 W; the share of two nodes is
    # 400 W, for 2 of 180 W.
    chosen = sorted((each.control.units, each.control.cap_w, each.power_w) for each in starts)
    assert chosen[0] == (1, None, 200.0)
    if rule == "naive":
        assert chosen[1:] == [(2, 65.0, 360.0), (3, 65.0, 540.0)]
    assert all(each.control.cores == 16 for each in starts if each.power_w != 200.0)
    comments = slurm(bed, "sacct", "-n", "-X", "-P", "-o", "Comment,JobName").split("\n")
    assert {line.partition(".")[0] + line.rpartition("|")[2] for line in comments} >= {
        "wattline job1lu", "wattline job2lu", "wattline job3nobody-knows-it"}
