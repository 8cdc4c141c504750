"""QOS and limits as sacctmgr has them in scripts, dumps and tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from wattline.model.errors import InputError
from wattline.site.associations import read_associations
from wattline.site.limits import clock_s, tres_of
from wattline.site.qos import read_qos

SCRIPT = """\
# add/modify QOS
modify QOS set normal Priority=5
add QOS Name=long,short Priority=10 MaxTRESPerUser=cpu=64,mem=2G GrpJobs=7
modify qos short set GrpJobs=-1 Flags=NoReserve Preempt=long
remove qos where name=gone
add cluster Name=c Fairshare=1 QOS=normal,long
add account name=phys Fairshare=100 MaxWall=2-0
add user name=ada DefaultAccount=phys MaxSubmitJobs=1000
modify user name=ada set qos+=short
add reservation starttime=now
list associations
"""


def _file(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_a_script_leaves_its_qos_with_one_name_for_each_limit(tmp_path: Path) -> None:
    found = read_qos(_file(tmp_path, "script", SCRIPT))
    assert found is not None
    by_name = {row.name: dict(row.settings) for row in found.rows}
    assert by_name["normal"] == {"priority": "5"}
    assert by_name["long"]["maxtrespu"] == "cpu=64,mem=2G"
    assert by_name["long"]["grpjobs"] == "7"
    assert "grpjobs" not in by_name["short"]  # taken away by -1
    assert by_name["short"]["preempt"] == "long"
    assert len(found.remarks) == 1
    assert "add reservation" in found.remarks[0]


def test_associations_of_a_script_keep_limits_and_qos(tmp_path: Path) -> None:
    rows = {(row.account, row.user): row for row in
            read_associations(_file(tmp_path, "script", SCRIPT)).rows}
    assert rows["root", ""].settings["qos"] == "normal,long"
    assert rows["phys", ""].settings["maxwall"] == "2-0"
    assert rows["phys", "ada"].settings == {"maxsubmit": "1000", "qos": "short"}


def test_a_table_and_a_dump_say_the_same_limits(tmp_path: Path) -> None:
    table = _file(tmp_path, "table", (
        "Cluster|Account|User|Share|GrpTRES|MaxJobs|QOS|Def QOS\n"
        "c|root||1||||\nc| phys||9|cpu=10,gres/gpu=2||normal,long|long\nc| phys|ada|1||4||\n"))
    dump = _file(tmp_path, "dump", (
        "Cluster - 'c':Fairshare=1\nParent - 'root'\n"
        "Account - 'phys':Fairshare=9:GrpTRES=cpu=10,gres/gpu=2:QOS='normal,long':DefaultQOS=long\n"
        "Parent - 'phys'\nUser - 'ada':Fairshare=1:MaxJobs=4\n"))
    for path in (table, dump):
        rows = {(row.account, row.user): dict(row.settings) for row in
                read_associations(path).rows}
        assert rows["phys", ""] == {"grptres": "cpu=10,gres/gpu=2", "qos": "normal,long",
                                    "defaultqos": "long"}
        assert rows["phys", "ada"] == {"maxjobs": "4"}


def test_a_table_of_qos_is_read_by_its_columns(tmp_path: Path) -> None:
    found = read_qos(_file(tmp_path, "qos", (
        "Name|Priority|GraceTime|Preempt|MaxTRESPU|MaxSubmitPU|Flags\n"
        "normal|0|00:00:00|||20|\nhigh|100|00:00:30|normal|cpu=8||NoReserve\n")))
    assert found is not None
    assert dict(found.rows[1].settings) == {
        "priority": "100", "gracetime": "00:00:30", "preempt": "normal", "maxtrespu": "cpu=8",
        "flags": "NoReserve"}


def test_a_qos_that_stands_twice_names_both_lines(tmp_path: Path) -> None:
    path = _file(tmp_path, "qos", "Name|Priority\na|1\na|2\n")
    with pytest.raises(InputError, match=r"qos:3: QOS 'a' stands there twice \(first in .*qos:2"):
        read_qos(path)


@pytest.mark.parametrize(("text", "seconds"), [
    ("30", 1800), ("30:30", 1830), ("1:30:00", 5400), ("7-0", 604800), ("0-4", 14400),
    ("1-12:30", 131400), ("INFINITE", None), ("UNLIMITED", None)])
def test_times_are_read_as_slurm_does(text: str, seconds: int | None) -> None:
    assert clock_s(text, "here") == seconds


@pytest.mark.parametrize("text", ["soon", "1:2:3:4", "-5", "1" * 400, "²"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="no time of Slurm"):
        clock_s(text, "here")


def test_memory_of_resources_is_in_megabytes() -> None:
    assert tres_of("cpu=2K,mem=5G,gres/gpu=4", "here") == {"cpu": 2048, "mem": 5120, "gres/gpu": 4}
    with pytest.raises(InputError, match="no resource"):
        tres_of("cpu", "here")
