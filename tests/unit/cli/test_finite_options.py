"""Numbers that are none are refused before anything is made or waited for."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import wattline as wl
from wattline.cli.main import main
from wattline.controller.testbed import trying
from wattline.model.errors import InputError

RUN = ("testbed", "run", "jobs.csv", "--nodes", "2", "--cap", "1kW", "--lower-cap-to", "300W")


@pytest.mark.parametrize("number", ["nan", "inf", "-inf"])
@pytest.mark.parametrize("given", [
    (*RUN, "--at"), (*RUN, "--at", "5", "--speed"), ("sensors", "read", "--seconds"),
    ("sensors", "--seconds"),
    ("sensors", "compare", "--seconds"), ("sensors", "compare", "--every"),
    ("testbed", "meters", "--seconds"), ("testbed", "meters", "--every"),
    ("testbed", "bmc", "n0001", "--seconds")])
def test_an_option_that_is_no_number_is_refused_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    given: tuple[str, ...], number: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("jobs.csv").write_text("job_id,submit_s,run_s,requested_s,procs,power_w\n1,0,4,10,2,400\n")
    made: list[object] = []
    monkeypatch.setattr(trying, "bring_up", lambda *each, **_: made.append(each))
    with pytest.raises(SystemExit) as stopped:
        main([*given, number])
    assert stopped.value.code == 2
    assert given[-1] in capsys.readouterr().err
    assert made == []


@pytest.mark.parametrize("number", [math.nan, math.inf, -1.0])
def test_functions_refuse_them_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: float
) -> None:
    log = tmp_path / "jobs.csv"
    log.write_text("job_id,submit_s,run_s,requested_s,procs,power_w\n1,0,4,10,2,400\n")
    made: list[object] = []
    monkeypatch.setattr(trying, "bring_up", lambda *each, **_: made.append(each))
    with pytest.raises(InputError, match="lowered at"):
        wl.try_workload(log, nodes=2, cap="1kW", lower_cap_to="300W", at_s=number)
    assert made == []
    with pytest.raises(InputError, match="seconds is"):
        wl.read_sensors(seconds=number)
    with pytest.raises(InputError, match="finite"):
        wl.compare_sensors(seconds=number)
