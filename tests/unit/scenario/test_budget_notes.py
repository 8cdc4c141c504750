"""A run under an energy budget says which periods drew more."""

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
