"""The ledger adds up joules, prints like sacct, and writes profiles that Slurm's tools read."""

import csv
import json
import os
import shutil
import subprocess

import h5py
import numpy as np
import pytest

from wattline.account import sacct
from wattline.account.claim_table import ClaimTable
from wattline.account.ledger import Chosen, Ledger
from wattline.account.profile import profile_path, read_profile, samples, write_profile
from wattline.account.records import JobRecord, StepRecord
from wattline.account.store import Store
from wattline.model.errors import InputError
from wattline.model.signal import Signal
from wattline.physics.claims import Claim, ClaimSetting, Measured, npb_claims

EPOCH_S = 1_379_027_571  # 2013-09-12T23:12:51


def record(job_id=127, *, user="ann", energy_j=490_600.0, start_s=0.0, end_s=552.0, **more):
    power = Signal.constant(energy_j / (end_s - start_s), "W")
    steps = (StepRecord(0, start_s, end_s, energy_j, power),)
    values = {
        "job_id": job_id, "user": user, "account": "physics", "partition": "batch",
        "application": "cg.D.32", "node_class": "cuzco", "nodes": 4, "cores": 32,
        "submit_s": start_s, "start_s": start_s, "end_s": end_s, "limit_s": 3600.0,
        "state": "COMPLETED", "energy_j": energy_j, "node_runs": ((109, 112),),
        "steps": steps, **more,
    }
    return JobRecord(**values)


@pytest.fixture
def ledger():
    with Store("sqlite://") as store:
        yield Ledger(store)


def entered(ledger, *records):
    ledger.add("run", records, machine="cuzco", energy_j=1e6, epoch_s=EPOCH_S)
    return ledger.run_of()


def test_totals(ledger):
    run = entered(ledger, record(1), record(2, user="bob", energy_j=1000.0), record(3))
    assert [(t.name, t.jobs, t.energy_j) for t in ledger.totals(run["id"], "user")] == [
        ("ann", 2, 981_200.0), ("bob", 1, 1000.0)]
    assert ledger.totals(run["id"], "node_class")[0].node_s == 3 * 4 * 552.0
    with pytest.raises(InputError, match="cannot add up by 'colour'"):
        ledger.totals(run["id"], "colour")


def test_nodes_are_listed_where_they_are_known(ledger):
    run = entered(ledger, record(1), record(2, node_runs=((1, 3), (7, 7))),
                  record(3, node_runs=()), record(4, state="PENDING", nodes=0, node_runs=()))
    assert [sacct.node_list(job) for job in ledger.jobs_of(run["id"])] == [
        "n[109-112]", "n[1-3,7]", "Unknown", "None assigned"]


def test_profiles_name_the_nodes_or_say_that_they_are_unknown(tmp_path):
    path = write_profile(record(1, node_runs=((1, 3), (7, 7))), tmp_path)
    assert sorted(node for _, node in read_profile(path)) == ["n1", "n2", "n3", "n7"]
    path = write_profile(record(2, node_runs=()), tmp_path)
    assert sorted(node for _, node in read_profile(path)) == [f"unknown{i}" for i in range(4)]


def test_a_ledger_without_a_column_is_refused_in_one_line():
    with Store("sqlite://") as store:
        Ledger(store)
        with store.session() as session:
            session.connection().exec_driver_sql("ALTER TABLE ledger_job DROP COLUMN node_list")
        with pytest.raises(InputError, match="earlier version, without node_list"):
            Ledger(store)


def test_a_run_entered_again_replaces_the_old_one(ledger):
    entered(ledger, record(1), record(2))
    run = entered(ledger, record(7))
    assert [job["job_id"] for job in ledger.jobs_of(run["id"])] == [7]
    assert ledger.run_names() == ["run"]
    assert ledger.power_of(run["id"], 1) == []


def test_a_failing_run_leaves_the_old_one(ledger):
    entered(ledger, record(1))

    def broken():
        yield record(2)
        raise InputError("line 2 is bad")

    with pytest.raises(InputError, match="line 2"):
        ledger.add("run", broken())
    assert [job["job_id"] for job in ledger.jobs_of(ledger.run_of()["id"])] == [1]


def test_filters(ledger):
    run = entered(ledger, record(1), record(2, user="bob", start_s=1000.0, end_s=1100.0))
    assert [j["job_id"] for j in ledger.jobs_of(run["id"], Chosen(users=["bob"]))] == [2]
    assert [j["job_id"] for j in ledger.jobs_of(run["id"], Chosen(job_ids=[1, 9]))] == [1]
    assert [j["job_id"] for j in ledger.jobs_of(run["id"], Chosen(end_s=700.0))] == [1]
    assert [j["job_id"] for j in ledger.jobs_of(run["id"], Chosen(start_s=700.0))] == [2]
    with pytest.raises(InputError, match="no run 'other'; it has run"):
        ledger.run_of("other")


def lines_of(ledger, run, steps=False):
    found = []
    for job in ledger.jobs_of(run["id"]):
        found.append(sacct.Line(job, run["epoch_s"]))
        if steps:
            found += [sacct.Line(job, run["epoch_s"], step)
                      for step in ledger.steps_of(run["id"])[sacct.life(job)]]
    return found


def test_the_documents_line(ledger):
    """Job 127 of the document: 4 nodes, 32 cores, 9:12 minutes, 490.60 kJ."""
    run = entered(ledger, record())
    fields = sacct.parse_format("JobID%5,JobName,AllocCPUS,NNodes%3,NodeList%22,State,Start,End,"
                                "Elapsed,ConsumedEnergy%9")
    text = sacct.text_lines(lines_of(ledger, run), fields)
    assert text[2].split() == [
        "127", "cg.D.32", "32", "4", "n[109-112]", "COMPLETED", "2013-09-12T23:12:51",
        "2013-09-12T23:22:03", "00:09:12", "490.60K"]
    assert text[1].startswith("----- ----------")


def test_parsable_lines_and_steps(ledger):
    run = entered(ledger, record())
    fields = sacct.parse_format("jobid,consumedenergyraw,avewatts")
    lines = lines_of(ledger, run, steps=True)
    assert sacct.text_lines(lines, fields, parsable=True) == [
        "JobID|ConsumedEnergyRaw|AveWatts", "127|490600|888.8", "127.0|490600|888.8"]
    assert sacct.text_lines(lines, fields, parsable=True, trailing=True, header=False)[0] == (
        "127|490600|888.8|")


def test_what_does_not_fit_is_marked(ledger):
    run = entered(ledger, record(application="a-very-long-name"))
    fields = sacct.parse_format("JobName%6,JobID%-6")
    assert sacct.text_lines(lines_of(ledger, run), fields)[2] == "a-ver+ 127"


def test_json_has_slurms_shape(ledger):
    run = entered(ledger, record())
    out = json.loads(json.dumps(sacct.json_jobs(
        ledger.jobs_of(run["id"]), ledger.steps_of(run["id"]), run["epoch_s"])))
    (job,) = out["jobs"]
    assert job["time"]["start"] == EPOCH_S
    assert job["tres"]["allocated"][-1]["count"] == 490_600
    assert job["steps"][0]["statistics"]["energy"]["consumed"] == 490_600


@pytest.mark.parametrize("text", ["JobID,Colour", "", "JobID%x"])
def test_unknown_fields_are_named(text):
    with pytest.raises(InputError, match="is no field"):
        sacct.parse_format(text)


@pytest.mark.parametrize(
    ("joules", "text"), [(0, "0"), (999.4, "999"), (490_600, "490.60K"), (1.5e12, "1.50T")]
)
def test_short_energies(joules, text):
    assert sacct.short_energy(joules) == text


def stepped():
    """50 W on two nodes for 30 s, then 100 W for 45 s: 6,000 J in 75 s."""
    power = Signal(np.array([100.0, 130.0]), np.array([50.0, 100.0]), "W")
    step = StepRecord(0, 100.0, 175.0, 6000.0, power)
    return record(5, start_s=100.0, end_s=175.0, energy_j=6000.0, nodes=2, steps=(step,))


def test_samples_keep_the_joules():
    step = stepped().steps[0]
    elapsed, means = samples(step.power_w, step.start_s, step.end_s, 20.0)
    assert list(elapsed) == [20, 40, 60, 75]
    assert means == pytest.approx([50, 75, 100, 100])
    assert float(np.sum(means * np.diff([0, *elapsed]))) == pytest.approx(6000.0)


def test_the_profile_has_slurms_layout(tmp_path):
    path = write_profile(stepped(), tmp_path, epoch_s=EPOCH_S, interval_s=15.0)
    assert path == profile_path(tmp_path, "ann", 5)
    with h5py.File(path) as file:
        assert file.attrs["Number of Steps"] == 1
        assert file["Steps/0"].attrs["Number of Nodes"] == 2
        node = file["Steps/0/Nodes/n110"]
        assert node.attrs["Node Name"] == b"n110"
        assert node.attrs["Node Index"] == 1
        table = node["Energy"]
        assert table.dtype.names == ("ElapsedTime", "EpochTime", "Power")
        assert [table.dtype[i].str for i in range(3)] == ["<u8"] * 3
        assert table.maxshape == (None,)
        assert list(table["Power"]) == [25, 25, 25, 50, 50, 50]
        assert list(table["EpochTime"][:2]) == [EPOCH_S + 100, EPOCH_S + 100 + 15]
    assert list(read_profile(path)[("0", "n109")]["ElapsedTime"]) == [0, 15, 30, 45, 60, 75]
    assert not list(tmp_path.rglob("*.part"))


@pytest.mark.parametrize("watts", [2.35, 0.4, 351.6])
def test_joules_of_a_profile_are_those_of_the_node(tmp_path, watts):
    """Whole watts of 2.35 would lose 15 % in an hour, and those of 0.4 all."""
    power = Signal(np.array([0.0]), np.array([watts]), "W")
    step = StepRecord(0, 0.0, 3600.0, 3600 * watts, power)
    job = record(5, start_s=0.0, end_s=3600.0, energy_j=3600 * watts, nodes=1, steps=(step,),
                 node_runs=((1, 1),))
    table = read_profile(write_profile(job, tmp_path))["0", "n1"]
    joules = (table["Power"][1:] * np.diff(table["ElapsedTime"])).sum()
    assert joules == pytest.approx(3600 * watts, abs=15.0)


def test_a_profile_has_all_nodes_of_a_large_job_and_stays_small(tmp_path):
    power = Signal(np.array([0.0]), np.array([8e4]), "W")
    step = StepRecord(0, 0.0, 86400.0, 86400 * 8e4, power)
    job = record(5, start_s=0.0, end_s=86400.0, energy_j=86400 * 8e4, nodes=200, steps=(step,),
                 node_runs=((0, 199),))
    path = write_profile(job, tmp_path)
    found = read_profile(path)
    assert len(found) == 200
    total = sum((t["Power"][1:] * np.diff(t["ElapsedTime"])).sum() for t in found.values())
    assert total == 86400 * 8e4
    assert path.stat().st_size < 6e5  # with a table for each node it has twice that


def test_sh5util_reads_a_profile(tmp_path):
    """The program of Slurm's own, from Debian's package slurm-wlm-hdf5-plugin."""
    if not shutil.which("sh5util"):
        pytest.skip("no sh5util here; Debian's package slurm-wlm-hdf5-plugin has it")
    path = write_profile(stepped(), tmp_path, epoch_s=EPOCH_S, interval_s=15.0)
    (tmp_path / "acct_gather.conf").write_text(f"ProfileHDF5Dir={tmp_path}\n")
    (tmp_path / "slurm.conf").write_text(
        "ClusterName=t\nSlurmctldHost=localhost\nAuthType=auth/none\nNodeName=n1 CPUs=1\n"
        "PartitionName=p Nodes=n1\nAcctGatherProfileType=acct_gather_profile/hdf5\n")
    subprocess.run(
        ["sh5util", "-j", "5", "-E", "-l", "Node:TimeSeries", "--series=Energy", "-i", path, "-o",
         tmp_path / "out.csv"], check=True, capture_output=True,
        env=os.environ | {"SLURM_CONF": str(tmp_path / "slurm.conf")})
    rows = list(csv.DictReader((tmp_path / "out.csv").open()))
    mine = [row for row in rows if row["Node"] == "n110"]
    assert {row["Node"] for row in rows} == {"n109", "n110", "n111", "n112"}
    assert [int(row["Power"]) for row in mine] == [25, 25, 25, 50, 50, 50]
    assert int(mine[-1]["EpochTime"]) == EPOCH_S + 175


def test_files_that_are_no_profile_are_refused(tmp_path):
    path = tmp_path / "x.h5"
    path.write_text("no")
    with pytest.raises(InputError, match="not a readable HDF5"):
        read_profile(path)
    with h5py.File(path, "w"):
        pass
    with pytest.raises(InputError, match="no /Steps"):
        read_profile(path)
    with pytest.raises(InputError, match="interval"):
        write_profile(stepped(), tmp_path, interval_s=0)


def test_impossible_records_are_refused():
    with pytest.raises(InputError, match="out of order"):
        record(end_s=-1.0)
    with pytest.raises(InputError, match="energy_j is -5"):
        record(energy_j=-5.0)


def test_claims_in_the_store():
    with Store("sqlite://") as store:
        table = ClaimTable(store)
        assert table.save(npb_claims()) == 44
        assert repr(list(table.load())) == repr(list(npb_claims()))  # nan is not nan
        (found,) = table.record([Measured("CG.A", "xeon", ClaimSetting("8"), 0.70, 29.91)])
        assert found.time_error == pytest.approx(0.12 / 0.58)
        assert table.load().find("CG.A", "xeon", ClaimSetting("8")).runs == 6
        assert len(table.load()) == 44


def test_a_bad_claim_changes_nothing_in_the_store():
    with Store("sqlite://") as store:
        table = ClaimTable(store)
        table.save([Claim("a", "x", ClaimSetting(), 1.0, 1.0)])

        def broken():
            yield Claim("b", "x", ClaimSetting(), 1.0, 1.0)
            yield Claim("c", "x", ClaimSetting(), -1.0, 1.0)

        with pytest.raises(InputError, match="time_s is -1"):
            table.save(broken())
        assert [c.application for c in table.load()] == ["a"]

