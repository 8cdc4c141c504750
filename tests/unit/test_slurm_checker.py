"""The independent checker finds what it is for."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.slurm_checker import Held, Ran, broken_rules
from tests.support.slurm_files import Asked, Conf, names, read_conf, read_events, seconds

CONF = """NodeName=DEFAULT RealMemory=1000 Sockets=2 CoresPerSocket=2 Feature=cold
NodeName=n[01-02] Weight=3
NodeName=g1 Gres=gpu:v100:2 Feature=hot,IB
PartitionName=DEFAULT MaxTime=10
PartitionName=all Nodes=n[01-02],g1 Default=YES DefMemPerCPU=100 AllowQOS=normal
PartitionName=cold Nodes=n01 MaxTime=1:00:00
"""


@pytest.fixture
def conf(tmp_path: Path) -> Conf:
    (tmp_path / "slurm.conf").write_text(CONF)
    return read_conf(tmp_path / "slurm.conf")


def asked(name: str, **other: object) -> Asked:
    usual = {"user": "u", "qos": "normal", "partition": "all", "submit_s": 0.0, "run_s": 10.0,
             "limit_s": 60.0, "nodes": 1, "tasks": 2, "memory_mb": None, "feature": "",
             "devices": 0}
    return Asked(name, **{**usual, **other})  # type: ignore[arg-type]


GOOD = {"a": Ran(0.0, 10.0), "b": Ran(10.0, 20.0)}
ROWS = [Held("a", "n01", 4, 400, 0), Held("b", "n01", 2, 200, 0)]


def test_a_configuration_is_read_with_its_defaults(conf: Conf) -> None:
    assert set(conf.nodes) == {"n01", "n02", "g1"}
    assert conf.nodes["n02"].cpus == 4
    assert conf.nodes["n02"].features == {"cold"}
    assert conf.nodes["g1"].devices == 2
    assert conf.partitions["all"].most_s == 600.0
    assert conf.partitions["cold"].most_s == 3600.0
    assert conf.default == "all"


def test_host_lists_and_times_are_spelled_out() -> None:
    assert names("a[08-10],b,c[1,3]") == ["a08", "a09", "a10", "b", "c1", "c3"]
    assert [seconds(text) for text in ("5", "1:30", "2:00:00", "3-00:00:00", "1-2")] == [
        300.0, 90.0, 7200.0, 259200.0, 93600.0]


def test_submissions_are_read(conf: Conf, tmp_path: Path) -> None:
    (tmp_path / "x.events").write_text(
        "-dt 1.5 -e submit_batch_job | -sim-walltime 9 --uid=u -J j1 -n 24 --ntasks-per-node=12 "
        "-t 00:01:00 -q normal -p all --mem=2G --gres=gpu:1 p.job\n")
    job, = read_events(tmp_path / "x.events", conf)
    assert (job.submit_s, job.nodes, job.tasks, job.memory_mb, job.devices, job.limit_s) == (
        1.5, 2, 24, 2048, 1, 60.0)


def test_a_schedule_that_could_have_been_breaks_nothing(conf: Conf) -> None:
    assert broken_rules(conf, [asked("a"), asked("b")], GOOD, ROWS, {"normal": 2}) == []


def test_a_limit_is_over_with_the_whole_second(conf: Conf) -> None:
    ran = {**GOOD, "b": Ran(10.9, 70.0)}
    assert broken_rules(conf, [asked("a"), asked("b", run_s=99.0)], ran, ROWS, {}) == []


@pytest.mark.parametrize(("jobs", "ran", "rows", "said"), [
    ([asked("a"), asked("b"), asked("c")], GOOD, ROWS, "c is lost"),
    ([asked("a"), asked("b")], {**GOOD, "b": Ran(9.0, 20.0)}, ROWS, "n01 has 6 CPUs"),
    ([asked("a"), asked("b", feature="hot")], GOOD, ROWS, "b is on nodes without its feature"),
    ([asked("a"), asked("b", devices=1)], GOOD, ROWS, "b has too few devices"),
    ([asked("a"), asked("b", memory_mb=300)], GOOD, ROWS, "b has too little memory"),
    ([asked("a"), asked("b", nodes=2)], GOOD, ROWS, "b has another number of nodes"),
    ([asked("a"), asked("b", tasks=3)], GOOD, ROWS, "b has too few CPUs"),
    ([asked("a"), asked("b", submit_s=11.0)], GOOD, ROWS, "b starts before"),
    ([asked("a"), asked("b", qos="debug")], GOOD, ROWS, "b uses a QOS"),
    ([asked("a"), asked("b", limit_s=601.0)], GOOD, ROWS, "b asks for more time"),
    ([asked("a"), asked("b", run_s=11.0)], GOOD, ROWS, "b runs shorter"),
    ([asked("a"), asked("b", run_s=99.0)], {**GOOD, "b": Ran(10.5, 69.9)}, ROWS, "b runs shorter"),
    ([asked("a"), asked("b")], {**GOOD, "b": Ran(10.0, 111.0)}, ROWS, "b runs longer"),
    ([asked("a"), asked("b")], GOOD, [ROWS[0], Held("b", "x9", 2, 200, 0)], "b is on nodes out"),
])
def test_each_broken_rule_is_named(
    conf: Conf, jobs: list[Asked], ran: dict[str, Ran], rows: list[Held], said: str
) -> None:
    conf.nodes["x9"] = conf.nodes["n01"]
    assert any(line.startswith(said) for line in broken_rules(conf, jobs, ran, rows, {}))


def test_limits_on_submissions_are_held_both_ways(conf: Conf) -> None:
    jobs = [asked("a"), asked("b", submit_s=5.0)]
    over = broken_rules(conf, jobs, GOOD, ROWS, {"normal": 1})
    assert over == ["b was taken over the limit of its QOS"]
    only = {"a": GOOD["a"]}
    assert broken_rules(conf, jobs, only, ROWS[:1], {"normal": 1}, ["b"]) == []
    assert broken_rules(conf, jobs, only, ROWS[:1], {"normal": 2}, ["b"]) == [
        "b was refused below the limit of its QOS"]
