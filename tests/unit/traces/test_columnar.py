"""Tables read through column maps."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from tests.shared_data import shared

import wattline as wl
from wattline.model.errors import InputError
from wattline.traces import read
from wattline.traces.column_map import built_in, load_map, parse_map

MAP = """
timezone = "Europe/Rome"
[header]
MaxNodes = "10"
[columns]
job_id = "id"
submit_s = "when"
run_s = { column = "took", format = "clock" }
requested_s = { column = "limit", unit = "min" }
requested_procs = "nodes"
power_w = { column = "kw", unit = "kW", per = "node" }
user = "who"
queue = { constant = "main" }
status = { column = "how", codes = { fine = 1, broken = 0 } }
after_job = "after"
"""
TABLE = """id,when,took,limit,nodes,kw,who,how,after
a1,2024-07-01 12:00:00,1-00:00:01,1500,2,0.5,"ann, the first",fine,
a2,2024-07-01T12:00:01+02:00,00:10,1,1,,bob,broken,a1
a3,soon,00:10,1,1,,bob,fine,
a4,2024-07-01 12:00:02,00:20,,1,0.25,bob,fine,a9
"""


def write_files(tmp_path: Path, table: str = TABLE, column_map: str = MAP) -> tuple[Path, Path]:
    (tmp_path / "jobs.csv").write_text(table)
    (tmp_path / "map.toml").write_text(column_map)
    return tmp_path / "jobs.csv", tmp_path / "map.toml"


def test_units_clocks_zones_names_and_constants(tmp_path: Path) -> None:
    path, column_map = write_files(tmp_path)
    trace = read(path, column_map=column_map)
    jobs = trace.jobs
    noon = datetime.fromisoformat("2024-07-01T12:00:00+02:00").timestamp()
    assert jobs.job_id.tolist() == [1, 2, 4]
    assert jobs.submit_s.tolist() == [noon, noon + 1, noon + 2]
    assert jobs.run_s.tolist() == [86401, 10, 20]
    assert jobs.requested_s.tolist() == [90000, 60, 20]
    assert jobs.procs.tolist() == [2, 1, 1]
    assert jobs.power_w[[0, 2]].tolist() == [1000, 250]
    assert np.isnan(jobs.power_w[1])
    assert [jobs.name_of("user", code) for code in jobs.user] == ["ann, the first", "bob", "bob"]
    assert jobs.names["queue"] == ("main",)
    assert jobs.status.tolist() == [1, 0, 1]
    assert jobs.after_job.tolist() == [-1, 0, -1]
    assert trace.machine_procs() == 10
    assert trace.cleaning.count("unreadable") == 1
    with pytest.raises(InputError, match=r"jobs\.csv:4: unreadable"):
        read(path, column_map=column_map, strict=True)


def test_a_parquet_table_of_another_site(tmp_path: Path) -> None:
    """Like PM100: timestamps, a limit in minutes, a power profile in a list."""
    table = pa.table({
        "job_id": [7, 8, 9],
        "submit_time": pa.array([1_000_000, 2_000_000, 3_000_000], pa.timestamp("us", "UTC")),
        "start_time": pa.array([5_000_000, None, 9_000_000], pa.timestamp("us", "UTC")),
        "end_time": pa.array([65_000_000, None, 19_000_000], pa.timestamp("us", "UTC")),
        "run_time": [60, 0, 10],
        "time_limit": [2, 2, 1],
        "num_nodes_req": [4, 1, 1],
        "num_nodes_alloc": [4, 0, 1],
        "node_power_consumption": [[1000, 2000, None], [], [300]],
        "user_id": [17, 18, 17],
        "group_id": [1, 1, 1],
        "qos": ["1", "1", "1"],
        "partition": ["1", "1", "2"],
        "job_state": ["COMPLETED", "CANCELLED", "COMPLETED"],
        "left_alone": ["x", "y", "z"],
    })
    parquet.write_table(table, tmp_path / "pm.parquet")
    trace = read(tmp_path / "pm.parquet", column_map="pm100")
    assert trace.jobs.job_id.tolist() == [7, 9]
    assert trace.jobs.submit_s.tolist() == [1, 3]
    assert trace.jobs.requested_s.tolist() == [120, 60]
    assert trace.jobs.power_w.tolist() == [1500, 300]
    assert trace.jobs.user.tolist() == [17, 17]
    assert trace.cleaning.count("cancelled") == 1


def test_a_table_like_f_data(tmp_path: Path) -> None:
    table = pa.table({
        "jid": ["jid_0", "jid_1"], "usr": ["usr_0", "usr_1"], "jnam": ["j", "k"],
        "adt": ["2023-06-01 09:00:00", "2023-06-01 09:00:05"],
        "sdt": ["2023-06-01 09:01:00", "2023-06-01 09:01:05"],
        "edt": ["2023-06-01 09:31:00", "2023-06-01 09:02:05"],
        "duration": [1800.0, 60.0], "elpl": [3600.0, 120.0], "nnumr": [2, 1], "nnuma": [2, 1],
        "econ": [100.0, 2.0], "avgpcon": [200.0, None], "exit state": ["completed", "failed"],
    })
    parquet.write_table(table, tmp_path / "fugaku.parquet")
    jobs = read(tmp_path / "fugaku.parquet", column_map="fdata").jobs
    assert jobs.submit_s[0] == datetime.fromisoformat("2023-06-01T09:00:00+09:00").timestamp()
    assert jobs.power_w.tolist() == [200, 120]  # the second from 2 Wh in 60 s
    assert jobs.status.tolist() == [1, 0]
    assert jobs.requested_s.tolist() == [3600, 120]


def test_real_tables() -> None:
    eagle = read(shared("swf/nrel_eagle_sample_1000jobs.csv.xz"), column_map="eagle")
    assert len(eagle) == 1000
    assert eagle.cleaning.count("duplicate_id") == 451  # one array job under a single id
    assert eagle.jobs.run_s[:2].tolist() == [99825, 97235]
    assert eagle.jobs.requested_s[0] == 172800
    assert eagle.jobs.procs[0] == 10
    assert len(eagle.jobs.names["user"]) == 15
    eurora = read(shared("job_power/eurora_jobs_power.csv.xz"), column_map="eurora")
    assert len(eurora) == 5930
    assert eurora.jobs.requested_s[0] == 4 * 3600
    assert np.isfinite(eurora.jobs.power_w).sum() == 4735  # 60 of the 4,795 say 0 W
    assert eurora.jobs.power_w[0] == 9


def test_the_header_of_a_table_without_one(tmp_path: Path) -> None:
    text = 'column_names = ["t", "d", "n"]\ndelimiter = ";"\n' \
           '[columns]\nsubmit_s = "t"\nrun_s = "d"\nrequested_procs = "n"\n'
    path, column_map = write_files(tmp_path, "5;60;2\n7;30;1\n", text)
    assert read(path, column_map=column_map).jobs.run_s.tolist() == [60, 30]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("id,when\n", "has no column 'took'"),
        (TABLE.splitlines()[0] + "\n", "no rows"),
        (TABLE + "a5,2024", "cut off"),
        ("a,a\n1,2\n", "two columns of the same name"),
        (TABLE.splitlines()[0] + "\n1,2\n3\n4,5,6\n", "most rows|no rows"),
    ],
)
def test_damaged_tables(tmp_path: Path, table: str, message: str) -> None:
    path, column_map = write_files(tmp_path, table)
    with pytest.raises(InputError, match=message):
        read(path, column_map=column_map)


def test_a_table_without_a_map_is_explained(tmp_path: Path) -> None:
    path, _ = write_files(tmp_path)
    with pytest.raises(InputError, match="needs a column map"):
        read(path)


def test_every_shipped_map_loads() -> None:
    assert {"eagle", "eurora", "fdata", "pm100", "wattline"} <= set(built_in())
    for name in built_in():
        assert load_map(name).description


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("submit_s", "submitted"), "unknown key 'submitted'.*did you mean 'submit_s'"),
        (('unit = "min"', 'unit = "minutes"'), "unit 'minutes' is not one of"),
        (('format = "clock"', 'format = "time"'), "must be one of number, clock"),
        (("Europe/Rome", "Europe/Romulus"), "no time zone"),
        (('requested_procs = "nodes"\n', ""), "requested_procs or allocated_procs is missing"),
        (('{ constant = "main" }', "{ unit = 3 }"), "either 'column' or 'constant'"),
        (("[columns]", "[columns"), "not a TOML file"),
    ],
)
def test_mistakes_in_a_map_are_named(change: tuple[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_map(MAP.replace(*change), "map.toml")


def test_an_unknown_map_lists_the_known_ones() -> None:
    with pytest.raises(InputError, match="eagle, eurora, fdata, pm100"):
        load_map("nowhere")


def test_a_name_that_a_sheet_takes_for_a_formula_stays_whose_it_is(tmp_path):
    names = ('=HYPERLINK("http://x","y")', "+1", "-2", "@SUM(A1)", "'=1", "\t=1")
    jobs = replace(wl.generate("lublin", seed=1, jobs=6, nodes=8).jobs.with_columns(
        user=np.arange(6)), names={"user": names})
    wl.write(jobs, tmp_path / "log.csv")
    assert wl.read(tmp_path / "log.csv").jobs.names["user"] == names
