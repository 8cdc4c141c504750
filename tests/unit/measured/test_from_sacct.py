"""Records of sacct: lives and steps as they were, whatever Slurm and its users write."""

import json
import math

import pytest
from sqlalchemy import select
from tests.shared_data import shared
from tests.support.measured import rows_of

from wattline.account.measured.book import MeasuredLedger
from wattline.account.measured.from_sacct import (
    FORGED,
    FORWARD,
    NEVER_STARTED,
    REVERSED,
    TWICE,
    UNREADABLE,
    read_sacct,
)
from wattline.account.measured.names import CONTROL
from wattline.account.measured.tables import lives
from wattline.account.store import Store
from wattline.model.errors import InputError

HEAD = ("JobID|JobIDRaw|Cluster|User|Account|Partition|JobName|State|Submit|Start|End|ElapsedRaw|"
        "NNodes|AllocCPUS|NodeList|AllocTRES|ConsumedEnergyRaw|TotalCPU|AveCPUFreq")
DAY = "2026-10-05T"


def line(job, state="COMPLETED", start="10:00", end="11:00", nodes="n1", tres="", energy="0",
         **cells):
    """A record; of steps too. Times are of one day."""
    count = nodes.count(",") + 1 if "[" not in nodes else int(nodes[-2]) - int(nodes[-4]) + 1
    minutes = [int(t[:2]) * 60 + int(t[3:]) for t in (start, end or "12:00")]
    row = {
        "JobID": job, "JobIDRaw": job, "Cluster": "c", "User": "ann", "Account": "phys",
        "Partition": "p", "JobName": "a", "State": state, "Submit": f"{DAY}09:00:00",
        "Start": f"{DAY}{start}:00", "End": f"{DAY}{end}:00" if end else "Unknown",
        "ElapsedRaw": 60 * (minutes[1] - minutes[0]), "NNodes": count, "AllocCPUS": 8 * count,
        "NodeList": nodes, "AllocTRES": tres, "ConsumedEnergyRaw": energy, "TotalCPU": "01:00:00",
        "AveCPUFreq": ""} | cells
    return "|".join(str(row[name]) for name in HEAD.split("|"))


def read(*lines, head=HEAD, **words):
    text = "\n".join([head, *lines] if head else lines) + "\n"
    return read_sacct(text.encode(), "dump", **{"zone": "UTC", **words})


# The truth, by hand, job by job:
DUMP = [
    # 100: its TRES say 5.76 MJ; the steps alone would add up to 14.352 MJ.
    line("100", nodes="n[1-2]", tres="billing=16,cpu=16,energy=5760000,node=2",
         energy=4294967294),
    line("100.batch", nodes="n1", energy=2_880_000),
    line("100.extern", nodes="n[1-2]", energy=5_760_000),
    line("100.0", nodes="n[1-2]", start="10:01", end="10:59", energy=5_712_000),
    # 200: two lives of one node, 0.54 MJ and 1.08 MJ; batch and extern read the same counter.
    line("200", "REQUEUED", start="10:00", end="10:30"),
    line("200.batch", "CANCELLED", start="10:00", end="10:30", energy=540_000),
    line("200.extern", start="10:00", end="10:30", energy=540_000),
    line("200", start="10:50", end="11:50"),
    line("200.batch", start="10:50", end="11:50", energy=1_080_000),
    line("200.extern", start="10:50", end="11:50", energy=1_080_000),
    # 300: runs, 0.7 MJ so far.
    line("300", "RUNNING", end=""),
    line("300.batch", "RUNNING", end="", energy=700_000),
    # 400: two nodes, of which one failed. batch reads n1's 1.5 MJ; the first step read 0.8 MJ on
    # n1 and n2, the second 1.6 MJ on n2 alone, after it. n1: batch (1.5), n2: 0.4 + 1.6.
    line("400", "NODE_FAIL", nodes="n[1-2]"),
    line("400.batch", "CANCELLED", nodes="n1", energy=1_500_000),
    line("400.0", start="10:00", end="10:20", nodes="n[1-2]", energy=800_000),
    line("400.1", "NODE_FAIL", start="10:20", end="11:00", nodes="n2", energy=1_600_000),
    # 500: its own cell, in joules. 600: nothing is known.
    line("500", "CANCELLED by 1000", energy=150_000),
    line("600", "FAILED"),
    # Never ran.
    line("700", "PENDING", Start="Unknown", End="Unknown", NodeList="None assigned"),
    line("800_[1-5]", "PENDING", Start="Unknown", End="Unknown"),
    line("900", "CANCELLED by 7", start="10:00", end="10:00", nodes="None assigned"),
]
TRUTH_J = {"100": 5.76e6, "200": 0.54e6 + 1.08e6, "300": 0.7e6, "400": 3.5e6, "500": 0.15e6}


def entered(found):
    with Store("sqlite://") as store:
        known = MeasuredLedger(store).enter(found)
        return known, rows_of(store)


def test_the_joules_of_a_dump_are_those_worked_out_by_hand():
    found = read(*DUMP)
    assert found.skipped == {NEVER_STARTED: 3}
    known, _ = entered(found)
    assert known.energy_j == sum(TRUTH_J.values()) == 11.73e6
    assert (known.jobs, known.lives, known.running, known.without_joules) == (6, 7, 1, 1)
    states = {(life.key.label, life.state) for life in found.lives}
    assert states == {("100", "COMPLETED"), ("200", "REQUEUED"), ("200", "COMPLETED"),
                      ("300", "RUNNING"), ("400", "NODE_FAIL"), ("500", "CANCELLED"),
                      ("600", "FAILED")}


def test_ids_are_kept_as_slurm_prints_them():
    found = read(line("300_1", JobIDRaw="305"), line("12+0", JobIDRaw="12"),
                 line("12+1.0", JobIDRaw="13.0"), line(str(2**32 + 5)), line("12.batch"))
    assert [(life.key.label, life.job_id) for life in found.lives] == [
        ("300_1", 305), ("12+0", 12), (str(2**32 + 5), 2**32 + 5)]
    assert [(step.label, step.step) for step in found.steps] == [("12+1", "0"), ("12", "batch")]


def test_columns_may_be_told_in_any_case_and_lines_may_end_in_a_bar():
    found = read(*(each + "|" for each in DUMP), head="", columns=HEAD.lower().split("|"))
    assert entered(found)[0].energy_j == 11.73e6
    with pytest.raises(InputError, match="names no columns; say which they are with columns"):
        read(*DUMP, head="")


@pytest.mark.parametrize(("cells", "energy_j"), [
    ({"energy": "0"}, None), ({"energy": 4294967294}, None), ({"energy": 2**64 - 2}, None),
    ({"tres": "energy=18446744073709551614,cpu=1"}, None), ({"energy": "x"}, None),
    ({"tres": "cpu=8,energy=1.5M"}, 1.5e6), ({"energy": "7"}, 7.0),
])
def test_what_slurm_writes_for_unknown_is_unknown(cells, energy_j):
    (life,) = read(line("1", **cells)).lives
    assert math.isnan(life.energy_j) if energy_j is None else life.energy_j == energy_j


def test_a_step_without_its_end_goes_on_while_its_job_is_suspended():
    head = "JobID|State|Start|End|ElapsedRaw|Suspended"
    told = f"COMPLETED|{DAY}10:00:00|Unknown|3600|01:00:00"
    found = read(f"1|{told}", f"1.0|{told}", head=head)
    assert found.lives[0].end_s == found.steps[0].end_s == found.lives[0].key.start_s + 7200


def test_consumed_energy_may_have_a_prefix():
    head = "JobID|State|Start|End|ConsumedEnergy|AveCPUFreq|ReqCPUFreqMin|ReqCPUFreqGov"
    (life,) = read(f"1|COMPLETED|{DAY}10:00:00|{DAY}11:00:00|490.60K|2.40G|1200000|OnDemand",
                   head=head).lives
    assert (life.energy_j, life.frequency_hz) == (490_600.0, 2.4e9)
    assert life.asked_frequency == "1200000:OnDemand"


def berlin(start, end, **cells):
    return read(line("1", **{"Start": start, "End": end, **cells}), zone="Europe/Berlin")


def test_local_times_are_those_of_the_zone_and_it_is_said():
    found = berlin("2026-07-01T12:00:00", "2026-07-01T13:00:00")
    assert found.lives[0].key.start_s == 1782900000  # 10:00 UTC
    assert found.remarks == ("times without an offset are taken as Europe/Berlin",)
    told = berlin("2026-07-01T12:00:00+0100", "2026-07-01T13:00:00+0100")
    assert (told.lives[0].key.start_s, told.remarks) == (1782900000 + 3600, ())


def test_of_an_hour_that_comes_twice_the_run_time_tells_which_it_was():
    # On 2026-10-25 the hour from 2 to 3 comes twice in Berlin; the first begins at 0:00 UTC.
    found = berlin("2026-10-25T02:30:00", "2026-10-25T04:00:00", ElapsedRaw=5400)
    assert found.lives[0].end_s - found.lives[0].key.start_s == 5400
    assert found.mended == {}
    found = berlin("2026-10-25T02:30:00", "2026-10-25T04:00:00", ElapsedRaw=5400 + 3600)
    assert found.lives[0].end_s - found.lives[0].key.start_s == 9000
    found = berlin("2026-10-25T02:30:00", "2026-10-25T04:00:00", ElapsedRaw="")
    assert found.mended == {TWICE: 1}
    assert found.lives[0].end_s - found.lives[0].key.start_s == 9000


def test_a_time_that_no_clock_showed_is_taken_as_later_and_counted():
    found = berlin("2026-03-29T02:30:00", "2026-03-29T04:30:00", ElapsedRaw="")
    assert found.mended == {FORWARD: 1}
    assert found.lives[0].end_s - found.lives[0].key.start_s == 3600


def test_names_of_others_stay_in_one_line():
    text = line("1", JobName="x\0y\x1b[2J") + "\n" + line("2", JobName="a\nb", User="o'b\"r,<b>=1")
    found = read(*text.split("\n"))
    assert [life.application for life in found.lives] == ["x y [2J", "a b"]
    assert found.lives[1].user == "o'b\"r,<b>=1"
    assert found.mended == {CONTROL: 2}


def test_a_record_that_somebody_wrote_into_a_name_is_left_out_and_said():
    whole = line("999", Account="chem", tres="energy=900000000")
    found = read(*line("1", JobName=f"x\n{whole}\n").split("\n"), line("3"))
    assert [life.key.label for life in found.lives] == ["1", "3"]
    assert {life.account for life in found.lives} == {"phys"}
    assert found.skipped == {FORGED: 1}
    assert any(remark.startswith("line 3: a whole record inside the name") and "--json" in remark
               for remark in found.remarks)
    broken = read("1|x", whole)
    assert [life.key.label for life in broken.lives] == ["999"]
    assert any(remark.startswith("line 3 and 0 more: records after one") for remark in
               broken.remarks)


def test_what_cannot_be_is_left_out_and_counted():
    found = read(line("1", end="09:00", ElapsedRaw=""), line("2", Start="2026-13-45T00:00:00"),
                 "rubbish", line("x1"), line("3"))
    assert [life.key.label for life in found.lives] == ["3"]
    assert found.skipped[REVERSED] == 1
    assert found.skipped[UNREADABLE] == 1
    assert sum(found.skipped.values()) == 4


def test_a_file_of_two_clusters_cannot_be_entered_as_one():
    two = [line("1"), line("2", Cluster="d")]
    assert {life.key.cluster for life in read(*two).lives} == {"c", "d"}
    with pytest.raises(InputError, match="the clusters c, d; leave cluster out"):
        read(*two, cluster="e")
    found = read(line("1"), cluster="e")
    assert found.lives[0].key.cluster == "e"
    assert "calls the cluster c; it is entered as e" in found.remarks[-1]


def test_a_public_dump_without_a_header():
    columns = ["jobid", "partition", "qos", "account", "group", "gid", "user", "uid", "submit",
               "start", "end", "elapsed", "elapsedraw", "exitcode", "state", "alloctres",
               "nodelist", "jobname", "workdir"]
    data = shared("fixtures/slurm/ceems_sacct.out").read_bytes()
    found = read_sacct(data, "ceems", columns=columns)
    joules = {life.key: life.energy_j for life in found.lives if not math.isnan(life.energy_j)}
    assert set(joules.values()) == {1439089.0}
    assert found.lives[0].key.start_s == 1645450627  # 2022-02-21T14:37:07+0100
    assert found.skipped == found.mended == {}
    assert entered(found)[0].energy_j == 1439089.0 * len(joules)


def test_a_public_dump_with_all_columns():
    found = read_sacct(shared("fixtures/slurm/sacct_dump2101.log").read_bytes(), "dump", zone="UTC")
    assert found.skipped == {NEVER_STARTED: 6, UNREADABLE: 1}
    assert {life.user for life in found.lives} == {"user004", "user005"}
    assert [step.step for step in found.steps] == ["batch", "extern"]
    assert all(math.isnan(life.energy_j) for life in found.lives)


def as_json(version):
    """A requeued task of an array with steps, as versions of Slurm write it."""
    def number(value):
        return value if version < "22" else {"set": True, "infinite": False, "number": value}

    t0 = 1_790_000_000
    step_id = {"21.08": {"job_id": 305, "step_id": "batch"}, "22.05": "305.batch"}.get(
        version, "305.batch")
    return json.dumps({"meta": {}, "jobs": [{
        "job_id": 305, "cluster": "c", "user": "ann", "account": "phys", "partition": "p",
        "name": "a", "nodes": "n[1-2]", "allocation_nodes": 2,
        "array": {"job_id": 300, "task_id": number(1)}, "het": {"job_id": 0},
        "state": {"current": ["NODE_FAIL"] if version > "23" else "NODE_FAIL"},
        "time": {"submission": t0 - 60, "start": t0, "end": t0 + 3600, "elapsed": 3600,
                 "limit": number(120), "total": {"seconds": 5, "microseconds": 500000}},
        "restart_cnt": 1,
        "tres": {"allocated": [
            {"type": "cpu", "name": "", "id": 1, "count": 16},
            {"type": "gres", "name": "gpu", "id": 1001, "count": 4},
            {"type": "energy", "name": "", "id": 3, "count": 7000 if version != "23.11" else -2},
        ]},
        "steps": [{
            "step": {"id": step_id, "name": "batch"},
            "nodes": {"count": 1, "range": "n1"},
            "time": {"start": number(t0), "end": number(t0 + 3600)},
            "statistics": {"energy": {"consumed": number(6000)},
                           "CPU": {"actual_frequency": 2_400_000}},
        }],
    }]}).encode()


def test_processor_time_of_a_job_or_step_that_goes_on_is_not_known():
    """Slurm counts it at the end of each step, and says 0 until then."""
    found = read(line("1", TotalCPU="00:00:00"), line("1.batch", TotalCPU="00:00:07"),
                 line("2", "RUNNING", end="", TotalCPU="00:00:00"),
                 line("2.batch", "RUNNING", end="", TotalCPU="00:00:07"))
    assert [each.cpu_s for each in found.lives] == pytest.approx([0.0, math.nan], nan_ok=True)
    assert [each.cpu_s for each in found.steps] == pytest.approx([7.0, math.nan], nan_ok=True)


# As Slurm 22.05.8 printed it of a job of three nodes that was made smaller twice (scontrol update
# NumNodes=), while it ran and when it was over: one record of each size, steps of the first.
SHRUNK = """JobID|JobIDRaw|State|Submit|Start|End|ElapsedRaw|NNodes|AllocCPUS|NodeList|AllocTRES|\
ConsumedEnergyRaw|TotalCPU
1|1|RESIZING|2026-11-18T15:48:53|2026-11-18T15:48:54|2026-11-18T15:48:59|5|3|96|n[0001-0003]|\
billing=96,cpu=96,node=3||00:00:00
1.batch|1.batch|RESIZING|2026-11-18T15:48:54|2026-11-18T15:48:54|2026-11-18T15:48:59|5|1|32|n0001|\
cpu=32,mem=0,node=1|0|00:00:00
1.0|1.0|RESIZING|2026-11-18T15:48:54|2026-11-18T15:48:54|2026-11-18T15:48:59|5|3|96|n[0001-0003]|\
cpu=96,mem=0,node=3|0|00:00:00
1|1|RESIZING|2026-11-18T15:48:59|2026-11-18T15:48:54|2026-11-18T15:49:03|9|2|64|n[0001-0002]|\
billing=64,cpu=64,node=2||00:00:00
"""
RUNS = """1|1|RUNNING|2026-11-18T15:49:03|2026-11-18T15:48:54|Unknown|14|1|32|n0001|\
billing=32,cpu=32,node=1||00:00:00
"""
IS_OVER = """1|1|CANCELLED by 0|2026-11-18T15:49:03|2026-11-18T15:48:54|2026-11-18T15:49:08|14|1|\
32|n0001|billing=32,cpu=32,energy=2640,node=1|2640|00:00:00
"""
SHRUNK_S = 1_795_016_934
"""Time at which it began."""


def as_slurm24(text):
    """In Slurm 24.11.5 each record starts when it was submitted, which is when the one before it
    ended, and its seconds are its own."""
    rows = [row.split("|") for row in text.splitlines()]
    for row in rows[1:]:
        if row[0] == "1" and row[3] > row[4]:
            row[4], row[6] = row[3], "5"
    return "\n".join("|".join(row) for row in rows) + "\n"


@pytest.mark.parametrize("written", [str, as_slurm24])
@pytest.mark.parametrize(("last", "state", "end_s"), [
    (RUNS, "RUNNING", None), (IS_OVER, "CANCELLED", SHRUNK_S + 14.0)])
def test_a_job_that_was_made_smaller_goes_on_without_the_nodes_that_it_gave_back(
    last, state, end_s, written
):
    found = read_sacct(written(SHRUNK + last).encode(), "s", zone="UTC", cluster="c")
    assert {stay.node: stay.told_s for stay in found.stays} == {
        "n0002": SHRUNK_S + 9.0, "n0003": SHRUNK_S + 5.0}
    assert [said for said in found.remarks if said.startswith("jobs that gave nodes back")]
    with Store("sqlite://") as store:
        MeasuredLedger(store).enter(found)
        with store.session() as session:
            life = session.execute(select(lives)).one()
        assert (life.state, life.end_s, life.nodes) == (state, end_s, 3)
        assert (life.submit_s, life.start_s) == (SHRUNK_S - 1.0, SHRUNK_S)
        assert life.node_list == "n[0001-0003]"


def test_requeued_and_repeated_records_give_no_nodes_back():
    """A life of before has another start."""
    found = read(line("1", "REQUEUED", end="10:10", nodes="n[1-3]"),
                 line("1", start="10:20", nodes="n1"), line("1", start="10:20", nodes="n1"))
    assert found.stays == ()


@pytest.mark.parametrize("version", ["21.08", "22.05", "23.11", "24.11"])
def test_json_of_every_version_says_the_same(version):
    found = read_sacct(as_json(version), "dump")
    (life,), (step,) = found.lives, found.steps
    assert (life.key.label, life.job_id, life.state) == ("300_1", 305, "NODE_FAIL")
    assert (life.nodes, life.cores, life.node_list, life.cpu_s) == (2, 16, "n[1-2]", 5.5)
    assert "gres/gpu=4" in life.alloc_tres
    assert (step.label, step.step, step.energy_j, step.frequency_hz) == (
        "300_1", "batch", 6000.0, 2.4e9)
    known, _ = entered(found)
    assert known.energy_j == (6000.0 if version == "23.11" else 7000.0)


def test_text_and_json_of_the_same_job_are_one_life():
    (told,) = read_sacct(as_json("24.11"), "dump").lives
    text = line("300_1", "NODE_FAIL", nodes="n[1-2]", tres="energy=7000", JobIDRaw="305",
                Start=str(told.key.start_s), End=str(int(told.end_s)), ElapsedRaw="3600")
    assert read(text).lives[0].key == told.key


@pytest.mark.parametrize("data", [b"{", b'{"jobs": 5}', b"{}", b"[1]", b"\0\0\0", b"a,b\n1,2\n",
                                  b"JobID|State\n1|COMPLETED\n"])
def test_what_is_no_dump_is_refused_in_one_line(data):
    with pytest.raises(InputError) as told:
        read_sacct(data, "dump")
    assert "\n" not in str(told.value)
