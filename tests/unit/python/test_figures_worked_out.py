"""Figures of answers, each worked out by hand from an input that is small enough for it."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from tests.support.commands import ok

import wattline as wl
from wattline.advice.futures.history import History, Look
from wattline.advice.limits import Limits
from wattline.advice.power import PowerNow
from wattline.controller.testbed.joules import LifeJoules
from wattline.controller.testbed.replaying import ReplayedRun
from wattline.live.choice import choose
from wattline.live.reading import Looked
from wattline.live.sensor import Channel
from wattline.model.jobs import JobTable
from wattline.physics.powercap import PowerStatus
from wattline.traces import Trace
from wattline.twin.judging import judge
from wattline.twin.real_runs import RealRun

NAN = math.nan
MACHINE = wl.Machine(nodes=10, node_idle_w=100, node_active_w=300)
HEAD = "JobID|User|Account|State|Start|End|NNodes|NodeList|AllocTRES\n"


def test_a_log_in_figures() -> None:
    """Three jobs: 2 x 50 + 4 x 100 + 1 x 200 = 700 processor seconds, in 300 s of submissions."""
    jobs = JobTable.build(
        submit_s=[100.0, 200.0, 400.0], run_s=[50.0, 100.0, 200.0], procs=[2, 4, 1],
        requested_s=[100.0, 100.0, 800.0], power_w=[200.0, NAN, 300.0], user=[0, 1, 0],
        group=[0, 0, 0], queue=[1, 0, 2])
    found = wl.describe_trace(Trace(jobs, source="by hand"), machine_procs=4)
    assert (found["source"], found["jobs"], found["machine_procs"]) == ("by hand", 3, 4)
    assert (found["first_submit_s"], found["last_submit_s"], found["span_s"]) == (
        100.0, 400.0, 300.0)
    assert found["proc_s"] == 700.0
    assert found["offered_load"] == pytest.approx(700.0 / (4 * 300.0))
    assert (found["users"], found["groups"], found["queues"]) == (2, 1, 3)
    assert (found["dependencies"], found["with_power"]) == (0, 2)
    of = found["quantiles"]
    assert (of["used_of_request"]["p0"], of["used_of_request"]["p50"],
            of["used_of_request"]["p100"]) == (0.25, 0.5, 1.0)
    assert of["used_of_request"]["mean"] == pytest.approx((0.5 + 1.0 + 0.25) / 3)
    # Of the two jobs whose power is known: 200 W of two processors and 300 W of one.
    assert (of["power_w_per_proc"]["p0"], of["power_w_per_proc"]["mean"],
            of["power_w_per_proc"]["p100"]) == (100.0, 200.0, 300.0)
    assert (of["gap_s"]["p0"], of["gap_s"]["mean"], of["gap_s"]["p100"]) == (100.0, 150.0, 200.0)
    assert of["procs"]["mean"] == pytest.approx(7 / 3)


def test_the_users_queues_and_groups_of_jobs_that_name_none_are_not_counted() -> None:
    jobs = JobTable.build(submit_s=[0.0, 1.0], run_s=[1.0, 1.0], requested_s=[1.0, 1.0],
                          procs=[1, 1], user=[-1, 0])
    found = wl.describe_trace(Trace(jobs))
    assert (found["users"], found["queues"], found["offered_load"]) == (1, 0, None)


def test_what_a_cap_costs_beside_the_run_without_one() -> None:
    """Two jobs of five nodes and 100 s. At once 3,000 W, 300 kJ, no wait and a slowdown of 1; one
    after the other 2,000 W, 400 kJ, 0 s and 100 s of wait, slowdowns of 1 and 2."""
    jobs = JobTable.build(submit_s=[0.0, 0.0], run_s=[100.0, 100.0], requested_s=[100.0, 100.0],
                          procs=[5, 5])
    found = wl.advise_cap(Trace(jobs), Limits(wait="50s"), machine=MACHINE,
                          policies=["block"]).to_dict()
    assert found["without_cap"] == {"wait_s": 0.0, "slowdown": 1.0, "energy_j": 300_000.0,
                                    "refused": 0}
    block = found["policies"]["block"]
    assert block["energy_ratio"] == pytest.approx(4 / 3)
    assert block["slowdown_ratio"] == pytest.approx(1.5)
    assert block["wait_ratio"] == math.inf
    assert block["refused"] == 0
    assert block["share_of_peak"] == pytest.approx(block["cap_w"] / 3000.0)
    assert (found["peak_w"], found["idle_w"]) == (3000.0, 1000.0)
    least = block["tried"][0]
    assert least["cap_w"] < 2000.0
    assert (least["refused"], least["above_cap_s"]) == (2, 0.0)
    assert least["broken"] == ["wait", "refused"]  # of no job there is no wait


def test_joules_are_planned_for_the_cheap_hours_first_and_weighed_beside_a_flat_power(
    tmp_path: Path
) -> None:
    """48 kWh of a day are 2 kW flat. Ten nodes draw 0.9 to 3 kW: in the twelve cheap hours 36 kWh,
    and 12 kWh in the others. At 100 and 300 g, and 0.1 and 0.3 EUR a kWh."""
    grams, prices = tmp_path / "g.csv", tmp_path / "p.csv"
    grams.write_text("time_s,carbon intensity (gCO2/kWh)\n0,100\n43200,300\n86400,300\n")
    prices.write_text("time_s,price (EUR/kWh)\n0,0.1\n43200,0.3\n86400,0.3\n")
    found = wl.plan_energy("48kWh", period="1d", price=str(prices), carbon=str(grams),
                           machine=wl.Machine(nodes=10, node_idle_w=90, node_active_w=300))
    said = found.to_dict()
    assert found.flat_w == pytest.approx(2000.0)
    assert (said["budget_j"], said["planned_j"]) == pytest.approx((48 * 3.6e6, 48 * 3.6e6))
    assert said["carbon_g"] == pytest.approx(36 * 100 + 12 * 300)
    assert said["carbon_g_flat"] == pytest.approx(24 * 100 + 24 * 300)
    assert said["cost"] == pytest.approx(3.6 + 3.6)
    assert said["cost_flat"] == pytest.approx(2.4 + 7.2)
    assert said["currency"] == "EUR"
    drawn = [(slot["end_s"] - slot["start_s"]) * slot["power_w"] for slot in said["slots"]]
    assert sum(drawn) == pytest.approx(48 * 3.6e6)


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    """An hour each on nodes of their own: jobs 1 and 2 with joules of meters (90 and 100 kJ) and of
    Slurm (108 and 95 kJ), 3 of its meter alone (60 kJ), 4 of Slurm alone (36 kJ). 5 has none."""
    jobs = [("1", "ann", "phys", "n1", "108000"), ("2", "ann", "phys", "n2", "95000"),
            ("3", "bob", "chem", "n3", ""), ("4", "bob", "chem", "n4", "36000"),
            ("5", "bob", "chem", "n5", "")]
    (tmp_path / "dump.txt").write_text(HEAD + "".join(
        f"{label}|{user}|{account}|COMPLETED|2026-10-05T10:00:00|2026-10-05T11:00:00|1|{node}|"
        + (f"energy={joules}" if joules else "") + "\n"
        for label, user, account, node, joules in jobs))
    power = {"n1": 90_000, "n2": 100_000, "n3": 60_000}
    (tmp_path / "power.csv").write_text("time,node,joules\n" + "".join(
        f"2026-10-05T{10 + at // 60}:{at % 60:02d}:00,{node},{joules * at / 60}\n"
        for node, joules in power.items() for at in range(0, 121, 5)))
    wl.account_import([tmp_path / "dump.txt", tmp_path / "power.csv"], zone="UTC", cluster="c",
                      store=tmp_path / "s.db", rules={"idle_w": 10})
    return tmp_path / "s.db"


@pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
def test_meters_beside_slurm(ledger: Path) -> None:
    """Slurm's joules lie 20 % above the meters' of job 1, and 5 % below those of job 2."""
    found = wl.account_compare(ledger).to_dict()
    assert {row["job"]: row["apart"] for row in found["rows"]} == pytest.approx(
        {"1": 0.2, "2": -0.05})
    assert {row["job"]: (row["series_j"], row["slurm_j"]) for row in found["rows"]} == {
        "1": (90_000.0, 108_000.0), "2": (100_000.0, 95_000.0)}
    assert (found["only_series"], found["only_slurm"]) == (1, 1)
    assert found["apart_median"] == pytest.approx(0.125)
    assert found["apart_max"] == pytest.approx(0.2)


@pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
def test_a_bill_divides_what_no_job_held_by_the_joules_of_accounts(ledger: Path) -> None:
    """Of 286 kJ phys has 190 and chem 96. After eleven the three nodes drew as before: 10 W x
    3,600 s x 3 of it are idle power, that nobody held them for. Held with a job they drew as much
    idle power, in two jobs of phys and one of chem. 0.36 EUR a kWh are 0.1 EUR a MJ, and the
    building takes a half more."""
    bill = wl.account_bill(ledger, "2026-10-05", zone="UTC", price="0.36EUR", pue=1.5)
    rows = {row["account"]: row for row in bill.accounts}
    assert {name: row["energy_j"] for name, row in rows.items()} == {
        "phys": 190_000.0, "chem": 96_000.0}
    assert {name: row["idle_share"] for name, row in rows.items()} == pytest.approx(
        {"phys": 190 / 286, "chem": 96 / 286})
    assert {name: row["held_idle_j"] for name, row in rows.items()} == {
        "phys": 72_000.0, "chem": 36_000.0}
    assert bill.idle_j == pytest.approx(3 * 36_000.0)
    assert {name: row["idle_share_j"] for name, row in rows.items()} == pytest.approx(
        {"phys": 108_000 * 190 / 286, "chem": 108_000 * 96 / 286})
    assert {name: row["without_joules"] for name, row in rows.items()} == {"phys": 0, "chem": 1}
    assert bill.unattributed_j == pytest.approx(250_000.0 - 108_000.0)
    assert bill.metered_j == pytest.approx(500_000.0)
    assert bill.overhead_j == pytest.approx(0.5 * (286_000.0 + 250_000.0))
    # The nodes' meters do not see the 36 kJ that Slurm alone tells, nor the building.
    assert bill.residual == pytest.approx((500_000.0 - 536_000.0) / 500_000.0)
    assert {name: row["money"] for name, row in rows.items()} == pytest.approx(
        {"phys": 0.019 * 1.5, "chem": 0.0096 * 1.5})
    assert bill.money == pytest.approx(0.0286 * 1.5)
    assert bill.currency == "EUR"


@pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
def test_what_would_be_forgotten_of_jobs_and_of_meters(ledger: Path) -> None:
    """Of job 1 its 90 kJ; of meters three, with samples of one day each."""
    jobs = wl.account_forget(ledger, jobs=["1"]).to_dict()
    assert (jobs["done"], jobs["jobs"], jobs["lives"], jobs["energy_j"]) == (False, 1, 1, 90_000.0)
    assert (jobs["meters"], jobs["meter_days"]) == (0, 0)
    meters = wl.account_forget(ledger, cluster="c", meters=True).to_dict()
    assert (meters["meters"], meters["meter_days"]) == (3, 3)


def test_claims_beside_what_was_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Claimed are 10 s and 100 J; measured 12 s and 80 J, a fifth more and a fifth less."""
    head = "application,node_class,time_s,energy_j\n"
    (tmp_path / "claims.csv").write_text(head + "A,x,10,100\n")
    (tmp_path / "runs.csv").write_text(head + "A,x,12,80\n")
    store = str(tmp_path / "c.db")
    first = wl.import_claims(str(tmp_path / "claims.csv"), store)
    assert first.to_dict() == {"imported": 1, "verified_kept": 0, "verified_replaced": 0}
    row, = wl.verify_claims(str(tmp_path / "runs.csv"), store).to_dict()["verified"]
    assert (row["measured_s"], row["measured_j"]) == (12.0, 80.0)
    assert (row["time_error"], row["energy_error"]) == pytest.approx((0.2, -0.2))
    assert (row["corrected"]["time_s"], row["corrected"]["energy_j"]) == pytest.approx((11.0, 90.0))
    kept, replaced = (json.loads(ok(capsys, "claims", "import", tmp_path / "claims.csv", "--store",
                                    store, *more, "--json")) for more in ((), ("--replace",)))
    assert (kept["verified_kept"], kept["verified_replaced"]) == (1, 0)
    assert (replaced["verified_kept"], replaced["verified_replaced"]) == (0, 1)


def test_a_run_by_users_has_the_joules_of_the_whole_machine_beside_them() -> None:
    """Two jobs of five nodes at once for 100 s: 300 W x 5 x 100 s each. Where only one of them is
    asked for, the run's 300 kJ stay."""
    jobs = JobTable.build(submit_s=[0.0, 0.0], run_s=[100.0, 100.0], requested_s=[100.0, 100.0],
                          procs=[5, 5], user=[0, 1])
    run = wl.simulate(Trace(jobs), machine=MACHINE)
    found = wl.account_run(run, by="user").to_dict()
    assert (found["run_energy_j"], found["energy_j"]) == (300_000.0, 300_000.0)
    one = wl.account_run(run, by="user", jobs=[1]).to_dict()
    assert (one["run_energy_j"], one["energy_j"]) == (300_000.0, 150_000.0)


def test_the_best_configuration_beside_those_that_need_no_search(tmp_path: Path) -> None:
    """4 kW feed four nodes of 1,000 W, or eight that are capped at 500 W; a node may take 1,000 W.
    Eight nodes need 100 s, four without a cap 150 s: half as much again, and twice the nodes."""
    table = tmp_path / "t.csv"
    table.write_text("nodes,cores,cap_w,time_s,power_w\n4,16,1000,150,4000\n8,16,500,100,4000\n"
                     "4,16,500,240,2000\n8,8,500,160,3600\n")
    found = wl.configure("t", "4kW", table=table, node_power_max="1kW").to_dict()
    assert (found["best"]["nodes"], found["best"]["time_s"]) == (8, 100.0)
    assert (found["worst_case"]["nodes"], found["worst_case"]["time_s"]) == (4, 150.0)
    assert found["degree_of_overprovisioning"] == 2.0
    assert found["gain_over_worst_case"] == pytest.approx(gain(150.0, 100.0))
    assert found["gain_over_packed_max"] == pytest.approx(gain(
        found["packed_max"]["time_s"], 100.0))


def gain(other_s: float, best_s: float) -> float:
    """By which part less time is needed."""
    return 1.0 - best_s / other_s


def test_a_dragonfly_in_figures() -> None:
    """17 groups of four routers with four nodes each. In a group each router has a link to the
    three others, and to each of the 16 other groups goes one: 17 x 4 x 3 = 204 and 17 x 16 = 272,
    two to a cable; a router has three ports in its group and four out of it."""
    found = wl.describe_network("dragonfly-272")
    assert (found["nodes"], found["routers"], found["groups"]) == (272, 68, 17)
    assert (found["nodes_per_router"], found["routers_per_group"]) == (4, 4)
    assert found["ports_per_router"] == 7
    assert (found["links"], found["cables"]) == (204 + 272, (204 + 272) // 2)
    kinds = {each["kind"]: each for each in found["links_by_kind"]}
    assert (kinds["local"]["count"], kinds["global"]["count"]) == (204, 272)
    assert kinds["global"]["gbit_s_total"] == 272 * found["node_gbit_s"]


def test_a_replayed_run_in_figures() -> None:
    run = ReplayedRun(2, begin_s=1000.0, up_s=987.0, loads=[1.0, 4.0, 2.5], late_s=[0.1, 0.7])
    found = run.to_dict()
    assert (found["run"], found["jobs"], found["started"]) == (2, 0, 0)
    assert (found["begin_unix_s"], found["begin_after_slurmctld_s"]) == (1000.0, 13.0)
    assert (found["load_mean"], found["load_max"]) == (2.5, 4.0)
    assert found["submission_late_s_max"] == 0.7


@pytest.mark.parametrize(("ledger_j", "late_j", "error"), [
    (110.0, 0.0, 0.1), (90.0, 0.0, 0.1), (110.0, 4.0, 0.06), (102.0, 4.0, 0.0)])
def test_joules_of_a_life_beside_the_truth(ledger_j: float, late_j: float, error: float) -> None:
    """A late reading of the emulator is no error of the ledger."""
    found = LifeJoules("1", 0, 1, "COMPLETED", 100.0, ledger_j, 80.0, "series", 1.0,
                       late_j=late_j).to_dict()
    assert found["error"] == pytest.approx(error)
    assert (found["true_j"], found["ledger_j"], found["slurm_j"]) == (100.0, ledger_j, 80.0)
    assert found["unended"] is False


def test_the_seven_figures_of_a_power_cap_in_slurm_s_words() -> None:
    found = PowerNow(PowerStatus(360.0, 600.0, 900.0, 400.0, 25.0, 1100.0, 1200.0)).to_dict()
    assert (found["MinWatts"], found["CurrentWatts"], found["PowerCap"]) == (360.0, 600.0, 900.0)
    assert (found["PowerFloor"], found["PowerChangeRate"]) == (400.0, 25.0)
    assert (found["AdjustedMaxWatts"], found["MaxWatts"]) == (1100.0, 1200.0)


def test_a_node_s_power_is_that_of_its_chosen_channels() -> None:
    """Two packages of 80 and 90 W; what a core draws of it counts once."""
    channels = [Channel("cpu0", "J", "package"), Channel("cpu1", "J", "package"),
                Channel("core0", "J", "core")]
    rows = [{"power_w": watts, "chosen": chosen} for watts, chosen in
            ((80.0, True), (90.0, True), (60.0, False))]
    found = Looked(rows, choose({"powercap": channels}), {"ipmi": "no such device"}).to_dict()
    assert found["node_w"] == 170.0
    assert found["whole_node"] is False
    assert found["absent"] == {"ipmi": "no such device"}
    whole = choose({"ipmi": [Channel("dcmi", "W", "node")]})
    assert Looked(rows[:1], whole).to_dict()["whole_node"] is True


def test_waits_of_a_twin_beside_those_of_real_runs() -> None:
    """Two real runs have means of 4 and 8 s; the twin has 7.5 s, and 1.5 s more than their mean."""
    runs = [RealRun(name, {"1": at, "2": at}, waits, (), {}) for name, at, waits in
            (("a", 0.0, {"1": 3.0, "2": 5.0}), ("b", 4.0, {"1": 7.0, "2": 9.0}))]
    twin = RealRun("twin", {"1": 1.0, "2": 5.0}, {"1": 7.0, "2": 8.0}, (), {})
    found = judge(runs, [twin], by=()).to_dict()
    row, = found["mean_wait_s"]
    assert row["mean_s"] == 6.0
    assert row["error"] == pytest.approx(7.5 / 6.0 - 1.0)
    assert (found["jobs"], found["runs"], found["phases"]) == (2, 2, 1)
    # Starts: 4 s apart between the runs; to the twin 1 and 5, and 3 and 1 s.
    starts = found["starts"]
    assert (starts["between_runs"]["median_s"], starts["to_twin"]["median_s"]) == (4.0, 2.0)


def test_looks_with_little_or_no_history_are_counted() -> None:
    """No job, one job, and two looks with many."""
    looks = [Look(at, drawn, drawn, drawn) for at, drawn in
             ((0.0, 0), (10.0, 1), (20.0, 500), (30.0, 600))]
    found = History(looks, 0.0).to_dict()
    assert (found["looks"], found["looks_with_none"], found["looks_with_few"]) == (4, 1, 1)


def test_a_look_ahead_in_figures() -> None:
    """Two nodes, at 20 s: one job has both until 1,000 s, one waits for them. In the next 500 s
    nothing ends: 600 W, nothing starts. Run times are as requested, so both futures are the same.
    """
    jobs = JobTable.build(submit_s=[0.0, 10.0, 900.0], run_s=[1000.0, 100.0, 1.0],
                          requested_s=[1000.0, 100.0, 1.0], procs=[2, 2, 1])
    found = wl.advise_policy(Trace(jobs), at=20, horizon="500s", samples=2, arrivals="none",
                             machine=wl.Machine(nodes=2, node_idle_w=100, node_active_w=300),
                             candidates=["sjf"]).to_dict()
    assert (found["waiting"], found["running"], found["samples"]) == (1, 1, 2)
    for candidate in found["candidates"]:
        figures = candidate["figures"]
        assert (figures["jobs.started"], figures["jobs.waiting"]) == (0.0, 1.0)
        assert figures["power_w.mean"] == pytest.approx(600.0)
        assert figures["energy_j"] == pytest.approx(300_000.0)
        assert figures["utilisation"] == pytest.approx(1.0)
        assert candidate["half_interval"]["energy_j"] == 0.0
        assert candidate["half_interval"]["power_w.mean"] == 0.0


def test_predictions_are_said_with_how_many_lie_inside_their_interval(tmp_path: Path) -> None:
    """Of a table of 24 configurations a third is trained on, 16 powers and times each are held
    out: a share of 32."""
    rows = [(nodes, cores, cap) for nodes in (1, 2, 4, 8) for cores in (8, 16)
            for cap in (60, 90, 120)]
    (tmp_path / "t.csv").write_text("application,nodes,cores,cap_w,time_s,power_w\n" + "".join(
        f"t,{nodes},{cores},{cap},{6000 / nodes / cores + 40:.3f},{nodes * (60 + cap)}\n"
        for nodes, cores, cap in rows))
    found = wl.fit(tmp_path / "t.csv", train="33%").to_dict()["applications"]["t"]
    assert found["configurations"] == 24
    held = found["configurations"] - found["trained_on"]
    inside = found["inside_90pct_interval"] * 2 * held
    assert inside == pytest.approx(round(inside))
    assert 0.5 <= found["inside_90pct_interval"] <= 1.0


def test_a_twin_passes_by_the_tail_of_its_starts_too() -> None:
    """Two runs start ten jobs 10 s apart; the twin as the first does, but for two that it starts at
    100 s. Of its 20 distances eight are 0 s, eight 10 s, two 90 s and two 100 s."""
    jobs = [str(number) for number in range(10)]
    runs = [RealRun(name, dict.fromkeys(jobs, at_s), dict.fromkeys(jobs, 5.0), (), {})
            for name, at_s in (("a", 0.0), ("b", 10.0))]
    starts = dict.fromkeys(jobs, 0.0) | {"8": 100.0, "9": 100.0}
    found = judge(runs, [RealRun("twin", starts, dict.fromkeys(jobs, 5.0), (), {})], by=())
    assert found.to_dict()["starts"]["to_twin"] == {"median_s": 10.0, "p90_s": pytest.approx(91.0)}
    assert found.to_dict()["starts"]["widest_runs"] == {"median_s": 10.0, "p90_s": 10.0}
    assert not found.starts_pass
