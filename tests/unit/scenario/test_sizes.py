"""Unit of a log's sizes, and the size of its machine: read from the header, or asked for."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from tests.shared_data import shared

import wattline as wl
from wattline.cli.main import main
from wattline.cli.simulate import command as simulate
from wattline.engine.simulate import knowing
from wattline.model.errors import InputError
from wattline.physics.core_power import SANDY_BRIDGE
from wattline.scenario.build import plan
from wattline.scenario.load import validate
from wattline.traces import read

JOB = "{} 0 -1 10 {} -1 -1 {} 10 -1 1 1 1 1 1 -1 -1 -1\n"


def log(folder: Path, sizes: list[int], **header: int) -> Path:
    lines = [f"; {key}: {value}\n" for key, value in header.items()]
    lines += [JOB.format(number, size, size) for number, size in enumerate(sizes, start=1)]
    path = folder / "log.swf"
    path.write_text("".join(lines))
    return path


def sized(path: Path, **fields: object) -> tuple[int, int]:
    """Nodes of the machine and cores of each, as a simulation of this log would have them."""
    found = plan(validate({"trace": {"file": str(path)}, "machine": fields})).machine
    return found.node_count, found.groups[0].node_class.cores


@pytest.mark.parametrize(("header", "fields", "machine"), [
    ({"MaxNodes": 4, "MaxProcs": 32}, {}, (4, 8)),
    ({"MaxNodes": 4, "MaxProcs": 32}, {"nodes": 6}, (6, 8)),
    ({"MaxNodes": 4, "MaxProcs": 32}, {"cores_per_node": 16}, (2, 16)),
    ({"MaxNodes": 4, "MaxProcs": 32}, {"nodes": 32, "cores_per_node": 1}, (32, 1)),
    ({"MaxNodes": 32, "MaxProcs": 32}, {}, (32, 1)),
    ({"MaxNodes": 32}, {}, (32, 1)),
    ({"MaxProcs": 32}, {"cores_per_node": 1}, (32, 1)),
    ({}, {"nodes": 32}, (32, 1)),
    ({"MaxNodes": 5, "MaxProcs": 32}, {"cores_per_node": 8}, (4, 8)),
])
def test_cores_make_nodes_as_the_header_says(
    tmp_path: Path, header: dict[str, int], fields: dict[str, int], machine: tuple[int, int]
) -> None:
    assert sized(log(tmp_path, [32, 1], **header), **fields) == machine


@pytest.mark.parametrize(("header", "fields", "said"), [
    ({"MaxNodes": 5, "MaxProcs": 32}, {}, "32 (MaxProcs) on 5 nodes (MaxNodes)"),
    ({"MaxProcs": 32}, {}, "32 processors (MaxProcs) and no nodes (MaxNodes)"),
    ({"MaxNodes": 5, "MaxProcs": 32}, {"nodes": 7}, "cores_per_node=6"),
    ({"MaxNodes": 4, "MaxProcs": 32}, {"nodes": 32}, "give nodes=4"),
    ({}, {}, "machine.cores_per_node if the log counts cores"),
])
def test_what_the_header_leaves_open_is_asked_for(
    tmp_path: Path, header: dict[str, int], fields: dict[str, int], said: str
) -> None:
    with pytest.raises(InputError) as caught:
        sized(log(tmp_path, [1], **header), **fields)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_log_of_cores_draws_the_power_of_its_nodes_from_command_file_and_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = log(tmp_path, [32], MaxNodes=4, MaxProcs=32)
    (tmp_path / "s.toml").write_text('[trace]\nfile = "log.swf"\n')
    said = "4 nodes of 8 cores, from the log's header (MaxNodes 4, MaxProcs 32)"
    for arguments in (["--trace", str(path)], ["s.toml"]):
        result = CliRunner().invoke(simulate, [*arguments, "--json"], catch_exceptions=False)
        found = json.loads(result.stdout)
        assert found["metrics"]["power_w"]["peak"] == 4 * 300
        assert said in found["assumed"]
    text = CliRunner().invoke(simulate, ["s.toml", "--no-folder"], catch_exceptions=False).stdout
    assert f"note: {said}" in text
    for run in (wl.simulate(trace=path), wl.simulate("s.toml"), wl.simulate(trace=read(path))):
        assert run.power_w_peak == 4 * 300
        assert said in run.assumed


def test_a_header_of_processors_alone_does_not_say_what_a_node_is(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"8 processors \(MaxProcs\) and no nodes"):
        wl.simulate(trace=log(tmp_path, [8], MaxProcs=8))
    said = "8 nodes of 1 core, from the log's header (MaxNodes 8, MaxProcs 8)"
    assert said in wl.simulate(trace=log(tmp_path, [8], MaxNodes=8, MaxProcs=8)).assumed


MACHINES = ["", '[[machine.classes]]\nname = "a"\ncount = 8\n', "[machine]\nnodes = 8\n"]


@pytest.mark.parametrize("machine", MACHINES)
def test_a_job_larger_than_the_machine_is_a_mistake_whoever_says_its_size(
    machine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    log(tmp_path, [4, 99, 50, 8], MaxNodes=8)
    (tmp_path / "s.toml").write_text(
        f'[trace]\nfile = "log.swf"\n[policy]\nplacement = "first-fit"\n{machine}')
    with pytest.raises(SystemExit) as stop:
        main(["simulate", "s.toml"])
    assert stop.value.code == 2
    error = capsys.readouterr().err
    assert "job 2 asks for 99 nodes, the machine has 8 (2 jobs are larger than that)" in error
    assert "--drop-larger" in error
    assert not (tmp_path / "runs").exists()
    with pytest.raises(InputError, match="job 2 asks for 99 nodes"):
        wl.simulate("s.toml")


@pytest.mark.parametrize("machine", MACHINES)
def test_larger_jobs_are_dropped_where_that_is_asked_for_and_counted(
    machine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    log(tmp_path, [4, 99, 50, 8], MaxNodes=8)
    (tmp_path / "s.toml").write_text(
        f'[trace]\nfile = "log.swf"\n[policy]\nplacement = "first-fit"\n{machine}')
    result = CliRunner().invoke(simulate, ["s.toml", "--drop-larger", "--json", "-o", "run"],
                                catch_exceptions=False)
    found = json.loads(result.stdout)
    assert found["jobs"] == 2
    assert found["dropped"] == {
        "jobs": 2, "job_share": 0.5, "work_share": pytest.approx(149 / 161)}
    said = "2 jobs are larger than the machine and were dropped (50.00% of the jobs, 92.55%"
    assert any(line.startswith(said) for line in found["assumed"])
    assert found["metrics"]["notes"]["dropped_larger_jobs"] == 2
    assert any(line.startswith(said) for line in wl.simulate(
        "s.toml", trace__drop_larger=True).assumed)
    again = CliRunner().invoke(simulate, ["run/scenario.toml", "--json", "--no-folder"],
                               catch_exceptions=False)
    assert json.loads(again.stdout)["dropped"] == found["dropped"]


def test_a_log_of_which_nothing_fits_is_refused_even_then(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no job is left: all 2 are larger"):
        wl.simulate(trace=log(tmp_path, [9, 9]), machine__nodes=8, trace__drop_larger=True)


def test_generated_jobs_must_fit_too(tmp_path: Path) -> None:
    trace = wl.generate("lublin", seed=1, jobs=20, nodes=32)
    with pytest.raises(InputError, match="drop_larger"):
        wl.simulate(trace=trace, machine__nodes=2)


REAL = [
    ("KTH-SP2-1996-2.1-cln.swf.xz", (100, 1)),
    ("LLNL-Atlas-2006-2.1-cln.swf.xz", (1152, 8)),
    ("lublin_256.swf.xz", (256, 1)),
    ("mira_walltime.swf.xz", (49_152, 1)),
    ("pyss_5K_sample.swf.xz", (128, 1)),
    ("theta_walltime.swf.xz", (4392, 1)),
    pytest.param("CEA-Curie-2011-2.1-cln.swf.gz", "93,312 (MaxProcs) on 5,544 nodes (MaxNodes)",
                 marks=pytest.mark.long),  # three seconds
    ("wagap-2013.swf.xz", "say how many nodes the machine has (the log does not)"),
]


@pytest.mark.parametrize(("name", "machine"), REAL)
def test_real_logs_have_their_machine_or_ask_for_it(
    name: str, machine: tuple[int, int] | str
) -> None:
    path = shared(f"swf/{name}")
    if isinstance(machine, tuple):
        assert sized(path) == machine
        return
    with pytest.raises(InputError) as caught:
        sized(path)
    assert machine in str(caught.value)


def test_of_two_jobs_with_one_number_only_the_larger_one_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "log.swf"
    path.write_text("".join(JOB.format(number, size, size)
                            for number, size in [(1, 4), (1, 99), (2, 8)]))
    hz = np.array([1.2e9, 1.4e9, 1.8e9])
    trace = replace(read(path), logged={"frequency_hz_min": hz, "frequency_hz_max": hz})
    ready = plan(validate({
        "trace": {"file": str(path), "drop_larger": True}, "machine": {"nodes": 8},
        "power": {"cap": 2000.0}, "policy": {"power": "adaptive"},
    }), trace)
    assert ready.jobs.procs.tolist() == [4, 8]
    core = SANDY_BRIDGE.frequency_hz
    memory = knowing(ready.policy, ready.jobs, ready.rules.logged).admission.memory
    assert [core[level] for level in memory.low] == [1.2e9, 1.8e9]
