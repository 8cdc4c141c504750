"""`wattline simulate` and `compare` as a user calls them."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from wattline.cli.compare import command as compare
from wattline.cli.main import main
from wattline.cli.simulate import command as simulate

LOG = """; MaxNodes: 8
1 0 -1 10 4 -1 -1 4 10 -1 1 1 1 1 1 -1 -1 -1
2 0 -1 10 8 -1 -1 8 10 -1 1 1 1 1 1 -1 -1 -1
3 1 -1 5 4 -1 -1 4 5 -1 1 2 1 1 1 -1 -1 -1
"""


@pytest.fixture
def log(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "log.swf"
    path.write_text(LOG)
    return str(path)


def call(command, *arguments):
    result = CliRunner().invoke(command, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result


@pytest.mark.both_ways
def test_json_has_the_promised_figures(log):
    found = json.loads(call(simulate, "--trace", log, "--nodes", "8", "--node-idle-w", "100",
                            "--node-active-w", "200", "--json").stdout)
    assert found["jobs"] == 3
    assert found["engine_s"] > 0
    figures = found["metrics"]
    # Job 1 and (backfilled) job 3 run first, job 2 from 10 s on.
    assert figures["wait_s"]["mean"] == pytest.approx(10 / 3)
    assert figures["makespan_s"] == 20
    # 8 nodes idle for 20 s, and 100 W more for 4x10 + 4x5 + 8x10 node-seconds.
    assert figures["energy_j"] == pytest.approx(8 * 100 * 20 + 100 * 140)
    assert figures["edp_js"] == pytest.approx(figures["energy_j"] * 20)
    assert figures["power_w"]["peak"] == 1600
    assert figures["utilisation"] == pytest.approx(140 / 160)
    assert figures["time_above_cap_s"] is None  # there is no cap
    for name in ("wait_s", "turnaround_s", "bounded_slowdown"):
        assert {"mean", "p50", "p95", "max"} <= set(figures[name])
    jobs = pq.read_table(f"{found['run_dir']}/jobs.parquet")
    assert {"job_id", "submit_s", "start_s", "end_s", "nodes", "energy_j"} <= set(jobs.column_names)
    assert jobs["start_s"].to_pylist() == [0, 10, 1]


def test_run_folders_are_numbered(log):
    first = call(simulate, "--trace", log, "--nodes", "8")
    second = call(simulate, "--trace", log, "--nodes", "8")
    assert "runs/log-001" in first.output
    assert "runs/log-002" in second.output


@pytest.mark.usefixtures("unpainted")
def test_compare_gives_ratios_and_a_report(log, tmp_path):
    result = call(compare, "--trace", log, "--nodes", "8", "--vary", "policy.backfill=easy,none",
                  "-o", "both")
    assert "ratio" in result.output
    assert (tmp_path / "both/report/index.html").is_file()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["simulate"], "--trace"),
        (["simulate", "--trace", "missing.swf"], "missing.swf"),
        (["simulate", "--trace", "{log}", "--order", "best"], "fcfs"),
        (["simulate", "--trace", "{log}", "--power-policy", "block"], "power.cap"),
        (["simulate", "--trace", "{log}", "--cap", "10%", "--power-policy", "block"], "idle power"),
        (["simulate", "--trace", "{log}", "--cap", "nonsense", "--power-policy", "block"],
         "nonsense"),
        (["simulate", "--trace", "{log}", "--alpha", "7"], "power.alpha"),
        (["simulate", "--trace", "{log}", "--set", "power.levels=[]"], "levels"),
        (["simulate", "--trace", "{log}", "--set", "order"], "setting"),
        (["simulate", "--trace", "{log}", "--bogus"], "--bogus"),
        (["simulate", "--trace", "{log}", "--policy", "nowhere:Nothing"], "nowhere"),
        (["compare", "--trace", "{log}", "--vary", "order"], "variation"),
        (["simulat"], "did you mean 'simulate'"),
        (["bench", "nothing"], "there are"),
    ],
)
def test_mistakes_get_one_line_and_status_2(arguments, message, log, capsys, tmp_path):
    with pytest.raises(SystemExit) as stop:
        main([part.format(log=log) for part in arguments])
    assert stop.value.code == 2
    error = capsys.readouterr().err
    assert message in error
    assert len(error.strip().splitlines()) == 1
    assert not (tmp_path / "runs").exists()


def test_a_policy_in_python(log, tmp_path):
    (tmp_path / "last_first.py").write_text(
        "from wattline.policies.view import Start\n"
        "class LastFirst:\n"
        "    def decide(self, view):\n"
        "        free, starts = view.free, []\n"
        "        for job in reversed(view.queue):\n"
        "            if job.units <= free:\n"
        "                free -= job.units\n"
        "                starts.append(Start(job.job))\n"
        "        return starts\n"
    )
    found = json.loads(call(simulate, "--trace", log, "--nodes", "8", "--policy",
                            "last_first:LastFirst", "--json").stdout)
    jobs = pq.read_table(f"{found['run_dir']}/jobs.parquet")
    assert jobs["start_s"].to_pylist() == [10, 0, 10]


def test_a_policy_is_found_beside_its_scenario(log, tmp_path, monkeypatch):
    (tmp_path / "helper.py").write_text("from wattline.policies.view import Start\n")
    (tmp_path / "mine.py").write_text(
        "from dataclasses import dataclass\n"
        "from helper import Start\n"
        "@dataclass\n"
        "class Head:\n"
        "    def decide(self, view):\n"
        "        head = view.queue[:1]\n"
        "        return [Start(job.job) for job in head if job.units <= view.free]\n"
    )
    (tmp_path / "mine.toml").write_text(
        '[trace]\nfile = "log.swf"\n[machine]\nnodes = 8\n[policy]\npython = "mine:Head"\n')
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    found = json.loads(call(simulate, str(tmp_path / "mine.toml"), "--json").stdout)
    assert found["jobs"] == 3


@pytest.mark.parametrize(
    ("arguments", "remark"),
    [
        (["--order", "sjf", "--backfill", "conservative"], "policy.order has no effect"),
        (["--power-policy", "adaptive", "--beta", "0.9"], "power.beta has no effect on 'adaptive'"),
        (["--set", "reservations=[{start_s=0, duration_s=5, watts=100}]"], "watts have no effect"),
        (["--backfill", "conservative"], None),
        (["--order", "sjf"], None),
    ],
)
def test_settings_without_effect_are_named(arguments, remark, log):
    said = call(simulate, "--trace", log, "--nodes", "8", *arguments).stderr
    assert (remark in said) if remark else ("no effect" not in said)


def test_what_the_reader_mended_is_always_said(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dirty.swf").write_text(LOG + "4 2 -1 0 4 -1 -1 4 5 -1 1 2 1 1 1 -1 -1 -1\n")
    result = call(simulate, "--trace", "dirty.swf", "--nodes", "8", "--json")
    found = json.loads(result.stdout)
    assert found["jobs"] == 3
    assert sum(found["cleaning"].values()) == 1
    assert "1 job" in result.stderr
    manifest = json.loads((tmp_path / found["run_dir"] / "metrics.json").read_text())
    assert any(name.startswith("cleaned_") for name in manifest["notes"])


def test_the_scenario_of_a_run_can_be_run_again(log, tmp_path):
    first = json.loads(call(simulate, "--trace", "log.swf", "--json", "-o", "first").stdout)
    again = json.loads(call(simulate, "first/scenario.toml", "--json", "-o", "again").stdout)
    assert first["metrics"]["energy_j"] == again["metrics"]["energy_j"]
    assert "nodes = 8" in (tmp_path / "first/scenario.toml").read_text()


def test_a_folder_with_other_files_is_not_written_over(log, capsys, tmp_path):
    call(simulate, "--trace", log, "--nodes", "8", "-o", "mine")
    (tmp_path / "mine/notes.txt").write_text("keep me")
    with pytest.raises(SystemExit):
        main(["simulate", "--trace", log, "--nodes", "8", "-o", "mine"])
    assert "other things" in capsys.readouterr().err
    assert (tmp_path / "mine/notes.txt").read_text() == "keep me"


def test_a_comparison_leaves_nothing_of_the_one_before(log, tmp_path):
    for values in ("easy,none,conservative", "easy,none"):
        call(compare, "--trace", log, "--nodes", "8", "--vary", f"policy.backfill={values}",
             "-o", "both", "--no-report")
    assert len(list((tmp_path / "both").iterdir())) == 2


def test_tables_can_be_varied():
    from wattline.scenario.sweep import split_values

    assert split_values('{name="wfp",exponent=2.0},fcfs,[1,2],"a,b"') == [
        '{name="wfp",exponent=2.0}', "fcfs", "[1,2]", '"a,b"']


def test_a_policy_that_fails_is_named(log, tmp_path, capsys):
    (tmp_path / "broken_policy.py").write_text(
        "class Broken:\n    def decide(self, view):\n        view.free = 3\n"
    )
    with pytest.raises(SystemExit) as stop:
        main(["simulate", "--trace", log, "--nodes", "8", "--policy", "broken_policy:Broken"])
    assert stop.value.code == 1
    assert "the policy Broken failed" in capsys.readouterr().err


@pytest.mark.parametrize(("body", "status"), [("return None", 0), ("raise SystemExit(3)", 1)])
def test_policies_that_do_nothing_or_give_up(body, status, log, tmp_path, capsys):
    (tmp_path / "odd.py").write_text(f"class Odd:\n    def decide(self, view):\n        {body}\n")
    with pytest.raises(SystemExit) as stop:
        main(["simulate", "--trace", log, "--nodes", "8", "--policy", "odd.py:Odd", "--no-folder"])
    assert stop.value.code == status
    assert len(capsys.readouterr().err.strip().splitlines()) == 1
