"""The run folder: exact round trip, all or nothing, one clear line on damage."""

from __future__ import annotations

import hashlib
import io
import json
import os
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.support.run_maker import fcfs_run, some_jobs

from wattline.analysis import rundir
from wattline.analysis.metrics import metrics
from wattline.model.errors import InputError
from wattline.model.jobs import COLUMNS, JobTable
from wattline.model.machine import Machine, NodeClass, NodeGroup
from wattline.model.run import Run
from wattline.model.signal import Signal

CAP = Signal.from_steps([(0.0, np.inf), (5000.0, 3000.0), (20000.0, 2500.5)], "W")


def assert_same_columns(first: object, second: object, names: list[str]) -> None:
    for name in names:
        ours, theirs = getattr(first, name), getattr(second, name)
        assert ours.dtype == theirs.dtype, name
        np.testing.assert_array_equal(ours, theirs, err_msg=name)


def assert_same_run(first: Run, second: Run) -> None:
    assert_same_columns(first.jobs, second.jobs, list(COLUMNS))
    assert first.jobs.names == second.jobs.names
    for part in ("schedule", "events", "placement", "cap_w"):
        ours, theirs = getattr(first, part), getattr(second, part)
        assert (ours is None) == (theirs is None), part
        if ours is not None:
            columns = [f.name for f in fields(ours) if f.name != "unit"]
            assert_same_columns(ours, theirs, columns)
    if first.cap_w and second.cap_w:
        assert first.cap_w.unit == second.cap_w.unit
    arrays = {"jobs", "schedule", "events", "placement", "cap_w"}
    for field in fields(Run):
        if field.name not in arrays:
            assert getattr(first, field.name) == getattr(second, field.name), field.name


@pytest.fixture
def run() -> Run:
    return fcfs_run(some_jobs(100, power_w=np.random.default_rng(2).uniform(1e2, 1e3, 100)),
                    cap_w=CAP)


def test_round_trip_is_exact(run: Run, tmp_path: Path) -> None:
    folder = rundir.write(run, tmp_path / "runs" / "one")
    assert_same_run(run, rundir.read(folder))


def test_round_trip_without_placement_cap_names_or_scenario(tmp_path: Path) -> None:
    jobs = JobTable.build(submit_s=[0, 1], run_s=[1, 2], procs=[1, 99])
    run = fcfs_run(jobs, placed=False)
    bare = Run(**{**{f.name: getattr(run, f.name) for f in fields(Run)}, "scenario": {},
                  "notes": {}})
    assert_same_run(bare, rundir.read(rundir.write(bare, tmp_path / "bare")))


def test_round_trip_of_a_mixed_machine(run: Run, tmp_path: Path) -> None:
    machine = Machine(
        (NodeGroup(NodeClass("cpu", cores=64, boot_s=30.5), 10, nodes_per_rack=4),
         NodeGroup(NodeClass("gpu", power_w_idle=400.0, power_w_active=2000.0), 6)),
        name="mixed", site="here",
    )
    mixed = Run(**{**{f.name: getattr(run, f.name) for f in fields(Run)}, "machine": machine})
    assert rundir.read(rundir.write(mixed, tmp_path / "m")).machine == machine


def test_what_lies_in_the_folder(run: Run, tmp_path: Path) -> None:
    folder = rundir.write(run, tmp_path / "one")
    assert {path.name for path in folder.iterdir()} == {
        "scenario.toml", "jobs.parquet", "events.parquet", "placement.parquet", "cap.parquet",
        "metrics.json", "manifest.json"}
    table = pq.read_table(folder / "jobs.parquet").to_pandas()
    assert list(table.columns[:6]) == [
        "job_id", "submit_s", "start_s", "end_s", "nodes", "energy_j"]
    assert set(table["user_name"]) == {"ada", "bob", "chi", "dan", "eve"}
    assert set(table["outcome"]) == {"completed"}
    assert json.loads((folder / "metrics.json").read_text())["energy_j"] == run.energy_j
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["seeds"] == {"seed": 7}
    assert manifest["versions"]["numpy"] == np.__version__
    assert manifest["totals"]["engine_s"] == 0.25
    assert len(manifest["files"]) == 6


def test_metrics_survive_the_folder(run: Run, tmp_path: Path) -> None:
    assert metrics(rundir.read(rundir.write(run, tmp_path / "one"))) == metrics(run)


def test_a_run_replaces_a_run(run: Run, tmp_path: Path) -> None:
    rundir.write(fcfs_run(some_jobs(10)), tmp_path / "one")
    rundir.write(run, tmp_path / "one")
    assert len(rundir.read(tmp_path / "one").jobs) == 100
    assert [path.name for path in tmp_path.iterdir()] == ["one"]


def test_other_folders_are_left_alone(run: Run, tmp_path: Path) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.txt").write_text("years of work")
    with pytest.raises(InputError, match="thesis holds other things than a run"):
        rundir.write(run, tmp_path / "thesis")
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="is a file"):
        rundir.write(run, tmp_path / "file")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "thesis"]


def test_nothing_half_written_stays(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full_disk(*_: object) -> None:
        raise OSError(28, "No space left on device")

    rundir.write(fcfs_run(some_jobs(10)), tmp_path / "one")
    monkeypatch.setattr(rundir, "_write_json", full_disk)
    with pytest.raises(InputError, match="No space left"):
        rundir.write(run, tmp_path / "one")
    assert [path.name for path in tmp_path.iterdir()] == ["one"]
    assert len(rundir.read(tmp_path / "one").jobs) == 10


def test_a_folder_that_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no run folder"):
        rundir.read(tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"is not a run folder: it has no manifest\.json"):
        rundir.read(tmp_path)
    (tmp_path / "manifest.json").write_text("[1, 2")
    with pytest.raises(InputError, match="damaged"):
        rundir.read(tmp_path)
    (tmp_path / "manifest.json").write_text('{"format": "other", "format_version": 1}')
    with pytest.raises(InputError, match="says format 'other'"):
        rundir.read(tmp_path)


@pytest.mark.parametrize(
    "name", ["jobs.parquet", "events.parquet", "placement.parquet", "cap.parquet",
             "scenario.toml", "metrics.json"])
@pytest.mark.parametrize("how", ["missing", "cut", "flipped"])
def test_damage_is_named(run: Run, tmp_path: Path, name: str, how: str) -> None:
    path = rundir.write(run, tmp_path / "one") / name
    content = bytearray(path.read_bytes())
    if how == "missing":
        path.unlink()
    elif how == "cut":
        path.write_bytes(content[: len(content) // 2])
    else:
        content[len(content) // 2] ^= 0x40
        path.write_bytes(content)
    with pytest.raises(InputError, match=f"damaged: {name}"):
        rundir.read(tmp_path / "one")


def test_a_manifest_that_lies(run: Run, tmp_path: Path) -> None:
    folder = rundir.write(run, tmp_path / "one")
    manifest = json.loads((folder / "manifest.json").read_text())
    for broken in ({**manifest, "totals": {}}, {**manifest, "files": {}, "machine": 3},
                   {**manifest, "files": []}):
        (folder / "manifest.json").write_text(json.dumps(broken))
        with pytest.raises(InputError, match="damaged"):
            rundir.read(folder)


def _forge(folder: Path, name: str, content: bytes) -> None:
    """Replace a file and put the digest right, as a hand that knows the format would."""
    (folder / name).write_bytes(content)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"][name] = hashlib.sha256(content).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(manifest))


def _table_bytes(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


def _forgeries() -> dict[str, tuple[str, bytes]]:
    short = pa.table({"job_id": [1, 2], "submit_s": [0.0, 1.0]})
    words = pa.table({"time_s": ["a"], "kind": ["end"], "job": [0], "power_w": [1.0],
                      "busy": [0], "queued": [0], "value": [0.0]})
    unknown = pa.table({"time_s": [0.0], "kind": ["party"], "job": [0], "power_w": [1.0],
                        "busy": [0], "queued": [0], "value": [0.0]})
    gaps = pa.table({"time_s": [0.0, None], "value": [1.0, 2.0]})
    return {
        "garbage": ("jobs.parquet", b"PAR1" + bytes(range(200)) + b"PAR1"),
        "empty": ("events.parquet", b""),
        "missing columns": ("jobs.parquet", _table_bytes(short)),
        "words for numbers": ("events.parquet", _table_bytes(words)),
        "an unknown kind": ("events.parquet", _table_bytes(unknown)),
        "gaps": ("cap.parquet", _table_bytes(gaps)),
        "not TOML": ("scenario.toml", b"[[[ nothing"),
        "not text": ("scenario.toml", b"\xff\xfe\x00"),
    }


@pytest.mark.parametrize("name", _forgeries())
def test_content_that_cannot_be(run: Run, tmp_path: Path, name: str) -> None:
    folder = rundir.write(run, tmp_path / "one")
    _forge(folder, *_forgeries()[name])
    with pytest.raises(InputError, match=r"run folder .* is damaged"):
        rundir.read(folder)


def test_writing_and_reading_do_not_import_pandas(run: Run, tmp_path: Path) -> None:
    """Importing it costs more than a short simulation."""
    rundir.write(run, tmp_path / "one")
    code = (
        "import sys; from wattline.analysis import rundir;"
        "rundir.write(rundir.read(sys.argv[1]), sys.argv[2]);"
        "sys.exit('pandas' in sys.modules or 'matplotlib' in sys.modules)"
    )
    argv = [sys.executable, "-c", code, str(tmp_path / "one"), str(tmp_path / "two")]
    assert subprocess.run(argv, check=False, env=dict(os.environ)).returncode == 0
