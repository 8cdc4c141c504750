"""The doctor names what is wrong, one thing at a time: from what a real Slurm 22.05 printed."""

from __future__ import annotations

import json
import shutil
import socket
import time
from collections import namedtuple
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from wattline.cli.main import main
from wattline.controller.configuration import read_configuration
from wattline.controller.doctor import folder as folder_module
from wattline.controller.doctor import slurm
from wattline.controller.doctor.asking import doctor
from wattline.controller.doctor.check import Check
from wattline.controller.doctor.folder import folder_checks
from wattline.controller.doctor.machine import broker_check, machine_checks
from wattline.controller.doctor.options import option_checks
from wattline.controller.doctor.slurm import Cluster, _clock, _fields, _options, _version
from wattline.live.slurm.commands import Commands

CONFIG = """Configuration data as of 2026-11-16T06:25:21
AccountingStorageTRES   = cpu,mem,energy,node,billing,fs/disk,vmem,pages,license/watts
AccountingStorageType   = accounting_storage/slurmdbd
AcctGatherEnergyType    = acct_gather_energy/pm_counters
AuthType                = auth/munge
ClusterName             = bed
JobSubmitPlugins        = lua
Licenses                = watts:800
ProctrackType           = proctrack/linuxproc
SchedulerParameters     = bf_interval=1,sched_interval=5,bf_max_job_test=1000,bf_licenses
SchedulerType           = sched/backfill
SelectType              = select/cons_tres
SLURM_VERSION           = 22.05.8
SlurmUser               = root(0)
"""
PARTITION = "PartitionName=batch Default=YES ExclusiveUser=NO OverSubscribe=EXCLUSIVE State=UP"
SITE = """nodes = "n[0001-0002]"
node_idle_w = 90
node_active_w = 300
cap = 600
partitions = ["batch"]
folder = "controller"
"""


def cluster(config: str = CONFIG, partition: str = PARTITION, skew_s: float = 0.0,
            nodes: tuple[str, ...] = ("n0001", "n0002")) -> Cluster:
    return Cluster(Commands(), _options(config), skew_s, dict([_fields(partition)]),
                   frozenset(nodes))


@pytest.fixture
def site(tmp_path: Path) -> Path:
    file = tmp_path / "site.toml"
    file.write_text(SITE)
    return file


def wrong(checks: list[Check]) -> list[str]:
    assert all(check.mend for check in checks if not check.ok)
    assert not any(check.mend for check in checks if check.ok)
    return [check.name for check in checks if not check.ok]


def test_a_slurm_that_is_as_it_should_be(site: Path) -> None:
    assert wrong(option_checks(cluster(), read_configuration(site))) == []


@pytest.mark.parametrize(("old", "new", "name"), [
    (",bf_licenses", "", "backfill by licences"),
    ("sched/backfill", "sched/builtin", "backfill by licences"),
    ("watts:800", "matlab:2", "licences of watts"),
    ("watts:800", "(null)", "licences of watts"),
    (",license/watts", "", "accounting of watts"),
    ("acct_gather_energy/pm_counters", "acct_gather_energy/none", "energy plugin"),
    ("acct_gather_energy/pm_counters", "(null)", "energy plugin"),
    ("proctrack/linuxproc", "proctrack/pgid", "process tracking"),
    ("JobSubmitPlugins        = lua", "JobSubmitPlugins        = (null)", "job_submit plugin"),
])
def test_an_option_that_is_wrong_is_named(site: Path, old: str, new: str, name: str) -> None:
    assert old in CONFIG
    found = option_checks(cluster(CONFIG.replace(old, new)), read_configuration(site))
    assert wrong(found) == [name]


def test_licences_that_are_fewer_than_the_cap_are_said_where_they_follow_it(site: Path) -> None:
    few = cluster(CONFIG.replace("watts:800", "watts:500"))
    assert wrong(option_checks(few, read_configuration(site))) == []
    site.write_text(site.read_text() + "licences = true\n")
    assert wrong(option_checks(cluster(), read_configuration(site))) == []
    assert wrong(option_checks(few, read_configuration(site))) == ["licences of watts"]


def test_guard_mode_without_licences_that_follow_the_cap_is_named(site: Path) -> None:
    site.write_text(site.read_text() + 'mode = "guard"\n')
    assert wrong(option_checks(cluster(), read_configuration(site))) == ["licences of watts"]
    site.write_text(site.read_text() + "licences = true\n")
    assert wrong(option_checks(cluster(), read_configuration(site))) == []


def test_partitions_whose_jobs_share_nodes_are_named(site: Path) -> None:
    shared = PARTITION.replace("EXCLUSIVE", "NO")
    found = option_checks(cluster(partition=shared), read_configuration(site))
    assert wrong(found) == ["whole nodes"]
    linear = CONFIG.replace("select/cons_tres", "select/linear")
    assert wrong(option_checks(cluster(linear, shared), read_configuration(site))) == []
    site.write_text(SITE.replace('"batch"', '"bach"'))
    found = option_checks(cluster(partition=shared), read_configuration(site))
    assert wrong(found) == ["partitions"]
    assert found[1].mend == "there are: batch"


@pytest.mark.parametrize(("more", "names"), [
    ("OverSubscribe=NO Nodes=n[0002-0009]", ["whole nodes"]),
    ("OverSubscribe=YES:4 Nodes=n[0001-0002]", ["whole nodes"]),
    ("OverSubscribe=EXCLUSIVE Nodes=n[0001-0002]", []),
    ("OverSubscribe=NO Nodes=n[0003-0009]", []), ("OverSubscribe=NO Nodes=(null)", [])])
def test_partitions_of_slurms_whose_jobs_share_our_nodes_are_said(
    site: Path, more: str, names: list[str]
) -> None:
    """The controller counts their jobs: it works, and by rougher figures."""
    there = cluster()
    found = option_checks(replace(there, partitions={
        **there.partitions, **dict([_fields(f"PartitionName=debug {more}")])}),
        read_configuration(site))
    assert wrong(found) == names
    assert not [check for check in found if check.must and not check.ok]
    assert all("in debug, which is left to Slurm" in check.found
               for check in found if not check.ok)


def test_another_cluster_than_slurms_is_named_where_somebody_is_told_its_name(site: Path) -> None:
    site.write_text(SITE + 'cluster = "bed"\n')
    assert wrong(option_checks(cluster(), read_configuration(site))) == []
    site.write_text(SITE + 'cluster = "Bed"\n')
    found = option_checks(cluster(), read_configuration(site))
    assert wrong(found) == ["cluster"]
    assert [check.found for check in found if not check.ok] == [
        "cluster of the site's file is 'Bed', Slurm's ClusterName is 'bed'"]


def test_nodes_that_slurm_does_not_have_are_named(site: Path) -> None:
    found = option_checks(cluster(nodes=("n0001",)), read_configuration(site))
    assert wrong(found) == ["nodes"]
    assert found[0].found == "Slurm has no n0002"


def test_clocks_and_versions_that_do_not_go() -> None:
    assert _clock(cluster(skew_s=-1.4)).ok
    late = _clock(cluster(skew_s=-100.0))
    assert not late.ok
    assert late.found == "slurmctld is 100 s behind this machine"
    assert not _clock(cluster(skew_s=float("nan"))).ok
    assert _version(cluster()).ok
    assert not _version(cluster(CONFIG.replace("22.05.8", "20.11.4"))).ok
    assert "nothing was tried" in _version(cluster(CONFIG.replace("22.05.8", "25.05.1"))).found


def test_a_file_that_cannot_be_read_is_the_first_thing_to_mend(
    tmp_path: Path, site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slurm, "PATIENCE_S", 0.5)
    assert wrong(doctor(tmp_path / "nothing.toml"))[0] == "configuration"
    site.write_text(SITE.replace("cap = 600", "cap = 0"))
    assert wrong(doctor(site))[0] == "configuration"
    site.write_text(SITE + 'slurm_conf = "nowhere.conf"\n')
    found = doctor(site)
    assert {"configuration", "slurm answers"} <= set(wrong(found))


def test_a_folder_without_room_or_with_a_broken_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert wrong(folder_checks(tmp_path / "new" / "folder")) == []
    (tmp_path / "file").write_text("")
    assert wrong(folder_checks(tmp_path / "file" / "folder")) == ["folder"]
    monkeypatch.setattr(folder_module.shutil, "disk_usage",
                        lambda place: namedtuple("Usage", "total used free")(2**40, 0, 2**20))
    assert wrong(folder_checks(tmp_path)) == ["free disk"]
    monkeypatch.undo()
    (tmp_path / "1.journal").write_text("this is none\n")
    assert wrong(folder_checks(tmp_path)) == ["journal"]


def test_a_controller_that_stopped_with_orders_is_named(tmp_path: Path) -> None:
    said = {"time_s": 0.0, "pid": 1, "host": "elsewhere", "act": True, "slurm_answers": True}
    (tmp_path / "status.json").write_text(json.dumps(said))
    assert wrong(folder_checks(tmp_path)) == []
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "1.json").write_text("{}")
    assert wrong(folder_checks(tmp_path)) == ["controller"]


@pytest.mark.parametrize(("change", "lacks"), [
    ({}, True), ({"time_s": -1.0}, False), ({"act": False}, False), ({"lease": None}, False),
    ({"stopped": {"time_s": 0.0, "licences": 5, "cap_w": 9.0}}, False),
])
def test_a_controller_that_went_without_a_stop_is_missed_once_its_lease_is_over(
    tmp_path: Path, change: dict[str, Any], lacks: bool
) -> None:
    """Heard of 17 s ago, with a lease of 8 s, or just now; no process has such a number."""
    said = {"time_s": -17.0, "pid": 2**22 + 1, "host": socket.gethostname(), "act": True,
            "slurm_answers": True, "lease": 8.0} | change
    said["time_s"] += time.time()
    (tmp_path / "status.json").write_text(json.dumps(said))
    assert wrong(folder_checks(tmp_path)) == (["controller"] if lacks else [])
    check = folder_checks(tmp_path)[-1]
    assert ("was not stopped, and its lease is over" in check.found) is lacks
    assert ("watchdog" in check.mend) is lacks


def test_limits_that_cannot_be_set_are_named(tmp_path: Path) -> None:
    def caps() -> Check:
        return machine_checks(tmp_path)[1]

    assert not caps().ok
    zone = tmp_path / "intel-rapl:0"
    zone.mkdir()
    limit = zone / "constraint_0_power_limit_uw"
    limit.write_text("100000000")
    assert caps().ok
    limit.chmod(0o444)
    assert not caps().ok
    assert str(limit) in caps().found


def test_a_broker_is_reached_or_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert broker_check(f"127.0.0.1:{port}").ok
    assert not broker_check(f"127.0.0.1:{port}").ok
    assert not broker_check("nowhere").ok


def test_commands_that_are_missing_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert shutil.which("squeue") is None
    with pytest.raises(SystemExit) as left:
        main(["doctor", "--json"])
    assert left.value.code == 1
    found = json.loads(capsys.readouterr().out)
    assert {"slurm commands", "slurm answers"} <= {each["name"] for each in found
                                                  if not each["ok"] and each["mend"]}


@pytest.mark.parametrize(("old", "new", "said"), [
    ("cap = 600", "cap = 100", "100 W is below the idle power of the machine (180 W)"),
    ("cap = 600", 'cap = "100W"', "100 W is below the idle power of the machine (180 W)"),
    ("cap = 600", 'cap = 600\n[policy]\npower = "blok"', "there is no 'blok'"),
    ("cap = 600", 'cap = 600\nscenario = "nowhere.toml"', "nowhere.toml")])
def test_a_site_with_which_no_controller_would_start_is_not_in_order(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    head, _, rest = SITE.partition(old)
    file = tmp_path / "site.toml"
    file.write_text(f"{head}{rest}{new}\n")
    first = doctor(file)[0]
    assert (first.name, first.ok) == ("configuration", False)
    assert said in first.found
