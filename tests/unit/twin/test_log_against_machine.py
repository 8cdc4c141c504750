"""Jobs of a log that cannot have run on the machine of slurm.conf are named, with counts."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.twin_sites import site

import wattline as wl
from wattline.scenario.twin.site import Site

pytestmark = pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
CONF = """\
NodeName=c[1-4] CPUs=16 RealMemory=16000
NodeName=g1 CPUs=16 RealMemory=16000
PartitionName=batch Nodes=c[1-4] Default=YES MaxTime=1-0 DefMemPerCPU=10
PartitionName=debug Nodes=c1 MaxTime=30 DefMemPerCPU=10
PartitionName=all Nodes=ALL DefMemPerCPU=10
"""
COLUMNS = ("JobID", "User", "Account", "Partition", "Submit", "Start", "End", "Timelimit",
           "ReqTRES", "AllocTRES", "NNodes", "NodeList", "State")
USUAL = {"JobID": "1", "User": "ada", "Account": "phys", "Partition": "batch", "Submit": "1000",
         "Start": "1010", "End": "1610", "Timelimit": "00:20:00", "ReqTRES": "cpu=4,mem=1G,node=1",
         "AllocTRES": "cpu=4,mem=1G,node=1", "NNodes": "1", "NodeList": "c1", "State": "COMPLETED"}


def _log(*rows: dict[str, str]) -> str:
    lines = ["|".join(COLUMNS)]
    for number, row in enumerate(rows, start=1):
        lines.append("|".join(({**USUAL, "JobID": str(number)} | row)[name] for name in COLUMNS))
    return "\n".join(lines) + "\n"


def _site(folder: Path, *rows: dict[str, str], conf: str = CONF) -> Site:
    return site(folder, _log(*rows), conf, None, kind="sacct")


def _said(found: Site, *words: str) -> list[str]:
    return [line.partition(": ")[2] for line in found.lists.contradictions
            if all(word in line for word in words)]


def _asks(cpus: int, nodes: int = 1) -> dict[str, str]:
    tres = f"cpu={cpus},mem=1G,node={nodes}"
    return {"ReqTRES": tres, "AllocTRES": tres, "NNodes": str(nodes)}


def test_unknown_nodes_are_named(tmp_path: Path) -> None:
    found = _site(tmp_path, {"NodeList": "zz1"}, {"NodeList": "zz[1-2]", **_asks(8, 2)}, {},
                  {"NodeList": "c1,yy9", **_asks(8, 2)})
    assert _said(found, "does not have") == [
        f"3 jobs ran on nodes that {tmp_path / 'slurm.conf'} does not have (yy9, zz[1-2]): "
        "1, 2, 4"]
    assert found.made.unfit == ()


@pytest.mark.parametrize(("partition", "node", "said"), [
    ("debug", "c1", ""), ("debug", "g1", "g1 of 'debug'"), ("batch", "g1", "g1 of 'batch'"),
    ("all", "g1", ""), ("debug", "c[1-2]", "c2 of 'debug'"), ("nosuch", "g1", ""),
    ("debug,batch", "c2", ""), ("debug,batch", "g1", "g1 of 'debug,batch'")])
def test_nodes_outside_of_a_partition_are_named(
    tmp_path: Path, partition: str, node: str, said: str,
) -> None:
    several = _asks(8, 2) if "[" in node else {}
    found = _site(tmp_path, {}, {"Partition": partition, "NodeList": node, **several})
    assert _said(found, "outside of their partitions") == (
        [f"1 job ran on nodes outside of their partitions ({said}): 2"] if said else [])


@pytest.mark.parametrize(("cpus", "nodes", "said"), [
    (16, 1, ""), (17, 1, "more CPUs than 1 node of its partitions can have (17, the most is 16)"),
    (64, 1, "more CPUs than 1 node of its partitions can have (64, the most is 16)"),
    (32, 2, ""), (33, 2, "more CPUs than 2 nodes of its partitions can have (33, the most is 32)"),
    (64, 4, "")])
def test_more_cpus_than_nodes_have_are_named(
    tmp_path: Path, cpus: int, nodes: int, said: str,
) -> None:
    twin = _twin(tmp_path, {}, {**_asks(cpus, nodes), "NodeList": ""})
    assert twin.unfit == ((f"1 job: {said} (2)",) if said else ())
    assert wl.check_twin(twin, phases=1).never_ran == bool(said)


@pytest.mark.parametrize("enforced", ["", "EnforcePartLimits=ALL\n"])
@pytest.mark.parametrize(("partition", "limit", "over"), [
    ("debug", "00:30:00", False), ("debug", "5-00:00:00", True), ("batch", "1-00:00:00", False),
    ("batch", "1-00:01:00", True), ("debug", "UNLIMITED", False), ("all", "9-00:00:00", False)])
def test_limits_over_those_of_the_partition_are_named(
    tmp_path: Path, partition: str, limit: str, over: bool, enforced: str,
) -> None:
    """By `twin make` as by the simulation."""
    twin = _twin(tmp_path, {}, {"Partition": partition, "Timelimit": limit}, conf=enforced + CONF)
    what = "refused at its submission" if enforced else "waits for ever"
    assert twin.unfit == ((f"1 job: {what}: over the partition's time (2)",) if over else ())
    assert wl.check_twin(twin, phases=1).unfit == twin.unfit
    assert (what in twin.text) == over


def _twin(folder: Path, *rows: dict[str, str], conf: str = CONF) -> wl.Twin:
    (folder / "slurm.conf").write_text(conf)
    (folder / "sacct.txt").write_text(_log(*rows))
    return wl.make_twin(folder / "slurm.conf", sacct=folder / "sacct.txt")


@pytest.mark.parametrize(("rows", "said"), [
    (({**_asks(16)}, {**_asks(16)}), "1 node of CONF has (c1: 32 of 16): jobs 1, 2"),
    (({**_asks(8)}, {**_asks(8)}), ""),
    (({**_asks(8)}, {**_asks(8)}, {**_asks(1)}), "1 node of CONF has (c1: 17 of 16): jobs 1, 2, 3"),
    # One after the other.
    (({**_asks(16)}, {**_asks(16), "Start": "1610", "End": "1700"}), ""),
    (({**_asks(16)}, {**_asks(16), "Start": "1609", "End": "1700"}),
     "1 node of CONF has (c1: 32 of 16): jobs 1, 2"),
    # Over several nodes a job has at least what the others of them cannot hold.
    (({**_asks(32, 2), "NodeList": "c[1-2]"}, {}), "1 node of CONF has (c1: 20 of 16): jobs 1, 2"),
    (({**_asks(20, 2), "NodeList": "c[1-2]"}, {**_asks(12)}), ""),
    (({**_asks(20, 2), "NodeList": "c[1-2]"}, {**_asks(13)}),
     "1 node of CONF has (c1: 17 of 16): jobs 1, 2"),
    (({**_asks(32, 2), "NodeList": "c[1-2]"}, {**_asks(32, 2), "NodeList": "c[1-2]"}),
     "2 nodes of CONF have (c1: 32 of 16, c2: 32 of 16): jobs 1, 2"),
    # One that still ran when the log was taken.
    (({**_asks(16), "End": "Unknown", "State": "RUNNING"}, {**_asks(2), "Start": "1700",
                                                           "End": "1800"}),
     "1 node of CONF has (c1: 18 of 16): jobs 1, 2")])
def test_more_cpus_in_use_than_a_node_has_are_named(
    tmp_path: Path, rows: tuple[dict[str, str], ...], said: str,
) -> None:
    found = _site(tmp_path, *rows)
    said = said.replace("CONF", str(tmp_path / "slurm.conf"))
    assert _said(found, "in use at once") == (
        [f"more CPUs were in use at once than {said}"] if said else [])


def test_partitions_that_share_cpus_are_no_contradiction(tmp_path: Path) -> None:
    rows = ({**_asks(16)}, {**_asks(16)})
    for word, counts in (("FORCE:4", False), ("YES", False), ("FORCE:1", True), ("NO", True)):
        conf = CONF.replace("Default=YES", f"Default=YES OverSubscribe={word}")
        assert bool(_said(_site(tmp_path, *rows, conf=conf), "in use at once")) == counts
