"""Each figure of an answer stands below its heading, in its unit: answers are made up."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from tests.support.commands import ok
from tests.support.printed import columns

from wattline.advice import energy, energy_metered
from wattline.cli import advise_futures, bid, live_power, network, regulate, replay, twin_judge
from wattline.cli.account import bill
from wattline.cli.sensors.read import command as read_command
from wattline.controller import speaking
from wattline.controller.testbed import bed, replaying
from wattline.grid.qos import TypeQuality
from wattline.live import reading
from wattline.model.local_time import zone_of
from wattline.policies.control import Control

Capture = pytest.CaptureFixture[str]
WH = 3600.0


@pytest.fixture
def answered(monkeypatch: pytest.MonkeyPatch) -> None:
    """A controller of two accounts and two applications, with a job that runs and one that waits.
    """
    answers = {
        "energy": {"drawn_j": 900 * WH, "power_w": 800.0, "budget": None,
                   "running": [{"job": 7, "power_w": 200.0, "energy_j": 300 * WH}],
                   "waiting": [{"job": 8, "why": "energy", "needs_j": 400 * WH}]},
        "fairshare": {"accounts": [
            {"name": "phys", "parent": "", "share": 0.25, "usage_j": 600 * WH, "factor": 0.5},
            {"name": "ann", "parent": "phys", "share": 0.75, "usage_j": 500 * WH, "factor": 0.7}],
            "waiting": [{"job": 8, "user": "ann", "account": "phys", "priority": 0.9}]},
        "applications": {"applications": {
            "cg": {"running": 2, "waiting": 3, "node_w": 210.0},
            "": {"running": 4, "waiting": 5, "node_w": 220.0}}},
    }
    monkeypatch.setattr(speaking, "live_order", lambda config, kind: SimpleNamespace(
        result={"remarks": [], **answers[kind]}))


@pytest.mark.usefixtures("answered")
def test_jobs_of_a_controller_have_power_and_energy(tmp_path: Path, capsys: Capture) -> None:
    live_power.show_energy(tmp_path, as_json=False)
    said = capsys.readouterr().out
    assert columns(said, "job", "power", "energy") == [("7", "200 W", "300 Wh")]
    assert columns(said, "job", "waits for", "needs in this period") == [("8", "energy", "400 Wh")]


@pytest.mark.usefixtures("answered")
def test_accounts_of_a_controller_have_share_usage_and_factor(
    tmp_path: Path, capsys: Capture
) -> None:
    live_power.show_shares(tmp_path, as_json=False)
    said = capsys.readouterr().out
    assert columns(said, "account", "parent", "share", "usage", "factor") == [
        ("phys", "-", "0.25", "600 Wh", "0.5"), ("ann", "phys", "0.75", "500 Wh", "0.7")]
    assert columns(said, "job", "user", "account", "priority") == [("8", "ann", "phys", "0.9")]


@pytest.mark.usefixtures("answered")
def test_an_application_has_the_least_power_that_is_claimed_of_it(
    tmp_path: Path, capsys: Capture
) -> None:
    claims = [SimpleNamespace(application=name, node_class="xeon", setting="as is", time_s=5.0,
                              power_w=power_w, runs=1)
              for name, power_w in (("cg", 150.0), ("cg", 120.0), ("lu", 90.0))]
    live_power.show_claims(tmp_path, claims, as_json=False)
    assert columns(capsys.readouterr().out, "application", "running", "waiting",
                   "W/node by request", "claims", "W claimed") == [
        ("(none)", "4", "5", "220", "0", "-"), ("cg", "2", "3", "210", "2", "120")]


def test_a_budget_that_is_tried_has_tonnes_and_what_became_of_jobs(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    run = {"energy_j": 700 * WH, "cost": 1.5, "carbon_g": 2.5e6, "wait_s": 61.0,
           "makespan_s": 3601.0, "excess_j": 200 * WH, "jobs_run": 9, "jobs_killed": 2,
           "jobs_refused": 1}
    found = SimpleNamespace(remarks=(), machine="ten nodes", currency="EUR",
                            budget=SimpleNamespace(energy_j=500 * WH, end_s=7200.0, mean_w=250.0),
                            runs={"no limit": run, "cap": run | {"carbon_g": None}})
    monkeypatch.setattr(energy, "try_budget", lambda **_: found)
    said = ok(capsys, "energy", "budget", "--energy", "500Wh", "--nodes", 10, "--node-idle-w", 100,
              "--node-active-w", 200)
    assert columns(said, "limit", "energy", "cost", "carbon t", "mean wait", "makespan",
                   "over budget", "jobs", "killed", "refused") == [
        ("no limit", "700 Wh", "1.5", "2.5", "00:01:01", "01:00:01", "200 Wh", "9", "2", "1"),
        ("cap", "700 Wh", "1.5", "-", "00:01:01", "01:00:01", "200 Wh", "9", "2", "1")]


def test_a_period_of_meters_has_what_is_left_or_over(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    start_s = 1_791_194_400.0  # 2026-10-05T10:00 UTC
    found = SimpleNamespace(remarks=(), source="meters", zone=zone_of("UTC"), periods=[
        SimpleNamespace(period=number, start_s=start_s, seen=0.5, budget_j=500 * WH,
                        drawn_j=drawn * WH, left_j=(500 - drawn) * WH)
        for number, drawn in ((1, 400), (2, 800))])
    monkeypatch.setattr(energy_metered, "energy_metered", lambda **_: found)
    said = ok(capsys, "energy", "metered", "--store", "x", "--energy", "500Wh", "--start",
              "2026-10-05")
    assert columns(said, "period", "begins", "seen", "budget", "drawn", "left", "over") == [
        ("1", "2026-10-05 10:00+00:00", "50%", "500 Wh", "400 Wh", "100 Wh", ""),
        ("2", "2026-10-05 10:00+00:00", "50%", "500 Wh", "800 Wh", "0 Wh", "300 Wh")]


def test_a_view_of_a_bill_has_what_is_metered_and_what_is_assigned(capsys: Capture) -> None:
    view = {"view": "power", "entity": "pdu1", "nodes": 3, "metered_j": 900 * WH, "coverage": 0.9,
            "assigned_j": 700 * WH, "difference_j": 200 * WH, "residual": 0.25}
    bill._print(SimpleNamespace(
        currency="", money=None, carbon_g=None, accounts=[], views=[view], jobs_j=1.0, idle_j=1.0,
        overhead_j=0.0, unattributed_j=None, metered_j=None, meter="", residual=None,
        period=SimpleNamespace(said=lambda: "of a day")))
    assert columns(capsys.readouterr().out, "view", "entity", "nodes", "metered", "coverage",
                   "assigned", "difference", "residual") == [
        ("power", "pdu1", "3", "900 Wh", "90.0%", "700 Wh", "200 Wh", "25.0%")]


def test_a_twin_is_judged_beside_the_least_and_the_most_of_the_runs(capsys: Capture) -> None:
    def apart(median_s: float, p90_s: float) -> SimpleNamespace:
        return SimpleNamespace(median_s=median_s, p90_s=p90_s)

    twin_judge._print(SimpleNamespace(
        runs=3, phases=2, left_out=(), submitted_again=(), phases_known="read", starts_pass=True,
        between_runs=apart(1.04, 2.06), widest_runs=apart(3.0, 4.0), to_twin=apart(5.0, 6.0),
        waits=[SimpleNamespace(by="user", group="ann", jobs=4, runs_s=(10.04, 30.0, 20.06),
                               twin_s=15.02, error=-0.25, passes=False)]))
    said = capsys.readouterr().out
    assert columns(said, "by", "group", "jobs", "runs, least", "runs, most", "twin", "error",
                   "") == [("user", "ann", "4", "10", "30", "15", "-25.0%", "FAILS")]
    assert columns(said, "starts of the same job", "median, s", "p90, s") == [
        ("two runs", "1", "2.1"), ("two runs, furthest apart", "3", "4"),
        ("a run and the twin", "5", "6")]


def test_a_run_of_submissions_has_its_mean_wait_and_the_latest_submission(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Capture
) -> None:
    run = SimpleNamespace(number=1, jobs=[1, 2, 3], refused=[1], mean_wait_s=12.34, not_awaited=(),
                          to_dict=lambda: {"load_mean": 0.56, "submission_late_s_max": 0.123})
    monkeypatch.setattr(replaying, "replay", lambda *_, **__: SimpleNamespace(runs=[run]))
    for name in ("slurm.conf", "events"):
        (tmp_path / name).write_text("")
    said = ok(capsys, "testbed", "replay", "--slurm-conf", tmp_path / "slurm.conf", "--events",
              tmp_path / "events", "--out", tmp_path / "out")
    assert columns(said, "run", "jobs", "refused", "mean wait, s", "load",
                   "latest submission, s") == [("1", "3", "1", "12.3", "0.6", "0.12")]


def test_daemons_of_a_test_cluster_run_or_are_gone(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """One of two slurmd that runs is not enough."""
    monkeypatch.setattr(bed, "status", lambda folder: SimpleNamespace(
        nodes={}, jobs=None, daemons={"munged": True, "slurmctld": False, "slurmd.n1": True,
                                      "slurmd.n2": False}))
    assert columns(ok(capsys, "testbed", "status"), "daemon", "state") == [
        ("munged", "runs"), ("slurmctld", "gone"), ("slurmd (1 of 2)", "gone")]


def test_a_sensor_has_its_reading_and_why_it_is_doubted(monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"sensor": "powercap", "channel": "package-0", "domain": "cpu", "power_w": 41.5,
           "quality": "ok", "reason": "", "chosen": True}
    doubted = row | {"channel": "dram", "domain": "memory", "power_w": None, "quality": "suspect",
                     "reason": "still", "chosen": False}
    monkeypatch.setattr(reading, "look", lambda *_, **__: SimpleNamespace(
        rows=[row, doubted], choice=None, absent={}))
    said = CliRunner().invoke(read_command, [], catch_exceptions=False).stdout
    assert columns(said, "sensor", "channel", "domain", "now", "quality", "chosen") == [
        ("powercap", "package-0", "cpu", "41.5 W", "ok", "yes"),
        ("powercap", "dram", "memory", "-", "suspect: still", "")]


FACILITY = {"pue": 1.0, "meter_noise": 0.0, "latency_s": 0.0}
ANSWER = {"currency": "", "facility": FACILITY, "reason": "", "planned_on": None, "assumed": [],
          "planned_on_hours": 0, "least_offer": "", "bound": None, "remedy": None,
          "other_hours": None}


def test_a_type_of_jobs_has_its_degradation_and_violations(capsys: Capture) -> None:
    """Of a type without jobs there is nothing to judge."""
    case = SimpleNamespace(workload=SimpleNamespace(name="mix", servers=9), policy="aqa",
                           credited=False, end_s=3600.0, judged_s=0.0, warmup_s=0.0)
    regulate._print(
        {**ANSWER, "average_power_w": None, "cost": 1.0, "saving": None,
         "saving_against_uncontrolled": 0.0, "programme": None, "participates": False},
        SimpleNamespace(case=case, quality=(TypeQuality("cg", 20, 3, 0.15, 4.0, 1.5, 2.5),
                                            TypeQuality("lu", 0, 0, 0.0, 5.0, 0.0, 0.0))))
    # Met are the limits of a type while at most 10 % of its jobs reach the threshold.
    assert columns(capsys.readouterr().out, "type", "jobs", "unfinished", "mean Q", "threshold",
                   "violations", "met") == [("cg", "20", "3", "1.5", "4", "15.0%", "NO"),
                                            ("lu", "0", "0", "-", "5", "-", "-")]


def test_bids_that_were_tried_stand_by_cost_those_that_fail_last(capsys: Capture) -> None:
    trials = [SimpleNamespace(average_w=1000.4, reserve_w=200.6, cost=0.5, feasible=False,
                              why="too late; too slow; too little"),
              SimpleNamespace(average_w=1100.0, reserve_w=300.0, cost=0.75, feasible=True, why="")]
    decision = SimpleNamespace(reason="", bid=None, nearest=None, outcome=None, trials=trials)
    bid._print(ANSWER, decision)
    assert columns(capsys.readouterr().out, "average W", "reserve W", "meets all", "what fails",
                   "cost in units of the prices") == [
        ("1,100", "300", "yes", "", "0.75"), ("1,000", "201", "no", "too late (and 2 more)", "0.5")]


def test_what_a_journal_and_this_version_decided_stand_below_one_another(capsys: Capture) -> None:
    def start(job: int) -> SimpleNamespace:
        return SimpleNamespace(kind="start", job=job, rate=1.0, power_w=250.0,
                               control=Control(units=2))

    replay._print_difference(SimpleNamespace(step=3, time_s=60.0, journal=[start(1), start(2)],
                                             here=[start(1)]))
    assert columns(capsys.readouterr().out, "", "decided") == [
        ("journal", "start 2 (1, 250 W, units 2)"), ("here", "nothing")]


def test_a_placement_that_is_tried_has_microseconds_and_megabytes(capsys: Capture) -> None:
    network._print_trial({
        "machine": "small", "placement": "nedd", "routing": "minimal", "model": "flow",
        "remarks": [],
        "jobs": [{"name": "a", "nodes": [1, 2, 3], "routers": 2, "groups": 1, "time_s": 5e-5,
                  "alone_s": 4e-5, "stretch": 1.25, "host_list": "n[1-3]"}],
        "hot_spots": [{"link": "r0 to r1", "busy_s": 3e-5, "bytes": 7e6}]})
    said = capsys.readouterr().out
    assert columns(said, "job", "nodes", "routers", "groups", "time us", "own links us", "stretch",
                   "where") == [("a", "3", "2", "1", "50", "40", "1.25", "n[1-3]")]
    assert columns(said, "hot spots", "busy us", "MB") == [("r0 to r1", "30", "7")]


def test_a_start_has_a_probability_by_time_unless_it_is_beyond_the_horizon(
    capsys: Capture,
) -> None:
    middle = {"p10": 60.0, "p50": 120.0, "p90": 180.0}
    advise_futures._print_start(SimpleNamespace(
        job=8, state="waiting", start_s=middle, by={"1 h": 0.25, "1 d": None}, energy_j=middle,
        cost=None, carbon_g=None, currency="", assumed=()))
    assert columns(capsys.readouterr().out, "starts within", "probability") == [
        ("1 h", "25%"), ("1 d", "unknown: beyond the horizon")]


def test_a_server_lists_who_has_a_token_and_in_which_role(tmp_path: Path, capsys: Capture) -> None:
    tokens = ("--tokens", tmp_path / "tokens")
    ok(capsys, "serve", "token", "add", "ann", "--role", "operator", *tokens)
    assert columns(ok(capsys, "serve", "token", "list", *tokens), "name", "role") == [
        ("ann", "operator")]


def test_a_policy_is_listed_with_where_it_is_from(capsys: Capture) -> None:
    assert columns(ok(capsys, "policies"), "name", "from")[0] == ("fcfs", "wattline")


def test_a_parameter_has_its_kind_unit_range_and_default(capsys: Capture) -> None:
    rows = columns(ok(capsys, "policies", "budget"), "parameter", "kind", "unit", "range",
                   "default")
    assert {row[0]: row[1:] for row in rows}["period"] == (
        "number", "s", ">= 1, <= 1e+12", "604800")


def test_the_nets_that_are_built_in_are_listed(capsys: Capture) -> None:
    assert ("puppet",) in columns(ok(capsys, "petri", "list"), "net")


def test_a_run_has_its_metrics_in_their_units(tmp_path: Path, capsys: Capture) -> None:
    """Two jobs of all ten nodes of 300 W, one after the other: 3 kW for half an hour."""
    (tmp_path / "jobs.csv").write_text("job_id,submit_s,run_s,requested_s,procs\n"
                                       "1,0,600,600,10\n2,0,1200,1200,10\n")
    scenario = tmp_path / "ten.toml"
    scenario.write_text('[trace]\nfile = "jobs.csv"\n[machine]\nnodes = 10\n'
                        "node_idle_w = 100\nnode_active_w = 300\n")
    rows = dict(columns(ok(capsys, "simulate", scenario), "metric", "value"))
    assert [rows[name] for name in ("utilisation", "energy", "mean power", "peak power")] == [
        "100.0%", "1.5 kWh", "3 kW", "3 kW"]
