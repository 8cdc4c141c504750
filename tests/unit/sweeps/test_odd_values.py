"""Odd values along an axis or in a journal: the sweep ends with its table all the same."""

from __future__ import annotations

import datetime
import json
import math
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.support.thinned import crossed

import wattline as wl
from wattline.cli.main import main
from wattline.sweeps.notes import noted

SCENARIO = {"trace": {"generate": "lublin", "jobs": 5},
            "machine": {"nodes": 64, "node_idle_w": 90, "node_active_w": 300}}
pytestmark = [pytest.mark.filterwarnings("ignore::wattline.WattlineWarning"),
              pytest.mark.usefixtures("unpainted")]


@pytest.fixture(autouse=True)
def _apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("WATTLINE_PLAIN", "1")


def _swept(folder: Path, axes: dict[str, Any], **more: Any) -> wl.SweepResult:
    return wl.run_sweep({"scenario": SCENARIO, "axes": axes}, folder, workers=1, cache=False,
                        **more)


@pytest.mark.parametrize(("kept", "report"), crossed([
    ([1, 2**63 - 1], pa.int64()), ([1, 2**63], pa.uint64()), ([1, 2**64 - 1], pa.uint64()),
    ([1, 2**64], pa.string()), ([1, 10**400], pa.string())], [True, False],
    later=pytest.mark.long))
def test_whole_numbers_of_any_size_have_a_column(
    tmp_path: Path, kept: tuple[list[int], pa.DataType], report: bool
) -> None:
    seeds, kind = kept
    _swept(tmp_path / "s", {"policy.order": ["fcfs", "sjf"], "trace.seed": seeds}, report=report)
    table = pq.read_table(tmp_path / "s" / "results.parquet")
    assert table.schema.field("trace.seed").type == kind
    assert list(map(int, table.column("trace.seed").to_pylist())) == [*seeds, *seeds]
    assert (tmp_path / "s" / "report.html").is_file() == report


@pytest.mark.parametrize(("values", "kind"), [
    ([64, 10**30], pa.string()), ([64, 64.5, 10**400], pa.string()), ([64.0, 64.5], pa.float64()),
    ([64, -2**63 - 1], pa.string()), ([True, False], pa.bool_())])
def test_an_axis_that_is_no_seed_has_one_too(
    tmp_path: Path, values: list[Any], kind: pa.DataType
) -> None:
    field = "trace.drop_larger" if kind == pa.bool_() else "machine.nodes"
    found = _swept(tmp_path / "s", {field: values})
    assert found.to_arrow().schema.field(field).type == kind
    assert (tmp_path / "s" / "report.html").is_file()


@pytest.mark.parametrize(("odd", "shown"), [
    ("1979-05-27", "1979-05-27"), ("1979-05-27T07:32:00Z", "1979-05-27 07:32:00+00:00"),
    ("07:32:00", "07:32:00"), ("nan", "nan"), ("inf", "inf"), ("{a = 1979-05-27}", None)])
def test_values_without_a_form_in_json_are_told_in_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], odd: str, shown: str | None
) -> None:
    file = tmp_path / "sweep.toml"
    file.write_text('[scenario.trace]\ngenerate = "lublin"\njobs = 5\n[scenario.machine]\n'
                    'nodes = 64\n[scenario.policy]\npower = "dvfs"\n[axes]\n'
                    f'"power.cap" = ["80%", {odd}]\n')
    with pytest.raises(SystemExit) as end:
        main(["sweep", str(file), "--out", str(tmp_path / "s"), "--json", "--no-cache",
              "--workers", "1"])
    assert end.value.code == 0
    said = json.loads(capsys.readouterr().out)
    failed, = said["errors"]
    assert failed["setting"]["power.cap"] == (shown or {"a": "1979-05-27"})
    assert (said["points"], said["failed"]) == (2, 1)
    assert said["pareto"][0]["setting"] == {"power.cap": "80%"}


def test_the_same_from_python(tmp_path: Path) -> None:
    found = _swept(tmp_path / "s", {
        "power.cap": ["80%", datetime.date(1979, 5, 27), math.nan],
        "policy.order": ["fcfs", "sjf"]})
    assert found.counts.failed == 4
    assert json.loads(json.dumps(found.to_dict()["errors"], allow_nan=False))
    assert found.to_arrow().column("power.cap").to_pylist()[::2] == ["80%", "1979-05-27", "nan"]


@pytest.mark.parametrize("name", ["error", "engine_s", "seconds", "energy_j"])
def test_columns_have_the_same_type_whether_points_failed_or_not(
    tmp_path: Path, name: str
) -> None:
    fine = _swept(tmp_path / "a", {"machine.nodes": [64, 65]}, report=False)
    some = _swept(tmp_path / "b", {"machine.nodes": [64, 2]}, report=False)
    assert (fine.counts.failed, some.counts.failed) == (0, 1)
    assert fine.to_arrow().schema == some.to_arrow().schema
    assert fine.to_arrow().schema.field(name).type == (
        pa.string() if name == "error" else pa.float64())


@pytest.mark.parametrize("garbage", [
    b"\xff\xfe\x80\x00garbage", b"\x00" * 4096, b'{"key": "a", "number": 0}',
    b'{"key": "a", "number": 0, "figures": 3}', b'{"key": 1, "number": 0, "figures": {}}',
    b'{"key": "a", "number": 0, "figures": {"energy_j": "much"}}', b'{"key": "a", "num', b"[]",
    b'{"number": "0", "error": "x"}', b"\xc3"])
@pytest.mark.parametrize("where", ["end", "between"])
def test_what_a_power_cut_left_in_the_journal_is_passed_over(
    tmp_path: Path, garbage: bytes, where: str
) -> None:
    axes = {"machine.nodes": [64, 65, 66]}
    whole = _swept(tmp_path / "s", axes, report=False)
    journal = tmp_path / "s" / "points.jsonl"
    first, second, _ = journal.read_bytes().splitlines(keepends=True)
    # Under the key of the last point, which nobody has then.
    key = json.loads(journal.read_bytes().splitlines()[2])["key"].encode()
    bad = garbage.replace(b'"a"', b'"' + key + b'"')
    journal.write_bytes(first + second + bad if where == "end" else
                        first + bad + b"\n" + second)
    assert len(list(noted(journal))) == 2
    again = _swept(tmp_path / "s", axes, report=False, resume=True)
    assert (again.counts.cached, again.counts.computed, again.counts.failed) == (2, 1, 0)
    kept = ["machine.nodes", "energy_j", "wait_s.mean"]
    assert again.to_pandas()[kept].equals(whole.to_pandas()[kept])
