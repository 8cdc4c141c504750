"""Chapter 4: the printed example, its limits, and the price of racks."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from tests.shared_data import shared

from wattline.advice.procure import procure
from wattline.cli.main import cli
from wattline.model.errors import InputError
from wattline.physics.configurations import Configuration, ConfigurationTable
from wattline.physics.measurements import read_measurements
from wattline.physics.procurement import PurchaseTerms, Rack, Sweep, compare, sweep
from wattline.physics.scaling import PUBLISHED, BestTimes, Scaling, fit_scaling

EXAMPLE = PurchaseTerms(7000.0, 380.0, 180.0, 1.7, 0.27)


@pytest.mark.parametrize(
    ("application", "t_ovp_s", "t_wc_s", "s_ovp"),
    [("SPhot", 39.64, 38.70, 0.98), ("SP-MZ", 3.51, 3.61, 1.02),
     ("BT-MZ", 6.41, 5.29, 0.83), ("LU-MZ", 9.66, 11.80, 1.22)],
)
def test_table_4_9(application, t_ovp_s, t_wc_s, s_ovp):
    result = compare(EXAMPLE, PUBLISHED[application])
    assert (result.n_wc, result.n_lim, result.c_wc, result.n_ovp) == (18, 38, 30.6, 30)
    assert round(result.t_ovp_s, 2) == t_ovp_s
    assert round(result.t_wc_s, 2) == t_wc_s
    # 3.61 / 3.51 is 1.028: the table cuts where it should round, so one unit is allowed.
    assert result.s_ovp == pytest.approx(s_ovp, abs=0.01)


@pytest.mark.parametrize(
    ("line", "t_ovp_s", "t_wc_s"),
    [((-1.114, 73.07), 39.64, 38.70), ((-0.069, 8.50), 6.41, 5.29), ((-0.542, 25.93), 9.66, 11.80)],
)
def test_the_coefficients_as_printed_lead_to_the_same_times(line, t_ovp_s, t_wc_s):
    result = compare(EXAMPLE, Scaling(*line))
    assert result.t_ovp_s == pytest.approx(t_ovp_s, abs=0.021)
    assert result.t_wc_s == pytest.approx(t_wc_s, abs=0.021)


def test_more_money_than_watts_leaves_money_over():
    result = compare(PurchaseTerms(1000.0, 400.0, 250.0, 9.0, 0.1), Scaling(-0.1, 10.0))
    assert (result.n_wc, result.n_lim, result.n_ovp) == (2, 4, 4)


def test_division_of_whole_watts_loses_no_node():
    assert compare(PurchaseTerms(0.3, 0.1, 0.1, 1.1, 0.0), Scaling(-0.1, 10.0)).n_wc == 3


def test_a_line_is_not_used_where_it_does_not_hold():
    with pytest.raises(InputError, match="valid up to 20 nodes, the machine would have 30"):
        compare(EXAMPLE, Scaling(-0.5, 25.0, nodes_max=20))
    with pytest.raises(InputError, match="a time must be above 0"):
        compare(EXAMPLE, Scaling(-1.0, 25.0))


@pytest.mark.parametrize(
    ("changed", "message"),
    [({"power_w": 0.0}, "power_w is 0"), ({"cost_ratio": -1.0}, "cost_ratio is -1"),
     ({"cost_ratio": 0.5}, "cost_ratio is 0.5, must be above 1"),
     ({"cost_ratio": 1.0}, "cost_ratio is 1, must be above 1"),
     ({"speed_ratio": 1.0}, "speed_ratio is 1"), ({"power_w": 100.0}, "cannot feed one node"),
     ({"node_power_w_min": float("nan")}, "node_power_w_min is nan")],
)
def test_impossible_budgets_are_refused(changed, message):
    values = {"power_w": 7000.0, "node_power_w_max": 380.0, "node_power_w_min": 180.0,
              "cost_ratio": 1.7, "speed_ratio": 0.27}
    with pytest.raises(InputError, match=message):
        PurchaseTerms(**{**values, **changed})


@pytest.mark.parametrize(("parameter", "expected"), [("cost_ratio", 1.5), ("power_w", 5700.0)])
def test_break_even_is_at_the_step_of_a_whole_node(parameter, expected):
    # 18 nodes at 1.5 cost as much as 27 older ones, the first count that is faster than 18 new.
    found = sweep(EXAMPLE, PUBLISHED["LU-MZ"], parameter)
    assert found.break_even == pytest.approx(expected)
    below = replace(EXAMPLE, **{parameter: expected - 1e-3})
    assert compare(below, PUBLISHED["LU-MZ"]).s_ovp < 1.0
    assert compare(replace(EXAMPLE, **{parameter: expected}), PUBLISHED["LU-MZ"]).s_ovp > 1.0


@pytest.mark.parametrize(("here", "nearest"), [(1.0, 2.0), (3.9, 4.0), (9.0, 5.0)])
@pytest.mark.parametrize("in_steps", [True, False])
def test_every_crossing_has_a_direction_and_the_nearest_is_the_break_even(here, nearest, in_steps):
    gains = np.array([1.2, 0.8, 0.9, 1.1, 0.7, math.nan])
    found = Sweep("power_w", np.array([1.0, 2, 3, 4, 5, 6]), gains, here, in_steps)
    assert [one.rises for one in found.crossings] == [False, True, False]
    if in_steps:
        assert [one.value for one in found.crossings] == [2.0, 4.0, 5.0]
        assert found.break_even == nearest
    else:
        assert [one.value for one in found.crossings] == pytest.approx([1.5, 3.5, 4.25])


def test_a_stair_that_passes_one_often_is_said_with_its_directions(tmp_path):
    """At every value said, a machine just below and one there are on two sides of 1."""
    rows = [f"sim,{n},{g},{c},{6000 / (n**.9 * g**.95) * (520 / min(c, 520))**.6},"
            f"{n * (310 + .9 * g * min(c, 520))}"
            for n in (1, 2, 4, 8, 16) for g in (1, 2, 4) for c in (200, 300, 400, 500, 600, 700)]
    path = tmp_path / "gpus.csv"
    path.write_text("application,nodes,gpus,gpu_cap_w,time_s,power_w\n" + "\n".join(rows))
    asked = ["procure", "--app", "sim", "--table", str(path), "--budget-power", "14kW",
             "--node-power-max", "3110", "--node-power-min", "480", "--cost-ratio", "2",
             "--speed-ratio", "27%", "--power-scope", "node"]
    found = json.loads(CliRunner().invoke(cli, [*asked, "--json"]).stdout)
    crossings = found["crossings"]["power_w"]
    assert len(crossings) > 1
    for one in crossings:
        below, there = (procure(
            watts, node_power_max=3110, node_power_min=480, speed_ratio="27%", cost_ratio=2,
            app="sim", table=path, power_scope="node").result.s_ovp
            for watts in (one["value"] - 0.01, one["value"]))
        assert (below < 1 <= there) if one["rises"] else (there < 1 <= below)
    nearest = min(crossings, key=lambda one: abs(one["value"] - 14_000))
    assert found["break_even"]["power_w"] == nearest["value"]
    way = "rises above 1" if nearest["rises"] else "falls below 1"
    said = CliRunner().invoke(cli, asked).stdout
    assert f"power_w: breaks even at {nearest['value']:.0f} ({way}); also at " in said


def test_break_even_is_where_the_gain_is_one():
    found = sweep(EXAMPLE, PUBLISHED["LU-MZ"], "speed_ratio")
    assert found.break_even == pytest.approx(0.40, abs=0.01)
    at = PurchaseTerms(7000.0, 380.0, 180.0, 1.7, found.break_even)
    assert compare(at, PUBLISHED["LU-MZ"]).s_ovp == pytest.approx(1.0, abs=0.002)
    never = sweep(EXAMPLE, PUBLISHED["BT-MZ"], "cost_ratio")
    assert never.break_even is None


def test_rack_example_of_section_4_4_2():
    rack = Rack()
    assert rack.cost(16, 3300.0) == 64_800
    assert rack.nodes_for(64_800, 1700.0) == 24
    assert rack.ratio() == pytest.approx(4050 / 2450)
    # Printed as 1.45, from an average price rounded to 2800; it is 2825.
    assert rack.ratio(16) == pytest.approx(4050 / 2825)
    assert rack.cost(17, 1700.0) == 17 * 1700 + 24_000


def test_a_line_through_the_best_configurations():
    best = [Configuration(n, {"cores": 8}, 20.0 - 0.5 * n, 100.0 * n) for n in (4, 8, 16)]
    drawn = fit_scaling(best)
    line = drawn.scaling
    assert (line.slope_s, line.intercept_s) == (pytest.approx(-0.5), pytest.approx(20.0))
    assert (line.nodes_min, line.nodes_max) == (4, 16)
    assert drawn.deviation == pytest.approx(0.0, abs=1e-9)
    # Times of 16, 8 and 4 s are no line: 18 - 13/14 n gives 14.29, 10.57 and 3.14 s.
    bent = fit_scaling([Configuration(n, {"cores": 8}, 64.0 / n, 100.0) for n in (4, 8, 16)])
    assert bent.scaling.slope_s == pytest.approx(-13.0 / 14.0)
    assert (bent.deviation, bent.deviation_nodes) == (pytest.approx(2.5714 / 8, rel=1e-3), 8)
    for nodes in (3, 17):
        with pytest.raises(InputError, match=f"from 4 to 16 nodes, the machine would have {nodes}"):
            bent.scaling.time_s(nodes)
    with pytest.raises(InputError, match="at least two node counts"):
        fit_scaling(best[:1])


def two_caps(time_s=lambda nodes: 64.0 / nodes):
    """50 W caps take twice as long and half the power; 4, 8 and 16 nodes."""
    return ConfigurationTable.build(
        "made", [4, 8, 16] * 2, [8] * 6, [50.0] * 3 + [100.0] * 3,
        [2.0 * time_s(n) for n in (4, 8, 16)] + [time_s(n) for n in (4, 8, 16)],
        [50.0 * n for n in (4, 8, 16)] + [100.0 * n for n in (4, 8, 16)])


def test_best_times_are_the_times_themselves_and_a_power_between_them():
    times = BestTimes(two_caps(), 1600.0)
    assert [times.time_s(n) for n in (4, 8, 16)] == pytest.approx([16.0, 8.0, 4.0])
    assert times.time_s(12) == pytest.approx(64.0 / 12)
    # 800 W feed 16 nodes at the lower cap alone.
    assert [times.under(800.0).time_s(n) for n in (8, 16)] == pytest.approx([8.0, 8.0])
    for nodes in (3, 17):
        with pytest.raises(InputError, match=f"from 4 to 16 nodes, the machine would have {nodes}"):
            times.time_s(nodes)
    with pytest.raises(InputError, match="no configuration of 'made' is within 100 W"):
        times.under(100.0).time_s(8)


def test_a_machine_is_never_slower_than_a_part_of_it():
    times = BestTimes(two_caps(), 1600.0)
    few, many = (replace(times.best[0], nodes=nodes, time_s=time_s)
                 for nodes, time_s in ((2, 38.0), (4, 60.0)))
    vars(times)["best"] = (few, many)
    assert [times.time_s(nodes) for nodes in (2, 3, 4)] == pytest.approx([38.0] * 3)


def test_a_sweep_over_the_budget_takes_the_times_of_each_budget():
    # 1600 W feed 16 nodes at the higher cap, 1100 W at the lower one alone: with the times of
    # 1100 W, 12 older nodes would take as long as 8 of them.
    budget = PurchaseTerms(1100.0, 200.0, 40.0, 1.5, 0.27)
    found = sweep(budget, BestTimes(two_caps(), 1100.0), "power_w")
    at = {float(watts): gain for watts, gain in zip(found.values, found.s_ovp, strict=True)}
    assert at[1600.0] == pytest.approx(0.73 * 12 / 8)


def test_nodes_that_are_left_idle_draw_from_the_same_budget():
    # 16 nodes under 1,000 W: 8 of them at 100 W leave 25 W for each of the others, 16 at 50 W
    # leave 200 W over.
    times = BestTimes(two_caps(), 1000.0)
    assert times.time_s(16) == pytest.approx(8.0)
    assert times.under(1000.0, 25.0).time_s(16) == pytest.approx(8.0)
    # 700 W run 14 nodes at 50 W; of 16 nodes 8 run at 50 W and 8 idle at up to 37.5 W.
    assert times.under(700.0, 37.5).time_s(16) == pytest.approx(16.0)
    with pytest.raises(InputError, match="a machine of 16 nodes runs no configuration of 'made'"):
        times.under(700.0, 43.0).time_s(16)


def test_high_end_nodes_are_not_held_back_by_what_older_ones_draw():
    """Each of them may draw its maximum: 5 nodes of 200 W take no lower cap under 1,000 W."""
    budget = PurchaseTerms(1000.0, 200.0, 40.0, 1.7, 0.27)
    hungry = replace(two_caps(), power_w=two_caps().power_w * 2.5)
    assert compare(budget, BestTimes(hungry, 1000.0)).t_wc_s == pytest.approx(0.73 * 64.0 / 5)


def test_what_nodes_draw_beside_their_devices_turns_the_verdict():
    """At 7 kW and 30 older nodes the packages alone made them 1.14 times as fast."""
    asked = {"node_power_max": 380, "node_power_min": 180, "speed_ratio": "27%",
             "cost_ratio": 1.7, "app": "BT-MZ"}
    for budget in ("4kW", "7kW"):
        with pytest.raises(InputError, match=r"less than its 32 nodes idle \(5,760 W"):
            procure(budget, **asked)
    found = procure("7kW", **asked, base_power="145W")
    assert (found.result.n_wc, found.result.n_ovp) == (18, 30)
    # 20 nodes at 6,993 W with ten idle; a machine of 20 would run them uncapped.
    assert found.result.t_ovp_s == pytest.approx(9.0, abs=0.05)
    assert found.result.s_ovp == pytest.approx(0.54, abs=0.01)
    assert any("180 W for each node that is left idle" in line for line in found.remarks)
    with pytest.raises(InputError, match="a machine of 22 nodes runs no configuration of 'BT-MZ'"):
        procure("4kW", **{**asked, "cost_ratio": 2.5}, base_power="145W")
    # A budget before the losses of the supplies is the same but for these.
    dear = procure("7kW", **asked, base_power="145W", supply_efficiency="97%")
    assert dear.result.t_ovp_s > found.result.t_ovp_s
    before = procure("7kW", **asked, base_power="145W", supply_efficiency="97%", bound_at="node")
    assert before.result == found.result
    with pytest.raises(InputError, match="goes with"):
        procure("7kW", **{**asked, "app": None}, scaling="LU-MZ", base_power=145)


@pytest.mark.parametrize(
    ("file", "table", "budget", "s_ovp"),
    [("configs.csv.xz", "bt-mz_8-32nodes_5caps", EXAMPLE, 1.19),
     ("sphot_grid.csv", "sphot_grid", EXAMPLE, 1.20),
     ("configs.csv.xz", "bt-mz_8-32nodes_5caps",
      PurchaseTerms(3500.0, 260.0, 100.0, 1.7, 0.27), 1.01)],
)
def test_measured_times_decide_and_not_a_line_through_them(file, table, budget, s_ovp):
    measured = read_measurements(shared(f"rapl/{file}"))[table]
    times = BestTimes(measured, budget.power_w)
    assert compare(budget, times).s_ovp == pytest.approx(s_ovp, abs=0.005)
    line = compare(budget, fit_scaling(times.best).scaling).s_ovp
    assert abs(line / s_ovp - 1.0) > 0.06
