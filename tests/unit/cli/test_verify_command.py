"""`wattline verify`: a run folder judged by its records, with the bill of its contract."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import wattline as wl
from wattline.cli.main import cli
from wattline.demand_response.folder import bill_differs
from wattline.results.verify.judge import Finding, Verification

SHORT = {"workload": "W4", "duration": "10m", "warmup": "5m", "check": 0, "cycle_s": 5,
         "bid": (9500, 2500), "seed": 1}


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WATTLINE_PLAIN", "1")


@pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
@pytest.mark.parametrize("chosen", [True, False])
def test_a_run_with_wrong_labels_is_judged_by_what_its_jobs_are(
    chosen: bool, tmp_path: Path
) -> None:
    found = wl.regulate(**SHORT, mislabelled=0.3, feedback=True, choose_nodes=chosen)
    assert found.result.verify().sentences == []
    done = CliRunner().invoke(cli, ["verify", str(found.save(tmp_path / "run"))])
    first, judged, *_ = done.output.splitlines()
    assert (done.exit_code, first) == (0, f"{tmp_path / 'run'}: nothing is broken")
    assert judged.startswith("  judged: log.columns, log.order, log.jobs, ")


@pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
def test_a_bill_that_its_table_does_not_give_is_said(tmp_path: Path) -> None:
    folder = wl.regulate(**SHORT).save(tmp_path / "run")
    assert bill_differs(folder) == []
    figures = json.loads((folder / "contract.json").read_text())
    figures["cost"] *= 1.001
    (folder / "contract.json").write_text(json.dumps(figures))
    wrong, = bill_differs(folder)
    assert wrong.startswith("the bill is")
    (folder / "power.csv").write_text("start_s\n1\n")
    assert "do not give a bill" in bill_differs(folder)[0]


def test_what_does_not_fit_is_listed_and_fails_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = wl.generate("lublin", seed=1, jobs=5, nodes=8)
    folder = wl.simulate(trace, machine=wl.Machine(nodes=8)).save(tmp_path / "run")
    broken = Verification((Finding("a job ran twice", 7, 3.0, "log.jobs"),), (), ())
    monkeypatch.setattr("wattline.results.verify.judge.verify", lambda *given: broken)
    done = CliRunner().invoke(cli, ["verify", str(folder)])
    assert (done.exit_code, done.output.splitlines()[1]) == (1, "  a job ran twice")
    told = CliRunner().invoke(cli, ["verify", str(folder), "--json"])
    assert json.loads(told.stdout)["runs"] == [{
        "run": str(folder), "judged": [], "not_judged": [],
        "findings": [{"rule": "log.jobs", "sentence": "a job ran twice", "job": 7, "time_s": 3.0}]}]


def test_who_types_the_old_name_is_told_the_new_one() -> None:
    done = CliRunner().invoke(cli, ["check", "run"])
    assert "there is no command 'check'; did you mean 'verify'?" in done.output


def test_a_plain_run_holds_together_and_no_folder_is_refused(tmp_path: Path) -> None:
    trace = wl.generate("lublin", seed=1, jobs=20, nodes=32)
    machine = wl.Machine(nodes=32, node_idle_w=90, node_active_w=300)
    folder = wl.simulate(trace, machine=machine).save(tmp_path / "run")
    assert CliRunner().invoke(cli, ["verify", str(folder)]).exit_code == 0
    done = CliRunner().invoke(cli, ["verify", str(tmp_path / "none")])
    assert isinstance(done.exception, wl.InputError)
    both = CliRunner().invoke(cli, ["verify", str(tmp_path / "none"), str(folder)])
    assert f"{folder}: nothing is broken" in both.output
    assert isinstance(both.exception, wl.InputError)
    assert "there is no run folder" in str(both.exception)
    stored = CliRunner().invoke(cli, ["verify", str(folder), "--store", str(tmp_path / "ledger")])
    assert "--store goes with journals" in str(stored.exception)


def test_waits_and_run_times_of_the_table_of_jobs_are_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = wl.generate("lublin", seed=1, jobs=5, nodes=8)
    folder = wl.simulate(trace, machine=wl.Machine(nodes=8)).save(tmp_path / "run")
    assert wl.verify(folder).findings == ()
    from wattline.analysis import rundir

    right = rundir.read_derived(folder)
    for name in ("wait_s", "elapsed_s"):
        wrong = {**right, name: right[name] + [0, 0, 1, 0, 0]}
        monkeypatch.setattr(rundir, "read_derived", lambda _, wrong=wrong: wrong)
        assert wl.verify(folder).sentences == [
            f"jobs 3 have another {name} than between their times"]


def test_who_decides_is_named_where_his_decisions_are_not_judged() -> None:
    trace = wl.generate("lublin", seed=1, jobs=5, nodes=8)
    run = wl.simulate(trace, machine=wl.Machine(nodes=8), cap="90%", power="wait")
    assert [each.why for each in run.verify().skipped if each.rule == "queue.rule"] == [
        "decisions of this combination of policies are not judged: order = fcfs, "
        "backfill = easy, power = wait"]


def test_watts_that_cannot_be_are_refused_by_their_option(tmp_path: Path) -> None:
    (tmp_path / "slurm.conf").write_text("NodeName=n1 CPUs=8\nPartitionName=p Nodes=n1\n")
    (tmp_path / "day.events").write_text("-dt 0 -e submit_batch_job | -n 1 -sim-walltime 1 x\n")
    for option, watts, said in (("--idle-w", "-5", -5.0), ("--gpu-w", "2MW", 2e6)):
        done = CliRunner().invoke(cli, [
            "twin", "make", "--slurm-conf", str(tmp_path / "slurm.conf"), "--events",
            str(tmp_path / "day.events"), "-o", str(tmp_path / "twin.toml"), option, watts])
        assert done.exit_code != 0
        assert str(done.exception) == (
            f"{option}: must be at least 0 and at most 1,000,000 (it is {said})")
