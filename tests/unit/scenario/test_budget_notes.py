"""A run under an energy budget says which periods drew more."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

from wattline.cli.main import cli
from wattline.physics.budget_terms import EXPIRE, KEEP
from wattline.scenario.budget_notes import allowances_j, period_edges
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
    assert found["budget_jobs_no_room"] == 0


def test_a_job_that_is_carried_over_where_that_is_allowed_is_reported(tmp_path):
    # 1 kWh for two hours is 200 Wh above idle: a node has it in the second hour of a period, and
    # draws 400 Wh in the two hours of the next.
    found = notes(tmp_path, "1,0,1,1,1\n2,3600,10800,10800,1\n", energy="1kWh", period="2h",
                  carry="allow")
    assert found["budget_periods_over"] == 1
    assert abs(found["budget_excess_j"] - 200 * 3600) < 1


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


FULL_MACHINE = "1,0,60,60,1\n2,10860,14400,14400,10\n3,50400,60,60,1\n"
SIX = 'energy = "6kWh", period = "4h", periods = 4'


@pytest.mark.usefixtures("unpainted")
def test_a_full_machine_just_before_a_period_ends_does_not_exceed_the_next(tmp_path):
    """6 kWh for four hours leave 2 kWh above idle: one hour of all nodes. Job 2 wants them for four
    hours: of two periods it would need 4 kWh each at the best moment. It is refused, with both.
    """
    path = ten(tmp_path, FULL_MACHINE, SIX)
    result = called("simulate", path, "--out", tmp_path / "run", "--json")
    found = json.loads(result.stdout)["metrics"]["budget"]
    assert found["over"] == []
    (job,) = found["no_room"]
    assert (job["job_id"], job["state"]) == (2, "refused")
    assert (job["needs_j"], job["gives_j"]) == (pytest.approx(4 * KWH), pytest.approx(2 * KWH))
    assert [row["budget_j"] for row in found["by_period"]] == 4 * [6 * KWH]
    assert all(row["energy_j"] <= 6 * KWH for row in found["by_period"])
    said = ("it needs 4 kWh above idle power in one period, and the most that a period gives is "
            "2 kWh")
    assert "it is job 2 (10 nodes): " + said in result.stderr
    assert json.loads((tmp_path / "run" / "metrics.json").read_text())["budget"] == found
    called("report", tmp_path / "run")
    page = (tmp_path / "run" / "report" / "index.html").read_text()
    assert "Energy budget by period" in page
    assert "refused: no period has room, the most that one gives is 2 kWh above idle" in page


def test_a_job_that_two_periods_share_starts_when_both_have_its_joules(tmp_path):
    """Half the machine for four hours is 2 kWh of each of two periods, from the middle of one on.
    """
    path = ten(tmp_path, "1,0,60,60,1\n2,10860,14400,14400,5\n3,50400,60,60,1\n", SIX)
    found = json.loads(called("simulate", path, "--no-folder", "--json").stdout)["metrics"]
    assert found["budget"]["over"] == found["budget"]["no_room"] == []
    drawn = [row["energy_j"] / KWH for row in found["budget"]["by_period"]]
    assert drawn[1:3] == [pytest.approx(6.0), pytest.approx(6.0)]


@pytest.mark.usefixtures("unpainted")
def test_a_period_that_drew_more_is_named_with_the_job_and_by_how_much(tmp_path):
    """Carrying over is allowed: job 2 starts an hour before the first period ends, which
    counts only that hour. The second has its other three: 4 kWh idle and 6 kWh above.
    """
    path = ten(tmp_path, FULL_MACHINE, SIX + ', carry = "allow"')
    result = called("simulate", path, "--out", tmp_path / "run", "--json")
    (over,) = json.loads(result.stdout)["metrics"]["budget"]["over"]
    assert (over["period"], over["start_s"]) == (2, 4 * 3600)
    assert over["excess_j"] == pytest.approx(4 * KWH, rel=2e-2)
    (job,) = over["jobs"]
    assert (job["job_id"], job["why"]) == (2, "was running when the period began")
    assert job["above_idle_j"] == pytest.approx(6 * KWH, rel=2e-2)
    kept = json.loads((tmp_path / "run" / "metrics.json").read_text())["budget"]
    assert kept["over"] == [over]
    said = "more than its energy budget: job 2 ("
    assert "period 2 of 4 (from 4 h on)" in result.stderr
    assert said in result.stderr
    called("report", tmp_path / "run")
    page = (tmp_path / "run" / "report" / "index.html").read_text()
    assert said in page
    assert "Beyond the energy budget" in page


NO_ROOM = "1,0,60,60,1\n2,0,12600,12600,10\n3,0,3600,3600,1\n"
SMALL = 'energy = "1.5kWh", period = "1h", periods = 2'


def test_a_job_that_no_period_has_room_for_never_starts_without_a_budget(tmp_path):
    """1.5 kWh an hour leave 0.5 kWh above idle; job 2 needs 2 kWh of each hour, at any time."""
    found = json.loads(called("simulate", ten(tmp_path, NO_ROOM, SMALL), "--no-folder",
                              "--json").stdout)["metrics"]
    (job,) = found["budget"]["no_room"]
    assert (job["job_id"], job["state"]) == (2, "refused")
    assert (job["needs_j"], job["gives_j"]) == (pytest.approx(2 * KWH), pytest.approx(KWH / 2))
    assert found["jobs"]["completed"] == 2


def test_a_job_without_room_can_be_held_and_holds_up_nobody(tmp_path):
    path = ten(tmp_path, NO_ROOM, SMALL + ', no_room = "hold"')
    result = called("simulate", path, "--no-folder", "--json")
    found = json.loads(result.stdout)["metrics"]
    assert [job["state"] for job in found["budget"]["no_room"]] == ["held"]
    assert found["jobs"]["completed"] == 2
    assert found["makespan_s"] == pytest.approx(3600.0)
    assert ("1 of 3 jobs was held because no period of the energy budget has room; the first is "
            "job 2: it needs 2 kWh") in result.stderr


def test_the_period_of_the_start_can_be_charged_with_all_of_a_job(tmp_path):
    """One node for four hours is 0.8 kWh of the 2 kWh; two fit in a period, a third one waits."""
    path = ten(tmp_path, "".join(f"{n},{10800 + n},14400,14400,1\n" for n in (1, 2, 3)),
               SIX + ', carry = "charge-now"')
    found = json.loads(called("simulate", path, "--no-folder", "--json").stdout)["metrics"]
    charged = [row["charged_j"] / KWH for row in found["budget"]["by_period"]]
    assert charged[:2] == [pytest.approx(5.6), pytest.approx(4.8)]
    assert found["budget"]["over"] == []


def test_unspent_joules_expire_or_are_carried_on(tmp_path):
    """All nodes for two hours need 4 kWh above idle, of which a period of four hours gives two."""
    rows = "1,0,60,60,1\n2,60,7200,7200,10\n"
    budgets = [SIX + f', unspent = "{unspent}", carry = "charge-now"'
               for unspent in ("expire", "carry")]
    lost, kept = (json.loads(called("simulate", ten(tmp_path, rows, budget), "--no-folder",
                                    "--json").stdout)["metrics"] for budget in budgets)
    assert [job["job_id"] for job in lost["budget"]["no_room"]] == [2]
    assert kept["budget"]["no_room"] == kept["budget"]["over"] == []
    assert kept["budget"]["by_period"][-1]["budget_j"] > 9.9 * KWH
    assert kept["jobs"]["completed"] == 2


def test_periods_go_on_after_the_last_planned_one_and_it_is_said(tmp_path):
    """Of two hours the second is cheap; the jobs of three days wait for it every time."""
    (tmp_path / "price.csv").write_text("time_s,price (EUR/MWh)\n0,100\n3600,10\n")
    rows = "".join(f"{n},{n * 7200},1800,1800,5\n" for n in range(1, 9))
    path = ten(tmp_path, rows, 'energy = "2.6kWh", period = "2h", price = "price.csv"')
    result = called("simulate", path, "--no-folder", "--json")
    found = json.loads(result.stdout)["metrics"]
    assert (found["budget"]["planned"], found["budget"]["over"]) == (1, [])
    assert found["wait_s"]["mean"] == pytest.approx(3600.0)
    assert "prices are known for 1 of 8 periods of the energy budget; later ones are planned " \
        "like period 1" in result.stderr


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
    path = ten(tmp_path, NO_ROOM, SMALL)
    result = called("compare", path, path, "--no-report", "--out", tmp_path / "both")
    assert result.stderr.count("it is job 2 (10 nodes): it needs 2 kWh above idle") == 2


def test_a_period_has_what_the_ones_before_it_left_and_owes_nothing_for_what_they_drew_more():
    """100 J each: 60 are left of the first; the second draws 300 of 160, and the third has 100."""
    counted_j = np.array([40.0, 300.0, 50.0, 0.0])
    carried = SimpleNamespace(energy_j=100.0, unspent=KEEP)
    assert allowances_j(carried, counted_j).tolist() == [100.0, 160.0, 100.0, 150.0]
    expired = SimpleNamespace(energy_j=100.0, unspent=EXPIRE)
    assert allowances_j(expired, counted_j).tolist() == [100.0] * 4


@pytest.mark.parametrize(("until_s", "edges"), [
    (5.0, [5.0, 15.0]), (14.0, [5.0, 15.0]), (15.0, [5.0, 15.0]), (16.0, [5.0, 15.0, 25.0])])
def test_a_run_that_ends_with_a_period_has_no_further_one(until_s, edges):
    budget = SimpleNamespace(start_s=5.0, length_s=10.0)
    assert period_edges(budget, until_s).tolist() == edges
