"""The state of an energy budget at a time: what is drawn, promised and left, and who waits."""

import json

import pytest
from click.testing import CliRunner
from tests.support.printed import columns

import wattline as wl
from wattline.cli.main import cli

KWH = 3.6e6
# Ten nodes of 100 W idle and 300 W active: 1 kW idle. 6 kWh for four hours leave 2 kWh above it.
SCENARIO = """name = "ten"
[trace]
file = "jobs.csv"
[machine]
nodes = 10
node_idle_w = 100
node_active_w = 300
[policy]
power = {name = "budget", strategy = "idle", energy = "6kWh", period = "4h", no_room = "hold"}
"""
JOBS = """job_id,submit_s,run_s,requested_s,procs
1,0,9000,10800,2
2,0,7200,7200,3
3,60,14400,14400,10
4,3600,3600,3600,9
"""


@pytest.fixture
def scenario(tmp_path):
    (tmp_path / "jobs.csv").write_text(JOBS)
    (tmp_path / "ten.toml").write_text(SCENARIO)
    return tmp_path / "ten.toml"


def test_periods_have_what_is_drawn_and_promised_and_jobs_wait_with_a_reason(scenario):
    """At one hour job 1 has drawn 0.4 kWh above idle and may draw 0.8 kWh more by its request. Of
    6 kWh 4 are idle power: 0.8 kWh are left, and job 2 needs 1.2.
    """
    found = wl.energy_status(scenario, at="1h")
    now = found.now
    assert (now.period, now.budget_j) == (1, 6 * KWH)
    assert now.drawn_j == pytest.approx(1.4 * KWH)
    assert now.idle_j == pytest.approx(3 * KWH)
    assert now.promised_j == pytest.approx(0.8 * KWH)
    assert now.left_j == pytest.approx(0.8 * KWH)
    assert [(job.job_id, job.for_energy, job.why.split(":")[0]) for job in found.waiting] == [
        (2, True, "energy"), (3, True, "held"), (4, False, "nodes")]
    assert found.waiting[0].needs_j == pytest.approx(1.2 * KWH)


def test_a_job_that_no_period_has_room_for_is_listed_with_what_it_needs(scenario):
    (job,) = (job for job in wl.energy_status(scenario, at="2m").waiting if job.job_id == 3)
    assert job.for_energy
    assert job.why == "held: no period has room for it"
    assert (job.nodes, job.needs_j) == (10, pytest.approx(4 * KWH))


def test_the_command_prints_the_same_of_a_run_folder(scenario, tmp_path):
    called = CliRunner().invoke(cli, ["simulate", str(scenario), "--out", str(tmp_path / "run")],
                                catch_exceptions=False)
    assert called.exit_code == 0
    result = CliRunner().invoke(cli, ["energy", "status", str(tmp_path / "run"), "--at", "2m",
                                      "--json"], catch_exceptions=False)
    found = json.loads(result.stdout)
    assert found["now"]["period"] == 1
    assert found["waiting"] == list(wl.energy_status(scenario, at="2m").to_dict()["waiting"])
    text = CliRunner().invoke(cli, ["energy", "status", str(tmp_path / "run"), "--at", "2m"])
    assert "held: no period has room for it" in text.output
    text = CliRunner().invoke(cli, ["energy", "status", str(tmp_path / "run"), "--at", "1h"])
    assert columns(text.output, "period", "begins", "budget", "drawn", "idle to come", "promised",
                   "left")[0] == ("1", "0 s", "6 kWh", "1.4 kWh", "3 kWh", "800 Wh", "800 Wh")
    assert columns(text.output, "job", "nodes", "waits", "needs")[0] == (
        "2", "3", "01:00:00", "1.2 kWh")
    assert columns(text.output, "why")[1] == ("held: no period has room for it",)


def test_a_run_without_a_budget_is_refused(scenario, tmp_path):
    plain = tmp_path / "plain.toml"
    plain.write_text(SCENARIO.split("[policy]", maxsplit=1)[0])
    with pytest.raises(wl.InputError, match="this run has no energy budget"):
        wl.energy_status(plain)
