"""A run under an energy budget says which periods drew more."""

import json

import pytest
from click.testing import CliRunner

from wattline.cli.main import cli
from wattline.scenario.build import plan
from wattline.scenario.load import validate

# Four nodes, 100 W idle and 300 W active: 400 W idle. An hour may draw 0.7 kWh: 300 W above idle.
FIELDS = {
    "name": "small", "trace": {"file": ""}, "machine": {"nodes": 4, "node_idle_w": 100,
                                                        "node_active_w": 300},
    "policy": {"power": {"name": "budget", "energy": "0.7kWh", "period": "1h",
                         "strategy": "idle", "periods": 3}, "overrun": "kill"},
}
KWH = 3.6e6
HEADER = "job_id,submit_s,run_s,requested_s,procs\n"


def notes(tmp_path, rows, **budget):
    (tmp_path / "jobs.csv").write_text(HEADER + rows)
    policy = {**FIELDS["policy"], "power": {**FIELDS["policy"]["power"], **budget}}
    fields = FIELDS | {"trace": {"file": str(tmp_path / "jobs.csv")}, "policy": policy}
    return plan(validate(fields)).run().notes


def test_kept_periods_are_counted_and_nothing_is_over(tmp_path):
    found = notes(tmp_path, "1,0,3600,3600,1\n2,0,3600,3600,1\n")
    assert found["budget_periods"] == 2
    assert found["budget_periods_over"] == 0
    assert found["budget_beyond_s"] == 0


def test_a_job_carried_into_the_next_period_is_reported(tmp_path):
    # 1 kWh for two hours is 200 Wh above idle: a node has it in the second hour of a period, and
    # draws 400 Wh in the two hours of the next.
    found = notes(tmp_path, "1,0,1,1,1\n2,3600,10800,10800,1\n", energy="1kWh", period="2h")
    assert found["budget_periods_over"] == 1
    assert abs(found["budget_excess_j"] - 200 * 3600) < 1


def test_jobs_that_no_period_has_room_for_run_when_the_last_is_over(tmp_path):
    (tmp_path / "jobs.csv").write_text(HEADER + "1,0,3600,3600,4\n")
    (tmp_path / "s.toml").write_text(f"""name = "s"
[trace]
file = "{tmp_path / 'jobs.csv'}"
[machine]
nodes = 4
node_idle_w = 100
node_active_w = 300
[policy]
power = {{name = "budget", energy = "0.7kWh", period = "1h", strategy = "idle", periods = 3}}
""")
    result = CliRunner().invoke(cli, ["simulate", str(tmp_path / "s.toml"), "--no-folder"],
                                catch_exceptions=False)
    assert "after the last planned period" in result.stderr


# Ten nodes of 100 W idle and 300 W active: 1 kW idle, 2 kW more for all of them.
TEN = """name = "ten"
[trace]
file = "{jobs}"
[machine]
nodes = 10
node_idle_w = 100
node_active_w = 300
[policy]
power = {{name = "budget", strategy = "idle", {budget}}}
"""


def ten(tmp_path, rows, budget):
    (tmp_path / "jobs.csv").write_text(HEADER + rows)
    path = tmp_path / "ten.toml"
    path.write_text(TEN.format(jobs=tmp_path / "jobs.csv", budget=budget))
    return path


def called(*words):
    result = CliRunner().invoke(cli, [str(word) for word in words], catch_exceptions=False)
    assert result.exit_code == 0, result.stderr
    return result


def test_a_period_that_drew_more_is_named_with_the_job_and_by_how_much(tmp_path):
    """6 kWh for four hours leave 2 kWh above idle: one hour of all nodes. Job 2 wants them for four
    hours and starts an hour before the second period ends, which counts only that hour. The third
    period has its other three: 4 kWh idle and 6 kWh above.
    """
    path = ten(tmp_path, "1,0,60,60,1\n2,10860,14400,14400,10\n3,50400,60,60,1\n",
               'energy = "6kWh", period = "4h", periods = 4')
    result = called("simulate", path, "--out", tmp_path / "run", "--json")
    (over,) = json.loads(result.stdout)["metrics"]["budget"]["over"]
    assert (over["period"], over["start_s"]) == (3, 8 * 3600)
    assert over["excess_j"] == pytest.approx(4 * KWH, rel=1e-3)
    (job,) = over["jobs"]
    assert (job["job_id"], job["why"]) == (2, "was running when the period began")
    assert job["above_idle_j"] == pytest.approx(6 * KWH, rel=1e-3)
    kept = json.loads((tmp_path / "run" / "metrics.json").read_text())["budget"]
    assert kept["over"] == [over]
    said = "drew 10 kWh, 4 kWh more than its energy budget: job 2 (6 kWh above idle; was running"
    assert "period 3 of 4 (from 8 h on)" in result.stderr
    assert said in result.stderr
    called("report", tmp_path / "run")
    page = (tmp_path / "run" / "report" / "index.html").read_text()
    assert said in page
    assert "Beyond the energy budget" in page


def test_a_job_that_starts_without_a_budget_is_named(tmp_path):
    """1.5 kWh an hour leave 0.5 kWh above idle; job 2 needs 2 kWh of each hour, at any time."""
    path = ten(tmp_path, "1,0,60,60,1\n2,0,12600,12600,10\n",
               'energy = "1.5kWh", period = "1h", periods = 4')
    result = called("simulate", path, "--no-folder", "--json")
    budget = json.loads(result.stdout)["metrics"]["budget"]
    (job,) = budget["without"]
    assert (job["job_id"], job["start_s"]) == (2, 4 * 3600)
    assert job["energy_j"] == pytest.approx(10.5 * KWH)
    assert budget["over"] == []
    assert "no period had room for job 2 (10.5 kWh, from 4 h on), which started without a budget" \
        in result.stderr


def test_a_job_that_runs_longer_than_it_asked_for_is_named_for_it(tmp_path):
    """Job 2 starts at once, for 2 kWh by its request of an hour, and draws 6 kWh in three."""
    path = ten(tmp_path, "1,0,60,60,1\n2,0,10800,3600,10\n3,32400,60,60,1\n",
               'energy = "6.1kWh", period = "4h", periods = 3')
    result = called("simulate", path, "--no-folder", "--json")
    (over,) = json.loads(result.stdout)["metrics"]["budget"]["over"]
    assert over["excess_j"] == pytest.approx(3.9 * KWH, rel=1e-2)
    assert [(job["job_id"], job["why"]) for job in over["jobs"]] == [
        (2, "ran longer than requested")]


def test_a_comparison_names_them_too(tmp_path):
    path = ten(tmp_path, "1,0,60,60,1\n2,0,12600,12600,10\n",
               'energy = "1.5kWh", period = "1h", periods = 4')
    result = called("compare", path, path, "--no-report", "--out", tmp_path / "both")
    assert result.stderr.count("no period had room for job 2") == 2
