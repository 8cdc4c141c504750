"""Jobs of a bed under a policy that chooses configurations: names, ranges, measured sizes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from wattline.controller.testbed.conditions import Conditions, as_measured, never_starting
from wattline.controller.testbed.configuration import JOB
from wattline.controller.testbed.layout import Bed
from wattline.controller.testbed.workload import BedJob, MeasuredSize, Submitter, jobs_of
from wattline.model.errors import InputError
from wattline.traces import read, write

BED = Bed(Path("/nowhere"), nodes=4, port=1)
TABLE = """application,nodes,cores,cap_w,time_s,power_w
sim,1,16,65,8,180
sim,1,16,115,6,240
sim,2,16,65,5,360
sim,2,16,115,4,480
"""
LOG = """job_id,submit_s,run_s,requested_s,procs,power_w,application,nodes_min,nodes_max
1,0,6,60,1,240,sim,1,9
2,1,6,60,2,480,sim,,
3,2,5,60,1,240,other,2,
4,3,5,60,1,240,,,
"""


def jobs_in(folder: Path, text: str = LOG) -> list[BedJob]:
    (folder / "jobs.csv").write_text(text)
    trace = read(folder / "jobs.csv")
    return jobs_of(trace.jobs, BED, None, trace.logged)


def conditions_in(folder: Path, rule: str = "adaptive", **more: str) -> Conditions:
    (folder / "t.csv").write_text(TABLE)
    said = "".join(f', {name} = "{value}"' for name, value in more.items())
    (folder / "s.toml").write_text(
        f'name = "s"\n[trace]\nfile = "{folder}/jobs.csv"\n[machine]\nnodes = 4\n[power]\n'
        f'cap = "1kW"\n[policy]\npower = "watts"\nplacement = "first-fit"\n'
        f'configure = {{ name = "{rule}", table = "{folder}/t.csv"{said} }}\n')
    return Conditions(1000.0, scenario=folder / "s.toml")


def test_slurm_is_told_the_application_and_the_range_of_nodes(tmp_path: Path) -> None:
    submitter = Submitter(BED, [], run="r")
    words = [submitter._command(job) for job in jobs_in(tmp_path)]
    names = [[each for each in line if each.startswith(("--job-name", "--nodes", "--comment"))]
             for line in words]
    assert names == [
        ["--nodes=1-4", "--job-name=sim", "--comment=wattline job1.r"],
        ["--nodes=2", "--job-name=sim", "--comment=wattline job2.r"],
        ["--nodes=2", "--job-name=other", "--comment=wattline job3.r"],
        ["--nodes=1", "--job-name=job4", "--comment=wattline job4.r"]]


def test_a_range_is_kept_by_the_formats_that_we_write(tmp_path: Path) -> None:
    jobs_in(tmp_path)
    trace = read(tmp_path / "jobs.csv")
    for name in ("again.csv", "again.parquet", "again.swf"):
        write(trace, tmp_path / name)
        again = read(tmp_path / name).logged
        assert [str(each) for each in again["nodes_max"].tolist()] == ["9.0", "nan", "nan", "nan"]
    for nodes in ("3,2", "1.5,2"):
        with pytest.raises(InputError, match="nodes_m"):
            jobs_in(tmp_path, LOG.splitlines()[0] + f"\n1,0,6,60,1,240,sim,{nodes}\n")


@pytest.mark.parametrize("rule", ["traditional", "naive", "adaptive"])
def test_measured_jobs_do_on_each_number_of_nodes_what_was_measured(
        tmp_path: Path, rule: str) -> None:
    jobs = jobs_in(tmp_path)
    found, said = as_measured(conditions_in(tmp_path, rule), BED, jobs, speed=2.0)
    sizes = (MeasuredSize(1, 3.0, 240.0), MeasuredSize(2, 2.0, 240.0))
    assert [job.sizes for job in found] == [sizes, sizes, (), ()]
    assert said == ["2 of 4 jobs have no measured application and run as they were requested; the "
                    "first is job 3"]
    refusing = conditions_in(tmp_path, rule, unknown="refuse")
    assert as_measured(refusing, BED, jobs)[0][2:] == jobs[2:]
    assert as_measured(Conditions(1000.0, policies={"power": "watts"}), BED, jobs) == (jobs, [])


def test_whether_a_job_can_start_is_asked_with_its_application(tmp_path: Path) -> None:
    """On two nodes at 400 W, beside two idle ones; a measured one may have fewer."""
    many = LOG.splitlines()[0] + "\n1,0,6,60,2,800,sim,1,2\n2,0,6,60,2,800,other,,\n"
    jobs = jobs_in(tmp_path, many)
    assert not never_starting(conditions_in(tmp_path), BED, jobs)
    tight = Conditions(600.0, scenario=conditions_in(tmp_path).scenario)
    assert never_starting(tight, BED, jobs).keys() == {2}


def test_the_job_of_a_bed_does_what_is_said_of_its_number_of_nodes(tmp_path: Path) -> None:
    script = tmp_path / "job.sh"
    script.write_text(JOB.format(work=tmp_path).partition("until srun")[0])
    for nodes, said in (("1", "3 240"), ("2", "2 200.5"), ("3", "9 250")):
        words = ["sh", str(script), "9", "250", "1=3,240", "2=2,200.5", "12=7,7"]
        subprocess.run(words, check=True, env={
            "SLURM_JOB_ID": nodes, "SLURM_JOB_NUM_NODES": nodes, "SLURM_JOB_NODELIST": "n1",
            "PATH": "/usr/bin:/bin"})
        assert (tmp_path / f"{nodes}.0.job").read_text().startswith(f"{said} ")
