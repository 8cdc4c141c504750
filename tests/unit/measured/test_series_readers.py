"""Files of power: what they are shows in their content, and what they lack is said."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import select
from tests.shared_data import shared
from tests.support.commands import call, ok, refused

from wattline.account.measured.attributing import settle
from wattline.account.measured.entities import is_above
from wattline.account.measured.readers.options import SeriesOptions
from wattline.account.measured.readers.reading import read_series
from wattline.account.measured.records import Kind
from wattline.account.measured.series_store import enter_series
from wattline.account.measured.tables import lives, rests
from wattline.account.measured.touched import Touched
from wattline.account.profile import write_profile
from wattline.account.records import JobRecord, StepRecord
from wattline.account.store import Store
from wattline.model.errors import InputError
from wattline.model.signal import Signal

LONG = """time,node,watts
2026-10-01T00:00:00Z,n1,300
2026-10-01T00:00:10+00:00,n1,
2026-10-01T02:00:00+02:00,n2,150.5
"""


def read(tmp_path: Path, text: str | bytes, name: str = "a.csv", **options: str):
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_series(path, SeriesOptions(**options))


def test_a_long_table_has_a_row_per_node_and_time(tmp_path) -> None:
    found = read(tmp_path, LONG, cluster="c")
    first, second = found.series
    assert (first.cluster, first.entity, first.kind) == ("c", "n1", Kind.WATTS)
    assert first.time_s.tolist() == [1790812800, 1790812810]
    assert first.value[0] == 300
    assert np.isnan(first.value[1])
    assert (second.entity, second.time_s.tolist(), second.value.tolist()) == (
        "n2", [1790812800], [150.5])


def test_a_port_is_no_part_of_a_name_and_what_stands_above_nodes_keeps_its_kind(tmp_path) -> None:
    names = "n1:9100,n2.site:9100,pdu:12,feed:A"
    found = read(tmp_path, f"time,{names}\n1790812800,1,2,3,4\n")
    assert [each.entity for each in found.series] == ["n1", "n2.site", "pdu:12", "feed:A"]
    assert [is_above(each.entity) for each in found.series] == [False, False, True, True]


@pytest.mark.parametrize("scale", [1, 1000, 1_000_000])
def test_a_wide_table_has_a_column_per_node_and_times_of_any_unit(tmp_path, scale) -> None:
    rows = "\n".join(f"{(1790812800 + 10 * i) * scale};{100 + i};{200 + i}" for i in range(3))
    found = read(tmp_path, f"timestamp;n1;n2\n{rows}\n")
    assert [each.entity for each in found.series] == ["n1", "n2"]
    assert found.series[1].time_s.tolist() == [1790812800, 1790812810, 1790812820]
    assert found.series[1].value.tolist() == [200, 201, 202]


def test_parquet_counters_and_gpus_are_read(tmp_path) -> None:
    import pandas as pd

    path = tmp_path / "power.bin"
    pd.DataFrame({
        "time": pd.to_datetime(["2026-10-01", "2026-10-01"], utc=True), "hostname": ["n1", "n1"],
        "gpu": ["0", "1"], "energy_j": [5.0, 7.0]}).to_parquet(path)
    found = read_series(path)
    assert [(each.entity, each.kind, each.value.tolist()) for each in found.series] == [
        ("n1/gpu0", Kind.JOULES, [5.0]), ("n1/gpu1", Kind.JOULES, [7.0])]


def test_local_times_need_a_zone_and_an_hour_that_comes_twice_goes_by_order(tmp_path) -> None:
    """Clocks went back on 25 October 2026 in Berlin: 02:30 is there twice."""
    rows = "2026-10-25T02:00:00,1\n2026-10-25T02:30:00,2\n2026-10-25T02:00:00,3\n" \
           "2026-10-25T02:30:00,4\n2026-10-25T03:00:00,5\n"
    found = read(tmp_path, "time,n1\n" + rows, zone="Europe/Berlin")
    assert np.diff(found.series[0].time_s).tolist() == [1800] * 4
    assert any("Europe/Berlin" in remark for remark in found.remarks)
    alone = read(tmp_path, "time,n1\n2026-10-25T02:30:00,2\n", zone="Europe/Berlin")
    assert alone.series[0].time_s.tolist() == [1792888200]
    assert sum(alone.mended.values()) == 1
    gone = read(tmp_path, "time,n1\n2026-03-29T02:30:00,2\n", zone="Europe/Berlin")
    assert gone.series[0].time_s.tolist() == [1774747800]
    assert sum(gone.mended.values()) == 1


@pytest.mark.parametrize(("text", "said"), [
    ("", "not a table"), ("a,b\n1,2\n", "time, node and watts"), ("time,n1\n", "without rows"),
    ("time,n1\n2026-10-01T00:00:00Z,12x\n", "row 2: '12x'"),
    ("time,n1\n2026-10-01T00:00:00Z,1_5\n", "'1_5'"),
    ("time,n1\nyesterday,12\n", "time cannot be read"), ("time,n1\n1,2,3\n4,5\n", "table"),
    ("time,n1\n1790812800,3\n17908", "Expected 2 columns, got 1"),
    ("time,n1,n1\n1,2,3\n", "two columns"), (b"time,n1\n\xff,3\n", "UTF8"),
    (b"\0\0\1", "no series"), ("time,node,watts\n1,n1\n", "Expected 3 columns"),
    ('{"jobs": []}', "ClusterCockpit"), ("{", "JSON"), (b"PAR1nonsense", "Parquet"),
    ("time,job_id,watts\n1,2,3\n", "no node"), (b"\x89HDF\r\n\x1a\nnonsense", "HDF5"),
])
def test_what_is_no_series_is_refused_in_one_line(tmp_path, text, said) -> None:
    with pytest.raises(InputError, match=said) as caught:
        read(tmp_path, text)
    assert "\n" not in str(caught.value)


def test_tables_of_jobs_are_no_series() -> None:
    for name in ("eurora_jobs_power.csv.xz", "fau_alex_fritz_544jobs_energy.csv.xz",
                 "nrel_kestrel_2024_first.parquet"):
        with pytest.raises(InputError, match="right is a table"):
            read_series(shared(f"job_power/{name}"))


def test_hostile_names_change_nothing(tmp_path) -> None:
    for name in ("n\x1b[2J", "n" * 300):
        found = read(tmp_path, f"time,node,watts\n1790812800,{name},3\n")
        with (Store("sqlite://") as store, store.engine.begin() as connection,
              pytest.raises(InputError, match="name")):
            enter_series(connection, found.series)


@pytest.mark.parametrize("part", ["data.json.gz", "meta.json"])
def test_the_archived_job_of_emmy_comes_to_its_joules(part) -> None:
    """32 nodes for a day with 9.2 % empty samples: 630.8 MJ; empty as zero would give 573.2."""
    found = read_series(shared(f"job_power/emmy_job1403244_{part}"))
    with Store("sqlite://") as store, store.engine.begin() as connection:
        assert len(found.lives) == 1
        life = found.lives[0]
        key = connection.execute(lives.insert(), {
            "cluster": life.key.cluster, "label": life.key.label, "start_s": life.key.start_s,
            "user": life.user, "account": life.account, "partition": life.partition,
            "application": "", "node_class": life.node_class, "state": life.state,
            "nodes": life.nodes, "cores": life.cores, "node_list": life.node_list,
            "end_s": life.end_s, "alloc_tres": "", "asked_frequency": ""}).inserted_primary_key
        entered = enter_series(connection, found.series)
        settle(connection, entered.touched | Touched(lives=frozenset(key)))
        row = connection.execute(select(lives.c.energy_j, lives.c.coverage, lives.c.quality)).one()
        assert row.energy_j / 1e6 == pytest.approx(630.8, abs=0.05)
        assert row.coverage == pytest.approx(0.908, abs=0.0005)
        assert row.quality == "measured at the nodes, gaps filled"
        rest = connection.execute(select(rests.c.metered_j, rests.c.idle_j)).all()
        assert sum(each.metered_j - each.idle_j for each in rest) == pytest.approx(row.energy_j)
    assert any("4221 of 46112" in remark for remark in found.remarks)


def test_an_archived_job_needs_both_files(tmp_path) -> None:
    (tmp_path / "meta.json").write_text('{"jobId": 1}')
    with pytest.raises(InputError, match="beside each other"):
        read_series(tmp_path / "meta.json")
    for meta, said in (({"jobId": 1}, "KeyError"),
                       ({"jobId": 1, "startTime": 1, "duration": 1, "resources": []}, "no power")):
        (tmp_path / "meta.json").write_text(json.dumps(meta))
        (tmp_path / "data.json.gz").write_bytes(gzip.compress(b'{"x": {"node": {"series": []}}}'))
        with pytest.raises(InputError, match=said):
            read_series(tmp_path / "meta.json")


def test_gpus_of_an_archived_job_are_their_own_meters(tmp_path) -> None:
    meta = {"jobId": 9, "cluster": "alex", "startTime": 1790812800, "duration": 120,
            "jobState": "completed", "numNodes": 1, "numHwthreads": 16,
            "resources": [{"hostname": "a1", "accelerators": ["0000:01", "0000:41"]}]}
    data = {"node_power": {"node": {"unit": {"base": "W", "prefix": "k"}, "timestep": 60,
                                    "series": [{"hostname": "a1", "data": [1, 1.5]}]}},
            "acc_power": {"accelerator": {"unit": {"base": "W"}, "timestep": 60, "series": [
                {"hostname": "a1", "id": "0000:41", "data": [300, None]}]}}}
    (tmp_path / "meta.json").write_text(json.dumps(meta))
    (tmp_path / "data.json").write_text(json.dumps(data))
    found = read_series(tmp_path / "data.json")
    assert [(each.entity, each.value[0]) for each in found.series] == [
        ("a1", 1000), ("a1/gpu1", 300)]
    assert found.lives[0].alloc_tres == "gres/gpu=2"


def test_a_profile_that_was_written_comes_back_as_the_joules_of_its_job(tmp_path) -> None:
    """Two steps, 100.3 W and 250.7 W on each of two nodes, the last sample shorter than others."""
    from tests.unit.account.test_ledger import record

    from wattline.account.profile import write_profile
    from wattline.account.records import StepRecord
    from wattline.model.signal import Signal

    steps = tuple(
        StepRecord(number, start, end, (end - start) * watts,
                   Signal(np.array([start]), np.array([watts]), "W"))
        for number, start, end, watts in ((0, 0.0, 100.0, 200.6), (1, 100.0, 345.0, 501.4)))
    joules = sum(step.energy_j for step in steps)
    job = record(5, start_s=0.0, end_s=345.0, energy_j=joules, nodes=2, steps=steps,
                 node_runs=((1, 2),))
    found = read_series(write_profile(job, tmp_path, epoch_s=1_790_812_800))
    assert [each.entity for each in found.series] == ["n1", "n2"]
    with Store("sqlite://") as store, store.engine.begin() as connection:
        key = connection.execute(lives.insert(), {
            "cluster": "", "label": "5", "start_s": 1_790_812_800, "end_s": 1_790_812_800 + 345,
            "nodes": 2, "cores": 2, "node_list": "n[1-2]", "alloc_tres": "",
            **dict.fromkeys(("user", "account", "partition", "application", "node_class", "state",
                             "asked_frequency"), "")}).inserted_primary_key
        entered = enter_series(connection, found.series)
        settle(connection, entered.touched | Touched(lives=frozenset(key)))
        energy, coverage = connection.execute(select(lives.c.energy_j, lives.c.coverage)).one()
    assert energy == pytest.approx(joules, abs=2 * 2 * 15)
    assert coverage == 1.0


def test_columns_are_what_the_user_says_they_are(tmp_path) -> None:
    """As the recorded series of an H200 has them: no node, times from 0, thousandths."""
    text = "t_s,phase,power_mw,energy_mj\n0.0,idle,88040,2281428\n0.5,idle,78938,2296943\n"
    columns = {"time": "t_s", "milliwatts": "power_mw", "millijoules": "energy_mj"}
    path = tmp_path / "a.csv"
    path.write_text(text)
    given = SeriesOptions(entity="g1/gpu0", columns=columns, from_s=1790812800.0)
    watts, joules = sorted(read_series(path, given).series, key=lambda each: each.kind == "joules")
    assert {each.entity for each in (watts, joules)} == {"g1/gpu0"}
    assert watts.time_s.tolist() == [1790812800.0, 1790812800.5]
    assert watts.value.tolist() == [88.04, 78.938]
    assert joules.value == pytest.approx([2281.428, 2296.943])


@pytest.mark.parametrize(("words", "said"), [
    (("--columns", "time=t_s,watts=p"), "its times count from 0; --at TIME"),
    (("--columns", "time=t_s,watts=power"), "no column 'power'; there are t_s, p"),
    (("--columns", "time=t_s,volts=p"), "'volts' is unknown; there are time, node"),
    (("--columns", "time=t_s,p"), "'p' is of no column"),
    (("--columns", "time=t_s,watts=p,joules=p"), "one column cannot be two things"),
])
def test_a_wrong_map_of_columns_is_refused_in_one_line(tmp_path, capsys, words, said) -> None:
    (tmp_path / "a.csv").write_text("t_s,p\n0,5\n1,6\n")
    assert said in refused(capsys, "account", "import", tmp_path / "a.csv", "--node", "n1", *words,
                           "--store", tmp_path / "s.db")


def test_the_recorded_series_of_a_gpu_is_imported_as_it_is(tmp_path, capsys) -> None:
    found = json.loads(ok(capsys, "account", "import", shared("fixtures/nvml_h200.csv"),
                          "--columns", "time=t_s,milliwatts=power_mw,millijoules=energy_mj",
                          "--node", "g1/gpu0", "--at", "2026-10-10T10:00", "--zone", "UTC",
                          "--store", tmp_path / "s.db", "--json"))
    assert found["samples"] == 4190
    with shared("fixtures/nvml_h200.csv").open() as file:
        counted = [float(row["energy_mj"]) / 1e3 for row in csv.DictReader(file)]
    assert found["metered_j"] == pytest.approx(counted[-1] - counted[0], rel=0.01)


def test_a_profile_of_a_job_that_nobody_told_of_is_said_to_be_its(tmp_path, capsys) -> None:
    step = StepRecord(0, 0.0, 600.0, 180_000.0, Signal.constant(300.0))
    record = JobRecord(2, "ann", "phys", "p", "", "", 1, 8, 0.0, 0.0, 600.0, 600.0, "COMPLETED",
                       180_000.0, steps=(step,))
    path = write_profile(record, tmp_path, epoch_s=1790812800.0, nodes=["n1"])
    words = ("account", "import", path, "--store", tmp_path / "s.db", "--cluster", "c", "--zone",
             "UTC")
    _, out, err = call(capsys, *words)
    assert "of it of nobody, or of unknown job 2  50 Wh" in out
    assert "50 Wh are of job 2, which the ledger does not know: import its sacct" in err
    (tmp_path / "jobs").write_text(
        "JobID|State|Start|End|NNodes|NodeList\n"
        "2|COMPLETED|2026-10-01T00:00:00|2026-10-01T00:10:00|1|n1\n")
    _, out, err = call(capsys, *words, tmp_path / "jobs")
    assert "energy                      50 Wh" in out
    assert "does not know" not in err
