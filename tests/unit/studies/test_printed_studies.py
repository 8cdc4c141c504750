"""Each figure of a study stands below its heading, in its unit: figures are made up, all differ."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from tests.support.printed import columns

from wattline.cli import (
    study_dragonfly,
    study_fairshare,
    study_puppet,
    study_regulation,
    study_rmap,
)
from wattline.cli.main import cli
from wattline.cli.study_rmap_parts import print_part
from wattline.studies import every
from wattline.studies.esp import study as esp
from wattline.studies.hetero import published as hetero_published
from wattline.studies.hetero import study as hetero
from wattline.studies.published import PublishedFigure
from wattline.studies.puppet import log_figures
from wattline.studies.regulation.parts import PolicyOutcome
from wattline.studies.rmap.study import RmapResult, RmapSetting
from wattline.studies.rmap.variability import Cost

Capture = pytest.CaptureFixture[str]


def asked(*words: str) -> str:
    done = CliRunner().invoke(cli, ["study", *words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_a_case_of_esp_has_kilowatts_and_gigajoules(monkeypatch: pytest.MonkeyPatch) -> None:
    case = {"title": "70 %, on the fly", "cap_w": 7e5, "peak_w": 9e5, "peak_w_while_capped": 6.5e5,
            "time_above_cap_s": 12.0, "under_cap_from_s": 34.0, "makespan_s": 3600.0,
            "energy_j": 2.5e9, "utilisation": 0.75, "jobs_run": 230, "refused": {}}
    free = case | {"title": "none", "cap_w": np.inf, "under_cap_from_s": np.inf}
    table = {"none": free, "70-on-the-fly": case}
    monkeypatch.setattr(esp, "cases", lambda *_, **__: [SimpleNamespace(name=name)
                                                        for name in table])
    monkeypatch.setattr(esp, "figures", lambda case: table[case.name])
    assert columns(asked("esp"), "case", "cap kW", "peak kW", "while capped", "above cap s",
                   "under cap from s", "makespan s", "energy GJ", "use", "jobs") == [
        ("none", "-", "900", "650", "12", "-", "3,600", "2.5", "0.75", "230"),
        ("70 %, on the fly", "700", "900", "650", "12", "34", "3,600", "2.5", "0.75", "230")]


def test_users_of_the_fair_share_study_stand_by_order_and_over_seeds(capsys: Capture) -> None:
    spread = {"mean": 1.5, "p25": 1.1, "p50": 1.2, "p75": 1.3, "p95": 1.4, "turnaround_s": 900.0}
    several = {"mean": {"fcfs": {"ann": 60.0, "bob": 70.0}}, "lowest_in": {"fcfs": 3}}
    study_fairshare._print({
        "seed": 1, "frequency_hz": {"ann": 1.8e9, "bob": 2.7e9},
        "job_energy_j": {"ann": 36e3, "bob": 54e3},
        "orders": {"fcfs": {"ann": spread, "bob": spread | {"mean": 2.5}}},
        "over_seeds": {"seeds": [1, 2], "wait_s": several | {"less_than_first_come_in": 2},
                       "stretch": {"mean": {"fcfs": {"ann": 1.6, "bob": 1.7}},
                                   "lowest_in": {"fcfs": 4}}}})
    said = capsys.readouterr().out
    assert columns(said, "order", "user", "GHz", "kJ per job", "mean stretch", "p25", "p50", "p75",
                   "p95", "turnaround s") == [
        ("fcfs", "ann", "1.8", "36", "1.5", "1.1", "1.2", "1.3", "1.4", "900"),
        ("fcfs", "bob", "2.7", "54", "2.5", "1.1", "1.2", "1.3", "1.4", "900")]
    assert columns(said, "ann: wait s", "bob: wait s", "efficient least in", "ann: stretch",
                   "bob: stretch", "efficient lowest in") == [
        ("60", "70", "3", "1.6", "1.7", "4")]


def test_rules_of_the_mixed_cluster_stand_beside_their_published_figures(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rule = {"makespan_s": 50.0, "energy_j": 800.0, "edp_js": 4e4,
            "published": {"makespan_s": 51.0, "energy_j": 810.0}}
    saving = {"time": 0.2, "time_published": 0.21, "energy": 0.3, "energy_published": 0.31}
    inferred = {"xeon_idle_w": 40.0, "board_idle_w": 2.0, "start_s": 1.0, "gap_s": 0.1,
                "cap_latency_s": 0.0}
    late = {"saving": {"load 1": saving}, "inferred": inferred}
    found = {"inferred": inferred, "loads": {"load 1": {"edp": rule}}, "late": late,
             "saving": {"load 1": saving}, "example": {"greedy": {
                 "gpn": "j1", "lpn": "j2", "energy_j": 90.0, "load_j": 70.0,
                 "published": (91.0, 71.0)}}}
    more = {"nodes": {"xeon": 2}, "jobs": 5, "variants": {"learned": {
        "makespan_s": 300.0, "energy_j": 45e3, "turnaround_s": 120.0, "claim_error": 0.07}}}
    monkeypatch.setattr(hetero_published, "all_results", lambda **_: found)
    monkeypatch.setattr(hetero, "beyond", lambda seed: more)
    said = asked("hetero")
    assert columns(said, "load", "rule", "time s", "published", "energy J", "published",
                   "EDP kJs") == [("load 1", "edp", "50", "51", "800", "810", "40")]
    assert columns(said, "variant", "makespan s", "energy kJ", "turnaround s", "claims off") == [
        ("learned", "300", "45", "120", "7 %")]
    assert columns(said, "two jobs, two nodes", "on gpn", "on lpn", "energy J", "load J",
                   "published") == [("greedy", "j1", "j2", "90", "70", "91 J, 71 J")]


def test_tables_of_the_puppet_study_have_per_cent_and_ratios(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setattr(log_figures, "log_figures", lambda whole, nodes: {"jobs": 110.0})
    step = SimpleNamespace(step_min=5.0, replayed=0.9, error=0.02, mean_error=0.03, sampled=0.04,
                           published_error=0.05, seconds=1.5, published_min=6.0)
    row = SimpleNamespace(of={"load": 0.6, "cap": 0.4}, utilisation=0.8, wait=1.7, edp=1.2,
                          left_out_share=0.11)
    study_puppet._print(SimpleNamespace(
        workload=SimpleNamespace(source="made up", nodes=8, whole=None, names=["a"]),
        reference_w=1e6, findings=[], steps=[step], simulations=1, seconds=1.0,
        tables=SimpleNamespace(load=[row], lowest=[row], beta=[row]),
        left_out=[{"method": "wait", "cap": 0.4, "jobs": 7, "share": 0.013}]), [])
    said = capsys.readouterr().out
    assert columns(said, "of the log", "here", "a log of Mira") == [("jobs", "110", "22,508")]
    assert columns(said, "step (min)", "starts kept (%)", "own schedule (%)", "its mean (%)",
                   "power read once a step (%)", "published (%)", "our run (s)",
                   "published (min)") == [("5", "90", "2", "3", "4", "5", "1.5", "6")]
    assert columns(said, "load", "cap", "utilisation x", "wait x", "EDP x",
                   "node-seconds left out (%)") == [("0.6", "40%", "0.8", "1.7", "1.2", "11")]
    assert columns(said, "method", "cap", "jobs left out", "of node-seconds (%)") == [
        ("wait", "40%", "7", "1.3")]


OUTCOME = PolicyOutcome(
    "W3", "aqa", True, 9000.0, 2000.0, 0.6, 0.3, 0.05, 0.06, "", 0.0, 10, 4, (0.2, 0.7),
    (0.25, 0.24, 0.26), (0.04, 0.03, 0.05), (), bound_feasible=True, qos_met=True)


def test_policies_of_the_regulation_study_have_their_verdict_and_other_hours(
    capsys: Capture,
) -> None:
    study_regulation._print_rows("workloads", [OUTCOME, replace(OUTCOME, policy="tracking",
                                                                met=False)])
    said = capsys.readouterr().out
    found = columns(said, "case", "policy", "verdict", "P W", "R W", "cost (0.1 per kWh)", "saving",
                    "error", "other hours met (95 %)", "saving there (95 %)", "published")
    assert [row[:-1] for row in found] == [
        ("W3", policy, verdict, "9,000", "2,000", "0.6", "30.0%", "5.0%", "4/10 (20% to 70%)",
         "25.0% (24.0% to 26.0%)") for policy, verdict in (("aqa", "met"),
                                                           ("tracking", "violated"))]
    assert found[0][-1].startswith("met, cost ")


def test_fits_spans_and_days_of_the_regulation_study_are_tables(capsys: Capture) -> None:
    fit = {"scale": 2.0, "utilisation": 0.5, "average_w": 21_264.2, "reserve_w": 9636.4,
           "saving": 0.438, "weights": {"bt": 0.25, "cg": 0.75}, "published": "P 20,600 W"}
    study_regulation._print_fits([fit, fit | {"saving": None}])
    study_regulation._print_by_std([{
        "std": (0.4, 0.5), "hours": 3, "cases": 6, "feasible": 5, "met": 4, "declined": 1,
        "met_share": (0.3, 0.9), "saving": (0.2, 0.1, 0.3)}])
    study_regulation._print_long([{
        "day": 2.0, "utilisation": 0.7, "policy": "aqa", "bidding": "descent", "cost": 5.5,
        "exceed_share": 0.08, "degradation": 4.1, "degradation_alone": 1.3, "verdict": "met",
        "saving": 0.12}])
    said = capsys.readouterr().out
    assert columns(said, "thresholds inferred x", "load", "P W", "R W", "saving", "weights",
                   "published") == [
        ("2", "50%", "21,264", "9,636", "43.8%", "bt 0.250 cg 0.750", "P 20,600 W"),
        ("2", "50%", "-", "-", "no bid", "-", "P 20,600 W")]
    assert columns(said, "std of the hour", "hours", "cases", "bound finds a bid", "met (95 %)",
                   "declined", "saving where met") == [
        ("0.4 to 0.5", "3", "6", "5", "4 (30% to 90%)", "1", "20.0% (10.0% to 30.0%)")]
    assert columns(said, "day", "load", "policy", "bidding", "large errors", "worst mean Q",
                   "Q without contract", "verdict", "cost (0.1 per kWh)", "saving") == [
        ("2", "70%", "aqa", "descent", "8.0%", "4.1", "1.3", "met", "5.5", "12.0%")]
    assert columns(said, "published on", "policy", "bidding", "large errors", "worst mean Q",
                   "cost, published")[2:4] == [  # as the publication prints them
        ("meggie 5 Feb 2019", "energyqare", "adaptive", "2.0%", "5.8", "-"),
        ("meggie 5 Feb 2019", "qoscap", "heuristic", "9.3%", "1.5", "124")]


def test_turnaround_of_the_rmap_study_has_intervals_and_findings(capsys: Capture) -> None:
    """Three seeds that differ by 1 s: half of the interval is 4.303 / sqrt(3) = 2.48 s."""
    setting = RmapSetting(bounds=(0.5,), policies=("traditional", "adaptive_0"), traces=("large",),
                          seeds=(1, 2, 3))
    figures = np.zeros((1, 1, 2, 3, 4))
    figures[0, 0, :, :, 0] = [[100, 101, 99], [80, 81, 79]]
    figures[0, 0, :, :, 3] = [[0.6], [0.8]]
    study_rmap._print(RmapResult(setting, ("x",), figures, peak_w=3200.0))
    said = capsys.readouterr().out
    assert columns(said, "bound", "traditional", "adaptive 0") == [
        ("50%", "100.0 ±2.5", "80.0 ±2.5")]
    assert columns(said, "traces", "policy", "against", "published", "here", "95 %",
                   "by bound from", "to", "verdict", "why") == [
        ("large", "adaptive_0", "traditional", "+14.3%", "+20.0%", "±0.5%", "+20.0%", "+20.0%",
         "holds", "the same sign, 1.4 times as much")]
    assert columns(said, "trace", "traditional", "adaptive 0") == [("large", "60.0%", "80.0%")]


def test_what_unequal_nodes_cost_stands_beside_equal_ones(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    from wattline.studies.rmap import study, variability

    cost = Cost(0.05, 0.44, "large", np.array([100.0, 102.0]), {"blind": np.array([110.0, 112.2])},
                3.0)
    monkeypatch.setattr(variability, "cost_of_variability", lambda *_, **__: cost)
    monkeypatch.setattr(study, "ready_tables", lambda tables, setting: study.ReadyTables(
        tables, {}, ()))
    study_rmap._variability({}, RmapSetting(bounds=(0.44,)), 0.05, as_json=False)
    assert columns(capsys.readouterr().out, "bound", "nodes", "turnaround s", "against equal nodes",
                   "95 %") == [("44%", "equal nodes", "101", "+0.00%", "±0.0%"),
                               ("44%", "blind", "111.1", "+10.00%", "±0.0%")]


def mean(value: float, width: float | None = None) -> dict[str, float | None]:
    return {"mean": value, "interval_95": width}


def part(capsys: Capture, name: str, **found: Any) -> str:
    print_part(name, found, as_json=False)
    return capsys.readouterr().out


def test_users_that_gain_and_lose_are_counted_and_changes_are_per_cent(capsys: Capture) -> None:
    said = part(
        capsys, "users", trace="large", bound=0.5, jobs=6, seeds=2,
        turnaround_s={"traditional": mean(100.0), "adaptive_0": mean(80.0, 2.0)},
        below_traditional={"adaptive_0": mean(0.2, 0.01)},
        users={"adaptive_0": {"better": mean(3), "same": mean(2), "worse": mean(1),
                              "largest_gain": mean(0.4), "largest_loss": mean(0.3)}})
    assert columns(said, "policy", "turnaround s", "below traditional %") == [
        ("traditional", "100.0", "-"), ("adaptive_0", "80.0 ±2.0", "20.0 ±1.0")]
    assert columns(said, "policy", "better", "same", "worse", "largest gain %",
                   "largest loss %") == [("adaptive_0", "3.0", "2.0", "1.0", "40.0", "30.0")]


def test_errors_of_predicted_tables_stand_in_four_columns(capsys: Capture) -> None:
    errors = {"mean_error": 0.01, "largest_of_means": 0.02, "largest_bias": 0.03, "largest": 0.04}
    said = part(capsys, "oracle", trained_on=0.1, trace="large", largest_by_trace=[0.1],
                policies={"traditional": errors})
    assert columns(said, "policy", "mean error", "largest mean of a bound", "largest with signs",
                   "largest") == [("traditional", "1.0%", "2.0%", "3.0%", "4.0%")]


def test_best_configurations_stand_beside_the_canonical_ones(capsys: Capture) -> None:
    best = {"nodes": 4, "cores": 8.0, "cap_w": 51.0, "time_s": 20.0, "power_w": 900.0}
    row = {"application": "SP", "bound_w": 3500.0, "best": best, "speedup": 0.25,
           "packed_max": {"beside_best": 0.8}, "packed_min": {"beside_best": 0.7},
           "spread_max": {"beside_best": 0.6}, "spread_min": None}
    said = part(capsys, "bounds", rows=[row, row | {"bound_w": None, "best": None,
                                                    "speedup": None}])
    assert columns(said, "application", "bound W", "best", "time s", "power W", "over packed-max",
                   "packed-max", "packed-min", "spread-max", "spread-min") == [
        ("SP", "3500", "(4 x 8, 51 W)", "20", "900", "+25.0%", "0.80", "0.70", "0.60", "-"),
        ("SP", "none", "nothing fits", "-", "-", "-", "0.80", "0.70", "0.60", "-")]


def test_a_partition_of_small_jobs_is_told_in_per_cent(capsys: Capture) -> None:
    said = part(capsys, "partition", part=0.3, refused_bounds=[],
                traces={"small": {"adaptive_0": mean(0.12, 0.02)}})
    assert columns(said, "trace", "turnaround", "below by %") == [
        ("small", "adaptive 0", "12.0 ±2.0")]


def test_set_ups_have_their_gains_and_choices_what_they_add(capsys: Capture) -> None:
    usual = {"label": "as usual", "load": 0.7, "gains": {"naive": mean(0.3)}, "refused": "",
             "wait_share": 0.4}
    said = part(capsys, "combinations", seeds=2, effects={"holds": {"naive": 0.05}}, set_ups=[
        usual, usual | {"label": "filled", "gains": {}, "refused": "too small"}])
    assert columns(said, "set-up", "load", "naive %", "wait") == [
        ("as usual", "0.7", "30.0", "40%"), ("filled", "0.7", "refused", "-")]
    assert columns(said, "choice", "naive %") == [("holds", "+5.0")]


def test_models_of_unseen_applications_have_errors_of_time_and_power(capsys: Capture) -> None:
    table = {"table": "SC", "trained_on": 4, "configurations": 48, "time": {"mixed": 0.05},
             "power": {"mixed": 0.02}, "published_errors_held": {"mixed": 0.75}}
    said = part(capsys, "unseen", train=0.1, seeds=2, left_out={}, best={}, tables=[table],
                median={"time": {"mixed": 0.06}, "power": {"mixed": 0.03}},
                mean={"time": {"mixed": 0.07}, "power": {"mixed": 0.04}})
    assert columns(said, "table", "trained on", "of", "mixed: time, power %",
                   "published errors held, mixed") == [
        ("SC", "4", "48", "5.0, 2.0", "75%"), ("median of the tables", "-", "-", "6.0, 3.0", "-"),
        ("mean of the tables", "-", "-", "7.0, 4.0", "-")]


def test_tables_of_the_dragonfly_study_have_ratios_to_simple_and_ranges(capsys: Capture) -> None:
    row = {"nodes": 16, "ratio": 0.5, "jobs": 9, "pattern": "stencil",
           "relative_to_simple": {"simple": [1.0, 1.0], "nedd": [0.75, 0.5]}}
    ours = {"sixteen_nodes": (0.1, 0.2), "sixty_four_nodes": (0.3, 0.4)}
    study_dragonfly._print_tables({
        "heterogeneous": [row], "reductions": ours,
        "published": {"reductions": None, "sixteen_nodes": (0.5, 0.6),
                      "sixty_four_nodes": (0.7, 0.8)}})
    said = capsys.readouterr().out
    assert columns(said, "nodes", "ratio", "jobs", "pattern", "nedd") == [
        ("16", "0.5", "9", "stencil", "0.75/0.50")]
    assert columns(said, "reduction of communication time", "ours", "published") == [
        ("16-node jobs, grouping against spreading", "10% to 20%", "50% to 60%"),
        ("64-node jobs, Level-Spread against simple", "30% to 40%", "70% to 80%")]


def test_every_study_has_its_rows_by_section(monkeypatch: pytest.MonkeyPatch) -> None:
    row = PublishedFigure("table 2", "energy", "5 J", "6 J", "holds, larger", "")
    found = SimpleNamespace(remarks=(), resumed=(), rows={"esp": [row]})
    monkeypatch.setattr(every, "study_all", lambda *_, **__: found)
    assert columns(asked("all"), "where", "what", "published", "ours", "verdict") == [
        ("table 2", "energy", "5 J", "6 J", "holds, larger")]
