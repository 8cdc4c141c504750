"""Reading what sacct prints, as text and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.shared_data import shared

from wattline.model.errors import InputError
from wattline.traces import read, write

COLUMNS = ("JobID|JobIDRaw|JobName|User|Account|Partition|QOS|State|Submit|Start|End|ElapsedRaw|"
           "Timelimit|ReqNodes|NNodes|ReqCPUS|NCPUS|ConsumedEnergyRaw|Dependency|ReqCPUFreqMin")
ROWS = [
    "100|100|solve|ann|acc1|batch|normal|COMPLETED|2024-03-01T10:00:00|2024-03-01T10:05:00|"
    "2024-03-01T11:05:00|3600|02:00:00|2|2|64|64|7200000||Unknown",
    "100.batch|100.batch|batch||acc1|||COMPLETED|2024-03-01T10:05:00|2024-03-01T10:05:00|"
    "2024-03-01T11:05:00|3600||1|1|32|32|111||Unknown",
    "101_7|105|sweep|bob|acc2|batch|normal|TIMEOUT|2024-03-01T10:10:00|2024-03-01T10:20:00|"
    "2024-03-01T10:50:00|1800|30:00|4|3|128|96||afterok:100|1200000",
    "101_7.0|105.0|solver||acc2|||COMPLETED|2024-03-01T10:20:00|2024-03-01T10:20:00|"
    "2024-03-01T10:50:00|1800||3|3|96|96|900000||Unknown",
    "101_7.1|105.1|solver||acc2|||COMPLETED|2024-03-01T10:20:00|2024-03-01T10:20:00|"
    "2024-03-01T10:50:00|1800||3|3|96|96|900000||Unknown",
    "106|106|wait|bob|acc2|batch|normal|PENDING|2024-03-01T10:30:00|Unknown|Unknown|0|"
    "UNLIMITED|1|1|32|0|||Unknown",
    "107|107|gone|ann|acc1|batch|normal|CANCELLED by 1001|2024-03-01T10:30:00|None|"
    "2024-03-01T10:31:00|0|10:00|1|1|32|0|||Unknown",
    "108|108|odd|name|ann|acc1|batch|normal|COMPLETED|2024-03-01T10:40:00|2024-03-01T10:40:00|"
    "2024-03-01T10:40:10|10|UNLIMITED|1|1|32|32|||Unknown",
]


def dump(tmp_path: Path, *rows: str, columns: str = COLUMNS, end: str = "\n") -> Path:
    path = tmp_path / "jobs.txt"
    path.write_text("\n".join([columns, *rows]) + end)
    return path


def test_parsable2(tmp_path: Path) -> None:
    trace = read(dump(tmp_path, *ROWS))
    jobs = trace.jobs
    assert jobs.job_id.tolist() == [100, 105, 108]
    assert jobs.submit_s[0] == 1709287200  # 2024-03-01 10:00 UTC
    assert jobs.run_s.tolist() == [3600, 1800, 10]
    # A limit of two fields is minutes and seconds; no limit at all becomes the run time.
    assert jobs.requested_s.tolist() == [7200, 1800, 10]
    assert jobs.procs.tolist() == [2, 4, 1]
    # Own joules; else those of the steps, which read one counter at the same time.
    assert jobs.power_w[:2].tolist() == [2000, 500]
    assert np.isnan(jobs.power_w[2])
    assert jobs.after_job.tolist() == [-1, 0, -1]
    assert jobs.status.tolist() == [1, 6, 1]
    assert jobs.name_of("user", jobs.user[1]) == "bob"
    assert jobs.name_of("application", jobs.application[2]) == "odd|name"
    assert trace.logged["wait_s"].tolist() == [300, 600, 0]
    found = {rule.name: (rule.jobs, rule.first_line) for rule in trace.cleaning.touched}
    assert found == {"cancelled": (1, 8), "unfinished": (1, 7), "no_request": (1, 9)}


def test_sizes_in_cores_or_as_allocated(tmp_path: Path) -> None:
    path = dump(tmp_path, *ROWS)
    assert read(path, unit="cores").jobs.procs.tolist() == [64, 128, 32]
    assert read(path, size="allocated").jobs.procs.tolist() == [2, 3, 1]


def test_trailing_bars_of_parsable1(tmp_path: Path) -> None:
    path = dump(tmp_path, *(row + "|" for row in ROWS[:4]), columns=COLUMNS + "|")
    assert len(read(path)) == 2


def test_damage_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cut off"):
        read(dump(tmp_path, ROWS[0], ROWS[2][:60], end=""))
    with pytest.raises(InputError, match="lacks the column Submit"):
        read(dump(tmp_path, "1|x|COMPLETED", columns="JobID|JobName|State"))
    with pytest.raises(InputError, match="has no jobs"):
        read(dump(tmp_path))
    path = dump(tmp_path, ROWS[0], ROWS[2].replace("2024-03-01T10:10:00", "yesterday"))
    assert read(path).cleaning.count("unreadable") == 1
    with pytest.raises(InputError, match=r"jobs\.txt:3: unreadable"):
        read(path, strict=True)


def record(number: int, **changes: object) -> dict[str, object]:
    job: dict[str, object] = {
        "job_id": number, "name": "solve", "user": "ann", "account": "acc1", "partition": "batch",
        "qos": "normal", "allocation_nodes": 2, "state": {"current": ["COMPLETED"]},
        "time": {"submission": 1000, "start": 1100, "end": 1700, "elapsed": 600,
                 "limit": {"set": True, "infinite": False, "number": 30}},
        "tres": {"allocated": [{"type": "cpu", "count": 64}, {"type": "energy", "count": 60000},
                               {"type": "node", "count": 2}],
                 "requested": [{"type": "cpu", "count": 64}, {"type": "node", "count": 3}]},
    }
    return job | changes


def test_json_of_several_versions(tmp_path: Path) -> None:
    unknown_energy = {"allocated": [{"type": "energy", "count": 2**64 - 2}], "requested": []}
    jobs = [record(1), record(2, state={"current": "RUNNING"}), "rubbish",
            record(3, time={"submission": {"set": True, "number": 2000}, "start": 2000,
                            "elapsed": 5, "limit": {"set": False, "number": 0}},
                   tres=unknown_energy),
            record(4, tres={}, required={"CPUs": 8}, steps=[
                {"statistics": {"energy": {"consumed": {"set": True, "number": 5000}}}},
                {"statistics": {"energy": {"consumed": 1000}}}, {"statistics": None}])]
    path = tmp_path / "jobs.json"
    path.write_text(json.dumps({"meta": {}, "jobs": jobs}))
    trace = read(path)
    assert trace.jobs.job_id.tolist() == [1, 4, 3]
    assert trace.jobs.procs.tolist() == [3, 2, 2]
    assert trace.jobs.requested_s.tolist() == [1800, 1800, 5]
    # Of the job; and the larger of its steps, which do not say when they ran.
    assert (trace.jobs.power_w * trace.jobs.run_s)[:2].tolist() == [60000, 5000]
    assert np.isnan(trace.jobs.power_w[2])
    assert trace.cleaning.count("unreadable") == 1
    assert trace.cleaning.count("running") == 1
    assert read(path, unit="cores").jobs.procs.tolist() == [64, 8]


def test_half_a_character_in_a_name_can_still_be_written(tmp_path: Path) -> None:
    path = tmp_path / "jobs.json"
    path.write_text(json.dumps({"jobs": [record(1, user="\ud800x")]}))
    for suffix in (".swf", ".csv", ".parquet"):
        write(read(path), tmp_path / f"out{suffix}")
        assert len(read(tmp_path / f"out{suffix}")) == 1


@pytest.mark.parametrize("text", ["{", '{"jobs": 3}', '{"jobs": []}', "{}", '{"jobs": [1]}'])
def test_broken_json(tmp_path: Path, text: str) -> None:
    path = tmp_path / "jobs.json"
    path.write_text(text)
    with pytest.raises(InputError):
        read(path)


def test_a_real_dump_with_bars_in_names() -> None:
    trace = read(shared("fixtures/slurm/sacct_dump2101.log"))
    assert sorted(trace.jobs.job_id.tolist()) == [4822203, *range(4830973, 4830978)]
    assert trace.cleaning.count("cancelled") == 6
    assert trace.cleaning.count("unreadable") == 1


def test_a_dump_without_column_names_is_explained() -> None:
    with pytest.raises(InputError, match="--noheader"):
        read(shared("fixtures/slurm/ceems_sacct.out"))


def test_tasks_of_an_array_are_no_duplicates(tmp_path):
    path = tmp_path / "array.txt"
    head = "JobID|Submit|Start|End|State|ReqNodes|AllocNodes|TimelimitRaw"
    rows = [f"{name}|2024-01-01T00:00:00|2024-01-01T00:01:00|2024-01-01T00:02:00|COMPLETED|1|1|10"
            for name in ("103_1", "103_2", "104")]
    path.write_text("\n".join([head, *rows]) + "\n")
    trace = read(path, strict=True)
    assert sorted(trace.jobs.job_id.tolist()) == [104, 2**32, 2**32 + 1]
